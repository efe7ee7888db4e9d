/*
 * Is a tensor on the torch device "npu"?
 *
 * Problem: bindings check where their arguments are by a function of the vendor's extension.
 * Approach: the virtual NPU is torch's device PrivateUse1, as the vendor's is.
 * Limits: of the vendor's header these questions alone.
 */
#ifndef PITON_HOST_DEVICE_UTILS_H
#define PITON_HOST_DEVICE_UTILS_H

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace torch_npu {
namespace utils {

inline bool is_npu(const c10::Device &device) { return device.type() == c10::DeviceType::PrivateUse1; }

inline bool is_npu(const at::Tensor &tensor) { return tensor.defined() && is_npu(tensor.device()); }

inline bool is_npu(const at::TensorOptions &options) { return is_npu(options.device()); }

}  // namespace utils
}  // namespace torch_npu

#endif /* PITON_HOST_DEVICE_UTILS_H */
