// An alarm as JS sees it.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>

#include "runtime/alarm.h"

namespace nereid {

// Lives until it is closed or its environment ends. All members are for the loop thread.
class AlarmHandle {
 public:
  // `openAlarm(onDue)`: the JS object over a new alarm.
  static Napi::Value Open(const Napi::CallbackInfo& info);

 private:
  AlarmHandle(Napi::Env env, Napi::Function on_due);

  void Set(const Napi::CallbackInfo& info);
  void Clear(Napi::Env env);
  void Close(Napi::Env env);
  // Holds the loop while a deadline is set.
  void Hold(napi_env env, bool is_set);

  static void OnRing(napi_env env, napi_value on_due, void* self, void* data);
  static void OnCleanUp(void* self);
  static void OnFinalize(napi_env env, void* self, void* hint);

  napi_threadsafe_function wake_up_ = nullptr;
  std::optional<Alarm> alarm_;  // empty once closed
  bool holds_loop_ = false;
  std::shared_ptr<AlarmHandle> self_;  // until the thread-safe function is gone
};

}  // namespace nereid
