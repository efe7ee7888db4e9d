// The layout of a kernel-launch project: the kernel is in a file of its own and launched by a generated function.
#include <cstdio>

#include "acl/acl.h"
#include "aclrtlaunch_ramp.h"

int main() {
    const uint32_t count = 64;
    float host[count] = {};
    void *device = nullptr;
    aclrtMalloc(&device, sizeof host, ACL_MEM_MALLOC_HUGE_FIRST);
    ACLRT_LAUNCH_KERNEL(ramp)(1, nullptr, device, 2, count);
    aclrtMemcpy(host, sizeof host, device, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%g\n", host[count - 1]);
    return 0;
}
