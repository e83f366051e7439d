#include "binding/environment.h"

#include <system_error>
#include <utility>

#include "binding/instance_handle.h"
#include "runtime/torch_thread.h"

namespace nereid {

void Environment::Install(Napi::Env env) {
  // Clean-up hooks run last in, first out: ours, which joins the threads that use the thread-safe function, before
  // that function's own.
  auto* environment = new Environment(env);
  env.SetInstanceData(environment);
  napi_add_env_cleanup_hook(env, OnCleanUp, environment);
}

Environment& Environment::Of(napi_env env) { return *Napi::Env(env).GetInstanceData<Environment>(); }

Environment::Environment(napi_env env) {
  const Napi::String name = Napi::String::New(env, "nereid completions");
  const napi_status status =
      napi_create_threadsafe_function(env, nullptr, nullptr, name, /*max_queue_size=*/0, /*initial_thread_count=*/1,
                                      nullptr, nullptr, this, OnWakeUp, &wake_up_);
  NAPI_THROW_IF_FAILED_VOID(env, status);
  napi_unref_threadsafe_function(env, wake_up_);
}

template <typename Push>
void Environment::Announce(Push push) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    push();
    wake = !std::exchange(wake_up_pending_, true);
  }
  if (wake) napi_call_threadsafe_function(wake_up_, nullptr, napi_tsfn_nonblocking);
}

void Environment::Post(InstanceHandle* instance, std::unique_ptr<Job> job) {
  Announce([&] { completions_.push_back({instance, std::move(job)}); });
}

void Environment::Start(napi_env env, std::unique_ptr<Work> work) {
  if (closing_) return;
  Await(env);
  waiting_.push_back(std::move(work));
  StartWaiting();
}

void Environment::StartWaiting() {
  while (!waiting_.empty()) {
    Work* const key = waiting_.front().get();
    std::thread thread;
    try {
      thread = std::thread(&Environment::Execute, this, key);
    } catch (const std::system_error&) {
      // The system has no thread left: another one's end gives one back.
      if (!works_.empty()) return;
      Execute(key);
    }
    works_[key] = {std::move(waiting_.front()), std::move(thread)};
    waiting_.pop_front();
  }
}

void Environment::Execute(Work* work) {
  const TorchThread counted;
  work->Execute();
  Announce([&] { executed_.push_back(work); });
}

void Environment::Await(napi_env env) {
  if (awaited_++ == 0) napi_ref_threadsafe_function(env, wake_up_);
}

void Environment::Arrived(napi_env env) {
  if (--awaited_ == 0) napi_unref_threadsafe_function(env, wake_up_);
}

void Environment::Add(std::shared_ptr<InstanceHandle> instance) {
  InstanceHandle* key = instance.get();
  instances_.emplace(key, std::move(instance));
}

std::shared_ptr<InstanceHandle> Environment::Remove(InstanceHandle* instance) {
  auto node = instances_.extract(instance);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void Environment::OnWakeUp(napi_env env, napi_value /*function*/, void* self, void* /*data*/) {
  if (env == nullptr) return;  // the environment is closing
  auto& environment = *static_cast<Environment*>(self);
  std::vector<Work*> executed;
  {
    const std::lock_guard lock(environment.mutex_);
    environment.delivering_.swap(environment.completions_);
    executed.swap(environment.executed_);
    environment.wake_up_pending_ = false;
  }
  for (Completion& completion : environment.delivering_) {
    environment.Deliver(env, [&] { completion.instance->Deliver(env, std::move(completion.job)); });
  }
  environment.delivering_.clear();
  for (Work* key : executed) {
    auto node = environment.works_.extract(key);
    if (node.mapped().thread.joinable()) node.mapped().thread.join();
    environment.Deliver(env, [&] { node.mapped().work->Complete(env); });
  }
  if (!executed.empty()) environment.StartWaiting();
}

template <typename Delivery>
void Environment::Deliver(napi_env env, Delivery delivery) {
  const Napi::HandleScope scope(env);
  Arrived(env);
  try {
    delivery();
  } catch (const Napi::Error&) {
    // An environment that is being terminated refuses to make values, and nobody listens any more.
  }
}

void Environment::OnCleanUp(void* self) {
  auto& environment = *static_cast<Environment*>(self);
  environment.closing_ = true;
  for (const auto& [_, instance] : environment.instances_) instance->Abandon();
  for (const auto& [_, instance] : environment.instances_) instance->Join();
  environment.waiting_.clear();
  for (auto& [_, working] : environment.works_) {
    if (working.thread.joinable()) working.thread.join();
  }
  environment.works_.clear();
}

}  // namespace nereid
