#include "runtime/tensor.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/ones.h>

#include <cstring>

#include "check.h"

namespace nereid {
namespace {

template <typename T>
ByteView View(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(T)};
}

ByteView View(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

RunPlan PlanOf(DataType datatype, bool batching = true) {
  RunPlan plan;
  plan.inputs.push_back({datatype, ""});
  plan.outputs.push_back({0, ""});
  plan.batching = batching;
  return plan;
}

Batch BatchOf(std::vector<ByteView> buffers, std::vector<int64_t> rows, std::vector<int64_t> shapes) {
  return {std::move(buffers), std::move(rows), std::move(shapes)};
}

// Reads the only input.
Status Read(const RunPlan& plan, const Batch& batch, at::Tensor& tensor) {
  NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
  return InputReader(plan, batch, c10::kCPU).NextTensor(tensor);
}

Status Read(const RunPlan& plan, const Batch& batch, std::vector<std::string>& strings) {
  NEREID_RETURN_IF_ERROR(CheckBatch(plan, batch));
  return InputReader(plan, batch, c10::kCPU).NextStrings(strings);
}

std::string Refusal(const RunPlan& plan, const Batch& batch) {
  at::Tensor tensor;
  return Read(plan, batch, tensor).message();
}

std::string Element(const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

const std::vector<float> kFour = {1, 2, 3, 4};

}  // namespace

TEST(input, views_the_bytes_of_a_single_request) {
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32), BatchOf({View(kFour)}, {2}, {2, 9, 2}), tensor).ok());
  CHECK_EQ(tensor.sizes(), at::IntArrayRef({2, 2}));
  CHECK_EQ(tensor.const_data_ptr(), static_cast<const void*>(kFour.data()));
}

TEST(input, has_a_torch_dtype_for_every_datatype_but_strings) {
  for (const DataTypeInfo& info : kDataTypes) {
    if (info.element_size == 0) continue;
    at::Tensor tensor;
    const std::vector<uint64_t> bytes(4);
    const ByteView view = {reinterpret_cast<const uint8_t*>(bytes.data()), 4 * info.element_size};
    CHECK(Read(PlanOf(info.datatype, false), BatchOf({view}, {1}, {1, 4}), tensor).ok());
    CHECK_EQ(static_cast<int>(DataTypeOf(tensor.scalar_type())), static_cast<int>(info.datatype));
    CHECK_EQ(tensor.itemsize(), info.element_size);
  }
}

TEST(input, gathers_the_rows_of_all_requests_in_order) {
  const std::vector<float> first = {1, 2};
  const std::vector<float> second = {3, 4, 5, 6};
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32), BatchOf({View(first), View(second)}, {1, 2}, {2, 1, 2}), tensor).ok());
  CHECK_EQ(tensor.sizes(), at::IntArrayRef({3, 2}));
  CHECK(tensor.equal(at::arange(1, 7, at::kFloat).view({3, 2})));
}

TEST(input, views_requests_that_lie_in_one_piece) {
  const uint8_t* data = View(kFour).data;
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32), BatchOf({{data, 4}, {data + 4, 12}}, {1, 3}, {1, 1}), tensor).ok());
  CHECK_EQ(tensor.const_data_ptr(), static_cast<const void*>(kFour.data()));
}

TEST(input, copies_bytes_that_are_not_aligned_to_the_element) {
  std::vector<uint8_t> bytes(17);
  std::memcpy(bytes.data() + 1, kFour.data(), 16);
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32), BatchOf({{bytes.data() + 1, 16}}, {4}, {1, 4}), tensor).ok());
  CHECK(tensor.equal(at::arange(1, 5, at::kFloat)));
}

TEST(input, makes_other_booleans_one) {
  const std::vector<uint8_t> bytes = {0, 1, 2, 255};
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kBool), BatchOf({View(bytes)}, {4}, {1, 4}), tensor).ok());
  const auto* read = static_cast<const uint8_t*>(tensor.const_data_ptr());
  CHECK(read[0] == 0 && read[1] == 1 && read[2] == 1 && read[3] == 1);
  CHECK_EQ(static_cast<int>(bytes[3]), 255);
}

TEST(input, of_no_bytes_is_an_empty_tensor) {
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32), BatchOf({{}, {}}, {0, 0}, {2, 0, 4}), tensor).ok());
  CHECK_EQ(tensor.sizes(), at::IntArrayRef({0, 4}));
}

TEST(input, of_rank_zero_is_a_scalar_without_batching) {
  const std::vector<float> one = {7};
  at::Tensor tensor;
  CHECK(Read(PlanOf(DataType::kFp32, false), BatchOf({View(one)}, {1}, {0}), tensor).ok());
  CHECK_EQ(tensor.dim(), 0);
}

TEST(input, refuses_what_does_not_fit) {
  const RunPlan plan = PlanOf(DataType::kFp32);
  const int64_t huge = int64_t{1} << 62;
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {3}, {1, 3})),
           std::string("input 0 of request 0 needs 12 bytes, got 16"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour), {}}, {4, 1}, {1, 4})),
           std::string("input 0 of request 1 needs 4 bytes, got 0"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {1}, {2, 1, huge})),
           std::string("input 0 of request 0 needs more bytes than fit in 64 bits, got 16"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {1}, {3, 1, huge, huge})),
           std::string("input 0 has more elements than fit in 64 bits"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {1}, {2, 1, -4})), std::string("input 0 has a negative dimension"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {-1}, {1, 4})), std::string("rows must not be negative"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {1}, {0})), std::string("input 0 has no batch dimension"));
  CHECK_EQ(Refusal(plan, BatchOf({}, {1}, {1, 4})),
           std::string("a batch of 1 requests with 1 inputs each has 1 buffers, got 0"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {4}, {2, 4})),
           std::string("shapes holds no complete shape for input 0"));
  CHECK_EQ(Refusal(plan, BatchOf({View(kFour)}, {4}, {1, 4, 0})),
           std::string("shapes holds more than one shape for each input"));
  CHECK_EQ(Refusal(PlanOf(DataType::kFp32, false), BatchOf({View(kFour), View(kFour)}, {4, 4}, {1, 4})),
           std::string("the instance does not batch and takes one request at a time, got 2"));
}

TEST(strings, of_all_requests_come_in_order_and_keep_their_nulls) {
  const std::string first = Element("a") + Element(std::string("b\0c", 3));
  const std::string second = Element("");
  std::vector<std::string> strings;
  CHECK(Read(PlanOf(DataType::kString), BatchOf({View(first), View(second)}, {2, 1}, {1, 2}), strings).ok());
  CHECK(strings == std::vector<std::string>({"a", std::string("b\0c", 3), ""}));
}

TEST(strings, refuse_a_wrong_count_and_a_length_that_lies) {
  const std::string one = Element("abc");
  std::vector<std::string> strings;
  CHECK_EQ(Read(PlanOf(DataType::kString), BatchOf({View(one)}, {2}, {1, 2}), strings).message(),
           std::string("input 0 of request 0 needs 2 strings, got 1"));
  for (const std::string& cut : {one.substr(0, 6), one.substr(0, 2), std::string("\xff\xff\xff\xff")}) {
    CHECK_EQ(Read(PlanOf(DataType::kString), BatchOf({View(cut)}, {1}, {1, 1}), strings).message(),
             std::string("input 0 of request 0 ends inside element 0"));
  }
}

TEST(output, small_is_copied) {
  const at::Tensor tensor = at::arange(4, at::kFloat);
  Outcome outcome;
  CHECK(AppendTensor(tensor, outcome).ok());
  const Output& output = outcome.outputs.at(0);
  CHECK(output.memory == nullptr);
  CHECK_EQ(output.size, size_t{16});
  CHECK(std::memcmp(outcome.BytesOf(output), tensor.const_data_ptr(), 16) == 0);
}

TEST(output, large_that_nobody_else_has_is_handed_out_as_it_is) {
  const std::vector<at::Tensor> results = {at::ones({64, 64})};
  Outcome outcome;
  CHECK(AppendTensor(results[0], outcome).ok());
  CHECK_EQ(static_cast<const void*>(outcome.outputs.at(0).data), results[0].const_data_ptr());
}

TEST(output, large_that_is_shared_is_cloned) {
  const std::vector<float> borrowed(4096, 1.0f);
  const at::Tensor weight = at::ones({64, 64});
  const std::vector<at::Tensor> results = {
      weight,                                                                  // kept by the model
      weight.view({4096}),                                                     // a view of it
      at::from_blob(const_cast<float*>(borrowed.data()), {4096}, at::kFloat),  // the bytes of a request
      at::ones({100000}).slice(0, 0, 4096),                                    // a corner
  };
  for (const at::Tensor& result : results) {
    Outcome outcome;
    CHECK(AppendTensor(result, outcome).ok());
    CHECK(static_cast<const void*>(outcome.outputs.at(0).data) != result.const_data_ptr());
    CHECK_EQ(reinterpret_cast<const float*>(outcome.outputs.at(0).data)[4095], 1.0f);
  }
}

TEST(output, asked_for_twice_has_two_memories) {
  const std::vector<at::Tensor> results = {at::ones({64, 64})};
  Outcome outcome;
  CHECK(AppendTensor(results[0], outcome).ok());
  CHECK(AppendTensor(results[0], outcome).ok());
  CHECK(outcome.outputs.at(0).data != outcome.outputs.at(1).data);
}

TEST(output, lazy_strides_and_signs_are_done) {
  const at::Tensor numbers = at::arange(6, at::kFloat).view({2, 3});
  const at::Tensor negated = at::imag(at::complex(numbers, numbers).conj());
  CHECK(negated.is_neg());
  Outcome outcome;
  CHECK(AppendTensor(numbers.t(), outcome).ok());
  CHECK(AppendTensor(negated, outcome).ok());
  const auto* transposed = reinterpret_cast<const float*>(outcome.BytesOf(outcome.outputs.at(0)));
  CHECK(transposed[1] == 3.0f && transposed[2] == 1.0f);
  CHECK(outcome.outputs.at(0).shape == std::vector<int64_t>({3, 2}));
  CHECK_EQ(reinterpret_cast<const float*>(outcome.BytesOf(outcome.outputs.at(1)))[5], -5.0f);
}

TEST(output, without_dense_memory_is_refused) {
  Outcome outcome;
  CHECK(!AppendTensor(at::Tensor(), outcome).ok());
  CHECK(!AppendTensor(at::ones({2, 2}).to_sparse(), outcome).ok());
  CHECK(!AppendTensor(at::empty({2}, at::TensorOptions(at::kMeta)), outcome).ok());
  CHECK_EQ(outcome.outputs.size(), size_t{0});
}

TEST(output, without_a_datatype_has_none) {
  Outcome outcome;
  CHECK(AppendTensor(at::ones({2}, at::kComplexFloat), outcome).ok());
  CHECK_EQ(static_cast<int>(outcome.outputs.at(0).datatype), 0);
}

TEST(output, strings_are_lengths_and_bytes) {
  for (const size_t count : {size_t{2}, size_t{2000}}) {
    c10::List<std::string> strings;
    std::string expected;
    for (size_t i = 0; i < count; i++) {
      strings.push_back("text");
      expected += Element("text");
    }
    Outcome outcome;
    CHECK(AppendStrings(strings, outcome).ok());
    const Output& output = outcome.outputs.at(0);
    CHECK_EQ(output.memory != nullptr, count > 1000);
    CHECK_EQ(std::string(reinterpret_cast<const char*>(outcome.BytesOf(output)), output.size), expected);
    CHECK_EQ(output.ends.size(), count + 1);
    CHECK_EQ(output.ends.back(), expected.size());
  }
}

}  // namespace nereid
