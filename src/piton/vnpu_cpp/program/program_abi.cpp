/*
 * What a whole program (`piton run`) is linked with: connects to the device before main() and answers vnpu/host_abi.h.
 *
 * Problem: a program with main() knows nothing of Piton; the channel to the device has to be there before its first call, and a kernel that is stopped must
 * not end the program, as it does not on the chip.
 * Approach: the parent passes descriptors and figures in one environment variable; a constructor that runs before those of the program reads and removes it.
 * A launch that fails is remembered, and the next synchronisation says so.
 * Limits: a program that removes the constructor from its link, or opens the channel itself, harms its own report only.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "../host/device_failure.h"
#include "../host/transport.h"
#include "../include/vnpu/host_abi.h"

namespace {

constexpr uint32_t kFigures = PITON_PLATFORM_CLOCK_HZ + 1;
constexpr const char *kVariable = "PITON_PROGRAM";  // "device_fd status_fd deadline_ms figure figure ...", written by piton.targets.vnpu.program_session
constexpr int kUnconnected = 125;
uint64_t figures[kFigures] = {};  // set once, before the program's own code runs

uint64_t next_number(char *&text) { return std::strtoull(text, &text, 10); }

void connect_from(char *text, const char *program) {
    const auto device_fd = static_cast<int>(next_number(text)), status_fd = static_cast<int>(next_number(text));
    const auto deadline_ms = static_cast<double>(next_number(text));
    for (uint64_t &figure : figures) figure = next_number(text);
    piton::host::connect(device_fd);
    piton::host::guard_device_addresses(status_fd, program);
    piton::host::tell_place_after(deadline_ms / 1e3);
}

}  // namespace

// The C library hands the program's arguments to its constructors; the first is the path that dladdr gives for the program.
__attribute__((constructor(101))) static void open_program(int, char **argv, char **) {
    char *text = std::getenv(kVariable);
    if (text == nullptr) {
        std::fprintf(stderr, "this program was built for the virtual NPU: start it with `piton run`\n");
        std::_Exit(kUnconnected);
    }
    try {
        const std::string kept = text;
        unsetenv(kVariable);
        connect_from(const_cast<char *>(kept.c_str()), argv[0]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        std::_Exit(kUnconnected);
    }
}

extern "C" {

int piton_host_launch(const char *kernel, uint32_t blocks, const void *arguments, uint32_t argument_bytes, const void *) {
    try {
        piton::host::launch(kernel, blocks, arguments, argument_bytes);
    } catch (const std::exception &error) {
        piton::host::note_device_failure(std::string("launch of ") + kernel + ": " + error.what());
    }
    return 0;
}

uint64_t piton_host_platform(uint32_t what) { return what < kFigures ? figures[what] : 0; }

}  // extern "C"
