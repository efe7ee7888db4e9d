#include "signals.h"

#include <csignal>
#include <cstring>

#include "../frames.h"
#include "../memory.h"
#include "../wire.h"

namespace vnpu::device {

namespace {

// Handlers take no argument, so what they need is kept here, written before anything can go wrong. piton.targets.vnpu.wire.DIED has the same layout.
struct LastWords {
    wire::Header header;
    struct __attribute__((packed)) {
        int32_t signal;
        uint64_t address;
        uint8_t fault;
        Frames frames;
        uint32_t kernel_bytes;
        char kernel[256];
    } body;
};
LastWords last_words = {};
int report_fd = -1;
const char *device_library = "";
volatile sig_atomic_t is_reporting = 0;
bool (*is_remedied)(uint64_t address) = nullptr;

bool is_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS; }

// Every byte of the arena is mapped for reading, so that a fault in it can only be a store.
bool is_in_arena(uint64_t address) { return address >= kArenaBase && address < kArenaBase + kArenaBytes; }

// Values of `fault`.
constexpr uint8_t kOther = 0, kRawStore = 1, kFullStack = 2;

uint8_t fault_of(int signal, uint64_t address, const void *context) {
    if (!is_fault(signal)) return kOther;
    if (is_in_arena(address)) return kRawStore;
    return frames::is_end_of_stack(context, address) ? kFullStack : kOther;
}

void describe(int signal, const siginfo_t *info, const void *context) {
    const auto address = is_fault(signal) ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
    last_words.body.signal = signal;
    last_words.body.address = address;
    last_words.body.fault = fault_of(signal, address, context);
    frames_of(last_words.body.frames, device_library, context);
}

// Entered a second time when the walk over a broken stack crashes: then what is known by now is sent.
void report(int signal, siginfo_t *info, void *context) {
    if (is_remedied && !is_reporting && is_fault(signal) && is_remedied(reinterpret_cast<uint64_t>(info->si_addr))) return;
    if (!is_reporting) {
        is_reporting = 1;
        describe(signal, info, context);
    }
    wire::write_all(report_fd, &last_words, sizeof last_words.header + last_words.header.bytes);
    const int first = last_words.body.signal;
    std::signal(first, SIG_DFL);
    raise(first);
}

}  // namespace

void set_running_kernel(const std::string &name) {
    const size_t bytes = name.size() < sizeof last_words.body.kernel ? name.size() : sizeof last_words.body.kernel;
    std::memcpy(last_words.body.kernel, name.data(), bytes);
    last_words.body.kernel_bytes = static_cast<uint32_t>(bytes);
    last_words.header = {static_cast<uint32_t>(wire::Type::Died), static_cast<uint32_t>(sizeof last_words.body - sizeof last_words.body.kernel + bytes)};
}

void try_again_when(bool (*remedy)(uint64_t address)) { is_remedied = remedy; }

void report_signals_to(int parent_fd, const char *library) {
    report_fd = parent_fd;
    device_library = library;
    set_running_kernel("");
    handle_signals(report, {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS});
}

}  // namespace vnpu::device
