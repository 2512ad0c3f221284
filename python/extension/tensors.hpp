/*
 * What PyTorch's tensors, types and operations are to Trivance, and what cannot be served, said in a sentence.
 */
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <trivance/net.h>

namespace trivance
{

// Bad input, which becomes a ValueError in Python: "all_reduce: " and a sentence.
template <typename... Words> void require(bool holds, const char *call, const Words &...words)
{
    if (!holds)
        throw std::invalid_argument(c10::str(call, ": ", words...));
}

// One reduction as Trivance does it: of elements of `type`, for which the tensor is first made `dtype`; divided by the
// number of ranks in the end, if it is a mean.
struct Reduction {
    trv_type_t type;
    trv_op_t op;
    at::ScalarType dtype;
    bool mean;
};

// Sums, means and products of half and bfloat16 are wide, in float, unless they are to stay as they are.
Reduction reduction_of(const char *call, const c10d::ReduceOp &op, at::ScalarType dtype, bool narrow);
void finish_mean(const Reduction &reduction, at::Tensor &flat, int ranks);

// The only tensor of a list, which is dense.
at::Tensor &only(const char *call, std::vector<at::Tensor> &tensors);
void require_dense(const char *call, const at::Tensor &tensor);
void require_alike(const char *call, const at::Tensor &tensor, const at::Tensor &model);

// The elements of a tensor one after the other in host memory: its own, where they lie so already.
at::Tensor flat_of(const at::Tensor &tensor);
at::Tensor flat_of(const at::Tensor &tensor, at::ScalarType dtype);
// An empty one, for results.
at::Tensor flat_like(const at::Tensor &tensor, int64_t elements, at::ScalarType dtype);
// Where a result is to be written before it is copied to `tensor`; the tensor itself, if that serves.
at::Tensor place_for(const at::Tensor &tensor);
void put(at::Tensor &tensor, const at::Tensor &flat);
void put_each(std::vector<at::Tensor> &tensors, const at::Tensor &flat); // which has their elements one after the other
bool overlap(const at::Tensor &one, const at::Tensor &other);

inline size_t bytes_of(const at::Tensor &tensor) { return static_cast<size_t>(tensor.nbytes()); }

} // namespace trivance
