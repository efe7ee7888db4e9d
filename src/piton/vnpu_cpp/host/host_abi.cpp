/* What a submission's host library leaves undefined (vnpu/host_abi.h), and what the worker calls through ctypes. */
#include "../include/vnpu/host_abi.h"

#include <cstdio>
#include <exception>

#include "transport.h"

namespace {

constexpr uint32_t kFigures = PITON_PLATFORM_CLOCK_HZ + 1;
uint64_t figures[kFigures] = {};  // set once, before the submission is imported

}  // namespace

extern "C" {

int piton_host_launch(const char *kernel, uint32_t blocks, const void *arguments, uint32_t argument_bytes, const void *) {
    try {
        piton::host::launch(kernel, blocks, arguments, argument_bytes);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "launch of %s: %s\n", kernel, error.what());
        return 1;
    }
}

uint64_t piton_host_platform(uint32_t what) { return what < kFigures ? figures[what] : 0; }

// 0, or 1 with the reason on stderr. `package` is the folder of the submission's libraries; `platform` holds one figure per enum piton_platform.
int piton_host_open(int device_fd, int status_fd, const char *package, const uint64_t *platform, uint32_t count) {
    for (uint32_t what = 0; what < count && what < kFigures; ++what) figures[what] = platform[what];
    try {
        piton::host::connect(device_fd);
        piton::host::guard_device_addresses(status_fd, package);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

// Tell the parent where the host code is after so many seconds; 0 when it has returned in time.
void piton_host_deadline(double seconds) { piton::host::tell_place_after(seconds); }

}  // extern "C"
