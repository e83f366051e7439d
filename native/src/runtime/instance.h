// A model instance: one thread that runs one batch after the other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/model.h"

namespace nereid {

struct InstanceOptions {
  std::string name;
  ThreadSettings thread;
  RunPlan plan;
};

// One batch on its way through an instance. May be used again once it was delivered.
struct Job {
  Batch batch;
  Outcome outcome;
  Status status;
};

// Takes what an instance has finished. Both are called on the instance's thread, in the order of submission, and must
// neither block nor throw.
class CompletionSink {
 public:
  virtual ~CompletionSink() = default;
  virtual void Complete(std::unique_ptr<Job> job) = 0;
  // The last call: nothing else comes from this instance.
  virtual void Ended() = 0;
};

class Instance {
 public:
  // Starts the thread. `sink` must outlive the instance. The plan was checked by the model.
  Instance(std::shared_ptr<Model> model, InstanceOptions options, CompletionSink& sink);

  // Abandon(), then waits for the thread. Never on that thread.
  ~Instance();

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Queues a batch and returns at once. Its bytes are borrowed until Complete(). Not after Close(). Any thread.
  // True: the thread sleeps and was left asleep because of `more_may_follow`; the caller owes it a WakeUp().
  [[nodiscard]] bool Submit(std::unique_ptr<Job> job, bool more_may_follow);

  // Starts what was queued while the thread slept. Any thread, at any time.
  void WakeUp();

  // Runs a batch on the calling thread with one intra-op thread. The caller makes sure that nothing is queued.
  Status RunHere(const Batch& batch, Outcome& outcome);

  // Lets the thread finish what is queued, call Ended() and end. Returns at once. Any thread; idempotent.
  void Close();

  // Like Close(), but batches that have not begun are dropped. Any thread; idempotent.
  void Abandon();

  const InstanceOptions& options() const { return options_; }

 private:
  void Loop();
  // Moves all queued jobs into `jobs`, waiting for the first. False: the thread is to end.
  bool Take(std::vector<std::unique_ptr<Job>>& jobs);

  const std::shared_ptr<Model> model_;
  const InstanceOptions options_;
  CompletionSink& sink_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Job>> queue_;  // guarded by mutex_
  bool waiting_ = false;                     // guarded by mutex_; the thread sleeps, so a submission must wake it
  bool closing_ = false;                     // guarded by mutex_
  std::atomic<bool> abandoned_ = false;

  std::thread thread_;  // last: starts when all else is there
};

}  // namespace nereid
