#include "filter.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vnpu::code {

namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// Waiting, memory, signals of its own, last words, and the end.
constexpr uint32_t kAllowed[] = {
    SYS_futex,
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_ppoll,
    SYS_lseek,
    SYS_pread64,
    SYS_fstat,
    SYS_newfstatat,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_getpid,
    SYS_gettid,
    SYS_exit,
    SYS_exit_group,
    SYS_sched_yield,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_getrandom,
    SYS_sched_getaffinity,
    SYS_restart_syscall,
#if defined(__x86_64__)
    SYS_poll,
    SYS_stat,
    SYS_access,
#endif
#if defined(SYS_faccessat)
    SYS_faccessat,
#endif
};

sock_filter statement(uint16_t code, uint32_t value) { return BPF_STMT(code, value); }

sock_filter jump_if(uint32_t value, uint8_t if_equal, uint8_t otherwise) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, if_equal, otherwise); }

sock_filter load(size_t offset) { return statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }

sock_filter allow() { return statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }

sock_filter end() { return statement(BPF_RET | BPF_K, SECCOMP_RET_TRAP); }

// Opening is for the loader: without leave to write. A signal is for a process's own end.
std::vector<sock_filter> program() {
    constexpr size_t kFirst = offsetof(seccomp_data, args), kThird = kFirst + 2 * sizeof(uint64_t);
    const auto own = static_cast<uint32_t>(getpid());
    std::vector<sock_filter> steps = {load(offsetof(seccomp_data, arch)), jump_if(kArchitecture, 1, 0), end(), load(offsetof(seccomp_data, nr))};
    for (const uint32_t number : kAllowed) {
        steps.push_back(jump_if(number, 0, 1));
        steps.push_back(allow());
    }
    const sock_filter writes = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0, 1);
    const std::vector<sock_filter> special = {
        jump_if(SYS_tgkill, 0, 4), load(kFirst), jump_if(own, 0, 1), allow(), end(),  //
        jump_if(SYS_openat, 1, 0), end(),        load(kThird),       writes,  end(), allow(),
    };
    steps.insert(steps.end(), special.begin(), special.end());
    return steps;
}

}  // namespace

bool filter_system_calls() {
    if (kArchitecture == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    std::vector<sock_filter> steps = program();
    const sock_fprog filter = {static_cast<unsigned short>(steps.size()), steps.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace vnpu::code
