#include "binding/model_slot.h"

#include <utility>

#include "binding/off_loop.h"

namespace nereid {
namespace {

// The model, entered until this is destroyed; on the loop thread, as the slot demands.
class Lease {
 public:
  Lease(Napi::Env env, std::shared_ptr<ModelSlot> slot) : env_(env), slot_(std::move(slot)) {
    auto model = slot_->Enter();
    if (!model.ok()) throw Napi::Error(env, ToError(env, model.status()));
    model_ = std::move(model.value());
  }
  Lease(Lease&& other) noexcept = default;
  ~Lease() {
    if (!slot_) return;
    model_.reset();
    try {
      slot_->Leave(env_);
    } catch (const Napi::Error&) {
      // The environment is closing, and frees the model with itself.
    }
  }

  Model& model() const { return *model_; }

 private:
  napi_env env_;
  std::shared_ptr<ModelSlot> slot_;
  std::shared_ptr<Model> model_;
};

StatusOr<bool> ToResult(const Status& status) { return status.ok() ? StatusOr<bool>(true) : status; }

Napi::Value ToUndefined(Napi::Env env, bool) { return env.Undefined(); }

}  // namespace

StatusOr<std::shared_ptr<Model>> ModelSlot::Enter() {
  if (closing_.begun()) return Status::Unavailable("the model is closed");
  users_++;
  return model_;
}

void ModelSlot::Leave(Napi::Env env) {
  users_--;
  if (closing_.begun() && users_ == 0) FreeOffLoop(env);
}

Napi::Promise ModelSlot::StageWeights(Napi::Env env, const Napi::Value& weights) {
  auto read = ReadWeights(weights);
  // The reference keeps the borrowed bytes.
  auto stage = [lease = Lease(env, shared_from_this()), owner = Napi::Persistent(weights.As<Napi::Object>()),
                read = std::move(read)] { return ToResult(lease.model().StageWeights(read)); };
  return RunOffLoop(env, std::move(stage), ToUndefined);
}

Napi::Promise ModelSlot::SwapWeights(Napi::Env env) {
  auto swap = [lease = Lease(env, shared_from_this())] { return ToResult(lease.model().SwapWeights()); };
  return RunOffLoop(env, std::move(swap), ToUndefined);
}

Napi::Promise ModelSlot::Close(Napi::Env env) {
  const bool first = !closing_.begun();
  const Napi::Promise promise = closing_.Promise(env);
  if (first && users_ == 0) FreeOffLoop(env);
  return promise;
}

void ModelSlot::FreeOffLoop(Napi::Env env) {
  // Unmapping a compiled library and giving back gigabytes takes a while.
  auto free = [model = std::move(model_)]() mutable -> StatusOr<bool> {
    model.reset();
    return true;
  };
  RunOffLoop(env, std::move(free), [slot = shared_from_this()](Napi::Env env, bool) {
    slot->closing_.Resolve(env);
    return env.Undefined();
  });
}

}  // namespace nereid
