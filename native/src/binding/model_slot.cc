#include "binding/model_slot.h"

#include <utility>

#include "binding/off_loop.h"

namespace nereid {

StatusOr<std::shared_ptr<Model>> ModelSlot::Enter() {
  if (closing_.begun()) return Status::Unavailable("the model is closed");
  instances_++;
  return model_;
}

void ModelSlot::Leave(Napi::Env env) {
  instances_--;
  if (closing_.begun() && instances_ == 0) FreeOffLoop(env);
}

Napi::Promise ModelSlot::Close(Napi::Env env) {
  const bool first = !closing_.begun();
  const Napi::Promise promise = closing_.Promise(env);
  if (first && instances_ == 0) FreeOffLoop(env);
  return promise;
}

void ModelSlot::FreeOffLoop(Napi::Env env) {
  // Unmapping a compiled library and giving back gigabytes takes a while.
  auto free = [model = std::move(model_)]() mutable -> StatusOr<bool> {
    model.reset();
    return true;
  };
  RunOffLoop(env, "nereid close", std::move(free), [slot = shared_from_this()](Napi::Env env, bool) {
    slot->closing_.Resolve(env);
    return env.Undefined();
  });
}

}  // namespace nereid
