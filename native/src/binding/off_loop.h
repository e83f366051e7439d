// Work off the loop that settles a promise.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <utility>

#include "binding/convert.h"
#include "binding/environment.h"
#include "runtime/status.h"

namespace nereid {

template <typename Run, typename Convert>
class OffLoop final : public Work {
 public:
  OffLoop(Napi::Env env, Run run, Convert convert)
      : deferred_(Napi::Promise::Deferred::New(env)), run_(std::move(run)), convert_(std::move(convert)) {}

  Napi::Promise Promise() const { return deferred_.Promise(); }

  void Execute() override { result_.emplace(run_()); }

  void Complete(napi_env env) override {
    if (result_->ok()) {
      deferred_.Resolve(convert_(Napi::Env(env), result_->value()));
    } else {
      deferred_.Reject(ToError(env, result_->status()));
    }
  }

 private:
  const Napi::Promise::Deferred deferred_;
  Run run_;
  Convert convert_;
  std::optional<decltype(std::declval<Run&>()())> result_;
};

// Runs `run`, which returns a StatusOr<T> and must not touch JS, on a thread of its own and then, on the loop thread,
// resolves the promise with what `convert(env, T&)` makes of the value, or rejects it with the status.
template <typename Run, typename Convert>
Napi::Promise RunOffLoop(Napi::Env env, Run run, Convert convert) {
  auto work = std::make_unique<OffLoop<Run, Convert>>(env, std::move(run), std::move(convert));
  const Napi::Promise promise = work->Promise();
  Environment::Of(env).Start(env, std::move(work));
  return promise;
}

}  // namespace nereid
