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

std::tuple<at::Tensor, at::Tensor> apply_rotary_pos_emb_npu(const at::Tensor &query, const at::Tensor &key, const at::Tensor &cos, const at::Tensor &sin,
                                                            int64_t layout, c10::string_view rotaryMode) {
    const c10::OptionalDeviceGuard guard(query.device());
    TORCH_CHECK(layout == 0 || layout == 1, "layout must be 0 or 1, not ", layout);
    TORCH_CHECK(rotaryMode == "half" || rotaryMode == "interleaved", "rotaryMode must be \"half\" or \"interleaved\", not ", rotaryMode);
    TORCH_CHECK(query.dim() == 4 && query.sizes() == key.sizes() && query.size(3) % 2 == 0, "query and key have to be of one shape with an even last axis");
    TORCH_CHECK(query.size(3) <= 2048, "heads have length ", query.size(3), ", expected at most 2048");
    TORCH_CHECK((cos.dim() == 2 || cos.dim() == 3) && cos.sizes() == sin.sizes() && cos.size(-1) == query.size(3) / 2,
                "cos and sin have to be of one shape of two or three axes, with half the last axis of query");
    TORCH_CHECK(cos.size(-2) == query.size(layout == 0 ? 1 : 2) && (cos.dim() == 2 || cos.size(0) == query.size(0)),
                "cos and sin have to have the positions of query, and its batch entries if they have three axes");
    for (const auto &tensor : {query, key, cos, sin}) {
        baseline::CheckDense(tensor);
        TORCH_CHECK(tensor.scalar_type() == query.scalar_type(), "tensors have dtypes ", query.scalar_type(), " and ", tensor.scalar_type(), ", expected one");
    }
    const auto type = baseline::ElementTypeOf(query);
    auto queryOut = at::empty_like(query), keyOut = at::empty_like(key);
    if (query.numel() == 0) {
        return {queryOut, keyOut};
    }
    const RotaryTensors tensors{{query.data_ptr(), key.data_ptr()},
                                {queryOut.data_ptr(), keyOut.data_ptr()},
                                cos.data_ptr(),
                                sin.data_ptr(),
                                query.size(0),
                                query.size(layout == 0 ? 1 : 2),
                                query.size(layout == 0 ? 2 : 1),
                                query.size(3) / 2,
                                layout == 1,
                                rotaryMode == "interleaved",
                                cos.dim() == 2};
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
