/*
 * A host program that touches a device pointer, or crashes otherwise, ends with a signal; this says to the parent where and why before it does. It also says
 * where the program is when its time is over, and where it called exit().
 * A submission can write the same bytes: they explain an end, they decide nothing that its exit status does not.
 */
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "../engine/frames.h"
#include "../engine/memory.h"
#include "transport.h"

namespace piton::host {

namespace {

// Sent as it is; piton.targets.vnpu.wire.FAULT has the same layout.
struct __attribute__((packed)) Fault {
    int32_t signal;
    uint64_t address;
    uint8_t is_device_pointer;
    vnpu::Frames frames;  // in libraries of the submission
};

// A signal handler takes no argument.
int status_pipe = -1;
std::string package_folder;
Fault fault = {};
volatile sig_atomic_t is_reporting = 0;

void describe(int signal, const siginfo_t *info, const void *context) {
    const bool has_address = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0;  // not when another process or raise() sent it
    const auto address = has_address ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
    fault.signal = signal;
    fault.address = address;
    fault.is_device_pointer = address >= vnpu::kArenaBase && address < vnpu::kArenaBase + vnpu::kArenaBytes;
    vnpu::frames_of(fault.frames, package_folder.c_str(), context);
}

// Entered a second time when the walk over a broken stack crashes: then what is known by now is sent.
void report(int signal, siginfo_t *info, void *context) {
    if (!is_reporting) {
        is_reporting = 1;
        describe(signal, info, context);
    }
    if (write(status_pipe, &fault, sizeof fault) < 0) {
        // The parent then knows the signal only.
    }
    std::signal(fault.signal, SIG_DFL);
    raise(fault.signal);
}

// The time is over and the parent is about to end the process; until then the code waits here, since a signal would cut short a sleep and let it go on.
[[noreturn]] void tell_where(int signal, siginfo_t *, void *context) {
    Fault where = {};
    where.signal = signal;
    vnpu::frames_of(where.frames, package_folder.c_str(), context);
    if (write(status_pipe, &where, sizeof where) < 0) {
        // The parent then knows no place.
    }
    for (;;) pause();
}

// Signal 0: the program ended by itself. Runs inside exit(), whose caller is on the stack.
void tell_exit() {
    Fault where = {};
    for (const uint64_t call : vnpu::calls_on_stack()) vnpu::frames::keep(where.frames, package_folder.c_str(), call);
    if (write(status_pipe, &where, sizeof where) < 0) {
        // The parent then knows the exit code only.
    }
}

void reserve_addresses() {
    void *wanted = reinterpret_cast<void *>(vnpu::kArenaBase);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(wanted, vnpu::kArenaBytes, PROT_NONE, flags, -1, 0) != wanted)
        throw std::runtime_error("the addresses of device memory are taken in the host process");
}

}  // namespace

uint64_t offset_in_package(const void *caller) {
    vnpu::Frames found = {};
    if (caller) vnpu::frames::keep(found, package_folder.c_str(), reinterpret_cast<uint64_t>(caller) - 1);
    return found.count ? found.offsets[0] : 0;
}

void guard_device_addresses(int status_fd, const std::string &package) {
    status_pipe = status_fd;
    package_folder = package;
    reserve_addresses();
    vnpu::handle_signals(report, {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU});
    vnpu::handle_signals(tell_where, {SIGALRM});
    std::atexit(tell_exit);
}

void tell_place_after(double seconds) {
    const double whole = std::floor(seconds);
    itimerval timer = {};
    timer.it_value.tv_sec = static_cast<time_t>(whole);
    timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6);
    setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace piton::host
