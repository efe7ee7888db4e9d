/* Binds apply_rotary_pos_emb to torch. */
#include <tuple>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/apply_rotary_pos_emb_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) {
    m.def("apply_rotary_pos_emb(Tensor query, Tensor key, Tensor cos, Tensor sin, int layout=0, str rotaryMode=\"half\") -> (Tensor, Tensor)");
}

std::tuple<at::Tensor, at::Tensor> apply_rotary_pos_emb_meta(const at::Tensor &query, const at::Tensor &key, const at::Tensor &, const at::Tensor &, int64_t,
                                                             c10::string_view) {
    return {at::empty_like(query), at::empty_like(key)};
}

static void CheckLike(const char *name, const at::Tensor &x, const at::Tensor &query) {
    common::CheckDense(x, name);
    TORCH_CHECK(x.scalar_type() == query.scalar_type(), name, " has dtype ", x.scalar_type(), ", expected that of query, ", query.scalar_type());
}

/* Sizes from shapes; see RotaryTensors. */
static RotaryTensors SizesOf(const at::Tensor &query, const at::Tensor &key, const at::Tensor &cos, const at::Tensor &sin, int64_t layout) {
    TORCH_CHECK(query.dim() == 4 && query.sizes() == key.sizes(), "query is ", query.sizes(), " and key ", key.sizes(), ", expected one shape of four axes");
    TORCH_CHECK(query.size(3) % 2 == 0 && query.size(3) <= kMostRotaryLength, "heads have length ", query.size(3), ", expected an even one of at most ",
                kMostRotaryLength);
    TORCH_CHECK((cos.dim() == 2 || cos.dim() == 3) && cos.sizes() == sin.sizes(), "cos is ", cos.sizes(), " and sin ", sin.sizes(),
                ", expected one shape of two or three axes");
    const int64_t batches = query.size(0), positions = query.size(layout == 0 ? 1 : 2), heads = query.size(layout == 0 ? 2 : 1);
    const bool isShared = cos.dim() == 2;
    TORCH_CHECK(cos.size(-1) == query.size(3) / 2 && cos.size(-2) == positions && (isShared || cos.size(0) == batches), "cos is ", cos.sizes(), ", expected [",
                positions, ", ", query.size(3) / 2, "] or that for each of ", batches, " batch entries");
    RotaryTensors tensors{};
    tensors.pairs = cos.size(-1);
    if (layout == 0) {
        tensors.batches = 1;
        tensors.groups = isShared ? batches : 1;
        tensors.positions = isShared ? positions : batches * positions;
        tensors.heads = heads;
    } else {
        tensors.batches = isShared ? 1 : batches;
        tensors.groups = isShared ? batches * heads : heads;
        tensors.positions = positions;
        tensors.heads = 1;
    }
    return tensors;
}

std::tuple<at::Tensor, at::Tensor> apply_rotary_pos_emb_npu(const at::Tensor &query, const at::Tensor &key, const at::Tensor &cos, const at::Tensor &sin,
                                                            int64_t layout, c10::string_view rotaryMode) {
    const c10::OptionalDeviceGuard guard(query.device());
    TORCH_CHECK(layout == 0 || layout == 1, "layout must be 0 or 1, not ", layout);
    TORCH_CHECK(rotaryMode == "half" || rotaryMode == "interleaved", "rotaryMode must be \"half\" or \"interleaved\", not ", rotaryMode);
    CheckLike("query", query, query);
    CheckLike("key", key, query);
    CheckLike("cos", cos, query);
    CheckLike("sin", sin, query);
    const auto type = common::ElementTypeOf(query, "query");
    auto tensors = SizesOf(query, key, cos, sin, layout);
    auto queryOut = at::empty_like(query), keyOut = at::empty_like(key);
    if (query.numel() == 0) {
        return {queryOut, keyOut};
    }
    tensors.query = query.data_ptr();
    tensors.key = key.data_ptr();
    tensors.cos = cos.data_ptr();
    tensors.sin = sin.data_ptr();
    tensors.queryOut = queryOut.data_ptr();
    tensors.keyOut = keyOut.data_ptr();
    tensors.isInterleaved = rotaryMode == "interleaved";
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    at_npu::native::OpCommand::RunOpApi("ApplyRotaryPosEmb", [=]() -> int {
        LaunchApplyRotaryPosEmb(type, tensors, stream);
        return 0;
    });
    return {queryOut, keyOut};
}

TORCH_LIBRARY_IMPL(cann_bench, Meta, m) { m.impl("apply_rotary_pos_emb", apply_rotary_pos_emb_meta); }

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("apply_rotary_pos_emb", apply_rotary_pos_emb_npu); }

}  // namespace cann_bench
