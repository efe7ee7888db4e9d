/*
 * Where code of a submission's library stands, as offsets into that library.
 *
 * Problem: a fault or an endless loop happens at an address, a person wants file and line.
 * Approach: the calls on the stack that lie in the library, innermost first, leave the process as offsets; the parent has them looked up in the library's line
 * table by a program in a sandbox.
 * Limits: the stack belongs to foreign code, which can make it say anything or crash the walk; nothing but a place for people may come from it.
 */
#pragma once

#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace vnpu {

constexpr uint32_t kMaxFrames = 16;  // piton.targets.vnpu.wire.FRAMES

// Sent as it is.
struct __attribute__((packed)) Frames {
    uint32_t count;
    uint64_t offsets[kMaxFrames];
};

namespace frames {

constexpr int kDepth = 64;  // calls looked at; the submission's are among the innermost

// Append `address` if it lies in a library whose path begins with `library`.
inline void keep(Frames &frames, const char *library, uint64_t address) {
    Dl_info info;
    if (frames.count >= kMaxFrames || !dladdr(reinterpret_cast<void *>(address), &info) || !info.dli_fname) return;
    if (std::strncmp(info.dli_fname, library, std::strlen(library)) == 0) frames.offsets[frames.count++] = address - reinterpret_cast<uint64_t>(info.dli_fbase);
}

inline uint64_t interrupted_at(const void *context) {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uint64_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    return (void)machine, 0;
#endif
}

inline uint64_t stack_pointer(const void *context) {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uint64_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return machine.sp;
#else
    return (void)machine, 0;
#endif
}

// Whether a fault at this address is at the end of the interrupted code's stack: what lies there is mapped, but for the guard behind it (64 KiB, fibre.cpp).
inline bool is_end_of_stack(const void *context, uint64_t address) {
    constexpr uint64_t kGuardBytes = 64 << 10, kBelow = 4096;  // a call and a probe write below the pointer
    const uint64_t top = stack_pointer(context);
    return top != 0 && address + kBelow >= top && address < top + kGuardBytes;
}

// Where a call that has just been made returns to: the only trace of a call through a bad pointer.
inline uint64_t newest_return(const void *context) {
#if defined(__x86_64__)
    return *reinterpret_cast<const uint64_t *>(stack_pointer(context));
#elif defined(__aarch64__)
    return static_cast<const ucontext_t *>(context)->uc_mcontext.regs[30];
#else
    return (void)context, 0;
#endif
}

}  // namespace frames

// The first backtrace loads the unwinder, which a signal handler must not do.
inline void prepare_frames() {
    void *one[1];
    backtrace(one, 1);
}

// Have `handler` told of these signals on a stack of its own, where it may call frames_of. Throws std::runtime_error without memory for that stack.
inline void handle_signals(void (*handler)(int, siginfo_t *, void *), std::initializer_list<int> signals) {
    constexpr size_t kStackBytes = 1 << 16;
    prepare_frames();
    void *stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) throw std::runtime_error("no memory for the signal stack");
    const stack_t alternate = {stack, 0, kStackBytes};
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int signal : signals) sigaction(signal, &action, nullptr);
}

// The calls on this stack, innermost first; each is the address before the one it returns to, which is inside the calling instruction.
inline std::vector<uint64_t> calls_on_stack() {
    void *stack[frames::kDepth];
    const int count = backtrace(stack, frames::kDepth);
    std::vector<uint64_t> calls;
    for (int index = 0; index < count; ++index) calls.push_back(reinterpret_cast<uint64_t>(stack[index]) - 1);
    return calls;
}

// Of the code that a signal interrupted. The innermost are kept first, so that a walk that crashes leaves them behind.
inline void frames_of(Frames &kept, const char *library, const void *context) {
    const uint64_t instruction = frames::interrupted_at(context);
    frames::keep(kept, library, instruction);
    void *stack[frames::kDepth];
    const int count = backtrace(stack, frames::kDepth);
    int at = 0;
    while (at < count && reinterpret_cast<uint64_t>(stack[at]) != instruction) ++at;
    for (++at; at < count; ++at) frames::keep(kept, library, reinterpret_cast<uint64_t>(stack[at]) - 1);
    if (kept.count == 0) frames::keep(kept, library, frames::newest_return(context) - 1);
}

}  // namespace vnpu
