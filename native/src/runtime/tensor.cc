#include "runtime/tensor.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

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

constexpr c10::ScalarType ScalarTypeOf(DataType datatype) { return kScalarTypes[static_cast<size_t>(datatype)]; }

static_assert(ScalarTypeOf(DataType::kUint8) == c10::ScalarType::Byte);
static_assert(ScalarTypeOf(DataType::kInt8) == c10::ScalarType::Char);
static_assert(ScalarTypeOf(DataType::kFp16) == c10::ScalarType::Half);
static_assert(ScalarTypeOf(DataType::kString) == c10::ScalarType::Undefined);
static_assert(ScalarTypeOf(DataType::kBf16) == c10::ScalarType::BFloat16);

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

bool AllBooleans(const ByteView* buffers, size_t count) {
  return std::all_of(buffers, buffers + count, [](const ByteView& buffer) {
    return std::all_of(buffer.data, buffer.data + buffer.size, [](uint8_t byte) { return byte <= 1; });
  });
}

// Whether dropping `tensor` would free its bytes: they are not borrowed from a request (such a pointer has no context
// to free), no other tensor and no view shares them, and they are not a corner of something larger.
bool OwnsItsBytes(const at::Tensor& tensor, size_t references) {
  const at::Storage& storage = tensor.storage();
  return storage.data_ptr().get_context() != nullptr && tensor.use_count() == references && storage.use_count() == 1 &&
         storage.nbytes() / 2 <= tensor.nbytes();
}

// On the CPU, contiguous, with lazy conjugation and negation done. The checks keep the dispatcher out of the usual
// case, which needs nothing.
at::Tensor Dense(const at::Tensor& tensor) {
  at::Tensor dense = tensor.is_cpu() ? tensor : tensor.cpu();
  if (dense.is_conj()) dense = dense.resolve_conj();
  if (dense.is_neg()) dense = dense.resolve_neg();
  return dense.contiguous();
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

Status CheckBatch(const RunPlan& plan, const Batch& batch) {
  const size_t expected = plan.inputs.size() * batch.requests();
  if (batch.buffers.size() != expected) {
    return Status::InvalidArg("a batch of " + std::to_string(batch.requests()) + " requests with " +
                              std::to_string(plan.inputs.size()) + " inputs each has " + std::to_string(expected) +
                              " buffers, got " + std::to_string(batch.buffers.size()));
  }
  if (!plan.batching && batch.requests() != 1) {
    return Status::InvalidArg("the instance does not batch and takes one request at a time, got " +
                              std::to_string(batch.requests()));
  }
  size_t position = 0;
  for (size_t input = 0; input < plan.inputs.size(); input++) {
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

InputReader::InputReader(const RunPlan& plan, const Batch& batch) : plan_(plan), batch_(batch) {
  for (const int64_t rows : batch.rows) total_rows_ += rows;
}

Status InputReader::Next(Input& input) {
  const InputSlot& slot = plan_.inputs[input_];
  input.name = slot.key.empty() ? "input " + std::to_string(input_) : "input '" + slot.key + "'";
  input.buffers = batch_.buffers.data() + input_ * batch_.requests();
  const int64_t rank = batch_.shapes[shape_position_++];
  const auto first = batch_.shapes.begin() + static_cast<ptrdiff_t>(shape_position_);
  input.shape.assign(first, first + rank);
  shape_position_ += static_cast<size_t>(rank);
  input_++;

  if (plan_.batching) {
    if (rank == 0) return Status::InvalidArg(input.name + " has no batch dimension");
    input.shape[0] = total_rows_;
  }
  input.elements_per_row = 1;
  for (size_t i = plan_.batching ? 1 : 0; i < input.shape.size(); i++) {
    if (input.shape[i] < 0) return Status::InvalidArg(input.name + " has a negative dimension");
    if (__builtin_mul_overflow(input.elements_per_row, input.shape[i], &input.elements_per_row)) {
      return Status::InvalidArg(input.name + " has more elements than fit in 64 bits");
    }
  }
  return Status();
}

Status InputReader::CheckSizes(const Input& input, size_t element_size) const {
  for (size_t request = 0; request < batch_.requests(); request++) {
    const int64_t rows = plan_.batching ? batch_.rows[request] : 1;
    int64_t expected = 0;
    const bool overflow = __builtin_mul_overflow(input.elements_per_row, rows, &expected) ||
                          __builtin_mul_overflow(expected, static_cast<int64_t>(element_size), &expected);
    if (overflow || input.buffers[request].size != static_cast<size_t>(expected)) {
      return Status::InvalidArg(input.name + " of request " + std::to_string(request) + " needs " +
                                (overflow ? "more bytes than fit in 64 bits" : std::to_string(expected) + " bytes") +
                                ", got " + std::to_string(input.buffers[request].size));
    }
  }
  return Status();
}

bool InputReader::SkipAbsent() {
  if (batch_.shapes[shape_position_] != kAbsent) return false;
  shape_position_++;
  input_++;
  return true;
}

Status InputReader::NextTensor(at::Tensor& tensor) {
  const DataType datatype = plan_.inputs[input_].datatype;
  Input input;
  NEREID_RETURN_IF_ERROR(Next(input));
  const size_t element_size = InfoOf(datatype).element_size;
  NEREID_RETURN_IF_ERROR(CheckSizes(input, element_size));

  const auto options = at::TensorOptions(ScalarTypeOf(datatype));
  const size_t requests = batch_.requests();
  if (total_rows_ * input.elements_per_row == 0) {
    tensor = at::empty(input.shape, options);
    return Status();
  }
  const bool clean = datatype != DataType::kBool || AllBooleans(input.buffers, requests);
  if (clean && InOnePiece(input.buffers, requests) && IsAligned(input.buffers[0].data, element_size)) {
    tensor = at::from_blob(const_cast<uint8_t*>(input.buffers[0].data), input.shape, options);
    return Status();
  }
  tensor = at::empty(input.shape, options);
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_data_ptr());
  CopyInto(bytes, input.buffers, requests);
  if (!clean) std::transform(bytes, bytes + tensor.nbytes(), bytes, [](uint8_t byte) { return byte != 0; });
  return Status();
}

Status InputReader::NextStrings(std::vector<std::string>& strings) {
  Input input;
  NEREID_RETURN_IF_ERROR(Next(input));
  for (size_t request = 0; request < batch_.requests(); request++) {
    const int64_t expected = input.elements_per_row * (plan_.batching ? batch_.rows[request] : 1);
    const ByteView& buffer = input.buffers[request];
    int64_t found = 0;
    for (size_t position = 0; position < buffer.size; found++) {
      uint32_t length = 0;
      const size_t left = buffer.size - position;
      if (left >= kLengthBytes) std::memcpy(&length, buffer.data + position, kLengthBytes);
      if (left < kLengthBytes || left - kLengthBytes < length) {
        return Status::InvalidArg(input.name + " of request " + std::to_string(request) + " ends inside element " +
                                  std::to_string(found));
      }
      strings.emplace_back(reinterpret_cast<const char*>(buffer.data) + position + kLengthBytes, length);
      position += kLengthBytes + length;
    }
    if (found != expected) {
      return Status::InvalidArg(input.name + " of request " + std::to_string(request) + " needs " +
                                std::to_string(expected) + " strings, got " + std::to_string(found));
    }
  }
  return Status();
}

Status AppendTensor(const at::Tensor& tensor, Outcome& outcome) {
  if (!tensor.defined()) return Status::Internal("the model returned an undefined tensor");
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || tensor.is_meta()) {
    return Status::Internal("the model returned a tensor that has no dense memory: " + tensor.toString());
  }
  at::Tensor dense = Dense(tensor);
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
