#pragma once

#include <napi.h>

namespace nereid {

// A callback of the user must not throw; if it does, that is an uncaught exception and not lost.
inline void ReportException(Napi::Env env) {
  napi_value exception = nullptr;
  if (env.IsExceptionPending() && napi_get_and_clear_last_exception(env, &exception) == napi_ok) {
    napi_fatal_exception(env, exception);
  }
}

}  // namespace nereid
