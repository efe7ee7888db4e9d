/*
 * NPUGuard: the current device, for as long as the guard lives.
 *
 * Problem: bindings choose the device of their arguments by a guard of the vendor's extension.
 * Approach: torch's own guard for the device PrivateUse1.
 * Limits: no guard for streams.
 */
#ifndef PITON_HOST_NPU_GUARD_H
#define PITON_HOST_NPU_GUARD_H

#include <c10/core/DeviceGuard.h>

namespace c10_npu {

class NPUGuard {
public:
    explicit NPUGuard(c10::DeviceIndex index) : guard_(c10::Device(c10::DeviceType::PrivateUse1, index)) {}
    explicit NPUGuard(c10::Device device) : guard_(device) {}
    NPUGuard(const NPUGuard &) = delete;
    NPUGuard &operator=(const NPUGuard &) = delete;

    void set_index(c10::DeviceIndex index) { guard_.set_index(index); }
    c10::Device original_device() const { return guard_.original_device(); }
    c10::Device current_device() const { return guard_.current_device(); }

private:
    c10::DeviceGuard guard_;
};

/* The same where there may be no device to choose. */
class OptionalNPUGuard {
public:
    OptionalNPUGuard() = default;
    explicit OptionalNPUGuard(c10::optional<c10::Device> device) : guard_(device) {}

private:
    c10::OptionalDeviceGuard guard_;
};

}  // namespace c10_npu

#endif /* PITON_HOST_NPU_GUARD_H */
