#include "binding/alarm_handle.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "binding/convert.h"
#include "binding/report_exception.h"

namespace nereid {
namespace {

// Some thirty years: no process lives to see it, and the steady clock does not overflow.
constexpr double kLongestNanos = 1e18;

std::chrono::nanoseconds ReadDelay(const Napi::CallbackInfo& info) {
  double micros = std::nan("");
  if (napi_get_value_double(info.Env(), info[0], &micros) != napi_ok || std::isnan(micros)) {
    throw Napi::TypeError::New(info.Env(), "delayMicros must be a number");
  }
  // Rounded up, so that it is never early.
  return std::chrono::nanoseconds(static_cast<int64_t>(std::ceil(std::clamp(micros * 1000, 0.0, kLongestNanos))));
}

}  // namespace

Napi::Value AlarmHandle::Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (!info[0].IsFunction()) throw Napi::TypeError::New(env, "onDue must be a function");
  const std::shared_ptr<AlarmHandle> handle(new AlarmHandle(env, info[0].As<Napi::Function>()));
  handle->self_ = handle;
  Napi::Object object = Napi::Object::New(env);
  object["set"] = Napi::Function::New(env, [handle](const Napi::CallbackInfo& info) { handle->Set(info); }, "set");
  object["clear"] =
      Napi::Function::New(env, [handle](const Napi::CallbackInfo& info) { handle->Clear(info.Env()); }, "clear");
  object["close"] =
      Napi::Function::New(env, [handle](const Napi::CallbackInfo& info) { handle->Close(info.Env()); }, "close");
  return object;
}

AlarmHandle::AlarmHandle(Napi::Env env, Napi::Function on_due) {
  const Napi::String name = Napi::String::New(env, "nereid alarm");
  const napi_status status =
      napi_create_threadsafe_function(env, on_due, nullptr, name, /*max_queue_size=*/0, /*initial_thread_count=*/1,
                                      this, OnFinalize, this, OnRing, &wake_up_);
  NAPI_THROW_IF_FAILED_VOID(env, status);
  napi_unref_threadsafe_function(env, wake_up_);
  // Clean-up hooks run last in, first out: ours, which joins the thread, before that of the thread-safe function.
  napi_add_env_cleanup_hook(env, OnCleanUp, this);
  alarm_.emplace([this] { napi_call_threadsafe_function(wake_up_, nullptr, napi_tsfn_nonblocking); });
}

void AlarmHandle::Set(const Napi::CallbackInfo& info) {
  const std::chrono::nanoseconds delay = ReadDelay(info);
  if (!alarm_) throw Napi::Error(info.Env(), ToError(info.Env(), Status::Unavailable("the alarm is closed")));
  Hold(info.Env(), true);
  alarm_->Set(delay);
}

void AlarmHandle::Clear(Napi::Env env) {
  if (!alarm_) return;
  alarm_->Clear();
  Hold(env, false);
}

void AlarmHandle::Close(Napi::Env env) {
  if (!alarm_) return;
  alarm_.reset();
  napi_remove_env_cleanup_hook(env, OnCleanUp, this);
  napi_release_threadsafe_function(wake_up_, napi_tsfn_abort);
}

void AlarmHandle::Hold(napi_env env, bool is_set) {
  if (holds_loop_ == is_set) return;
  holds_loop_ = is_set;
  if (is_set) {
    napi_ref_threadsafe_function(env, wake_up_);
  } else {
    napi_unref_threadsafe_function(env, wake_up_);
  }
}

void AlarmHandle::OnRing(napi_env env, napi_value on_due, void* context, void* /*data*/) {
  if (env == nullptr) return;  // the environment is closing
  auto& self = *static_cast<AlarmHandle*>(context);
  if (!self.alarm_) return;
  // It may have been set again since it rang.
  self.Hold(env, self.alarm_->IsSet());
  const Napi::Env napi(env);
  napi_call_function(env, napi.Undefined(), on_due, 0, nullptr, nullptr);
  ReportException(napi);
}

void AlarmHandle::OnCleanUp(void* self) { static_cast<AlarmHandle*>(self)->alarm_.reset(); }

void AlarmHandle::OnFinalize(napi_env /*env*/, void* self, void* /*hint*/) {
  static_cast<AlarmHandle*>(self)->self_.reset();
}

}  // namespace nereid
