/*
 * The collectives that execute Trivance's schedules.
 */
#include "group.hpp"

#include <algorithm>
#include <cstring>

namespace trivance
{

static constexpr int ALL_RANKS = -1; // instead of a root

/* ---- AllReduce and reduce ---------------------------------------------------------------------------------------- */

/* Reduces several tensors as one vector, to all ranks or to `root`. The tensors of the other ranks are not changed. */
WorkPtr Group::reduce_to(int root, const char *call, c10d::OpType type, Tensors &tensors, const c10d::ReduceOp &op,
                         Milliseconds timeout)
{
    at::NoGradGuard guard;
    for (const at::Tensor &tensor : tensors) {
        require_dense(call, tensor);
        require(tensor.scalar_type() == tensors[0].scalar_type(), call,
                "the tensors of one call must have the same type");
    }
    const Reduction reduction = reduction_of(call, op, tensors[0].scalar_type(), narrow_);
    at::Tensor flat;
    if (tensors.size() == 1) {
        flat = flat_of(tensors[0], reduction.dtype);
    } else {
        Tensors parts;
        for (const at::Tensor &tensor : tensors)
            parts.push_back(flat_of(tensor, reduction.dtype).view(-1));
        flat = at::cat(parts);
    }
    const bool receives = root == ALL_RANKS || root == rank_;
    auto operation = make(call, type, timeout, tensors);
    operation->keep_alive(flat);
    if (receives && (reduction.mean || !flat.is_same(tensors[0])))
        operation->finish_results = [reduction, tensors, flat, ranks = size_]() mutable {
            finish_mean(reduction, flat, ranks);
            copy_to_each(tensors, flat);
        };
    const auto elements = static_cast<size_t>(flat.numel());
    void *data = flat.data_ptr();
    check(operation, call,
          root == ALL_RANKS ? trv_net_allreduce_start(engine_->world(), data, data, elements, reduction.type,
                                                      reduction.op, operation->add())
                            : trv_net_reduce_start(engine_->world(), data, receives ? data : nullptr, elements,
                                                   reduction.type, reduction.op, root, operation->add()));
    return begin(operation);
}

WorkPtr Group::allreduce(Tensors &tensors, const c10d::AllreduceOptions &options)
{
    only_tensor("all_reduce", tensors);
    return reduce_to(ALL_RANKS, "all_reduce", c10d::OpType::ALLREDUCE, tensors, options.reduceOp, options.timeout);
}

WorkPtr Group::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options)
{
    require(!tensors.empty(), "all_reduce_coalesced", "the list of tensors is empty");
    return reduce_to(ALL_RANKS, "all_reduce_coalesced", c10d::OpType::ALLREDUCE_COALESCED, tensors, options.reduceOp,
                     options.timeout);
}

WorkPtr Group::reduce(Tensors &tensors, const c10d::ReduceOptions &options)
{
    only_tensor("reduce", tensors);
    require_rank("reduce", options.rootRank);
    return reduce_to(static_cast<int>(options.rootRank), "reduce", c10d::OpType::REDUCE, tensors, options.reduceOp,
                     options.timeout);
}

static void require_multiple(const char *call, const char *whole_is, const at::Tensor &whole, const char *part_is,
                             const at::Tensor &part, int ranks)
{
    require(whole.numel() == part.numel() * ranks && whole.scalar_type() == part.scalar_type(), call, "the ", whole_is,
            " must have the ", part_is, "'s type and ", ranks, " times its elements, not ", whole.scalar_type(), " of ",
            whole.sizes(), " and ", part.scalar_type(), " of ", part.sizes());
}

static bool all_equal(const Sizes &sizes)
{
    return std::all_of(sizes.begin(), sizes.end(), [&](size_t size) { return size == sizes[0]; });
}

/* ---- Reduce-Scatter ---------------------------------------------------------------------------------------------- */

/* The results of several outputs are contiguous, in their order. `sizes`: the elements of each rank's part; if empty,
 * the parts are equal. */
WorkPtr Group::scatter_sum(const char *call, c10d::OpType type, Tensors outputs, const at::Tensor &whole,
                           const Sizes &sizes, const Reduction &reduction, Milliseconds timeout)
{
    int64_t elements = 0;
    for (const at::Tensor &output : outputs)
        elements += output.numel();
    auto operation = make(call, type, timeout, outputs);
    at::Tensor buffer = outputs.size() == 1 ? buffer_for(outputs[0]) : at::Tensor();
    if (!buffer.defined() || buffer.scalar_type() != reduction.dtype || overlap(buffer, whole))
        buffer = flat_like(outputs[0], elements, reduction.dtype);
    operation->keep_alive(whole);
    operation->keep_alive(buffer);
    operation->finish_results = [reduction, outputs, buffer, ranks = size_]() mutable {
        finish_mean(reduction, buffer, ranks);
        copy_to_each(outputs, buffer);
    };
    const void *from = whole.data_ptr();
    void *to = buffer.data_ptr();
    check(operation, call,
          all_equal(sizes) ? trv_net_reduce_scatter_start(engine_->world(), from, to, static_cast<size_t>(elements),
                                                          reduction.type, reduction.op, operation->add())
                           : trv_net_reduce_scatterv_start(engine_->world(), from, to, sizes.data(), nullptr,
                                                           reduction.type, reduction.op, operation->add()));
    return begin(operation);
}

WorkPtr Group::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ReduceScatterOptions &options)
{
    static const char *const call = "reduce_scatter";
    at::NoGradGuard guard;
    at::Tensor &output = only_tensor(call, outputs);
    require(inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_), call, "expected a list of ", size_,
            " tensors, one for each rank");
    const Reduction reduction = reduction_of(call, options.reduceOp, output.scalar_type(), narrow_);
    Tensors parts;
    Sizes sizes;
    for (const at::Tensor &input : inputs[0]) {
        require_same_type(call, input, output);
        parts.push_back(flat_of(input, reduction.dtype).view(-1));
        sizes.push_back(static_cast<size_t>(input.numel()));
    }
    require_same_size(call, inputs[0][static_cast<size_t>(rank_)], output);
    return scatter_sum(call, c10d::OpType::REDUCE_SCATTER, {output}, at::cat(parts), sizes, reduction, options.timeout);
}

WorkPtr Group::_reduce_scatter_base(at::Tensor &output, at::Tensor &input, const c10d::ReduceScatterOptions &options)
{
    static const char *const call = "reduce_scatter_tensor";
    at::NoGradGuard guard;
    require_dense(call, output);
    require_dense(call, input);
    require_multiple(call, "input", input, "output", output, size_);
    const Reduction reduction = reduction_of(call, options.reduceOp, output.scalar_type(), narrow_);
    return scatter_sum(call, c10d::OpType::_REDUCE_SCATTER_BASE, {output}, flat_of(input, reduction.dtype), {},
                       reduction, options.timeout);
}

/* The send buffer is ordered by rank: for each rank, its parts of all inputs. */
WorkPtr Group::reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs,
                                               const c10d::ReduceScatterOptions &options)
{
    static const char *const call = "reduce_scatter_tensor_coalesced";
    at::NoGradGuard guard;
    require(!outputs.empty() && outputs.size() == inputs.size(), call, "expected one input for each output, not ",
            outputs.size(), " outputs and ", inputs.size(), " inputs");
    for (size_t i = 0; i < outputs.size(); i++) {
        require_dense(call, outputs[i]);
        require_dense(call, inputs[i]);
        require_multiple(call, "input", inputs[i], "output", outputs[i], size_);
        require(outputs[i].scalar_type() == outputs[0].scalar_type(), call,
                "the tensors of one call must have the same type");
    }
    const Reduction reduction = reduction_of(call, options.reduceOp, outputs[0].scalar_type(), narrow_);
    Tensors parts;
    for (int r = 0; r < size_; r++)
        for (size_t i = 0; i < outputs.size(); i++) {
            const at::Tensor flat = flat_of(inputs[i], reduction.dtype).view(-1);
            parts.push_back(flat.narrow(0, r * outputs[i].numel(), outputs[i].numel()));
        }
    return scatter_sum(call, c10d::OpType::_REDUCE_SCATTER_BASE, outputs, at::cat(parts), {}, reduction,
                       options.timeout);
}

/* ---- AllGather of bytes ------------------------------------------------------------------------------------------ */

static int gather_bytes(Engine &engine, const at::Tensor &flat, const at::Tensor &whole, trv_net_request_t *request)
{
    const auto ranks = static_cast<size_t>(trv_net_size(engine.world())), bytes = bytes_of(whole) / ranks;
    return trv_net_allgather_start(engine.world(), flat.data_ptr(), whole.data_ptr(), bytes, TRV_UINT8, request);
}

WorkPtr Group::allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options)
{
    static const char *const call = "all_gather";
    at::NoGradGuard guard;
    only_tensor(call, inputs);
    require(outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_), call, "expected a list of ", size_,
            " tensors, one for each rank");
    int64_t elements = 0;
    Sizes bytes;
    for (const at::Tensor &output : outputs[0]) {
        require_same_type(call, output, inputs[0]);
        elements += output.numel();
        bytes.push_back(bytes_of(output));
    }
    require_same_size(call, outputs[0][static_cast<size_t>(rank_)], inputs[0]);
    const at::Tensor flat = flat_of(inputs[0]), whole = flat_like(flat, elements, flat.scalar_type());
    auto operation = make(call, c10d::OpType::ALLGATHER, options.timeout, outputs[0]);
    operation->keep_alive(flat);
    operation->keep_alive(whole);
    operation->finish_results = [list = outputs[0], whole]() mutable {
        int64_t at = 0;
        for (at::Tensor &output : list) {
            copy_to(output, whole.narrow(0, at, output.numel()));
            at += output.numel();
        }
    };
    check(operation, call,
          all_equal(bytes) ? gather_bytes(*engine_, flat, whole, operation->add())
                           : trv_net_allgatherv_start(engine_->world(), flat.data_ptr(), whole.data_ptr(), bytes.data(),
                                                      nullptr, TRV_UINT8, operation->add()));
    return begin(operation);
}

/* The input may be this rank's part of the output, at its place in the output, as sharded models pass it. */
WorkPtr Group::_allgather_base(at::Tensor &output, at::Tensor &input, const c10d::AllgatherOptions &options)
{
    static const char *const call = "all_gather_into_tensor";
    at::NoGradGuard guard;
    require_dense(call, output);
    require_dense(call, input);
    require_multiple(call, "output", output, "input", input, size_);
    at::Tensor flat = flat_of(input), whole = buffer_for(output);
    if (static_cast<char *>(whole.data_ptr()) + static_cast<size_t>(rank_) * bytes_of(flat) == flat.data_ptr())
        flat = whole;
    else if (overlap(whole, flat))
        flat = flat.clone();
    auto operation = make(call, c10d::OpType::_ALLGATHER_BASE, options.timeout, {output});
    operation->keep_alive(flat);
    operation->keep_alive(whole);
    operation->finish_results = [output, whole]() mutable { copy_to(output, whole); };
    check(operation, call, gather_bytes(*engine_, flat, whole, operation->add()));
    return begin(operation);
}

/* Gathers several tensors in one operation; lists[r] are the tensors for the data of rank r. */
WorkPtr Group::gather_all(const char *call, std::vector<Tensors> lists, const Tensors &inputs, Tensors results,
                          std::function<void()> finish_results, Milliseconds timeout)
{
    int64_t bytes = 0;
    for (const at::Tensor &input : inputs)
        bytes += static_cast<int64_t>(input.nbytes());
    const at::Tensor flat = flat_like(inputs[0], bytes, at::kByte), whole = flat_like(flat, bytes * size_, at::kByte);
    auto *to = static_cast<uint8_t *>(flat.data_ptr());
    for (const at::Tensor &input : inputs) {
        std::memcpy(to, flat_of(input).data_ptr(), input.nbytes());
        to += input.nbytes();
    }
    auto operation = make(call, c10d::OpType::ALLGATHER_COALESCED, timeout, std::move(results));
    operation->keep_alive(flat);
    operation->keep_alive(whole);
    operation->finish_results = [lists = std::move(lists), whole,
                                 finish_results = std::move(finish_results)]() mutable {
        const auto *from = static_cast<const uint8_t *>(whole.data_ptr());
        for (Tensors &list : lists)
            for (at::Tensor &buffer : list) {
                const at::Tensor part = flat_like(buffer, buffer.numel(), buffer.scalar_type());
                std::memcpy(part.data_ptr(), from, part.nbytes());
                copy_to(buffer, part);
                from += part.nbytes();
            }
        if (finish_results)
            finish_results();
    };
    check(operation, call, gather_bytes(*engine_, flat, whole, operation->add()));
    return begin(operation);
}

WorkPtr Group::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs,
                                   const c10d::AllgatherOptions &options)
{
    static const char *const call = "all_gather_coalesced";
    at::NoGradGuard guard;
    require(outputs.size() == static_cast<size_t>(size_) && !inputs.empty(), call,
            "expected a list of outputs for each of the ", size_, " ranks, and at least one input");
    for (const at::Tensor &input : inputs)
        require_dense(call, input);
    Tensors results;
    for (const Tensors &list : outputs) {
        require(list.size() == inputs.size(), call, "each list must have as many tensors as the inputs, ",
                inputs.size());
        for (size_t i = 0; i < list.size(); i++)
            require_same_size(call, list[i], inputs[i]);
        results.insert(results.end(), list.begin(), list.end());
    }
    return gather_all(call, outputs, inputs, results, nullptr, options.timeout);
}

WorkPtr Group::allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs, const c10d::AllgatherOptions &options)
{
    static const char *const call = "all_gather_into_tensor_coalesced";
    at::NoGradGuard guard;
    require(!inputs.empty() && outputs.size() == inputs.size(), call, "expected one output for each input, not ",
            inputs.size(), " inputs and ", outputs.size(), " outputs");
    std::vector<Tensors> lists(static_cast<size_t>(size_));
    Tensors buffers;
    for (size_t i = 0; i < inputs.size(); i++) {
        require_dense(call, inputs[i]);
        require_dense(call, outputs[i]);
        require_multiple(call, "output", outputs[i], "input", inputs[i], size_);
        buffers.push_back(buffer_for(outputs[i]));
        const int64_t part = inputs[i].numel();
        for (size_t r = 0; r < lists.size(); r++)
            lists[r].push_back(buffers[i].view(-1).narrow(0, static_cast<int64_t>(r) * part, part));
    }
    const auto finish = [outputs, buffers]() mutable {
        for (size_t i = 0; i < outputs.size(); i++)
            copy_to(outputs[i], buffers[i]);
    };
    return gather_all(call, lists, inputs, outputs, finish, options.timeout);
}

/* ---- Broadcast, gather, scatter ---------------------------------------------------------------------------------- */

WorkPtr Group::broadcast(Tensors &tensors, const c10d::BroadcastOptions &options)
{
    at::NoGradGuard guard;
    at::Tensor tensor = only_tensor("broadcast", tensors);
    require_rank("broadcast", options.rootRank);
    auto operation = make("broadcast", c10d::OpType::BROADCAST, options.timeout, {tensor});
    const at::Tensor buffer = rank_ == options.rootRank ? flat_of(tensor) : buffer_for(tensor);
    operation->keep_alive(buffer);
    if (rank_ != options.rootRank)
        operation->finish_results = [tensor, buffer]() mutable { copy_to(tensor, buffer); };
    check(operation, "broadcast",
          trv_net_broadcast_start(engine_->world(), buffer.data_ptr(), bytes_of(buffer),
                                  static_cast<int>(options.rootRank), operation->add()));
    return begin(operation);
}

WorkPtr Group::gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options)
{
    static const char *const call = "gather";
    at::NoGradGuard guard;
    const at::Tensor &input = only_tensor(call, inputs);
    const auto root = static_cast<int>(options.rootRank);
    require_rank(call, root);
    const at::Tensor flat = flat_of(input);
    at::Tensor whole;
    if (rank_ == root) {
        require(outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_), call,
                "the destination must pass a list of ", size_, " tensors, one for each rank");
        for (const at::Tensor &output : outputs[0])
            require_same_size(call, output, input);
        whole = flat_like(flat, flat.numel() * size_, flat.scalar_type());
    } else {
        require(outputs.empty(), call, "only the destination, rank ", root, ", may pass tensors for the results");
    }
    auto operation = make(call, c10d::OpType::GATHER, options.timeout, rank_ == root ? outputs[0] : Tensors());
    operation->keep_alive(flat);
    if (rank_ == root)
        operation->finish_results = [list = outputs[0], whole]() mutable { copy_to_each(list, whole); };
    check(operation, call,
          trv_net_gather_start(engine_->world(), flat.data_ptr(), rank_ == root ? whole.data_ptr() : nullptr,
                               bytes_of(flat), TRV_UINT8, root, operation->add()));
    return begin(operation);
}

WorkPtr Group::scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options)
{
    static const char *const call = "scatter";
    at::NoGradGuard guard;
    at::Tensor output = only_tensor(call, outputs);
    const auto root = static_cast<int>(options.rootRank);
    require_rank(call, root);
    at::Tensor whole;
    if (rank_ == root) {
        require(inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_), call,
                "the source must pass a list of ", size_, " tensors, one for each rank");
        Tensors parts;
        for (const at::Tensor &input : inputs[0]) {
            require_same_size(call, input, output);
            parts.push_back(flat_of(input).view(-1));
        }
        whole = at::cat(parts);
    } else {
        require(inputs.empty(), call, "only the source, rank ", root, ", may pass tensors to scatter");
    }
    const at::Tensor buffer = buffer_for(output);
    auto operation = make(call, c10d::OpType::SCATTER, options.timeout, {output});
    operation->keep_alive(whole);
    operation->keep_alive(buffer);
    operation->finish_results = [output, buffer]() mutable { copy_to(output, buffer); };
    check(operation, call,
          trv_net_scatter_start(engine_->world(), rank_ == root ? whole.data_ptr() : nullptr, buffer.data_ptr(),
                                bytes_of(buffer), TRV_UINT8, root, operation->add()));
    return begin(operation);
}

/* ---- Barriers ---------------------------------------------------------------------------------------------------- */

WorkPtr Group::barrier(const c10d::BarrierOptions &options)
{
    auto operation = make("barrier", c10d::OpType::BARRIER, options.timeout, {});
    check(operation, "barrier", trv_net_barrier_start(engine_->world(), operation->add()));
    return begin(operation);
}

/* Every rank sends a message to rank 0, which answers all ranks. If messages are missing at the timeout, rank 0
 * breaks the net with an error that lists the missing ranks, and that all waiting ranks report. */
void Group::monitoredBarrier(const c10d::BarrierOptions &options, bool wait_all_ranks)
{
    static const char *const call = "monitored_barrier";
    const Milliseconds timeout = options.timeout.count() > 0 ? options.timeout : Milliseconds(30000);
    const auto end = Clock::now() + timeout;
    auto open = engine_->enter(call);
    const int tag = next_tag();
    trv_net_comm_t *world = engine_->world();
    const auto check_now = [](int code) {
        if (code < 0)
            throw_last_error(call, code);
    };
    calls_ += rank_ == 0;
    if (rank_ != 0) {
        check_now(trv_net_send(world, nullptr, 0, 0, tag));
        auto release = make(call, c10d::OpType::BARRIER, kNoTimeout, {});
        open.unlock();
        check(release, call, trv_net_receive_start(world, nullptr, 0, 0, tag, release->add()));
        begin(release)->wait(timeout + Milliseconds(1000)); // rank 0 has more details and must report first
        return;
    }
    std::vector<trv_net_request_t> arrival(static_cast<size_t>(size_), TRV_NET_REQUEST_NULL);
    int failure = TRV_OK;
    for (int r = 1; r < size_ && failure == TRV_OK; r++)
        failure = trv_net_receive_start(world, nullptr, 0, r, tag, &arrival[r]);
    std::string missing;
    while (failure == TRV_OK) {
        missing.clear();
        for (int r = 1; r < size_; r++) {
            bool done;
            const int code = trv_net_test(&arrival[r], &done);
            failure = failure < 0 ? failure : code;
            if (!done && (missing.empty() || wait_all_ranks))
                missing += text_of(missing.empty() ? "" : ", ", r);
        }
        if (missing.empty() || Clock::now() >= end)
            break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (failure == TRV_OK && !missing.empty()) {
        const std::string sentence = text_of(call, ": rank ", missing, " did not enter the barrier within ",
                                             static_cast<double>(timeout.count()) / 1e3, " s");
        trv_net_abort(engine_->net(), sentence.c_str());
        trv_net_wait_all(arrival.data(), size_);
        throw std::runtime_error(sentence);
    }
    if (failure < 0)
        trv_net_wait_all(arrival.data(), size_); // does not block: the net is broken
    check_now(failure);
    for (int r = 1; r < size_; r++)
        check_now(trv_net_send(world, nullptr, 0, r, tag));
}

} // namespace trivance
