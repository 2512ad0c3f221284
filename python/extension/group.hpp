/*
 * The process group: PyTorch's collectives on top of libtrivance_net. All execute Trivance's schedules except an
 * all-to-all whose parts may differ in size, which sends one message to each other rank, without a schedule.
 *
 * PyTorch 2 calls classes derived from c10d::Backend, PyTorch 1.13 classes derived from c10d::ProcessGroup.
 */
#pragma once

#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine.hpp"
#include "tensors.hpp"

namespace trivance
{

#if TORCH_VERSION_MAJOR >= 2
using Base = c10d::Backend;
#else
using Base = c10d::ProcessGroup;
#endif
// Versions up to 2.0 end coalescing by a function with another signature, and wait for each operation separately.
#define TRIVANCE_COALESCING (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= 201)
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<size_t>; // of the part of each rank, in elements or bytes

// An empty text means the value of the environment, see trv_net_options_t.
struct Settings {
    std::string torus, algorithm, provider, ports;
    bool narrow = false; // half and bfloat16 are summed in their own precision
};

class Group : public Base
{
  public:
    Group(const c10::intrusive_ptr<c10d::Store> &store, int rank, int size, Milliseconds timeout,
          const Settings &settings);
    ~Group() override;

    const std::string getBackendName() const override { return "trivance"; }

    WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &options = {}) override;
    WorkPtr allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options = {}) override;
    WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &options = {}) override;
    WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs,
                           const c10d::ReduceScatterOptions &options = {}) override;
    WorkPtr _reduce_scatter_base(at::Tensor &output, at::Tensor &input,
                                 const c10d::ReduceScatterOptions &options = {}) override;
    WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs,
                      const c10d::AllgatherOptions &options = {}) override;
    WorkPtr _allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options = {}) override;
    WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                                const c10d::AllgatherOptions &options = {}) override;
    WorkPtr barrier(const c10d::BarrierOptions &options = {}) override;
    void monitoredBarrier(const c10d::BarrierOptions &options = {}, bool wait_all_ranks = false) override;

    // Functions that versions of PyTorch 2 have added to backends; without `override`, because older versions lack
    // some. Outputs and inputs are those of several all_gather_into_tensor or reduce_scatter_tensor.
    virtual WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                    const c10d::AllgatherOptions &options = {});
    virtual WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                                    const c10d::ReduceScatterOptions &options = {});
#if TRIVANCE_COALESCING
    virtual void startCoalescing();
    virtual WorkPtr endCoalescing(); // of all operations since startCoalescing
#endif
    virtual void shutdown();
    virtual void abort();

    WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &options = {}) override;
    WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options = {}) override;
    WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options = {}) override;
    WorkPtr alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options = {}) override;
    WorkPtr alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_sizes,
                          std::vector<int64_t> &input_sizes, const c10d::AllToAllOptions &options = {}) override;
    WorkPtr send(Tensors &tensors, int peer, int tag) override;
    WorkPtr recv(Tensors &tensors, int peer, int tag) override;
    WorkPtr recvAnysource(Tensors &tensors, int tag) override;

    void setSequenceNumberForGroup() override {}
    uint64_t getSequenceNumberForGroup() override { return calls_; }

    std::vector<trv_net_port_t> ports() const;

  private:
    OperationPtr make(const char *call, c10d::OpType type, Milliseconds timeout, Tensors results);
    void close(const std::string &reason);
    // Throws if `code`, the result of a start, is an error. The operation is active after the last of its starts.
    void check(const OperationPtr &operation, const char *call, int code);
    WorkPtr begin(const OperationPtr &operation);
    int next_tag(); // for messages within a collective
    void require_rank(const char *call, int64_t rank) const;
    void post(const OperationPtr &operation, const char *call, bool sends, const at::Tensor &flat, int peer, int tag);
    WorkPtr reduce_to(int root, const char *call, c10d::OpType type, Tensors &tensors, const c10d::ReduceOp &op,
                      Milliseconds timeout);
    WorkPtr scatter_sum(const char *call, c10d::OpType type, Tensors outputs, const at::Tensor &whole,
                        const Sizes &sizes, const Reduction &reduction, Milliseconds timeout);
    WorkPtr gather_all(const char *call, std::vector<Tensors> lists, const Tensors &inputs, Tensors results,
                       std::function<void()> finish_results, Milliseconds timeout);
    WorkPtr alltoall_equal(at::Tensor &output, const at::Tensor &input, Milliseconds timeout);
    WorkPtr exchange(const char *call, c10d::OpType type, Tensors results, const at::Tensor &flat, const Sizes &sent,
                     const at::Tensor &whole, const Sizes &received, std::function<void()> finish_results,
                     Milliseconds timeout);

    std::shared_ptr<Engine> engine_;
    std::atomic<uint64_t> calls_{0}, tags_{0}; // equal on all ranks
    bool narrow_ = false;
#if TRIVANCE_COALESCING
    bool coalesces_ = false;
    std::vector<OperationPtr> coalesced_;
#endif
};

} // namespace trivance
