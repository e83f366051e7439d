// Plain data that goes into and comes out of a run. No torch type, no JS type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/datatype.h"
#include "runtime/sequence_state.h"

namespace nereid {

// Largest result whose bytes are copied rather than handed out as memory of their own.
inline constexpr size_t kCopyLimitBytes = 4096;

// What an input is made of.
enum class InputSource : uint8_t {
  kRows,    // a buffer per request, joined along dimension 0 when batching
  kJoined,  // a buffer per request, one after the other; the shape is that of the whole
  kWhole,   // one buffer for the batch, with its shape
  kState,   // no buffer and no shape: what is kept of each sequence
};

// One tensor, or list of strings, that a run takes.
struct InputSlot {
  DataType datatype = DataType::kNone;
  std::string key;  // entry of the single dictionary argument; empty: the position is the argument's
  bool optional = false;  // a batch may leave it out
  InputSource source = InputSource::kRows;
};

// Stands in Batch::shapes for the rank of an input that every request of the batch leaves out.
inline constexpr int64_t kAbsent = -1;

// One result to hand out.
struct OutputSlot {
  int64_t index = 0;  // position in the flattened result; −1: look up `key` in a returned dictionary
  std::string key;
};

// A value that each sequence keeps from one run to the next.
struct StateSlot {
  std::string name;  // for messages
  DataType datatype = DataType::kNone;
  OutputSlot output;             // the result that is the next value
  std::vector<int64_t> shape;    // of the initial value; of one row, with 1 in front, when batching
  std::vector<uint8_t> initial;  // its bytes; empty: zeros
  bool lent = false;  // a run of one request gets the kept memory itself and may write into it; otherwise a copy
};

// What stays the same from run to run of an instance.
struct RunPlan {
  std::vector<InputSlot> inputs;
  std::vector<OutputSlot> outputs;
  std::vector<StateSlot> states;  // one per input that is a state, in the same order
  bool batching = false;  // dimension 0 is the batch
};

// Bytes that someone else owns.
struct ByteView {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

// Stands in Batch::sides for a sequence that keeps nothing yet.
inline constexpr int64_t kFresh = -1;

// One batch of requests. `buffers` borrow: their owner keeps them alive and unchanged until the run is over.
struct Batch {
  std::vector<ByteView> buffers;  // input after input, each with as many as its source says, in the order of requests
  std::vector<int64_t> rows;      // of each request; {1} without batching
  std::vector<int64_t> shapes;    // of each input in the first request, each preceded by its rank, or kAbsent
  // What each request's sequence keeps, and the side that is read, or kFresh. Null: it starts, and nothing is kept. Both empty: so do all.
  std::vector<std::shared_ptr<SequenceState>> states;
  std::vector<int64_t> sides;

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
