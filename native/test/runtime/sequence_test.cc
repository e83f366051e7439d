#include "runtime/sequence_values.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <cstring>

#include "runtime/sequence_state.h"
#include "runtime/tensor.h"

#include "check.h"  // last: torch has a CHECK of its own

namespace nereid {
namespace {

using Sequence = std::shared_ptr<SequenceState>;

RunPlan PlanOf(std::vector<int64_t> shape, std::vector<float> initial = {}, bool batching = true) {
  RunPlan plan;
  plan.batching = batching;
  plan.inputs.push_back({DataType::kFp32, "", false, InputSource::kState});
  StateSlot slot;
  slot.name = "s";
  slot.datatype = DataType::kFp32;
  slot.shape = std::move(shape);
  slot.initial.resize(initial.size() * sizeof(float));
  if (!initial.empty()) std::memcpy(slot.initial.data(), initial.data(), slot.initial.size());
  plan.states.push_back(std::move(slot));
  return plan;
}

Batch BatchOf(std::vector<Sequence> sequences, std::vector<int64_t> sides, std::vector<int64_t> rows) {
  return {{}, std::move(rows), {}, std::move(sequences), std::move(sides)};
}

at::Tensor Gathered(const RunPlan& plan, const Batch& batch) {
  at::Tensor tensor;
  const Status status = GatherState(plan, batch, 0, c10::kCPU, tensor);
  CHECK_EQ(status.message(), "");
  return tensor;
}

// Keeps a result that nothing else refers to.
Outcome Keep(const RunPlan& plan, const Batch& batch, at::Tensor result) {
  Outcome outcome;
  CHECK(KeepState(plan, batch, 0, result, outcome).ok());
  return outcome;
}

const void* Bytes(const at::Tensor& tensor) { return tensor.const_data_ptr(); }

}  // namespace

TEST(sequence, starts_with_the_initial_value_in_every_row) {
  const RunPlan plan = PlanOf({1, 2}, {1, 2});
  CHECK(Gathered(plan, BatchOf({}, {}, {1, 2})).equal(at::arange(1, 3, at::kFloat).repeat({3, 1})));
  CHECK(Gathered(PlanOf({1, 2}), BatchOf({}, {}, {3})).equal(at::full({3, 2}, 0.0)));
  CHECK(Gathered(PlanOf({2}, {1, 2}, false), BatchOf({}, {}, {1})).equal(at::arange(1, 3, at::kFloat)));
}

TEST(sequence, reads_one_side_and_writes_the_other) {
  const RunPlan plan = PlanOf({1, 1});
  const std::vector<Sequence> both = {SequenceState::Create(), SequenceState::Create()};
  Keep(plan, BatchOf(both, {kFresh, kFresh}, {1, 1}), at::arange(1, 3, at::kFloat).view({2, 1}));
  Keep(plan, BatchOf(both, {0, 0}, {1, 1}), at::arange(3, 5, at::kFloat).view({2, 1}));
  CHECK(Gathered(plan, BatchOf(both, {0, 1}, {1, 1})).equal(at::tensor({1.F, 4.F}).view({2, 1})));
}

TEST(sequence, keeps_rows_in_the_memory_of_the_value_before_the_last) {
  const RunPlan plan = PlanOf({1, 1});
  const std::vector<Sequence> both = {SequenceState::Create(), SequenceState::Create()};
  const auto lent = [&](int64_t side) {
    RunPlan lending = plan;
    lending.states[0].lent = true;
    return Bytes(Gathered(lending, BatchOf({both[0]}, {side}, {1})));
  };
  Keep(plan, BatchOf(both, {kFresh, kFresh}, {1, 1}), at::ones({2, 1}));
  const void* first = lent(0);
  Keep(plan, BatchOf(both, {0, 0}, {1, 1}), at::ones({2, 1}));
  Keep(plan, BatchOf(both, {1, 1}, {1, 1}), at::ones({2, 1}));
  CHECK_EQ(lent(0), first);
}

TEST(sequence, takes_a_result_that_nothing_else_has_as_it_is) {
  const RunPlan plan = PlanOf({1, 4});
  RunPlan lending = plan;
  lending.states[0].lent = true;
  const std::vector<Sequence> one = {SequenceState::Create()};
  at::Tensor result = at::ones({1, 4});
  const void* bytes = Bytes(result);
  Keep(plan, BatchOf(one, {kFresh}, {1}), std::move(result));
  CHECK_EQ(Bytes(Gathered(lending, BatchOf(one, {0}, {1}))), bytes);
  CHECK(Bytes(Gathered(plan, BatchOf(one, {0}, {1}))) != bytes);
}

TEST(sequence, copies_a_result_that_something_else_has) {
  RunPlan lending = PlanOf({1, 4});
  lending.states[0].lent = true;
  const std::vector<Sequence> one = {SequenceState::Create()};
  const at::Tensor weight = at::ones({1, 4});
  Keep(lending, BatchOf(one, {kFresh}, {1}), weight);
  CHECK(Bytes(Gathered(lending, BatchOf(one, {0}, {1}))) != Bytes(weight));
}

TEST(sequence, lets_a_lent_state_be_its_own_next_value) {
  RunPlan lending = PlanOf({1, 4});
  lending.states[0].lent = true;
  const std::vector<Sequence> one = {SequenceState::Create()};
  Keep(lending, BatchOf(one, {kFresh}, {1}), at::ones({1, 4}));
  const at::Tensor lent = Gathered(lending, BatchOf(one, {0}, {1}));
  Keep(lending, BatchOf(one, {0}, {1}), lent);
  CHECK_EQ(Bytes(Gathered(lending, BatchOf(one, {1}, {1}))), Bytes(lent));
}

TEST(sequence, may_change_its_shape) {
  const RunPlan plan = PlanOf({1, 1});
  const std::vector<Sequence> both = {SequenceState::Create(), SequenceState::Create()};
  const Batch first = BatchOf(both, {kFresh, kFresh}, {1, 1});
  CHECK(Keep(plan, first, at::ones({2, 3})).outputs[0].shape == std::vector<int64_t>({2, 3}));
  CHECK_EQ(Gathered(plan, BatchOf(both, {0, 0}, {1, 1})).sizes(), at::IntArrayRef({2, 3}));
  Keep(plan, BatchOf({both[0]}, {0}, {1}), at::ones({1, 5}));
  at::Tensor tensor;
  const Status mixed = GatherState(plan, BatchOf(both, {1, 0}, {1, 1}), 0, c10::kCPU, tensor);
  CHECK_EQ(mixed.message(),
           "state 's' of request 1 of 2 has another shape than that of the first; only equal shapes run together");
}

TEST(sequence, keeps_nothing_of_a_result_that_has_not_the_rows_of_the_batch) {
  const RunPlan plan = PlanOf({1, 1}, {7});
  const std::vector<Sequence> one = {SequenceState::Create()};
  Keep(plan, BatchOf(one, {kFresh}, {1}), at::ones({2, 1}));
  CHECK(Gathered(plan, BatchOf(one, {0}, {1})).equal(at::full({1, 1}, 7.0)));
}

TEST(sequence, forgets_when_it_is_released) {
  const RunPlan plan = PlanOf({1, 1}, {7});
  const std::vector<Sequence> one = {SequenceState::Create()};
  Keep(plan, BatchOf(one, {kFresh}, {1}), at::ones({1, 1}));
  one[0]->Release();
  CHECK(Gathered(plan, BatchOf(one, {0}, {1})).equal(at::full({1, 1}, 7.0)));
}

TEST(sequence, keeps_strings) {
  RunPlan plan = PlanOf({1});
  plan.states[0].datatype = DataType::kString;
  plan.states[0].initial = {1, 0, 0, 0, 'x'};
  const std::vector<Sequence> both = {SequenceState::Create(), SequenceState::Create()};
  Outcome outcome;
  const c10::List<std::string> result({std::string("a\0b", 3), std::string("c")});
  CHECK(KeepStrings(plan, BatchOf(both, {kFresh, kFresh}, {1, 1}), 0, result, outcome).ok());
  std::vector<std::string> strings;
  CHECK(GatherStrings(plan, BatchOf({both[1], both[0], nullptr}, {0, 0, 0}, {1, 1, 1}), 0, strings).ok());
  CHECK(strings == std::vector<std::string>({"c", std::string("a\0b", 3), "x"}));
}

TEST(sequence, refuses_an_initial_string_that_is_cut_off) {
  RunPlan plan = PlanOf({1});
  plan.states[0].initial = {9, 0, 0, 0, 'x'};
  std::vector<std::string> strings;
  const Status status = GatherStrings(plan, BatchOf({}, {}, {1}), 0, strings);
  CHECK_EQ(status.message(), "the initial value of state 's' ends inside element 0");
}

TEST(input, that_is_joined_has_the_shape_of_the_whole) {
  RunPlan plan;
  plan.batching = true;
  plan.inputs.push_back({DataType::kFp32, "", false, InputSource::kJoined});
  const std::vector<float> values = {1, 2, 3};
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  at::Tensor tensor;
  const auto read = [&](const Batch& batch) {
    NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
    return InputReader(plan, batch, c10::kCPU).NextTensor(tensor);
  };
  CHECK(read({{{data, 4}, {data + 4, 8}}, {1, 1}, {1, 3}, {}, {}}).ok());
  CHECK_EQ(Bytes(tensor), static_cast<const void*>(data));
  CHECK_EQ(read({{{data, 4}, {data + 4, 4}}, {1, 1}, {1, 3}, {}, {}}).message(), "input 0 needs 12 bytes, got 8");
}

}  // namespace nereid
