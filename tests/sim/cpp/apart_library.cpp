// The kernels of the engine's tests as a device library for a process of its own: one registered kernel that calls the one whose name comes first.
#include "vnpu/abi.h"

extern "C" void (*rig_kernel(const char *name))(const void *);
extern "C" void (*rig_attack(const char *name))(const void *);
extern "C" void (*rig_seeded(const char *name))(const void *);

namespace {

constexpr uint32_t kNameBytes = 64, kBytes = kNameBytes + 24;

void by_name(const void *block) {
    const auto *name = static_cast<const char *>(block);
    const auto attack = rig_attack(name), seeded = attack ? attack : rig_seeded(name);
    (seeded ? seeded : rig_kernel(name))(name + kNameBytes);
}

struct Registration {
    Registration() {
        const vnpu_kernel kernel = {VNPU_ABI_VERSION, VNPU_CORE_AIV, "by name", "by name", kBytes, 0, by_name, nullptr, nullptr};
        vnpu_register_kernel(&kernel);
    }
} registration;

}  // namespace
