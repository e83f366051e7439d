// What one JS environment (the main thread or a worker) has of this addon. There is no static JS reference.
#pragma once

#include <napi.h>

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "binding/memory_ledger.h"
#include "runtime/instance.h"

namespace nereid {

class InstanceHandle;

// Work on a thread of its own, for what takes long: Node's thread pool is for files and names, and the end of a process
// waits for all of it.
class Work {
 public:
  virtual ~Work() = default;
  // On the thread. Touches no JS and does not throw.
  virtual void Execute() = 0;
  // On the loop thread, after Execute(). May throw a Napi::Error.
  virtual void Complete(napi_env env) = 0;
};

class Environment {
 public:
  // Makes the environment's state. Node frees it with the environment, after all threads were joined by a clean-up
  // hook.
  static void Install(Napi::Env env);
  static Environment& Of(napi_env env);

  // A finished batch, or the end of an instance if `job` is null. Any thread; the only public member that is not for
  // the loop thread.
  void Post(InstanceHandle* instance, std::unique_ptr<Job> job);

  // Runs the work on a thread, as soon as the system has one for it, and awaits it. When the environment is closing the
  // work is dropped: nobody listens.
  void Start(napi_env env, std::unique_ptr<Work> work);

  // Everything awaited keeps the loop alive until it arrived.
  void Await(napi_env env);
  void Arrived(napi_env env);

  // Instances live here until their thread has ended.
  void Add(std::shared_ptr<InstanceHandle> instance);
  std::shared_ptr<InstanceHandle> Remove(InstanceHandle* instance);

  MemoryLedger& memory() { return *memory_; }

 private:
  struct Completion {
    InstanceHandle* instance;
    std::unique_ptr<Job> job;
  };

  // Work that has a thread.
  struct Working {
    std::unique_ptr<Work> work;
    std::thread thread;
  };

  explicit Environment(napi_env env);
  void StartWaiting();
  void Execute(Work* work);
  // Any thread. `push` puts something where the loop thread finds it.
  template <typename Push>
  void Announce(Push push);
  // On the loop thread.
  template <typename Delivery>
  void Deliver(napi_env env, Delivery delivery);
  static void OnWakeUp(napi_env env, napi_value function, void* self, void* data);
  static void OnCleanUp(void* self);

  napi_threadsafe_function wake_up_ = nullptr;

  std::mutex mutex_;
  std::vector<Completion> completions_;  // guarded by mutex_
  std::vector<Work*> executed_;          // guarded by mutex_
  bool wake_up_pending_ = false;         // guarded by mutex_; one wake-up serves all that came before it

  std::vector<Completion> delivering_;
  size_t awaited_ = 0;
  std::unordered_map<InstanceHandle*, std::shared_ptr<InstanceHandle>> instances_;
  std::deque<std::unique_ptr<Work>> waiting_;
  std::unordered_map<Work*, Working> works_;
  bool closing_ = false;
  const std::shared_ptr<MemoryLedger> memory_ = std::make_shared<MemoryLedger>();
};

}  // namespace nereid
