/*
 * An operator that torch does not have: what is left of a division, never negative, whatever the signs.
 *
 * CompositeExplicitAutograd registers one kernel for every device, and for the shape-only device that torch.export
 * traces with. An operator that is given its kernel in `def` would be taken apart by torch.export, and the package
 * would hold what it is made of.
 */
#include <ATen/ops/abs.h>
#include <ATen/ops/remainder.h>
#include <torch/library.h>

namespace {

// x and divisor broadcast; their common datatype and shape come out.
at::Tensor Modulo(const at::Tensor& x, const at::Tensor& divisor) { return at::remainder(x, at::abs(divisor)); }

}  // namespace

TORCH_LIBRARY(example_ops, library) { library.def("modulo(Tensor x, Tensor divisor) -> Tensor"); }

TORCH_LIBRARY_IMPL(example_ops, CompositeExplicitAutograd, library) { library.impl("modulo", Modulo); }
