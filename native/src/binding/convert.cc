#include "binding/convert.h"

#include <cstring>
#include <limits>
#include <optional>

#include "binding/sequence_handle.h"

namespace nereid {
namespace {

Napi::Object ReadObject(const Napi::Value& value, const char* what) {
  if (!value.IsObject()) throw Napi::TypeError::New(value.Env(), std::string(what) + " must be an object");
  return value.As<Napi::Object>();
}

[[noreturn]] void ThrowField(const Napi::Env env, const char* field, const char* expected) {
  throw Napi::TypeError::New(env, std::string(field) + " must be " + expected);
}

std::string ReadString(const Napi::Object& object, const char* field) {
  const Napi::Value value = object.Get(field);
  if (!value.IsString()) ThrowField(object.Env(), field, "a string");
  return value.As<Napi::String>();
}

bool ReadBool(const Napi::Object& object, const char* field) {
  const Napi::Value value = object.Get(field);
  if (!value.IsBoolean()) ThrowField(object.Env(), field, "a boolean");
  return value.As<Napi::Boolean>();
}

int64_t ReadInt(const Napi::Object& object, const char* field, int64_t lowest, int64_t highest) {
  const Napi::Value value = object.Get(field);
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : lowest - 1.0;
  if (!(number >= lowest && number <= highest) || number != static_cast<int64_t>(number)) {
    throw Napi::RangeError::New(object.Env(), std::string(field) + " must be an integer from " +
                                                  std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return static_cast<int64_t>(number);
}

Napi::Array ReadArray(const Napi::Object& object, const char* field) {
  const Napi::Value value = object.Get(field);
  if (!value.IsArray()) ThrowField(object.Env(), field, "an array");
  return value.As<Napi::Array>();
}

// A boolean, or undefined to leave things as they are.
std::optional<bool> ReadOptionalBool(const Napi::Object& object, const char* field) {
  if (object.Get(field).IsUndefined()) return std::nullopt;
  return ReadBool(object, field);
}

constexpr int64_t kMostGpus = 127;  // c10::DeviceIndex has 8 bits
constexpr int64_t kMostRunners = 1 << 16;
constexpr int64_t kMostThreads = 1 << 16;
constexpr int64_t kMostResults = 1 << 30;
constexpr uint32_t kMostOutputs = 4096;  // they are arguments of one call

ProcessSettings ReadProcessSettings(const Napi::Object& options) {
  ProcessSettings settings;
  if (options.Get("process").IsUndefined()) return settings;
  const Napi::Object object = ReadObject(options.Get("process"), "process");
  settings.owner = ReadString(object, "owner");
  settings.cudnn = ReadOptionalBool(object, "cudnn");
  settings.jit_executor = ReadOptionalBool(object, "jitExecutor");
  settings.jit_profiling = ReadOptionalBool(object, "jitProfiling");
  settings.tensor_fuser = ReadOptionalBool(object, "tensorFuser");
  settings.inter_op_threads = static_cast<int>(ReadInt(object, "interOpThreads", 0, kMostThreads));
  return settings;
}

DataType ReadDataType(const Napi::Object& object) {
  return static_cast<DataType>(ReadInt(object, "datatype", 1, static_cast<int64_t>(kDataTypeCount) - 1));
}

InputSource ReadInputSource(const Napi::Object& slot) {
  if (slot.Get("source").IsUndefined()) return InputSource::kRows;
  const std::string source = ReadString(slot, "source");
  if (source == "rows") return InputSource::kRows;
  if (source == "joined") return InputSource::kJoined;
  if (source == "whole") return InputSource::kWhole;
  if (source == "state") return InputSource::kState;
  ThrowField(slot.Env(), "source", "'rows', 'joined', 'whole' or 'state'");
}

OutputSlot ReadOutputSlot(const Napi::Object& slot) {
  return {ReadInt(slot, "index", -1, kMostResults), ReadString(slot, "key")};
}

// The hot path below talks to Node-API itself, without the wrapper's checks and objects.

constexpr const char* kBuffersExpected = "buffers must be an array of Uint8Array";

void Check(napi_env env, napi_status status, const char* expected) {
  if (status != napi_ok) throw Napi::TypeError::New(env, expected);
}

uint32_t ArrayLength(napi_env env, napi_value array, const char* expected) {
  uint32_t length = 0;
  Check(env, napi_get_array_length(env, array, &length), expected);
  return length;
}

void ReadIntegers(napi_env env, napi_value array, const char* expected, std::vector<int64_t>& integers) {
  integers.resize(ArrayLength(env, array, expected));
  for (uint32_t i = 0; i < integers.size(); i++) {
    napi_value element = nullptr;
    Check(env, napi_get_element(env, array, i, &element), expected);
    Check(env, napi_get_value_int64(env, element, &integers[i]), expected);
  }
}

ByteView ReadBytes(napi_env env, napi_value value, const char* expected) {
  napi_typedarray_type type = napi_int8_array;
  size_t length = 0;
  void* data = nullptr;
  const napi_status status = napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  Check(env, status == napi_ok && type != napi_uint8_array ? napi_invalid_arg : status, expected);
  return {static_cast<const uint8_t*>(data), length};
}

void ReadStateSlots(const Napi::Object& options, RunPlan& plan) {
  if (options.Get("states").IsUndefined()) return;
  const Napi::Env env = options.Env();
  const Napi::Array states = ReadArray(options, "states");
  if (plan.outputs.size() + states.Length() > kMostOutputs) ThrowField(env, "states", "few: 4096 with the outputs");
  for (uint32_t i = 0; i < states.Length(); i++) {
    const Napi::Object object = ReadObject(states.Get(i), "a state slot");
    StateSlot slot;
    slot.name = ReadString(object, "name");
    slot.datatype = ReadDataType(object);
    slot.output = ReadOutputSlot(object);
    slot.lent = ReadBool(object, "isLent");
    ReadIntegers(env, ReadArray(object, "shape"), "shape must be an array of numbers", slot.shape);
    const ByteView initial = ReadBytes(env, object.Get("initial"), "initial must be a Uint8Array");
    slot.initial.assign(initial.data, initial.data + initial.size);
    plan.states.push_back(std::move(slot));
  }
}

// A small integer costs V8 nothing; a double is an object on its heap.
napi_value Number(napi_env env, int64_t value) {
  napi_value number = nullptr;
  if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    napi_create_int32(env, static_cast<int32_t>(value), &number);
  } else {
    napi_create_double(env, static_cast<double>(value), &number);
  }
  return number;
}

template <typename Integer>
napi_value ToNumbers(napi_env env, const std::vector<Integer>& values) {
  napi_value array = nullptr;
  napi_create_array_with_length(env, values.size(), &array);
  for (uint32_t i = 0; i < values.size(); i++)
    napi_set_element(env, array, i, Number(env, static_cast<int64_t>(values[i])));
  return array;
}

napi_value CopyToBuffer(napi_env env, const uint8_t* bytes, size_t size) {
  napi_value buffer = nullptr;
  void* data = nullptr;
  if (napi_create_arraybuffer(env, size, &data, &buffer) == napi_ok && size > 0) std::memcpy(data, bytes, size);
  return buffer;
}

void AppendOutput(napi_env env, const Outcome& outcome, Output& output, MemoryLedger& memory,
                  std::vector<napi_value>& arguments) {
  napi_value undefined = nullptr;
  napi_get_undefined(env, &undefined);
  arguments.push_back(Number(env, static_cast<int64_t>(output.datatype)));
  arguments.push_back(output.memory ? memory.Wrap(env, output)
                                    : CopyToBuffer(env, outcome.small.data() + output.offset, output.size));
  arguments.push_back(output.datatype == DataType::kString ? ToNumbers(env, output.ends) : undefined);
  arguments.push_back(Number(env, static_cast<int64_t>(output.shape.size())));
  for (const int64_t dimension : output.shape) arguments.push_back(Number(env, dimension));
}

}  // namespace

napi_value ToError(napi_env env, const Status& status) {
  const Napi::String code = Napi::String::New(env, StatusCodeName(status.code()));
  const Napi::String message = Napi::String::New(env, status.message());
  napi_value error = nullptr;
  const napi_status made = napi_create_error(env, code, message, &error);
  NAPI_THROW_IF_FAILED(env, made, nullptr);
  return error;
}

TorchScriptOptions ReadTorchScriptOptions(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "options");
  TorchScriptOptions options;
  options.path = ReadString(object, "path");
  options.inference_mode = ReadBool(object, "inferenceMode");
  if (!object.Get("device").StrictEquals(Napi::String::New(object.Env(), "saved"))) {
    options.device = static_cast<int>(ReadInt(object, "device", -1, kMostGpus));
  }
  options.process = ReadProcessSettings(object);
  return options;
}

AotiOptions ReadAotiOptions(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "options");
  AotiOptions options;
  options.path = ReadString(object, "path");
  options.model_name = ReadString(object, "modelName");
  options.num_runners = static_cast<size_t>(ReadInt(object, "numRunners", 1, kMostRunners));
  options.device = static_cast<int>(ReadInt(object, "device", -1, kMostGpus));
  options.process = ReadProcessSettings(object);
  return options;
}

InstanceOptions ReadInstanceOptions(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "options");
  InstanceOptions options;
  options.name = ReadString(object, "name");
  options.thread.intra_op_threads = static_cast<int>(ReadInt(object, "intraOpThreads", 0, kMostThreads));
  options.thread.inference_mode = ReadBool(object, "inferenceMode");
  options.thread.optimized_execution = ReadBool(object, "optimizedExecution");
  options.thread.cache_cleaning = ReadOptionalBool(object, "cacheCleaning").value_or(false);
  options.plan.batching = ReadBool(object, "batching");
  const Napi::Array inputs = ReadArray(object, "inputs");
  for (uint32_t i = 0; i < inputs.Length(); i++) {
    const Napi::Object slot = ReadObject(inputs.Get(i), "an input slot");
    const bool optional = ReadOptionalBool(slot, "optional").value_or(false);
    options.plan.inputs.push_back({ReadDataType(slot), ReadString(slot, "key"), optional, ReadInputSource(slot)});
  }
  const Napi::Array outputs = ReadArray(object, "outputs");
  if (outputs.Length() > kMostOutputs) ThrowField(object.Env(), "outputs", "an array of at most 4096 slots");
  for (uint32_t i = 0; i < outputs.Length(); i++) {
    options.plan.outputs.push_back(ReadOutputSlot(ReadObject(outputs.Get(i), "an output slot")));
  }
  ReadStateSlots(object, options.plan);
  return options;
}

ModelInitOptions ReadModelInitOptions(const Napi::Value& value) {
  const Napi::Object object = ReadObject(value, "options");
  ModelInitOptions options;
  options.library = ReadString(object, "library");
  options.model_directory = ReadString(object, "modelDirectory");
  options.device = static_cast<int>(ReadInt(object, "device", -1, kMostGpus));
  return options;
}

std::vector<Weight> ReadWeights(const Napi::Value& value) {
  if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), "weights must be an array");
  const auto array = value.As<Napi::Array>();
  std::vector<Weight> weights;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::HandleScope scope(value.Env());
    const Napi::Object object = ReadObject(array.Get(i), "a weight");
    Weight weight;
    weight.name = ReadString(object, "name");
    weight.datatype = static_cast<DataType>(ReadInt(object, "datatype", 1, static_cast<int64_t>(kDataTypeCount) - 1));
    ReadIntegers(value.Env(), ReadArray(object, "shape"), "shape must be an array of numbers", weight.shape);
    weight.bytes = ReadBytes(value.Env(), object.Get("data"), "data must be a Uint8Array");
    weights.push_back(std::move(weight));
  }
  return weights;
}

void ReadBatch(napi_env env, napi_value buffers, napi_value rows, napi_value shapes, Batch& batch) {
  ReadIntegers(env, rows, "rows must be an array of numbers", batch.rows);
  ReadIntegers(env, shapes, "shapes must be an array of numbers", batch.shapes);
  ReadBuffers(env, buffers, batch);
}

void ReadBuffers(napi_env env, napi_value buffers, Batch& batch) {
  batch.buffers.resize(ArrayLength(env, buffers, kBuffersExpected));
  for (uint32_t i = 0; i < batch.buffers.size(); i++) {
    napi_value element = nullptr;
    Check(env, napi_get_element(env, buffers, i, &element), kBuffersExpected);
    batch.buffers[i] = ReadBytes(env, element, kBuffersExpected);
  }
}

void ReadSequences(napi_env env, napi_value sequences, napi_value sides, Batch& batch) {
  constexpr const char* kSequencesExpected = "sequences must be an array";
  batch.states.clear();
  batch.sides.clear();
  napi_valuetype type = napi_undefined;
  napi_typeof(env, sequences, &type);
  if (type == napi_undefined) return;
  batch.states.resize(ArrayLength(env, sequences, kSequencesExpected));
  for (uint32_t i = 0; i < batch.states.size(); i++) {
    napi_value element = nullptr;
    Check(env, napi_get_element(env, sequences, i, &element), kSequencesExpected);
    batch.states[i] = ReadSequence(env, element);
  }
  ReadIntegers(env, sides, "sides must be an array of numbers", batch.sides);
}

void AppendOutcome(napi_env env, Outcome& outcome, MemoryLedger& memory, std::vector<napi_value>& arguments) {
  for (const int64_t time : {outcome.input_ns, outcome.infer_ns, outcome.output_ns}) {
    arguments.push_back(Number(env, time));
  }
  for (Output& output : outcome.outputs) AppendOutput(env, outcome, output, memory, arguments);
}

Napi::Array ToStrings(Napi::Env env, const std::vector<std::string>& strings) {
  Napi::Array array = Napi::Array::New(env, strings.size());
  for (uint32_t i = 0; i < strings.size(); i++) array.Set(i, strings[i]);
  return array;
}

Napi::Array ToWeights(Napi::Env env, const std::vector<WeightInfo>& weights) {
  Napi::Array array = Napi::Array::New(env, weights.size());
  for (uint32_t i = 0; i < weights.size(); i++) {
    Napi::Object object = Napi::Object::New(env);
    object["name"] = weights[i].name;
    object["datatype"] = Napi::Number::New(env, static_cast<double>(weights[i].datatype));
    object["shape"] = Napi::Value(env, ToNumbers(env, weights[i].shape));
    object["isParameter"] = Napi::Boolean::New(env, weights[i].parameter);
    array.Set(i, object);
  }
  return array;
}

Napi::Array ToConflicts(Napi::Env env, const std::vector<SettingConflict>& conflicts) {
  Napi::Array array = Napi::Array::New(env, conflicts.size());
  for (uint32_t i = 0; i < conflicts.size(); i++) {
    Napi::Object object = Napi::Object::New(env);
    object["setting"] = conflicts[i].setting;
    object["value"] = Napi::Number::New(env, conflicts[i].value);
    object["otherValue"] = Napi::Number::New(env, conflicts[i].other_value);
    object["otherOwner"] = conflicts[i].other_owner;
    array.Set(i, object);
  }
  return array;
}

Napi::Object ToSchema(Napi::Env env, const ForwardSchema& schema) {
  Napi::Array arguments = Napi::Array::New(env, schema.arguments.size());
  for (uint32_t i = 0; i < schema.arguments.size(); i++) {
    const SchemaArgument& argument = schema.arguments[i];
    Napi::Object object = Napi::Object::New(env);
    object["name"] = argument.name;
    object["type"] = argument.type;
    object["hasDefault"] = Napi::Boolean::New(env, argument.has_default);
    arguments.Set(i, object);
  }
  Napi::Object object = Napi::Object::New(env);
  object["arguments"] = arguments;
  object["returns"] = ToStrings(env, schema.returns);
  object["wasTraining"] = Napi::Boolean::New(env, schema.was_training);
  return object;
}

}  // namespace nereid
