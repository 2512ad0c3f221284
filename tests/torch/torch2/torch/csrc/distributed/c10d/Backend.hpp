/*
 * The base class of backends in PyTorch 2, for PyTorch 1.13, which already has c10d::Backend, but not the functions
 * that were added later. They are declared here as PyTorch 2.1 to 2.9 declare them, as pure virtual functions, so that
 * the extension does not compile if it lacks one of them or declares it differently.
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
