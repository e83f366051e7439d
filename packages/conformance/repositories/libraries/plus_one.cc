// An operator outside torch, against torch's stable interface: x + 1 for FP32.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

static Tensor plus_one(const Tensor& x) {
  Tensor result = torch::stable::clone(torch::stable::contiguous(x));
  float* values = result.mutable_data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); i++) values[i] += 1;
  return result;
}

STABLE_TORCH_LIBRARY(nereid_test, m) { m.def("plus_one(Tensor x) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(nereid_test, CPU, m) { m.impl("plus_one", TORCH_BOX(&plus_one)); }
