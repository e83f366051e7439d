// A model instance as JS sees it.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <vector>

#include "binding/closing.h"
#include "binding/environment.h"
#include "binding/model_slot.h"
#include "runtime/instance.h"

namespace nereid {

// Kept by its environment until the thread has ended, and by the functions of the JS object. All members are for the
// loop thread but Complete() and Ended().
class InstanceHandle final : public CompletionSink, public std::enable_shared_from_this<InstanceHandle> {
 public:
  // The JS object over a new instance of the model in `slot`. `deliver` is called with an error, or with undefined
  // and an outcome as flat arguments. Throws a NativeError if the model refuses the options.
  static Napi::Value Create(Napi::Env env, const std::shared_ptr<ModelSlot>& slot, InstanceOptions options,
                            Napi::Function deliver);

  InstanceHandle(Napi::Env env, std::shared_ptr<ModelSlot> slot, std::shared_ptr<Model> model, InstanceOptions options,
                 Napi::Function deliver);

  // Queues a batch; true: the instance owes its thread a WakeUp().
  Napi::Value Execute(const Napi::CallbackInfo& info);
  void WakeUp();
  Napi::Value ExecuteSync(const Napi::CallbackInfo& info);
  Napi::Promise Close(Napi::Env env);

  // Reports a finished batch to JS, or, if `job` is null, that the thread has ended.
  void Deliver(Napi::Env env, std::unique_ptr<Job> job);

  // For the environment's clean-up: drops what is queued; waits for the thread.
  void Abandon();
  void Join();

 private:
  void Complete(std::unique_ptr<Job> job) override;
  void Ended() override;

  void ThrowIfClosed(Napi::Env env) const;
  // The batch of a call's first three arguments; without the second and third they are those of the call before.
  std::unique_ptr<Job> ReadJob(const Napi::CallbackInfo& info);
  std::unique_ptr<Job> TakeJob();
  void KeepJob(std::unique_ptr<Job> job);

  Environment& environment_;
  const std::shared_ptr<ModelSlot> slot_;
  const std::string name_;
  Napi::FunctionReference deliver_;
  std::vector<std::unique_ptr<Job>> spare_jobs_;
  std::vector<int64_t> last_rows_;
  std::vector<int64_t> last_shapes_;
  std::vector<napi_value> arguments_;  // of the call to JS that is being made
  Closing closing_;
  std::optional<Instance> instance_;  // empty once its thread has ended
};

}  // namespace nereid
