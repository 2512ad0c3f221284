/*
 * What PyTorch 2 has in place of process groups as bases, over PyTorch 1.13: that has c10d::Backend already, which nothing
 * of it calls, but for what was added later. The additions stand here as 2.1 to 2.9 declare them, pure, so that what the
 * extension lacks or declares otherwise does not compile.
 */
#pragma once
#pragma GCC system_header // for #include_next

#include_next <torch/csrc/distributed/c10d/Backend.hpp>

namespace c10d
{

class BackendOf2 : public Backend
{
  public:
    using Backend::Backend;

    virtual void startCoalescing() = 0;
    virtual c10::intrusive_ptr<Work> endCoalescing() = 0;
    virtual c10::intrusive_ptr<Work> allgather_into_tensor_coalesced(std::vector<at::Tensor> &outputs,
                                                                     std::vector<at::Tensor> &inputs,
                                                                     const AllgatherOptions &options = {}) = 0;
    virtual c10::intrusive_ptr<Work> reduce_scatter_tensor_coalesced(std::vector<at::Tensor> &outputs,
                                                                     std::vector<at::Tensor> &inputs,
                                                                     const ReduceScatterOptions &options = {}) = 0;
    virtual void abort() = 0;
    virtual void shutdown() = 0;
};

} // namespace c10d

#define Backend BackendOf2
