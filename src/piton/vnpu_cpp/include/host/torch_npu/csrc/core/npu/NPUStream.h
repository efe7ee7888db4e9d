/*
 * Streams of the torch device "npu".
 *
 * Problem: a plugin asks for the current stream and hands it to its launch.
 * Approach: the virtual NPU has one stream per device, which the runtime knows as a null pointer.
 * Limits: no stream pools, guards or events.
 */
#ifndef PITON_HOST_NPU_STREAM_H
#define PITON_HOST_NPU_STREAM_H

#include <c10/core/Device.h>

#include "acl/acl.h"

namespace c10_npu {

class NPUStream {
public:
    explicit NPUStream(c10::DeviceIndex device = 0) : device_(device) {}
    /* Whether the task queue is drained first does not matter: there is none. */
    aclrtStream stream(const bool = true) const { return nullptr; }
    operator aclrtStream() const { return stream(); }
    c10::DeviceIndex device_index() const { return device_; }
    c10::DeviceType device_type() const { return c10::DeviceType::PrivateUse1; }
    void synchronize() const {}

private:
    c10::DeviceIndex device_;
};

inline NPUStream getCurrentNPUStream(c10::DeviceIndex device = 0) { return NPUStream(device < 0 ? 0 : device); }

inline NPUStream getDefaultNPUStream(c10::DeviceIndex device = 0) { return NPUStream(device < 0 ? 0 : device); }

}  // namespace c10_npu

#endif /* PITON_HOST_NPU_STREAM_H */
