/* A host program that touches a device pointer ends with SIGSEGV; this says so to the parent before it does. */
#include <csignal>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

#include "../engine/memory.h"
#include "transport.h"

namespace piton::host {

namespace {

constexpr size_t kStackBytes = 1 << 16;

// Sent as it is; piton.targets.vnpu.wire.FAULT has the same layout.
struct __attribute__((packed)) Fault {
    int32_t signal;
    uint64_t address;
    uint8_t is_device_pointer;
};

int status_pipe = -1;  // a signal handler takes no argument

void report(int signal, siginfo_t *info, void *) {
    const auto address = reinterpret_cast<uint64_t>(info->si_addr);
    const bool is_device = address >= vnpu::kArenaBase && address < vnpu::kArenaBase + vnpu::kArenaBytes;
    const Fault fault = {signal, address, is_device};
    if (write(status_pipe, &fault, sizeof fault) < 0) {
        // The parent then knows the signal only.
    }
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void reserve_addresses() {
    void *wanted = reinterpret_cast<void *>(vnpu::kArenaBase);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(wanted, vnpu::kArenaBytes, PROT_NONE, flags, -1, 0) != wanted)
        throw std::runtime_error("the addresses of device memory are taken in the host process");
}

}  // namespace

void guard_device_addresses(int status_fd) {
    status_pipe = status_fd;
    reserve_addresses();
    void *stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) throw std::runtime_error("no memory for the signal stack");
    const stack_t alternate = {stack, 0, kStackBytes};
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace piton::host
