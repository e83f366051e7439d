#pragma once

#include <napi.h>

#include <optional>

namespace nereid {

// The promise that every call of a close() returns. Loop thread only.
class Closing {
 public:
  bool begun() const { return deferred_.has_value(); }

  Napi::Promise Promise(Napi::Env env) {
    if (!begun()) {
      deferred_.emplace(env);
      promise_ = Napi::Persistent(deferred_->Promise().As<Napi::Object>());
    }
    return promise_.Value().As<Napi::Promise>();
  }

  void Resolve(Napi::Env env) { deferred_->Resolve(env.Undefined()); }

 private:
  std::optional<Napi::Promise::Deferred> deferred_;
  Napi::ObjectReference promise_;
};

}  // namespace nereid
