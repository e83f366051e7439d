// The addon's exports: those of binding.d.ts, but for the flat arguments of lib/crossing.js.
#include <napi.h>

#include "binding/alarm_handle.h"
#include "binding/convert.h"
#include "binding/environment.h"
#include "binding/instance_handle.h"
#include "binding/model_slot.h"
#include "binding/off_loop.h"
#include "binding/sequence_handle.h"
#include "binding/strategy_handle.h"
#include "runtime/build_info.h"
#include "runtime/library.h"
#include "runtime/model.h"
#include "runtime/process_settings.h"
#include "runtime/torch_thread.h"

namespace nereid {
namespace {

Napi::Object NewModelObject(Napi::Env env, const std::shared_ptr<ModelSlot>& slot) {
  Napi::Object object = Napi::Object::New(env);
  const auto create_instance = [slot](const Napi::CallbackInfo& info) {
    InstanceOptions options = ReadInstanceOptions(info[0]);
    return InstanceHandle::Create(info.Env(), slot, std::move(options), info[1].As<Napi::Function>());
  };
  object["createInstance"] = Napi::Function::New(env, create_instance, "createInstance");
  object["close"] =
      Napi::Function::New(env, [slot](const Napi::CallbackInfo& info) { return slot->Close(info.Env()); }, "close");
  return object;
}

Napi::Value ToTorchScriptModule(Napi::Env env, TorchScriptModel& loaded) {
  Napi::Object object = NewModelObject(env, std::make_shared<ModelSlot>(std::move(loaded.model)));
  object["schema"] = ToSchema(env, loaded.schema);
  object["conflicts"] = ToConflicts(env, loaded.conflicts);
  return object;
}

Napi::Value ToAotiPackage(Napi::Env env, AotiModel& loaded) {
  const auto slot = std::make_shared<ModelSlot>(std::move(loaded.model));
  Napi::Object object = NewModelObject(env, slot);
  object["stageWeights"] = Napi::Function::New(
      env, [slot](const Napi::CallbackInfo& info) { return slot->StageWeights(info.Env(), info[0]); }, "stageWeights");
  object["swapWeights"] = Napi::Function::New(
      env, [slot](const Napi::CallbackInfo& info) { return slot->SwapWeights(info.Env()); }, "swapWeights");
  object["callSpec"] = ToStrings(env, {loaded.input_spec, loaded.output_spec});
  Napi::Object metadata = Napi::Object::New(env);
  for (const auto& [key, value] : loaded.metadata) metadata[key] = value;
  object["metadata"] = metadata;
  object["constantNames"] = ToStrings(env, loaded.constant_names);
  object["weights"] = ToWeights(env, loaded.weights);
  object["inputNames"] = ToStrings(env, loaded.input_names);
  object["outputCount"] = Napi::Number::New(env, static_cast<double>(loaded.output_count));
  object["conflicts"] = ToConflicts(env, loaded.conflicts);
  return object;
}

Napi::Value LoadTorchScriptModule(const Napi::CallbackInfo& info) {
  auto load = [options = ReadTorchScriptOptions(info[0])] { return LoadTorchScript(options); };
  return RunOffLoop(info.Env(), std::move(load), ToTorchScriptModule);
}

Napi::Value LoadAotiPackage(const Napi::CallbackInfo& info) {
  auto load = [options = ReadAotiOptions(info[0])] { return LoadAoti(options); };
  return RunOffLoop(info.Env(), std::move(load), ToAotiPackage);
}

Napi::Value LoadOperatorLibrary(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "path must be a string");
  auto load = [path = info[0].As<Napi::String>().Utf8Value()]() -> StatusOr<bool> {
    NEREID_RETURN_IF_ERROR(LoadOperators(path));
    return true;
  };
  return RunOffLoop(info.Env(), std::move(load), [](Napi::Env env, bool) { return env.Undefined(); });
}

Napi::Promise FinishModelInit(Napi::Env env, std::shared_ptr<ModelInit> init) {
  auto finish = [init = std::move(init)]() -> StatusOr<bool> {
    NEREID_RETURN_IF_ERROR(init->Finish());
    return true;
  };
  return RunOffLoop(env, std::move(finish), [](Napi::Env env, bool) { return env.Undefined(); });
}

Napi::Value ToModelInit(Napi::Env env, std::shared_ptr<ModelInit>& init) {
  Napi::Object object = Napi::Object::New(env);
  object["close"] = Napi::Function::New(
      env, [init](const Napi::CallbackInfo& info) { return FinishModelInit(info.Env(), init); }, "close");
  return object;
}

Napi::Value RunModelInit(const Napi::CallbackInfo& info) {
  auto run = [options = ReadModelInitOptions(info[0])] { return ModelInit::Run(options); };
  return RunOffLoop(info.Env(), std::move(run), ToModelInit);
}

Napi::Value BuildInfoObject(const Napi::CallbackInfo& info) {
  const BuildInfo build = GetBuildInfo();
  Napi::Object object = Napi::Object::New(info.Env());
  object["torchVersion"] = build.torch_version;
  object["napiVersion"] = NAPI_VERSION;
  object["cuda"] = Napi::Boolean::New(info.Env(), build.cuda);
  object["gpus"] = ToStrings(info.Env(), build.gpus);
  object["cpuCapability"] = build.cpu_capability;
  return object;
}

Napi::Value ProcessSettingsObject(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const ProcessSettings settings = CurrentProcessSettings();
  Napi::Object object = Napi::Object::New(env);
  object["cudnn"] = Napi::Boolean::New(env, settings.cudnn.value_or(false));
  object["jitExecutor"] = Napi::Boolean::New(env, settings.jit_executor.value_or(false));
  object["jitProfiling"] = Napi::Boolean::New(env, settings.jit_profiling.value_or(false));
  object["tensorFuser"] = Napi::Boolean::New(env, settings.tensor_fuser.value_or(false));
  object["interOpThreads"] = Napi::Number::New(env, settings.inter_op_threads);
  return object;
}

Napi::Value MemoryInfoObject(const Napi::CallbackInfo& info) {
  const MemoryLedger& memory = Environment::Of(info.Env()).memory();
  Napi::Object object = Napi::Object::New(info.Env());
  object["externalBytes"] = Napi::Number::New(info.Env(), static_cast<double>(memory.bytes()));
  object["externalTensors"] = Napi::Number::New(info.Env(), static_cast<double>(memory.tensors()));
  return object;
}

void ReleaseBuffers(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  MemoryLedger& memory = Environment::Of(env).memory();
  const bool is_array = info[0].IsArray();
  const uint32_t length = is_array ? info[0].As<Napi::Array>().Length() : 0;
  bool released = is_array;
  for (uint32_t i = 0; i < length; i++) released &= memory.Release(env, info[0].As<Napi::Array>().Get(i));
  if (!released) throw Napi::TypeError::New(env, "buffers must be an array of ArrayBuffer");
}

void PrepareExit(const Napi::CallbackInfo& info) { EndBeforeStatics(info[0].ToNumber().Int32Value()); }

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Environment::Install(env);
  exports["buildInfo"] = Napi::Function::New<BuildInfoObject>(env, "buildInfo");
  exports["processSettings"] = Napi::Function::New<ProcessSettingsObject>(env, "processSettings");
  exports["memoryInfo"] = Napi::Function::New<MemoryInfoObject>(env, "memoryInfo");
  exports["releaseBuffers"] = Napi::Function::New<ReleaseBuffers>(env, "releaseBuffers");
  exports["openAlarm"] = Napi::Function::New<AlarmHandle::Open>(env, "openAlarm");
  exports["openSequence"] = Napi::Function::New<OpenSequence>(env, "openSequence");
  exports["releaseSequence"] = Napi::Function::New<ReleaseSequence>(env, "releaseSequence");
  exports["openBatchStrategy"] = Napi::Function::New<StrategyHandle::Open>(env, "openBatchStrategy");
  exports["loadOperators"] = Napi::Function::New<LoadOperatorLibrary>(env, "loadOperators");
  exports["initModel"] = Napi::Function::New<RunModelInit>(env, "initModel");
  exports["loadTorchScript"] = Napi::Function::New<LoadTorchScriptModule>(env, "loadTorchScript");
  exports["loadAoti"] = Napi::Function::New<LoadAotiPackage>(env, "loadAoti");
  exports["prepareExit"] = Napi::Function::New<PrepareExit>(env, "prepareExit");
  return exports;
}

}  // namespace
}  // namespace nereid

static Napi::Object InitAddon(Napi::Env env, Napi::Object exports) { return nereid::Init(env, exports); }
NODE_API_MODULE(NODE_GYP_MODULE_NAME, InitAddon)
