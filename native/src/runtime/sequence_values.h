// States of a batch of sequences, from and to what is kept of each. Includes torch headers; for the models' sources only.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>
#include <vector>

#include "runtime/batch.h"
#include "runtime/status.h"

namespace nereid {

// The values of a state that is a tensor, joined along dimension 0 when batching, on `device`. A sequence that keeps nothing
// yet has the initial value, once for each of its rows. INVALID_ARG unless all have one shape beyond dimension 0.
Status GatherState(const RunPlan& plan, const Batch& batch, size_t state, c10::Device device, at::Tensor& tensor);

// The same of a state that is a list of strings.
Status GatherStrings(const RunPlan& plan, const Batch& batch, size_t state, std::vector<std::string>& strings);

// Keeps each sequence's rows of a result on the side that was not read, and appends datatype and shape of the whole, without
// bytes. Nothing is kept of a result whose dimension 0 is not the batch: whoever asked sees that by its shape. `result`
// must be the caller's only reference.
Status KeepState(const RunPlan& plan, const Batch& batch, size_t state, const at::Tensor& result, Outcome& outcome);
Status KeepStrings(const RunPlan& plan, const Batch& batch, size_t state, const c10::List<std::string>& result,
                   Outcome& outcome);

}  // namespace nereid
