#include <ATen/DynamicLibrary.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/inductor/aoti_runtime/constant_type.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "runtime/device.h"
#include "runtime/guard.h"
#include "runtime/model.h"
#include "runtime/package_directory.h"
#include "runtime/path.h"
#include "runtime/run_gate.h"
#include "runtime/sequence_values.h"
#include "runtime/stopwatch.h"
#include "runtime/tensor.h"

namespace nereid {
namespace {

using torch::inductor::AOTIModelContainerRunner;
using torch::inductor::AOTIModelPackageLoader;

// The runner knows its container and library but has no public way to ask for the inputs; a derived class may name
// what is protected.
struct RunnerAccess : AOTIModelContainerRunner {
  static at::DynamicLibrary* Library(AOTIModelContainerRunner& runner) {
    return (runner.*(&RunnerAccess::model_so_)).get();
  }
  static AOTInductorModelContainerHandle Container(AOTIModelContainerRunner& runner) {
    return runner.*(&RunnerAccess::container_handle_);
  }
};

// Functions that every compiled package exports.
class Container {
 public:
  explicit Container(AOTIModelContainerRunner& runner)
      : library_(RunnerAccess::Library(runner)), handle_(RunnerAccess::Container(runner)) {}

  std::vector<std::string> InputNames() const {
    const size_t count =
        Count<decltype(AOTInductorModelContainerGetNumInputs)>("AOTInductorModelContainerGetNumInputs");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; i++) {
      const char* name = nullptr;
      Call<decltype(AOTInductorModelContainerGetInputName)>("AOTInductorModelContainerGetInputName", i, &name);
      names.emplace_back(name);
    }
    return names;
  }

  // Names of the parameters, as in the state dict.
  std::set<std::string> ParameterNames() const {
    std::set<std::string> names;
    for (size_t i = 0; i < ConstantCount(); i++) {
      int32_t type = 0;
      Call<decltype(AOTInductorModelContainerGetConstantType)>("AOTInductorModelContainerGetConstantType", i, &type);
      if (type != torch::aot_inductor::ConstantType::Parameter) continue;
      const char* name = nullptr;
      Call<decltype(AOTInductorModelContainerGetConstantOriginalFQN)>("AOTInductorModelContainerGetConstantOriginalFQN",
                                                                      i, &name);
      names.emplace(name);
    }
    return names;
  }

  bool HasFoldedConstants() const {
    for (size_t i = 0; i < ConstantCount(); i++) {
      bool folded = false;
      Call<decltype(AOTInductorModelContainerGetConstantFromFolded)>("AOTInductorModelContainerGetConstantFromFolded",
                                                                     i, &folded);
      if (folded) return true;
    }
    return false;
  }

  size_t OutputCount() const {
    return Count<decltype(AOTInductorModelContainerGetNumOutputs)>("AOTInductorModelContainerGetNumOutputs");
  }

 private:
  template <typename Function, typename... Arguments>
  void Call(const char* symbol, Arguments... arguments) const {
    TORCH_CHECK(library_ != nullptr && handle_ != nullptr, "the package has no library for ", symbol);
    auto* function = reinterpret_cast<Function*>(library_->sym(symbol));
    TORCH_CHECK(function(handle_, arguments...) == 0, symbol, " failed");
  }

  size_t ConstantCount() const {
    return Count<decltype(AOTInductorModelContainerGetNumConstants)>("AOTInductorModelContainerGetNumConstants");
  }

  template <typename Function>
  size_t Count(const char* symbol) const {
    size_t count = 0;
    Call<Function>(symbol, &count);
    return count;
  }

  at::DynamicLibrary* library_;
  AOTInductorModelContainerHandle handle_;
};

// Runs `body` on a thread of its own and waits. The library of a package has a thread-local string with a destructor:
// a thread that called into it keeps it mapped until that thread ends. So threads that live on, those of Node's pool,
// must not call into it. (The loop thread does in RunHere: a package that was run there stays mapped until the loop's
// thread ends.)
template <typename Body>
auto OnOwnThread(Body body) -> decltype(body()) {
  std::optional<decltype(body())> result;
  std::thread([&] { result.emplace(body()); }).join();
  return std::move(*result);
}

// One at a time: the constructor reads the package's metadata into a JSON document that all loaders of the process share
// (a static of `load_json_file` in torch 2.13), and two of them at once corrupt it.
std::unique_ptr<AOTIModelPackageLoader> OpenLoader(const PackageDirectory& directory, const AotiOptions& options) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return std::make_unique<AOTIModelPackageLoader>(directory.path().string(), options.model_name,
                                                  /*run_single_threaded=*/false, options.num_runners,
                                                  static_cast<c10::DeviceIndex>(options.device));
}

class AotiPackage final : public Model {
 public:
  AotiPackage(const AotiOptions& options, c10::Device device)
      : settings_(options.process),
        directory_(options.path),
        loader_(OpenLoader(directory_, options)),
        device_(device),
        ordinal_(options.device),
        input_count_(Container(*loader_->get_runner()).InputNames().size()),
        layouts_(ReadLayouts()),
        has_folded_constants_(Container(*loader_->get_runner()).HasFoldedConstants()) {}

  ~AotiPackage() override {
    const OpenLibraries open(directory_);  // so that the last close, which unmaps, comes after the thread's end
    const auto free = [this]() -> Status {
      loader_.reset();
      return Status();
    };
    // No thread to be had: freed here, and unmapped when this thread ends.
    if (!Guard([&] { return OnOwnThread(free); }).ok()) loader_.reset();
    EmptyCache();
  }

  Status Check(const RunPlan& plan) const override {
    NEREID_RETURN_IF_ERROR(CheckPlan(plan));
    if (plan.inputs.size() != input_count_) {
      return Status::InvalidArg("the compiled model takes " + std::to_string(input_count_) +
                                " tensors, the instance gives it " + std::to_string(plan.inputs.size()));
    }
    for (const InputSlot& slot : plan.inputs) {
      if (slot.optional) return Status::InvalidArg("a compiled model takes all of its tensors; none is optional");
      if (!slot.key.empty())
        return Status::InvalidArg("a compiled model takes its inputs by position, got the key '" + slot.key + "'");
      if (InfoOf(slot.datatype).element_size == 0) {
        return Status::Unsupported(std::string("a compiled model takes tensors only, got ") +
                                   InfoOf(slot.datatype).name);
      }
    }
    for (const OutputSlot& slot : plan.outputs) {
      if (slot.index < 0)
        return Status::InvalidArg("a compiled model returns its outputs by position, got the key '" + slot.key + "'");
    }
    for (const StateSlot& slot : plan.states) {
      if (slot.output.index < 0)
        return Status::InvalidArg("a compiled model returns state '" + slot.name + "' by position, not by key");
    }
    return Status();
  }

  Status Run(const RunPlan& plan, const Batch& batch, Outcome& outcome) override {
    return Guard([&] { return RunUnguarded(plan, batch, outcome); });
  }

  int device() const override { return ordinal_; }

  Status StageWeights(const std::vector<Weight>& weights) override {
    const std::lock_guard lock(weights_mutex_);
    return Guard([&] { return OnOwnThread([&] { return Guard([&] { return Stage(weights); }); }); });
  }

  Status SwapWeights() override {
    const std::lock_guard lock(weights_mutex_);
    return Guard([&] { return OnOwnThread([&] { return Guard([&] { return Swap(); }); }); });
  }

  std::vector<WeightInfo> Weights() const {
    const std::set<std::string> parameters = Container(*loader_->get_runner()).ParameterNames();
    std::vector<WeightInfo> weights;
    for (const auto& [name, layout] : layouts_) {
      weights.push_back({name, DataTypeOf(layout.dtype), layout.sizes, parameters.count(name) > 0});
    }
    return weights;
  }

  AOTIModelPackageLoader& loader() { return *loader_; }
  const SettingsClaim& settings() const { return settings_; }

 private:
  // How compiled code reads a constant.
  struct Layout {
    at::ScalarType dtype;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
  };

  std::map<std::string, Layout> ReadLayouts() const {
    std::map<std::string, Layout> layouts;
    for (const auto& [name, tensor] : loader_->get_runner()->extract_constants_map(/*use_inactive=*/false)) {
      layouts.emplace(name, Layout{tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec()});
    }
    return layouts;
  }

  // Torch copies a tensor's whole storage to where the compiled code expects exactly the constant's own.
  static at::Tensor InLayout(const Layout& layout, const at::Tensor& values) {
    if (values.strides() == layout.strides && values.storage().nbytes() == values.nbytes()) return values;
    return at::empty_strided(layout.sizes, layout.strides, values.options().dtype(layout.dtype)).copy_(values);
  }

  Status Stage(const std::vector<Weight>& weights) {
    staged_ = false;
    std::unordered_map<std::string, at::Tensor> constants;
    for (const Weight& weight : weights) {
      const auto layout = layouts_.find(weight.name);
      if (layout == layouts_.end()) return Status::InvalidArg("the package has no weight '" + weight.name + "'");
      if (layout->second.sizes != weight.shape || DataTypeOf(layout->second.dtype) != weight.datatype)
        return Status::InvalidArg("weight '" + weight.name + "' has another shape or datatype than in the package");
      at::Tensor values;
      NEREID_RETURN_IF_ERROR(CopyTensor(weight.datatype, weight.shape, weight.bytes, values));
      constants.emplace(weight.name, InLayout(layout->second, values));
    }
    KeepOthers(constants);
    AOTIModelContainerRunner& runner = *loader_->get_runner();
    loader_->load_constants(constants, /*use_inactive=*/true, /*check_full_update=*/false, /*user_managed=*/false,
                            /*allow_h2d_copy=*/!device_.is_cpu());
    if (has_folded_constants_) Fold(runner);
    Synchronize(device_);
    staged_ = true;
    return Status();
  }

  // Computes the constants that the package derives from its weights. Alone, because that takes a runner, and busy
  // instances may keep all of them from it for ever.
  void Fold(AOTIModelContainerRunner& runner) {
    const RunGate::Alone alone(gate_);
    try {
      runner.run_const_fold(/*use_inactive=*/true);
    } catch (...) {
      // It has left one runner with the inactive weights. Going there and back puts all of them on the active ones.
      runner.swap_constant_buffer();
      runner.swap_constant_buffer();
      throw;
    }
  }

  // Adds those that are missing with their current values. Alone, because the first run adds folded constants to what
  // is read here.
  void KeepOthers(std::unordered_map<std::string, at::Tensor>& constants) {
    const RunGate::Alone alone(gate_);
    for (const auto& [name, tensor] : loader_->get_runner()->extract_constants_map(/*use_inactive=*/false)) {
      if (constants.count(name) == 0) constants.emplace(name, InLayout(layouts_.at(name), tensor));
    }
  }

  Status Swap() {
    if (!staged_) return Status::InvalidArg("no weights are staged");
    const RunGate::Alone alone(gate_);
    staged_ = false;
    loader_->get_runner()->swap_constant_buffer();
    // Torch 2.13 follows null pointers at the next update if folded constants were freed: such a package keeps both sets.
    if (!has_folded_constants_) loader_->get_runner()->free_inactive_constant_buffer();
    return Status();
  }

  Status RunUnguarded(const RunPlan& plan, const Batch& batch, Outcome& outcome) {
    Stopwatch stopwatch;
    // Held until the outputs are copied: they may be weights.
    const RunGate::Run run(gate_);
    std::vector<at::Tensor> inputs(plan.inputs.size());
    NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
    InputReader reader(plan, batch, device_);
    for (at::Tensor& input : inputs) NEREID_RETURN_IF_ERROR(reader.NextTensor(input));
    outcome.input_ns = stopwatch.Lap();

    settings_.Renew();
    const std::vector<at::Tensor> results = loader_->boxed_run(std::move(inputs), CurrentStream(device_));
    Synchronize(device_);
    outcome.infer_ns = stopwatch.Lap();

    for (const OutputSlot& slot : plan.outputs) {
      const auto index = static_cast<size_t>(slot.index);
      if (index >= results.size()) return NoSuchOutput(slot.index, results.size());
      NEREID_RETURN_IF_ERROR(AppendTensor(results[index], outcome));
    }
    for (size_t state = 0; state < plan.states.size(); state++) {
      const auto index = static_cast<size_t>(plan.states[state].output.index);
      if (index >= results.size()) return NoSuchOutput(plan.states[state].output.index, results.size());
      NEREID_RETURN_IF_ERROR(KeepState(plan, batch, state, results[index], outcome));
    }
    outcome.output_ns = stopwatch.Lap();
    return Status();
  }

  const SettingsClaim settings_;
  const PackageDirectory directory_;  // outlives what is mapped from it
  std::unique_ptr<AOTIModelPackageLoader> loader_;
  const c10::Device device_;
  const int ordinal_;
  const size_t input_count_;
  const std::map<std::string, Layout> layouts_;
  const bool has_folded_constants_;
  RunGate gate_;
  std::mutex weights_mutex_;
  bool staged_ = false;  // guarded by weights_mutex_
};

AotiModel Describe(std::shared_ptr<AotiPackage> package) {
  AotiModel model;
  AOTIModelPackageLoader& loader = package->loader();
  const std::vector<std::string> call_spec = loader.get_call_spec();
  TORCH_CHECK(call_spec.size() == 2, "the call spec of a package has two parts, got ", call_spec.size());
  model.input_spec = call_spec[0];
  model.output_spec = call_spec[1];
  const auto metadata = loader.get_metadata();
  model.metadata.insert(metadata.begin(), metadata.end());
  model.weights = package->Weights();
  model.constant_names = loader.get_constant_fqns();
  std::sort(model.constant_names.begin(), model.constant_names.end());
  const Container container(*loader.get_runner());
  model.input_names = container.InputNames();
  model.output_count = container.OutputCount();
  model.conflicts = package->settings().conflicts();
  model.model = std::move(package);
  return model;
}

}  // namespace

StatusOr<AotiModel> LoadAoti(const AotiOptions& options) {
  NEREID_RETURN_IF_ERROR(CheckReadable(options.path));
  const auto load = [&]() -> StatusOr<AotiModel> {
    const StatusOr<c10::Device> device = DeviceFromOrdinal(options.device);
    if (!device.ok()) return device.status();
    return Describe(std::make_shared<AotiPackage>(options, device.value()));
  };
  return Guard([&] { return OnOwnThread([&] { return Guard(load); }); });
}

}  // namespace nereid
