// A loaded model, shared by its instances.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/batch.h"
#include "runtime/process_settings.h"
#include "runtime/status.h"

namespace nereid {

// Settings of the thread that runs a model.
struct ThreadSettings {
  int intra_op_threads = 0;  // 0: torch's default
  bool inference_mode = true;
  bool optimized_execution = true;  // TorchScript: graph optimisation
  bool cache_cleaning = false;      // empty the device's memory cache after each run
};

// What can be exchanged in a compiled model.
struct WeightInfo {
  std::string name;  // as in the state dict
  DataType datatype = DataType::kNone;
  std::vector<int64_t> shape;
  bool parameter = false;  // else a buffer, or a constant that the compiler made
};

// One new value; the bytes, contiguous, are borrowed.
struct Weight {
  std::string name;
  DataType datatype = DataType::kNone;
  std::vector<int64_t> shape;
  ByteView bytes;
};

// Weights and code. Shared between instances; destroyed with the last shared_ptr, on whichever thread drops it.
class Model {
 public:
  virtual ~Model() = default;

  // Refuses a plan that no run could follow. Any thread.
  virtual Status Check(const RunPlan& plan) const = 0;

  // Gathers the inputs, runs the model and prepares the outputs asked for; `outcome` is cleared first. Any thread
  // that is inside a ThreadScope; several at once. On failure `outcome` holds nothing of use. The model may write
  // into borrowed input bytes if its code does so in place.
  virtual Status Run(const RunPlan& plan, const Batch& batch, Outcome& outcome) = 0;

  // −1: CPU.
  virtual int device() const = 0;

  // Copies new weights to where no run sees them. Those that are not among them keep their value. Runs go on. Blocks; any
  // thread.
  virtual Status StageWeights(const std::vector<Weight>& /*weights*/) { return WeightsAreFixed(); }

  // Exchanges the weights for those staged last, between runs: each run has either all old or all new ones, and one that
  // begins after the return has the new. Blocks until the runs that have begun are over; any thread.
  virtual Status SwapWeights() { return WeightsAreFixed(); }

 private:
  static Status WeightsAreFixed() {
    return Status::Unsupported("only weights of a compiled package can be exchanged while it is loaded");
  }
};

struct SchemaArgument {
  std::string name;
  std::string type;
  bool has_default = false;
};

struct ForwardSchema {
  std::vector<SchemaArgument> arguments;  // without self
  std::vector<std::string> returns;
  bool was_training = false;
};

struct TorchScriptOptions {
  std::string path;
  bool inference_mode = true;
  std::optional<int> device;  // −1: CPU; absent: where the tensors were saved
  ProcessSettings process;
};

struct TorchScriptModel {
  std::shared_ptr<Model> model;
  ForwardSchema schema;
  std::vector<SettingConflict> conflicts;
};

// Reads a TorchScript archive and switches it to evaluation. Blocks; any thread.
StatusOr<TorchScriptModel> LoadTorchScript(const TorchScriptOptions& options);

struct AotiOptions {
  std::string path;
  std::string model_name = "model";
  size_t num_runners = 1;  // runs that may go on at once
  int device = -1;
  ProcessSettings process;
};

struct AotiModel {
  std::shared_ptr<Model> model;
  std::string input_spec;   // JSON
  std::string output_spec;  // JSON
  std::map<std::string, std::string> metadata;
  std::vector<std::string> constant_names;
  std::vector<WeightInfo> weights;
  std::vector<std::string> input_names;
  size_t output_count = 0;
  std::vector<SettingConflict> conflicts;
};

// Unpacks an AOTInductor package into a temporary directory and opens its library: runs code of the package. Blocks;
// any thread.
StatusOr<AotiModel> LoadAoti(const AotiOptions& options);

}  // namespace nereid
