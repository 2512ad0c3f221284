/*
 * Conversion of types, operations and tensors; contiguous copies of tensors.
 */
#include "tensors.hpp"

namespace trivance
{

static bool type_of(at::ScalarType dtype, trv_type_t *type)
{
    switch (dtype) {
    case at::kByte: *type = TRV_UINT8; return true;
    case at::kChar: *type = TRV_INT8; return true;
    case at::kShort: *type = TRV_INT16; return true;
    case at::kInt: *type = TRV_INT32; return true;
    case at::kLong: *type = TRV_INT64; return true;
    case at::kHalf: *type = TRV_FLOAT16; return true;
    case at::kBFloat16: *type = TRV_BFLOAT16; return true;
    case at::kFloat: *type = TRV_FLOAT; return true;
    case at::kDouble: *type = TRV_DOUBLE; return true;
    case at::kComplexFloat: *type = TRV_COMPLEX_FLOAT; return true;
    case at::kComplexDouble: *type = TRV_COMPLEX_DOUBLE; return true;
    case at::kBool: *type = TRV_BOOL; return true;
    default: return false;
    }
}

static const char *name_of(c10d::ReduceOp::RedOpType op)
{
    static const char *const name[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"};
    return static_cast<size_t>(op) < sizeof name / sizeof *name ? name[op] : "this operation";
}

static bool op_of(c10d::ReduceOp::RedOpType op, bool truths, trv_op_t *found)
{
    using Op = c10d::ReduceOp;
    switch (op) {
    case Op::SUM: *found = truths ? TRV_LOR : TRV_SUM; return true;
    case Op::AVG: *found = TRV_SUM; return !truths;
    case Op::PRODUCT: *found = truths ? TRV_LAND : TRV_PROD; return true;
    case Op::MIN: *found = truths ? TRV_LAND : TRV_MIN; return true;
    case Op::MAX: *found = truths ? TRV_LOR : TRV_MAX; return true;
    case Op::BAND: *found = truths ? TRV_LAND : TRV_BAND; return true;
    case Op::BOR: *found = truths ? TRV_LOR : TRV_BOR; return true;
    case Op::BXOR: *found = truths ? TRV_LXOR : TRV_BXOR; return true;
    default: return false;
    }
}

Reduction reduction_of(const char *call, const c10d::ReduceOp &op, at::ScalarType dtype, bool narrow)
{
    const c10d::ReduceOp::RedOpType kind = op;
    Reduction made{TRV_FLOAT, TRV_SUM, dtype, kind == c10d::ReduceOp::AVG};
    require(type_of(dtype, &made.type), call, "tensors of ", dtype,
            " are not supported; supported are bool, the integers, ",
            "half, bfloat16, float, double and the complex types of the last two");
    require(op_of(kind, dtype == at::kBool, &made.op) && trv_op_supports(made.op, made.type), call, name_of(kind),
            " is not defined on ", dtype,
            "; SUM, PRODUCT and AVG are for numbers, MIN and MAX for real numbers, BAND, BOR ",
            "and BXOR for integers and bool");
    const bool rounds = made.op == TRV_SUM || made.op == TRV_PROD;
    if (!narrow && rounds && (dtype == at::kHalf || dtype == at::kBFloat16)) {
        made.type = TRV_FLOAT;
        made.dtype = at::kFloat;
    }
    return made;
}

void finish_mean(const Reduction &reduction, at::Tensor &flat, int ranks)
{
    if (!reduction.mean || ranks == 1)
        return;
    if (at::isIntegralType(flat.scalar_type(), false))
        flat.div_(ranks, "trunc");
    else
        flat.div_(ranks);
}

void require_dense(const char *call, const at::Tensor &tensor)
{
    require(tensor.defined() && tensor.layout() == at::kStrided, call,
            "sparse tensors are not supported; pass a dense one, for example tensor.to_dense()");
    require(!tensor.is_quantized() && !tensor.is_meta(), call,
            "quantized and meta tensors are not supported; pass a dense one");
}

at::Tensor &only_tensor(const char *call, std::vector<at::Tensor> &tensors)
{
    require(tensors.size() == 1, call, "expected one tensor, not ", tensors.size());
    require_dense(call, tensors[0]);
    return tensors[0];
}

void require_same_type(const char *call, const at::Tensor &tensor, const at::Tensor &model)
{
    require_dense(call, tensor);
    require(tensor.scalar_type() == model.scalar_type(), call, "the tensors of one call must have the same type, not ",
            tensor.scalar_type(), " and ", model.scalar_type());
}

void require_same_size(const char *call, const at::Tensor &tensor, const at::Tensor &model)
{
    require_dense(call, tensor);
    require(tensor.scalar_type() == model.scalar_type() && tensor.numel() == model.numel(), call,
            "the tensors of one call must have the same type and size, not ", tensor.scalar_type(), " of ",
            tensor.sizes(), " and ", model.scalar_type(), " of ", model.sizes());
}

// True if the tensor's memory has its elements contiguously on the host. Tensors with the conjugate or negative bit
// (x.conj(), x.conj().imag) have other values than their memory.
static bool is_flat(const at::Tensor &tensor)
{
    return tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

at::Tensor flat_of(const at::Tensor &tensor)
{
    return is_flat(tensor) ? tensor : tensor.to(at::kCPU).resolve_conj().resolve_neg().contiguous();
}

at::Tensor flat_of(const at::Tensor &tensor, at::ScalarType dtype) { return flat_of(tensor).to(dtype); }

at::Tensor flat_like(const at::Tensor &tensor, int64_t elements, at::ScalarType dtype)
{
    return at::empty({elements}, tensor.options().device(at::kCPU).dtype(dtype).requires_grad(false));
}

at::Tensor buffer_for(const at::Tensor &tensor)
{
    return is_flat(tensor) ? tensor : flat_like(tensor, tensor.numel(), tensor.scalar_type());
}

void copy_to(at::Tensor &tensor, const at::Tensor &flat)
{
    if (!tensor.is_same(flat) && tensor.numel() > 0)
        tensor.copy_(flat.view(tensor.sizes()));
}

void copy_to_each(std::vector<at::Tensor> &tensors, const at::Tensor &flat)
{
    int64_t at = 0;
    for (at::Tensor &tensor : tensors) {
        copy_to(tensor, tensors.size() == 1 ? flat : flat.narrow(0, at, tensor.numel()));
        at += tensor.numel();
    }
}

bool overlap(const at::Tensor &one, const at::Tensor &other)
{
    const char *a = static_cast<const char *>(one.data_ptr()), *b = static_cast<const char *>(other.data_ptr());
    return a < b + other.nbytes() && b < a + one.nbytes();
}

} // namespace trivance
