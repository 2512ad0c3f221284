/*
 * All-to-All: by a schedule if all parts are equal, otherwise by one message to each other rank.
 */
#include "group.hpp"

#include <cstring>
#include <numeric>

namespace trivance
{

WorkPtr Group::alltoall_equal(at::Tensor &output, const at::Tensor &input, Milliseconds timeout)
{
    static const char *const call = "all_to_all_single";
    require(output.numel() == input.numel(), call,
            "without sizes of parts, input and output must have the same number of elements, not ", input.numel(),
            " and ", output.numel());
    at::Tensor flat = flat_of(input);
    const at::Tensor buffer = buffer_for(output);
    if (flat.data_ptr() != buffer.data_ptr() && overlap(buffer, flat))
        flat = flat.clone();
    auto operation = make(call, c10d::OpType::ALLTOALL_BASE, timeout, {output});
    operation->keep_alive(flat);
    operation->keep_alive(buffer);
    operation->finish_results = [output, buffer]() mutable { copy_to(output, buffer); };
    check(operation, call,
          trv_net_alltoall_start(engine_->world(), flat.data_ptr(), buffer.data_ptr(),
                                 bytes_of(buffer) / static_cast<size_t>(size_), TRV_UINT8, operation->add()));
    return begin(operation);
}

/* Sends sent[r] bytes of `flat` to rank r, and receives received[r] bytes of `whole` from it; parts are one after the
 * other. */
WorkPtr Group::exchange(const char *call, c10d::OpType type, Tensors results, const at::Tensor &flat, const Sizes &sent,
                        const at::Tensor &whole, const Sizes &received, std::function<void()> finish_results,
                        Milliseconds timeout)
{
    auto operation = make(call, type, timeout, std::move(results));
    operation->keep_alive(flat);
    operation->keep_alive(whole);
    operation->finish_results = std::move(finish_results);
    check(operation, call,
          trv_net_alltoallv_start(engine_->world(), flat.data_ptr(), sent.data(), nullptr, whole.data_ptr(),
                                  received.data(), nullptr, TRV_UINT8, operation->add()));
    return begin(operation);
}

static Sizes bytes_of_each(const Tensors &tensors)
{
    Sizes sizes;
    for (const at::Tensor &tensor : tensors)
        sizes.push_back(bytes_of(tensor));
    return sizes;
}

static at::Tensor bytes_for(const at::Tensor &model, const Sizes &sizes)
{
    return flat_like(model, static_cast<int64_t>(std::accumulate(sizes.begin(), sizes.end(), size_t{0})), at::kByte);
}

WorkPtr Group::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options)
{
    static const char *const call = "all_to_all";
    at::NoGradGuard guard;
    require(outputs.size() == static_cast<size_t>(size_) && inputs.size() == static_cast<size_t>(size_), call,
            "both lists must have ", size_, " tensors, one for each rank, not ", inputs.size(), " inputs and ",
            outputs.size(), " outputs");
    for (const Tensors *list : {&outputs, &inputs})
        for (const at::Tensor &tensor : *list)
            require_dense(call, tensor);
    const Sizes sent = bytes_of_each(inputs), received = bytes_of_each(outputs);
    const at::Tensor flat = bytes_for(inputs[0], sent), whole = bytes_for(outputs[0], received);
    auto *to = static_cast<uint8_t *>(flat.data_ptr());
    for (const at::Tensor &input : inputs) {
        if (input.numel() > 0)
            std::memcpy(to, flat_of(input).data_ptr(), bytes_of(input));
        to += bytes_of(input);
    }
    return exchange(
        call, c10d::OpType::ALLTOALL, outputs, flat, sent, whole, received,
        [outputs, whole]() mutable {
            const auto *from = static_cast<const uint8_t *>(whole.data_ptr());
            for (at::Tensor &output : outputs) {
                const at::Tensor part = buffer_for(output);
                if (part.numel() > 0)
                    std::memcpy(part.data_ptr(), from, bytes_of(part));
                copy_to(output, part);
                from += bytes_of(part);
            }
        },
        options.timeout);
}

// The bytes of the parts of a tensor along its first dimension; of equal size if `lengths` is empty.
static Sizes bytes_of_parts(const at::Tensor &tensor, const std::vector<int64_t> &lengths, int ranks)
{
    static const char *const call = "all_to_all_single";
    require_dense(call, tensor);
    require(tensor.dim() > 0, call, "the tensor is divided along its first dimension, and a scalar has none");
    const int64_t length = tensor.size(0);
    if (lengths.empty())
        require(length % ranks == 0, call, "the first dimension, ", length, ", is not a multiple of the ", ranks,
                " ranks; pass the sizes of the parts");
    const std::vector<int64_t> part = lengths.empty() ? std::vector<int64_t>(ranks, length / ranks) : lengths;
    const int64_t sum = std::accumulate(part.begin(), part.end(), int64_t{0});
    require(part.size() == static_cast<size_t>(ranks) && sum == length, call, "expected ", ranks,
            " sizes of parts that add up to the first dimension, ", length, ", not ", part.size(), " that add up to ",
            sum);
    Sizes bytes;
    for (const int64_t at : part) {
        require(at >= 0, call, "the size of a part is ", at, "; sizes are at least 0");
        bytes.push_back(length > 0 ? static_cast<size_t>(at) * (bytes_of(tensor) / static_cast<size_t>(length)) : 0);
    }
    return bytes;
}

WorkPtr Group::alltoall_base(at::Tensor &output, at::Tensor &input, std::vector<int64_t> &output_sizes,
                             std::vector<int64_t> &input_sizes, const c10d::AllToAllOptions &options)
{
    static const char *const call = "all_to_all_single";
    at::NoGradGuard guard;
    const Sizes received = bytes_of_parts(output, output_sizes, size_),
                sent = bytes_of_parts(input, input_sizes, size_);
    require(output.scalar_type() == input.scalar_type(), call, "input and output must have the same type");
    if (output_sizes.empty() && input_sizes.empty())
        return alltoall_equal(output, input, options.timeout);
    at::Tensor flat = flat_of(input);
    const at::Tensor whole = buffer_for(output);
    if (overlap(whole, flat))
        flat = flat.clone();
    return exchange(
        call, c10d::OpType::ALLTOALL_BASE, {output}, flat, sent, whole, received,
        [output, whole]() mutable { copy_to(output, whole); }, options.timeout);
}

} // namespace trivance
