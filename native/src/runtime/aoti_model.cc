#include <ATen/DynamicLibrary.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "runtime/device.h"
#include "runtime/guard.h"
#include "runtime/model.h"
#include "runtime/package_directory.h"
#include "runtime/path.h"
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

class AotiPackage final : public Model {
 public:
  AotiPackage(const AotiOptions& options, c10::Device device)
      : settings_(options.process),
        directory_(options.path),
        loader_(std::make_unique<AOTIModelPackageLoader>(directory_.path().string(), options.model_name,
                                                         /*run_single_threaded=*/false, options.num_runners,
                                                         static_cast<c10::DeviceIndex>(options.device))),
        device_(device),
        ordinal_(options.device),
        input_count_(Container(*loader_->get_runner()).InputNames().size()) {}

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
    if (plan.inputs.size() != input_count_) {
      return Status::InvalidArg("the compiled model takes " + std::to_string(input_count_) +
                                " tensors, the instance gives it " + std::to_string(plan.inputs.size()));
    }
    for (const InputSlot& slot : plan.inputs) {
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
    return Status();
  }

  Status Run(const RunPlan& plan, const Batch& batch, Outcome& outcome) override {
    return Guard([&] { return RunUnguarded(plan, batch, outcome); });
  }

  int device() const override { return ordinal_; }

  AOTIModelPackageLoader& loader() { return *loader_; }
  const SettingsClaim& settings() const { return settings_; }

 private:
  Status RunUnguarded(const RunPlan& plan, const Batch& batch, Outcome& outcome) {
    Stopwatch stopwatch;
    std::vector<at::Tensor> inputs(plan.inputs.size());
    NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
    InputReader reader(plan, batch);
    for (at::Tensor& input : inputs) {
      NEREID_RETURN_IF_ERROR(reader.NextTensor(input));
      if (!device_.is_cpu()) input = input.to(device_);
    }
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
    outcome.output_ns = stopwatch.Lap();
    return Status();
  }

  const SettingsClaim settings_;
  const PackageDirectory directory_;  // outlives what is mapped from it
  std::unique_ptr<AOTIModelPackageLoader> loader_;
  const c10::Device device_;
  const int ordinal_;
  const size_t input_count_;
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
