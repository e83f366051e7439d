// Work on Node's thread pool that settles a promise.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <utility>

#include "binding/convert.h"
#include "runtime/status.h"

namespace nereid {

// Runs `work`, which returns a StatusOr<T> and must not touch JS, on a pool thread and then, on the loop thread,
// resolves the promise with what `convert(env, T&)` makes of the value, or rejects it with the status.
template <typename Work, typename Convert>
class OffLoop {
 public:
  static Napi::Promise Start(Napi::Env env, const char* name, Work work, Convert convert) {
    std::unique_ptr<OffLoop> self(new OffLoop(env, std::move(work), std::move(convert)));
    const Napi::Promise promise = self->deferred_.Promise();
    napi_status status = napi_create_async_work(env, nullptr, Napi::String::New(env, name), Execute, Complete,
                                                self.get(), &self->work_handle_);
    if (status == napi_ok) status = napi_queue_async_work(env, self->work_handle_);
    NAPI_THROW_IF_FAILED(env, status, promise);
    self.release();  // Complete() deletes it
    return promise;
  }

 private:
  OffLoop(Napi::Env env, Work work, Convert convert)
      : deferred_(Napi::Promise::Deferred::New(env)), work_(std::move(work)), convert_(std::move(convert)) {}

  static void Execute(napi_env /*env*/, void* data) {
    auto& self = *static_cast<OffLoop*>(data);
    self.result_.emplace(self.work_());
  }

  static void Complete(napi_env env, napi_status status, void* data) {
    const std::unique_ptr<OffLoop> self(static_cast<OffLoop*>(data));
    napi_delete_async_work(env, self->work_handle_);
    if (status != napi_ok || !self->result_) return;  // the environment is closing: nobody listens
    const Napi::HandleScope scope(env);
    try {
      if (self->result_->ok()) {
        self->deferred_.Resolve(self->convert_(Napi::Env(env), self->result_->value()));
      } else {
        self->deferred_.Reject(ToError(env, self->result_->status()));
      }
    } catch (const Napi::Error&) {
      // Likewise: an environment that is being terminated refuses to make values.
    }
  }

  Napi::Promise::Deferred deferred_;
  Work work_;
  Convert convert_;
  std::optional<decltype(std::declval<Work&>()())> result_;
  napi_async_work work_handle_ = nullptr;
};

template <typename Work, typename Convert>
Napi::Promise RunOffLoop(Napi::Env env, const char* name, Work work, Convert convert) {
  return OffLoop<Work, Convert>::Start(env, name, std::move(work), std::move(convert));
}

}  // namespace nereid
