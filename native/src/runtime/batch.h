// Plain data that goes into and comes out of a run. No torch type, no JS type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/datatype.h"

namespace nereid {

// Largest result whose bytes are copied rather than handed out as memory of their own.
inline constexpr size_t kCopyLimitBytes = 4096;

// One tensor, or list of strings, that a run takes.
struct InputSlot {
  DataType datatype = DataType::kNone;
  std::string key;  // entry of the single dictionary argument; empty: the position is the argument's
  bool optional = false;  // a batch may leave it out
};

// Stands in Batch::shapes for the rank of an input that every request of the batch leaves out.
inline constexpr int64_t kAbsent = -1;

// One result to hand out.
struct OutputSlot {
  int64_t index = 0;  // position in the flattened result; −1: look up `key` in a returned dictionary
  std::string key;
};

// What stays the same from run to run of an instance.
struct RunPlan {
  std::vector<InputSlot> inputs;
  std::vector<OutputSlot> outputs;
  bool batching = false;  // dimension 0 is the batch
};

// Bytes that someone else owns.
struct ByteView {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// One batch of requests. `buffers` borrow: their owner keeps them alive and unchanged until the run is over.
struct Batch {
  std::vector<ByteView> buffers;  // input-major: buffers[input * requests + request]
  std::vector<int64_t> rows;      // of each request; {1} without batching
  std::vector<int64_t> shapes;    // of each input in the first request, each preceded by its rank, or kAbsent

  size_t requests() const { return rows.size(); }
};

// Memory that a result lives in; destroying it returns the memory. Any thread may do so.
class Memory {
 public:
  virtual ~Memory() = default;
};

struct Output {
  DataType datatype = DataType::kNone;
  std::vector<int64_t> shape;
  size_t size = 0;                 // bytes, contiguous
  const uint8_t* data = nullptr;   // of a large result, owned by `memory`
  std::unique_ptr<Memory> memory;  // null: the bytes are in Outcome::small at `offset`
  size_t offset = 0;
  std::vector<uint64_t> ends;  // TYPE_STRING: offset of each element and, last, the end
};

struct Outcome {
  std::vector<Output> outputs;
  std::vector<uint8_t> small;  // bytes of all outputs of at most kCopyLimitBytes
  int64_t input_ns = 0;
  int64_t infer_ns = 0;
  int64_t output_ns = 0;

  const uint8_t* BytesOf(const Output& output) const {
    return output.memory ? output.data : small.data() + output.offset;
  }
};

}  // namespace nereid
