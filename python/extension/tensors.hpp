/*
 * Conversion of PyTorch's tensors, types and operations to Trivance's, with an error sentence for unsupported ones.
 */
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <trivance/net.h>

#include "text.hpp"

namespace trivance
{

// Reports invalid arguments, as a ValueError in Python: "all_reduce: " and a sentence.
template <typename... Words> void require(bool holds, const char *call, const Words &...words)
{
    if (!holds)
        throw std::invalid_argument(text_of(call, ": ", words...));
}

// One reduction as Trivance executes it: on elements of `type`, to which the tensor is first converted as `dtype`; for
// a mean, the result is finally divided by the number of ranks.
struct Reduction {
    trv_type_t type;
    trv_op_t op;
    at::ScalarType dtype;
    bool mean;
};

// Sums, means and products of half and bfloat16 are computed in float, unless `narrow`.
Reduction reduction_of(const char *call, const c10d::ReduceOp &op, at::ScalarType dtype, bool narrow);
void finish_mean(const Reduction &reduction, at::Tensor &flat, int ranks);

// Returns the only tensor of a list; it must be dense.
at::Tensor &only_tensor(const char *call, std::vector<at::Tensor> &tensors);
void require_dense(const char *call, const at::Tensor &tensor);
void require_same_type(const char *call, const at::Tensor &tensor, const at::Tensor &model);
void require_same_size(const char *call, const at::Tensor &tensor, const at::Tensor &model);

// Returns the elements of a tensor contiguously in host memory: the tensor itself if its memory has them so.
at::Tensor flat_of(const at::Tensor &tensor);
at::Tensor flat_of(const at::Tensor &tensor, at::ScalarType dtype);
// Returns an uninitialized one, for results.
at::Tensor flat_like(const at::Tensor &tensor, int64_t elements, at::ScalarType dtype);
// Returns the tensor into which a result is written before it is copied to `tensor`; `tensor` itself if it is suitable.
at::Tensor buffer_for(const at::Tensor &tensor);
void copy_to(at::Tensor &tensor, const at::Tensor &flat);
void copy_to_each(std::vector<at::Tensor> &tensors, const at::Tensor &flat); // `flat` has their elements contiguously
bool overlap(const at::Tensor &one, const at::Tensor &other);

inline size_t bytes_of(const at::Tensor &tensor) { return static_cast<size_t>(tensor.nbytes()); }

} // namespace trivance
