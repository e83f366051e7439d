// Tensors from and to bytes. Includes torch headers; for the models' sources only.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/batch.h"
#include "runtime/status.h"

namespace nereid {

// kNone for a dtype that has no number.
DataType DataTypeOf(c10::ScalarType type);

// Undefined where torch has no dtype.
c10::ScalarType ScalarTypeOf(DataType datatype);

// A contiguous tensor on the CPU with a copy of the bytes. INVALID_ARG unless they are as many as the shape takes.
Status CopyTensor(DataType datatype, const std::vector<int64_t>& shape, const ByteView& bytes, at::Tensor& tensor);

// Appends the elements of length-prefixed strings. Index of the element that is cut off, if one is.
std::optional<size_t> ParseStrings(const ByteView& bytes, std::vector<std::string>& strings);

// Checks what concerns a plan on any model: one state slot per input that is a state, initial values of the right size.
Status CheckPlan(const RunPlan& plan);

// Checks what concerns a batch as a whole: the number of buffers, one shape per input, one state per request. Call it
// before an InputReader.
Status CheckBatch(const RunPlan& plan, const Batch& batch);

// Reads the inputs of a checked batch one after the other.
class InputReader {
 public:
  // Plan and batch are borrowed. Tensors are wanted on `device`.
  InputReader(const RunPlan& plan, const Batch& batch, c10::Device device);

  // The next input, which must not be strings, as a tensor. On the CPU it views the borrowed bytes when those of all
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
    const ByteView* buffers;
    size_t buffer_count = 0;
    bool by_request = false;       // each buffer holds the rows of a request; otherwise they hold the whole together
    int64_t elements_per_row = 0;  // of the whole unless by_request
    std::string name;              // for messages
  };

  Status Next(Input& input);
  Status CheckSizes(const Input& input, size_t element_size) const;
  Status NextOnCpu(at::Tensor& tensor);
  int64_t RowsOf(size_t request) const { return plan_.batching ? batch_.rows[request] : 1; }
  bool NextIsState() const { return plan_.inputs[input_].source == InputSource::kState; }

  const RunPlan& plan_;
  const Batch& batch_;
  const c10::Device device_;
  int64_t total_rows_ = 0;
  size_t input_ = 0;
  size_t state_ = 0;
  size_t buffer_position_ = 0;
  size_t shape_position_ = 0;
};

// Refuses a result that has no dense memory.
Status CheckDense(const at::Tensor& tensor);

// Contiguous, with lazy conjugation and negation done.
at::Tensor Dense(const at::Tensor& tensor);

// Whether dropping `tensor`, to which the caller holds `references`, would free its bytes: they are not borrowed from a
// request, no other tensor and no view shares them, and they are not a corner of something larger.
bool OwnsItsBytes(const at::Tensor& tensor, size_t references);

// Appends a result. Small ones are copied; a large one is kept, as a clone if anything else can reach its storage.
// `tensor` must be the caller's only reference, and the borrowed inputs must still be alive.
Status AppendTensor(const at::Tensor& tensor, Outcome& outcome);

// Appends a list of strings, each as 4-byte little-endian length and bytes.
Status AppendStrings(const c10::List<std::string>& strings, Outcome& outcome);

// The error for an output position that the result does not have.
Status NoSuchOutput(int64_t index, size_t count);

}  // namespace nereid
