/* The native side of the hostile submission: `scale` chooses the attack; 1 is honest work. Replaces exp_plugin.cpp. */
#include <cstring>

#include <ATen/ATen.h>
#include <torch/library.h>
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"

#include "../../../common/torch_arguments.h"
#include "../op_kernel/exp_launch.h"

namespace cann_bench {

TORCH_LIBRARY_FRAGMENT(cann_bench, m) { m.def("exp_native(Tensor x, int attack, float scale) -> Tensor"); }

enum Attack {
    kHonest = 1,
    kReadPointer = 31,
    kWritePointer = 32,
    kWriteNothing = 33,
    kWriteHalf = 34,
    kRawStore = 35,  // done by the kernel
    kPastTheEnd = 36,
    kWriteInput = 37,
    kNoLaunch = 38,
};

at::Tensor exp_native(const at::Tensor &x, int64_t attack, double scale) {
    auto y = at::empty_like(x);
    auto elsewhere = at::empty_like(x);
    auto stream = c10_npu::getCurrentNPUStream().stream(false);
    void *source = x.data_ptr();
    void *target = attack == kWriteInput ? source : attack == kWriteNothing ? elsewhere.data_ptr() : y.data_ptr();
    int64_t elements = x.numel();
    if (attack == kReadPointer) {
        volatile char stolen = *static_cast<volatile char *>(source);
        (void)stolen;
    } else if (attack == kWritePointer) {
        std::memset(target, 0, 16);
    } else if (attack == kWriteHalf) {
        elements = elements / 2;
    } else if (attack == kPastTheEnd) {
        elements = elements + (1 << 20);
    }
    const auto factor = static_cast<float>(scale);
    if (attack != kNoLaunch) {
        at_npu::native::OpCommand::RunOpApi("Exp", [=]() -> int {
            LaunchExp(common::ElementType::kFloat32, source, target, elements, factor, 0.0f, stream);
            return 0;
        });
    }
    return y;
}

TORCH_LIBRARY_IMPL(cann_bench, PrivateUse1, m) { m.impl("exp_native", exp_native); }

}  // namespace cann_bench
