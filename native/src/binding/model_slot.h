// A loaded model and how many instances and changes use it.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/closing.h"
#include "runtime/model.h"

namespace nereid {

// Shared by the model's handle and its instances. Loop thread only.
class ModelSlot : public std::enable_shared_from_this<ModelSlot> {
 public:
  explicit ModelSlot(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  // UNAVAILABLE once Close() was called. Every Enter() is followed by a Leave(), when the caller's reference is gone.
  StatusOr<std::shared_ptr<Model>> Enter();
  void Leave(Napi::Env env);

  // New weights; see binding.d.ts. Both keep the model open meanwhile.
  Napi::Promise StageWeights(Napi::Env env, const Napi::Value& weights);
  Napi::Promise SwapWeights(Napi::Env env);

  // Resolves when all instances have left and the memory is back. Idempotent.
  Napi::Promise Close(Napi::Env env);

 private:
  void FreeOffLoop(Napi::Env env);

  std::shared_ptr<Model> model_;
  size_t users_ = 0;
  Closing closing_;
};

}  // namespace nereid
