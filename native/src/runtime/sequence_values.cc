#include "runtime/sequence_values.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/sequence_state.h"
#include "runtime/tensor.h"

namespace nereid {
namespace {

// One state of one sequence. Neither: nothing is kept yet.
struct Value {
  at::Tensor tensor;  // contiguous, on the model's device
  std::optional<std::vector<std::string>> strings;
};

class SequenceValues final : public SequenceState {
 public:
  void Release() override {
    for (auto& side : sides_) side.clear();
  }

  // Null: nothing is kept there.
  const Value* Find(int64_t side, size_t state) const {
    if (side == kFresh) return nullptr;
    const auto& values = sides_[side == 0 ? 0 : 1];
    return state < values.size() ? &values[state] : nullptr;
  }

  // The one that a run which read `side` writes.
  Value& Opposite(int64_t side, size_t state) {
    auto& values = sides_[side == 0 ? 1 : 0];
    if (state >= values.size()) values.resize(state + 1);
    return values[state];
  }

 private:
  std::array<std::vector<Value>, 2> sides_;
};

SequenceValues* SequenceOf(const Batch& batch, size_t request) {
  return batch.states.empty() ? nullptr : static_cast<SequenceValues*>(batch.states[request].get());
}

const Value* Kept(const Batch& batch, size_t request, size_t state) {
  const SequenceValues* sequence = SequenceOf(batch, request);
  return sequence == nullptr ? nullptr : sequence->Find(batch.sides[request], state);
}

// Null: a sequence that starts.
const at::Tensor* KeptTensor(const Batch& batch, size_t request, size_t state) {
  const Value* value = Kept(batch, request, state);
  return value != nullptr && value->tensor.defined() ? &value->tensor : nullptr;
}

int64_t RowsOf(const RunPlan& plan, const Batch& batch, size_t request) {
  return plan.batching ? batch.rows[request] : 1;
}

int64_t TotalRows(const RunPlan& plan, const Batch& batch) {
  int64_t total = 0;
  for (size_t request = 0; request < batch.requests(); request++) total += RowsOf(plan, batch, request);
  return total;
}

std::string NameOf(const RunPlan& plan, const Batch& batch, size_t state, size_t request) {
  return "state '" + plan.states[state].name + "' of request " + std::to_string(request) + " of " +
         std::to_string(batch.requests());
}

// Shape of the joined values.
Status JoinedShape(const RunPlan& plan, const Batch& batch, size_t state, std::vector<int64_t>& joined) {
  const std::vector<int64_t>& initial = plan.states[state].shape;
  for (size_t request = 0; request < batch.requests(); request++) {
    const at::Tensor* kept = KeptTensor(batch, request, state);
    std::vector<int64_t> shape = kept == nullptr ? initial : kept->sizes().vec();
    if (plan.batching && kept == nullptr) shape[0] = batch.rows[request];
    if (plan.batching && shape[0] != batch.rows[request]) {
      return Status::InvalidArg(NameOf(plan, batch, state, request) + " has " + std::to_string(shape[0]) +
                                " rows, the request has " + std::to_string(batch.rows[request]));
    }
    if (request == 0) joined = shape;
    if (plan.batching) shape[0] = joined[0];
    if (shape != joined) {
      return Status::InvalidArg(NameOf(plan, batch, state, request) +
                                " has another shape than that of the first; only equal shapes run together");
    }
  }
  if (plan.batching) joined[0] = TotalRows(plan, batch);
  return Status();
}

void Initialise(const StateSlot& slot, at::Tensor rows) {
  if (slot.initial.empty()) {
    rows.zero_();
  } else {
    rows.copy_(at::from_blob(const_cast<uint8_t*>(slot.initial.data()), slot.shape, ScalarTypeOf(slot.datatype)));
  }
}

// Copies `count` rows; on the CPU past the dispatcher, which costs more than the bytes of a small state.
void CopyRows(at::Tensor& target, int64_t target_row, const at::Tensor& source, int64_t source_row, int64_t count) {
  if (!target.is_cpu() || !source.is_cpu()) {
    target.narrow(0, target_row, count).copy_(source.narrow(0, source_row, count));
    return;
  }
  const size_t row = target.nbytes() / static_cast<size_t>(target.size(0));
  std::memcpy(static_cast<uint8_t*>(target.mutable_data_ptr()) + static_cast<size_t>(target_row) * row,
              static_cast<const uint8_t*>(source.const_data_ptr()) + static_cast<size_t>(source_row) * row,
              static_cast<size_t>(count) * row);
}

// The result, to be kept as it is, or a copy if anything else can reach its bytes. A state that is lent may be its own next value.
at::Tensor Whole(const at::Tensor& result, at::Tensor dense, const at::Tensor* lent) {
  if (lent != nullptr && dense.storage().is_alias_of(lent->storage())) return dense;
  return OwnsItsBytes(dense, dense.is_same(result) ? 2 : 1) ? dense : dense.clone();
}

// Copies a request's rows to where the last but one value was, if that has the size.
void KeepRows(Value& value, const at::Tensor& dense, int64_t row, int64_t count) {
  std::vector<int64_t> shape = dense.sizes().vec();
  shape[0] = count;
  const bool fits = value.tensor.defined() && value.tensor.sizes() == at::IntArrayRef(shape) &&
                    value.tensor.scalar_type() == dense.scalar_type() && value.tensor.use_count() == 1 &&
                    value.tensor.storage().use_count() == 1;
  if (!fits) value.tensor = at::empty(shape, dense.options());
  if (value.tensor.numel() > 0) CopyRows(value.tensor, 0, dense, row, count);
}

// Appends a result that is looked at but not handed out.
void AppendShape(DataType datatype, std::vector<int64_t> shape, Outcome& outcome) {
  Output& output = outcome.outputs.emplace_back();
  output.datatype = datatype;
  output.shape = std::move(shape);
  output.offset = outcome.small.size();
}

}  // namespace

std::shared_ptr<SequenceState> SequenceState::Create() { return std::make_shared<SequenceValues>(); }

Status GatherState(const RunPlan& plan, const Batch& batch, size_t state, c10::Device device, at::Tensor& tensor) {
  const StateSlot& slot = plan.states[state];
  std::vector<int64_t> shape;
  NEREID_RETURN_IF_ERROR(JoinedShape(plan, batch, state, shape));
  const at::Tensor* alone = batch.requests() == 1 ? KeptTensor(batch, 0, state) : nullptr;
  if (slot.lent && alone != nullptr) {
    tensor = *alone;
    return Status();
  }
  tensor = at::empty(shape, at::TensorOptions(ScalarTypeOf(slot.datatype)).device(device));
  if (tensor.numel() == 0) return Status();
  if (!plan.batching) {
    if (alone == nullptr) {
      Initialise(slot, tensor);
    } else {
      tensor.copy_(*alone);
    }
    return Status();
  }
  int64_t row = 0;
  for (size_t request = 0; request < batch.requests(); request++) {
    const int64_t count = batch.rows[request];
    if (const at::Tensor* kept = KeptTensor(batch, request, state)) {
      CopyRows(tensor, row, *kept, 0, count);
    } else {
      Initialise(slot, tensor.narrow(0, row, count));
    }
    row += count;
  }
  return Status();
}

Status GatherStrings(const RunPlan& plan, const Batch& batch, size_t state, std::vector<std::string>& strings) {
  const StateSlot& slot = plan.states[state];
  for (size_t request = 0; request < batch.requests(); request++) {
    const Value* kept = Kept(batch, request, state);
    if (kept != nullptr && kept->strings) {
      strings.insert(strings.end(), kept->strings->begin(), kept->strings->end());
      continue;
    }
    std::vector<std::string> initial;
    const ByteView bytes = {slot.initial.data(), slot.initial.size()};
    if (const auto cut_off = ParseStrings(bytes, initial)) {
      return Status::InvalidArg("the initial value of state '" + slot.name + "' ends inside element " +
                                std::to_string(*cut_off));
    }
    for (int64_t row = 0; row < RowsOf(plan, batch, request); row++) {
      strings.insert(strings.end(), initial.begin(), initial.end());
    }
  }
  return Status();
}

Status KeepState(const RunPlan& plan, const Batch& batch, size_t state, const at::Tensor& result, Outcome& outcome) {
  NEREID_RETURN_IF_ERROR(CheckDense(result));
  at::Tensor dense = Dense(result);
  AppendShape(DataTypeOf(dense.scalar_type()), dense.sizes().vec(), outcome);
  if (plan.batching && (dense.dim() == 0 || dense.size(0) != TotalRows(plan, batch))) return Status();
  const StateSlot& slot = plan.states[state];
  int64_t row = 0;
  for (size_t request = 0; request < batch.requests(); request++) {
    const int64_t count = RowsOf(plan, batch, request);
    if (SequenceValues* sequence = SequenceOf(batch, request)) {
      Value& next = sequence->Opposite(batch.sides[request], state);
      if (batch.requests() == 1) {
        next.tensor = Whole(result, std::move(dense), slot.lent ? KeptTensor(batch, request, state) : nullptr);
      } else {
        KeepRows(next, dense, row, count);
      }
    }
    row += count;
  }
  return Status();
}

Status KeepStrings(const RunPlan& plan, const Batch& batch, size_t state, const c10::List<std::string>& result,
                   Outcome& outcome) {
  const auto size = static_cast<int64_t>(result.size());
  AppendShape(DataType::kString, {size}, outcome);
  if (plan.batching && size != TotalRows(plan, batch)) return Status();
  size_t next = 0;
  for (size_t request = 0; request < batch.requests(); request++) {
    const size_t count = plan.batching ? static_cast<size_t>(batch.rows[request]) : result.size();
    std::vector<std::string> strings;
    for (size_t i = 0; i < count; i++) strings.push_back(result.get(next++));
    if (SequenceValues* sequence = SequenceOf(batch, request)) {
      sequence->Opposite(batch.sides[request], state).strings = std::move(strings);
    }
  }
  return Status();
}

}  // namespace nereid
