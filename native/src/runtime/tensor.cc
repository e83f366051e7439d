#include "runtime/tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "runtime/sequence_values.h"

namespace nereid {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes cross the wire in little-endian order, unconverted");

// Side by side with kDataTypes; Undefined where torch has no dtype.
constexpr std::array<c10::ScalarType, kDataTypeCount> kScalarTypes = {
    c10::ScalarType::Undefined, c10::ScalarType::Bool,      c10::ScalarType::Byte,     c10::ScalarType::UInt16,
    c10::ScalarType::UInt32,    c10::ScalarType::UInt64,    c10::ScalarType::Char,     c10::ScalarType::Short,
    c10::ScalarType::Int,       c10::ScalarType::Long,      c10::ScalarType::Half,     c10::ScalarType::Float,
    c10::ScalarType::Double,    c10::ScalarType::Undefined, c10::ScalarType::BFloat16,
};

constexpr c10::ScalarType At(DataType datatype) { return kScalarTypes[static_cast<size_t>(datatype)]; }

static_assert(At(DataType::kUint8) == c10::ScalarType::Byte);
static_assert(At(DataType::kInt8) == c10::ScalarType::Char);
static_assert(At(DataType::kFp16) == c10::ScalarType::Half);
static_assert(At(DataType::kString) == c10::ScalarType::Undefined);
static_assert(At(DataType::kBf16) == c10::ScalarType::BFloat16);

class TensorMemory final : public Memory {
 public:
  explicit TensorMemory(at::Tensor tensor) : tensor_(std::move(tensor)) {}

 private:
  at::Tensor tensor_;
};

class BytesMemory final : public Memory {
 public:
  explicit BytesMemory(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

 private:
  std::vector<uint8_t> bytes_;
};

constexpr size_t kLengthBytes = sizeof(uint32_t);

bool InOnePiece(const ByteView* buffers, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (buffers[i].data != buffers[i - 1].data + buffers[i - 1].size) return false;
  }
  return true;
}

bool IsAligned(const uint8_t* data, size_t alignment) { return reinterpret_cast<uintptr_t>(data) % alignment == 0; }

void CopyInto(uint8_t* target, const ByteView* buffers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (buffers[i].size == 0) continue;
    std::memcpy(target, buffers[i].data, buffers[i].size);
    target += buffers[i].size;
  }
}

size_t BufferCount(const InputSlot& slot, const Batch& batch) {
  if (slot.source == InputSource::kState) return 0;
  return slot.source == InputSource::kWhole ? 1 : batch.requests();
}

bool AllBooleans(const ByteView* buffers, size_t count) {
  return std::all_of(buffers, buffers + count, [](const ByteView& buffer) {
    return std::all_of(buffer.data, buffer.data + buffer.size, [](uint8_t byte) { return byte <= 1; });
  });
}

void AppendBytes(std::vector<uint8_t>& target, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  target.insert(target.end(), bytes, bytes + size);
}

}  // namespace

DataType DataTypeOf(c10::ScalarType type) {
  if (type == c10::ScalarType::Undefined) return DataType::kNone;
  const auto found = std::find(kScalarTypes.begin(), kScalarTypes.end(), type);
  return found == kScalarTypes.end() ? DataType::kNone : static_cast<DataType>(found - kScalarTypes.begin());
}

c10::ScalarType ScalarTypeOf(DataType datatype) { return At(datatype); }

Status CopyTensor(DataType datatype, const std::vector<int64_t>& shape, const ByteView& bytes, at::Tensor& tensor) {
  size_t expected = InfoOf(datatype).element_size;
  if (expected == 0) return Status::InvalidArg(std::string("no tensor is ") + InfoOf(datatype).name);
  for (const int64_t dimension : shape) expected *= static_cast<size_t>(dimension);
  if (bytes.size != expected) {
    return Status::InvalidArg("the shape takes " + std::to_string(expected) + " bytes, got " +
                              std::to_string(bytes.size));
  }
  tensor = at::empty(shape, at::TensorOptions(ScalarTypeOf(datatype)));
  if (expected > 0) std::memcpy(tensor.mutable_data_ptr(), bytes.data, expected);
  return Status();
}

std::optional<size_t> ParseStrings(const ByteView& bytes, std::vector<std::string>& strings) {
  size_t found = 0;
  for (size_t position = 0; position < bytes.size; found++) {
    uint32_t length = 0;
    const size_t left = bytes.size - position;
    if (left >= kLengthBytes) std::memcpy(&length, bytes.data + position, kLengthBytes);
    if (left < kLengthBytes || left - kLengthBytes < length) return found;
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data) + position + kLengthBytes, length);
    position += kLengthBytes + length;
  }
  return std::nullopt;
}

Status CheckPlan(const RunPlan& plan) {
  const auto states = std::count_if(plan.inputs.begin(), plan.inputs.end(),
                                    [](const InputSlot& slot) { return slot.source == InputSource::kState; });
  if (static_cast<size_t>(states) != plan.states.size()) {
    return Status::InvalidArg(std::to_string(states) + " inputs are states, but " + std::to_string(plan.states.size()) +
                              " states are described");
  }
  for (const StateSlot& slot : plan.states) {
    if (slot.datatype == DataType::kNone) return Status::InvalidArg("every state needs a datatype");
    if (plan.batching && slot.shape.empty()) {
      return Status::InvalidArg("state '" + slot.name + "' has no batch dimension");
    }
    size_t expected = InfoOf(slot.datatype).element_size;
    for (const int64_t dimension : slot.shape) expected *= static_cast<size_t>(dimension);
    if (slot.datatype == DataType::kString || slot.initial.empty() || slot.initial.size() == expected) continue;
    return Status::InvalidArg("the initial value of state '" + slot.name + "' takes " + std::to_string(expected) +
                              " bytes, got " + std::to_string(slot.initial.size()));
  }
  return Status();
}

Status CheckBatch(const RunPlan& plan, const Batch& batch) {
  size_t expected = 0;
  for (const InputSlot& slot : plan.inputs) expected += BufferCount(slot, batch);
  if (batch.buffers.size() != expected) {
    return Status::InvalidArg("a batch of " + std::to_string(batch.requests()) + " requests with " +
                              std::to_string(plan.inputs.size()) + " inputs each has " + std::to_string(expected) +
                              " buffers, got " + std::to_string(batch.buffers.size()));
  }
  if (batch.states.size() != batch.sides.size() || (!batch.states.empty() && batch.states.size() != batch.requests())) {
    return Status::InvalidArg("a batch has one state and one side per request, or none");
  }
  if (!plan.batching && batch.requests() != 1) {
    return Status::InvalidArg("the instance does not batch and takes one request at a time, got " +
                              std::to_string(batch.requests()));
  }
  size_t position = 0;
  for (size_t input = 0; input < plan.inputs.size(); input++) {
    if (plan.inputs[input].source == InputSource::kState) continue;
    const bool stated = position < batch.shapes.size();
    if (stated && batch.shapes[position] == kAbsent && plan.inputs[input].optional) {
      position++;
      continue;
    }
    const int64_t rank = stated ? batch.shapes[position] : -1;
    const int64_t left = static_cast<int64_t>(batch.shapes.size() - position) - 1;
    if (rank < 0 || rank > left)
      return Status::InvalidArg("shapes holds no complete shape for input " + std::to_string(input));
    position += static_cast<size_t>(rank) + 1;
  }
  if (position != batch.shapes.size()) return Status::InvalidArg("shapes holds more than one shape for each input");
  const bool negative = std::any_of(batch.rows.begin(), batch.rows.end(), [](int64_t rows) { return rows < 0; });
  return negative ? Status::InvalidArg("rows must not be negative") : Status();
}

InputReader::InputReader(const RunPlan& plan, const Batch& batch, c10::Device device)
    : plan_(plan), batch_(batch), device_(device) {
  for (const int64_t rows : batch.rows) total_rows_ += rows;
}

Status InputReader::Next(Input& input) {
  const InputSlot& slot = plan_.inputs[input_];
  input.name = slot.key.empty() ? "input " + std::to_string(input_) : "input '" + slot.key + "'";
  input.buffers = batch_.buffers.data() + buffer_position_;
  input.buffer_count = BufferCount(slot, batch_);
  input.by_request = slot.source == InputSource::kRows;
  buffer_position_ += input.buffer_count;
  const int64_t rank = batch_.shapes[shape_position_++];
  const auto first = batch_.shapes.begin() + static_cast<ptrdiff_t>(shape_position_);
  input.shape.assign(first, first + rank);
  shape_position_ += static_cast<size_t>(rank);
  input_++;

  const bool batched = plan_.batching && input.by_request;
  if (batched) {
    if (rank == 0) return Status::InvalidArg(input.name + " has no batch dimension");
    input.shape[0] = total_rows_;
  }
  input.elements_per_row = 1;
  for (size_t i = batched ? 1 : 0; i < input.shape.size(); i++) {
    if (input.shape[i] < 0) return Status::InvalidArg(input.name + " has a negative dimension");
    if (__builtin_mul_overflow(input.elements_per_row, input.shape[i], &input.elements_per_row)) {
      return Status::InvalidArg(input.name + " has more elements than fit in 64 bits");
    }
  }
  return Status();
}

Status InputReader::CheckSizes(const Input& input, size_t element_size) const {
  int64_t given = 0;
  for (size_t i = 0; i < input.buffer_count; i++) {
    given += static_cast<int64_t>(input.buffers[i].size);
    const bool last = i + 1 == input.buffer_count;
    if (!input.by_request && !last) continue;
    int64_t expected = 0;
    const bool overflow = __builtin_mul_overflow(input.elements_per_row, input.by_request ? RowsOf(i) : 1, &expected) ||
                          __builtin_mul_overflow(expected, static_cast<int64_t>(element_size), &expected);
    if (overflow || given != expected) {
      return Status::InvalidArg(input.name + (input.by_request ? " of request " + std::to_string(i) : "") + " needs " +
                                (overflow ? "more bytes than fit in 64 bits" : std::to_string(expected) + " bytes") +
                                ", got " + std::to_string(given));
    }
    given = 0;
  }
  return Status();
}

bool InputReader::SkipAbsent() {
  if (NextIsState() || batch_.shapes[shape_position_] != kAbsent) return false;
  buffer_position_ += BufferCount(plan_.inputs[input_], batch_);
  shape_position_++;
  input_++;
  return true;
}

Status InputReader::NextTensor(at::Tensor& tensor) {
  if (NextIsState()) {
    input_++;
    return GatherState(plan_, batch_, state_++, device_, tensor);
  }
  NEREID_RETURN_IF_ERROR(NextOnCpu(tensor));
  if (!device_.is_cpu()) tensor = tensor.to(device_);
  return Status();
}

Status InputReader::NextOnCpu(at::Tensor& tensor) {
  const DataType datatype = plan_.inputs[input_].datatype;
  Input input;
  NEREID_RETURN_IF_ERROR(Next(input));
  const size_t element_size = InfoOf(datatype).element_size;
  NEREID_RETURN_IF_ERROR(CheckSizes(input, element_size));

  const auto options = at::TensorOptions(ScalarTypeOf(datatype));
  const size_t count = input.buffer_count;
  if ((input.by_request ? total_rows_ : 1) * input.elements_per_row == 0) {
    tensor = at::empty(input.shape, options);
    return Status();
  }
  const bool clean = datatype != DataType::kBool || AllBooleans(input.buffers, count);
  if (clean && InOnePiece(input.buffers, count) && IsAligned(input.buffers[0].data, element_size)) {
    tensor = at::from_blob(const_cast<uint8_t*>(input.buffers[0].data), input.shape, options);
    return Status();
  }
  tensor = at::empty(input.shape, options);
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_data_ptr());
  CopyInto(bytes, input.buffers, count);
  if (!clean) std::transform(bytes, bytes + tensor.nbytes(), bytes, [](uint8_t byte) { return byte != 0; });
  return Status();
}

Status InputReader::NextStrings(std::vector<std::string>& strings) {
  if (NextIsState()) {
    input_++;
    return GatherStrings(plan_, batch_, state_++, strings);
  }
  Input input;
  NEREID_RETURN_IF_ERROR(Next(input));
  for (size_t i = 0; i < input.buffer_count; i++) {
    const size_t before = input.by_request ? strings.size() : 0;
    if (const auto cut_off = ParseStrings(input.buffers[i], strings)) {
      return Status::InvalidArg(input.name + " of request " + std::to_string(i) + " ends inside element " +
                                std::to_string(*cut_off));
    }
    if (!input.by_request && i + 1 < input.buffer_count) continue;
    const int64_t expected = input.elements_per_row * (input.by_request ? RowsOf(i) : 1);
    const size_t found = strings.size() - before;
    if (static_cast<int64_t>(found) != expected) {
      return Status::InvalidArg(input.name + " of request " + std::to_string(i) + " needs " + std::to_string(expected) +
                                " strings, got " + std::to_string(found));
    }
  }
  return Status();
}

Status CheckDense(const at::Tensor& tensor) {
  if (!tensor.defined()) return Status::Internal("the model returned an undefined tensor");
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || tensor.is_meta()) {
    return Status::Internal("the model returned a tensor that has no dense memory: " + tensor.toString());
  }
  return Status();
}

// The checks keep the dispatcher out of the usual case, which needs nothing.
at::Tensor Dense(const at::Tensor& tensor) {
  at::Tensor dense = tensor;
  if (dense.is_conj()) dense = dense.resolve_conj();
  if (dense.is_neg()) dense = dense.resolve_neg();
  return dense.contiguous();
}

// A pointer to bytes that are borrowed has no context to free.
bool OwnsItsBytes(const at::Tensor& tensor, size_t references) {
  const at::Storage& storage = tensor.storage();
  return storage.data_ptr().get_context() != nullptr && tensor.use_count() == references && storage.use_count() == 1 &&
         storage.nbytes() / 2 <= tensor.nbytes();
}

Status AppendTensor(const at::Tensor& tensor, Outcome& outcome) {
  NEREID_RETURN_IF_ERROR(CheckDense(tensor));
  at::Tensor dense = Dense(tensor.is_cpu() ? tensor : tensor.cpu());
  Output& output = outcome.outputs.emplace_back();
  output.datatype = DataTypeOf(dense.scalar_type());
  output.shape = dense.sizes().vec();
  output.size = dense.nbytes();
  if (output.size <= kCopyLimitBytes) {
    output.offset = outcome.small.size();
    AppendBytes(outcome.small, dense.const_data_ptr(), output.size);
    return Status();
  }
  // The caller's reference and ours, unless `dense` was made here.
  if (!OwnsItsBytes(dense, dense.is_same(tensor) ? 2 : 1)) dense = dense.clone();
  output.data = static_cast<const uint8_t*>(dense.const_data_ptr());
  output.memory = std::make_unique<TensorMemory>(std::move(dense));
  return Status();
}

Status AppendStrings(const c10::List<std::string>& strings, Outcome& outcome) {
  Output output;
  output.datatype = DataType::kString;
  output.shape = {static_cast<int64_t>(strings.size())};
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < strings.size(); i++) {
    const std::string text = strings.get(i);
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      return Status::Internal("the model returned a string of " + std::to_string(text.size()) +
                              " bytes, more than a 4-byte length can state");
    }
    const auto length = static_cast<uint32_t>(text.size());
    output.ends.push_back(bytes.size());
    AppendBytes(bytes, &length, kLengthBytes);
    AppendBytes(bytes, text.data(), text.size());
  }
  output.ends.push_back(bytes.size());
  output.size = bytes.size();
  if (output.size <= kCopyLimitBytes) {
    output.offset = outcome.small.size();
    AppendBytes(outcome.small, bytes.data(), bytes.size());
  } else {
    output.data = bytes.data();  // stays where it is when the vector moves
    output.memory = std::make_unique<BytesMemory>(std::move(bytes));
  }
  outcome.outputs.push_back(std::move(output));
  return Status();
}

Status NoSuchOutput(int64_t index, size_t count) {
  return Status::InvalidArg(
      "The output at index " + std::to_string(index) +
      " in the model configuration refers to an output index which doesn't exist. This model has " +
      std::to_string(count) + " outputs");
}

}  // namespace nereid
