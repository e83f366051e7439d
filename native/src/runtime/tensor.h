// Tensors from and to bytes. Includes torch headers; for the models' sources only.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "runtime/batch.h"
#include "runtime/status.h"

namespace nereid {

// kNone for a dtype that has no number.
DataType DataTypeOf(c10::ScalarType type);

// A contiguous tensor on the CPU with a copy of the bytes. INVALID_ARG unless they are as many as the shape takes.
Status CopyTensor(DataType datatype, const std::vector<int64_t>& shape, const ByteView& bytes, at::Tensor& tensor);

// Checks what concerns a batch as a whole: one buffer per input and request, one shape per input. Call it before
// an InputReader.
Status CheckBatch(const RunPlan& plan, const Batch& batch);

// Reads the inputs of a checked batch one after the other.
class InputReader {
 public:
  // Both are borrowed.
  InputReader(const RunPlan& plan, const Batch& batch);

  // The next input, which must not be strings, as a tensor on the CPU. It views the borrowed bytes when those of all
  // requests lie in one piece and are aligned to the element; otherwise it owns a copy. Booleans other than 0 and 1
  // become 1, in a copy.
  Status NextTensor(at::Tensor& tensor);

  // The next input as strings: those of all requests, in order.
  Status NextStrings(std::vector<std::string>& strings);

  // Passes over the next input if the batch leaves it out.
  bool SkipAbsent();

  // Slot of the next input; null at the end.
  const InputSlot* Peek() const { return input_ < plan_.inputs.size() ? &plan_.inputs[input_] : nullptr; }

 private:
  struct Input {
    std::vector<int64_t> shape;  // of the whole batch
    const ByteView* buffers;     // one per request
    int64_t elements_per_row = 0;
    std::string name;  // for messages
  };

  Status Next(Input& input);
  Status CheckSizes(const Input& input, size_t element_size) const;

  const RunPlan& plan_;
  const Batch& batch_;
  int64_t total_rows_ = 0;
  size_t input_ = 0;
  size_t shape_position_ = 0;
};

// Appends a result. Small ones are copied; a large one is kept, as a clone if anything else can reach its storage.
// `tensor` must be the caller's only reference, and the borrowed inputs must still be alive.
Status AppendTensor(const at::Tensor& tensor, Outcome& outcome);

// Appends a list of strings, each as 4-byte little-endian length and bytes.
Status AppendStrings(const c10::List<std::string>& strings, Outcome& outcome);

// The error for an output position that the result does not have.
Status NoSuchOutput(int64_t index, size_t count);

}  // namespace nereid
