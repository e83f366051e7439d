#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>

#include "runtime/device.h"
#include "runtime/guard.h"
#include "runtime/model.h"
#include "runtime/path.h"
#include "runtime/sequence_values.h"
#include "runtime/stopwatch.h"
#include "runtime/tensor.h"

namespace nereid {
namespace {

constexpr const char* kSupported =
    "supported are Tensor, List[str], a tuple or NamedTuple of these, Dict[str, Tensor] and List[Tensor]";

std::string TypeName(const c10::IValue& value) { return value.isNone() ? "NoneType" : value.type()->annotation_str(); }

// What `forward` returned, taken apart. Holds the only references of this run, so that AppendTensor can tell who else
// has one.
class Results {
 public:
  explicit Results(c10::IValue value) {
    if (value.isTuple()) {
      values_ = value.toTupleRef().elements().vec();
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) values_.emplace_back(tensor);
    } else if (value.isGenericDict()) {
      for (const auto& entry : value.toGenericDict()) {
        keys_.push_back(entry.key());
        values_.push_back(entry.value());
      }
    } else {
      values_.push_back(std::move(value));
    }
  }

  Status Append(const OutputSlot& slot, Outcome& outcome) const {
    return Take(
        slot, [&](const at::Tensor& tensor) { return AppendTensor(tensor, outcome); },
        [&](const c10::List<std::string>& strings) { return AppendStrings(strings, outcome); });
  }

  Status Keep(const RunPlan& plan, const Batch& batch, size_t state, Outcome& outcome) const {
    return Take(
        plan.states[state].output,
        [&](const at::Tensor& tensor) { return KeepState(plan, batch, state, tensor, outcome); },
        [&](const c10::List<std::string>& strings) { return KeepStrings(plan, batch, state, strings, outcome); });
  }

 private:
  template <typename OnTensor, typename OnStrings>
  Status Take(const OutputSlot& slot, OnTensor on_tensor, OnStrings on_strings) const {
    size_t index = 0;
    NEREID_RETURN_IF_ERROR(Find(slot, index));
    const c10::IValue& value = values_[index];
    if (value.isTensor()) return on_tensor(value.toTensor());
    if (value.isList() && value.toList().elementType()->kind() == c10::TypeKind::StringType) {
      return on_strings(c10::impl::toTypedList<std::string>(value.toList()));
    }
    const std::string place = values_.size() == 1 ? "" : " at index " + std::to_string(index);
    return Status::Internal("forward returned " + TypeName(value) + place + "; " + kSupported);
  }

  Status Find(const OutputSlot& slot, size_t& index) const {
    if (slot.index >= 0) {
      index = static_cast<size_t>(slot.index);
      return index < values_.size() ? Status() : NoSuchOutput(slot.index, values_.size());
    }
    std::string found;
    for (index = 0; index < keys_.size(); index++) {
      if (!keys_[index].isString()) continue;
      if (keys_[index].toStringRef() == slot.key) return Status();
      found += (found.empty() ? "'" : ", '") + keys_[index].toStringRef() + "'";
    }
    return Status::InvalidArg("forward returned no value under the key '" + slot.key + "'" +
                              (found.empty() ? "" : "; it returned " + found));
  }

  std::vector<c10::IValue> keys_;  // of a dictionary, else empty
  std::vector<c10::IValue> values_;
};

class TorchScript final : public Model {
 public:
  TorchScript(torch::jit::Module module, std::unique_ptr<SettingsClaim> settings, c10::Device device, int ordinal)
      : settings_(std::move(settings)),
        module_(std::move(module)),
        forward_(module_.get_method("forward")),
        device_(device),
        ordinal_(ordinal) {}

  ~TorchScript() override { EmptyCache(); }

  Status Check(const RunPlan& plan) const override {
    NEREID_RETURN_IF_ERROR(CheckPlan(plan));
    const bool keyed = !plan.inputs.empty() && !plan.inputs[0].key.empty();
    for (const InputSlot& slot : plan.inputs) {
      if (slot.datatype == DataType::kNone) return Status::InvalidArg("every input needs a datatype");
      if (slot.key.empty() == keyed) return Status::InvalidArg("either all inputs have a key or none has");
    }
    if (keyed && DictType() == nullptr) {
      return Status::InvalidArg("inputs have keys, but forward does not take a single dictionary");
    }
    return keyed ? Status() : CheckOptional(plan);
  }

  Status Run(const RunPlan& plan, const Batch& batch, Outcome& outcome) override {
    return Guard([&] { return RunUnguarded(plan, batch, outcome); });
  }

  int device() const override { return ordinal_; }

 private:
  // Arguments of forward without self.
  c10::ArrayRef<c10::Argument> ArgumentsOf() const {
    return c10::ArrayRef<c10::Argument>(forward_.function().getSchema().arguments()).slice(1);
  }

  static bool MayBeAbsent(const c10::Argument& argument) {
    return argument.default_value().has_value() || argument.type()->kind() == c10::TypeKind::OptionalType;
  }

  Status CheckOptional(const RunPlan& plan) const {
    const auto arguments = ArgumentsOf();
    for (size_t i = 0; i < plan.inputs.size() && i < arguments.size(); i++) {
      if (!plan.inputs[i].optional || MayBeAbsent(arguments[i])) continue;
      return Status::InvalidArg("an input is optional, but argument '" + arguments[i].name() +
                                "' of forward is neither Optional nor has it a default");
    }
    return Status();
  }

  // Type of the only argument if that is a dictionary with string keys.
  const c10::DictType* DictType() const {
    const auto& arguments = forward_.function().getSchema().arguments();
    if (arguments.size() != 2) return nullptr;  // self and the dictionary
    const auto* type = arguments[1].type()->castRaw<c10::DictType>();
    return type != nullptr && type->getKeyType()->kind() == c10::TypeKind::StringType ? type : nullptr;
  }

  Status NextValue(InputReader& reader, c10::IValue& value) const {
    if (reader.Peek()->datatype == DataType::kString) {
      std::vector<std::string> strings;
      NEREID_RETURN_IF_ERROR(reader.NextStrings(strings));
      value = c10::List<std::string>(c10::ArrayRef<std::string>(strings));
      return Status();
    }
    at::Tensor tensor;
    NEREID_RETURN_IF_ERROR(reader.NextTensor(tensor));
    value = std::move(tensor);
    return Status();
  }

  Status Arguments(const RunPlan& plan, const Batch& batch, std::vector<c10::IValue>& arguments) const {
    NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
    InputReader reader(plan, batch, device_);
    if (plan.inputs.empty() || plan.inputs[0].key.empty()) return InOrder(plan, reader, arguments);
    const c10::DictType& type = *DictType();
    c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
    while (const InputSlot* slot = reader.Peek()) {
      if (reader.SkipAbsent()) continue;
      c10::IValue value;
      NEREID_RETURN_IF_ERROR(NextValue(reader, value));
      if (!value.type()->isSubtypeOf(*type.getValueType())) {
        return Status::InvalidArg("input '" + slot->key + "' is a " + TypeName(value) +
                                  ", the dictionary that forward takes holds " + type.getValueType()->annotation_str());
      }
      dict.insert(slot->key, std::move(value));
    }
    arguments.emplace_back(std::move(dict));
    return Status();
  }

  // An argument that the batch or the whole plan leaves out gets its default, or None.
  Status InOrder(const RunPlan& plan, InputReader& reader, std::vector<c10::IValue>& arguments) const {
    const auto all = ArgumentsOf();
    for (size_t i = 0; i < std::max(all.size(), plan.inputs.size()); i++) {
      const bool given = i < plan.inputs.size() && !reader.SkipAbsent();
      if (given) {
        NEREID_RETURN_IF_ERROR(NextValue(reader, arguments.emplace_back()));
      } else if (MayBeAbsent(all[i])) {
        arguments.push_back(all[i].default_value().value_or(c10::IValue()));
      } else {
        break;  // torch names what is missing
      }
    }
    return Status();
  }

  Status RunUnguarded(const RunPlan& plan, const Batch& batch, Outcome& outcome) {
    Stopwatch stopwatch;
    std::vector<c10::IValue> arguments;
    NEREID_RETURN_IF_ERROR(Arguments(plan, batch, arguments));
    outcome.input_ns = stopwatch.Lap();

    settings_->Renew();
    const Results results(forward_(std::move(arguments)));
    Synchronize(device_);
    outcome.infer_ns = stopwatch.Lap();

    for (const OutputSlot& slot : plan.outputs) NEREID_RETURN_IF_ERROR(results.Append(slot, outcome));
    for (size_t state = 0; state < plan.states.size(); state++)
      NEREID_RETURN_IF_ERROR(results.Keep(plan, batch, state, outcome));
    outcome.output_ns = stopwatch.Lap();
    return Status();
  }

  const std::unique_ptr<SettingsClaim> settings_;
  torch::jit::Module module_;
  torch::jit::Method forward_;
  const c10::Device device_;
  const int ordinal_;
};

// A NamedTuple is spelt as the tuple that it is: its own name says nothing about what is in it.
std::string TypeText(const c10::Type& type) {
  const auto* tuple = type.castRaw<c10::TupleType>();
  if (tuple == nullptr) return type.annotation_str();
  std::string text;
  for (const c10::TypePtr& element : tuple->elements()) text += (text.empty() ? "" : ", ") + TypeText(*element);
  return "Tuple[" + text + "]";
}

ForwardSchema Describe(const torch::jit::Method& forward, bool was_training) {
  ForwardSchema schema;
  schema.was_training = was_training;
  const c10::FunctionSchema& torch_schema = forward.function().getSchema();
  for (size_t i = 1; i < torch_schema.arguments().size(); i++) {  // 0 is self
    const c10::Argument& argument = torch_schema.arguments()[i];
    schema.arguments.push_back(
        {argument.name(), argument.type()->annotation_str(), argument.default_value().has_value()});
  }
  for (const c10::Argument& result : torch_schema.returns()) schema.returns.push_back(TypeText(*result.type()));
  return schema;
}

}  // namespace

StatusOr<TorchScriptModel> LoadTorchScript(const TorchScriptOptions& options) {
  NEREID_RETURN_IF_ERROR(CheckReadable(options.path));
  return Guard([&]() -> StatusOr<TorchScriptModel> {
    const int ordinal = options.device.value_or(-1);
    const StatusOr<c10::Device> device = DeviceFromOrdinal(ordinal);
    if (!device.ok()) return device.status();
    auto settings = std::make_unique<SettingsClaim>(options.process);
    const c10::InferenceMode inference(options.inference_mode);
    const auto target = options.device ? std::optional(device.value()) : std::nullopt;
    torch::jit::Module module = torch::jit::load(options.path, target);
    const auto forward = module.find_method("forward");
    if (!forward) return Status::InvalidArg("the module has no method 'forward'; export it with one: " + options.path);
    const bool was_training =
        module.hasattr("training") && module.is_training();  // a frozen module has no such attribute
    module.eval();
    TorchScriptModel loaded;
    loaded.schema = Describe(*forward, was_training);
    loaded.conflicts = settings->conflicts();
    loaded.model = std::make_shared<TorchScript>(std::move(module), std::move(settings), device.value(), ordinal);
    return loaded;
  });
}

}  // namespace nereid
