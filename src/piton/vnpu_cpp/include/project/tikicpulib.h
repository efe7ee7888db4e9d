/*
 * The CPU debug interface: GmAlloc, GmFree, SetKernelMode, ICPU_SET_TILING_KEY, ICPU_RUN_KF.
 *
 * Problem: such a program writes and reads what it calls global memory directly, and the device's memory is out of a host program's reach.
 * Approach: GmAlloc gives host memory. ICPU_RUN_KF copies every block of it that is among the arguments to the device, launches, waits and copies back, so
 * that the kernel runs as in any other launch.
 * Limits: an argument that is an address has to come from GmAlloc, as the documentation demands; addresses inside the data are not followed. All bytes count as
 * written before the launch, so that reading what nobody wrote is not reported.
 */
#ifndef PITON_HOST_TIKICPULIB_H
#define PITON_HOST_TIKICPULIB_H

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "acl/acl.h"
#include "kernel_operator.h"

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE };

namespace piton {

/* What the calls before a launch have set. */
struct CpuDebug {
    std::map<uintptr_t, std::size_t> blocks; /* of GmAlloc: address and bytes */
    uint64_t tiling_key = 0;
    bool has_tiling_key = false;

    static CpuDebug &Get() {
        static CpuDebug state;
        return state;
    }

    /* The block that holds `address`; the end if none does. */
    std::map<uintptr_t, std::size_t>::const_iterator Find(uintptr_t address) const {
        auto next = blocks.upper_bound(address);
        if (next == blocks.begin()) {
            return blocks.end();
        }
        --next;
        return address - next->first < next->second ? next : blocks.end();
    }
};

inline void RequireAcl(aclError error, const std::string &what) {
    if (error != ACL_SUCCESS) {
        const char *reason = aclGetRecentErrMsg();
        throw std::runtime_error(what + ": " + (reason != nullptr && *reason != '\0' ? reason : "error " + std::to_string(error)));
    }
}

/* The copies of one launch. */
class CpuDebugLaunch {
public:
    explicit CpuDebugLaunch(const char *kernel) : kernel_(kernel) {}
    CpuDebugLaunch(const CpuDebugLaunch &) = delete;
    CpuDebugLaunch &operator=(const CpuDebugLaunch &) = delete;
    ~CpuDebugLaunch() {
        for (const auto &copy : copies_) {
            aclrtFree(copy.second);
        }
    }

    /* An argument as the device takes it: an address becomes that of its copy. */
    template <typename A>
    auto OnDevice(const A &argument) {
        if constexpr (std::is_pointer<A>::value) {
            return argument == nullptr ? static_cast<void *>(nullptr) : Copied(reinterpret_cast<uintptr_t>(argument));
        } else {
            return argument;
        }
    }

    void Finish() {
        RequireAcl(aclrtSynchronizeDevice(), "ICPU_RUN_KF(" + kernel_ + ")");
        for (const auto &copy : copies_) {
            const std::size_t bytes = CpuDebug::Get().blocks.at(copy.first);
            RequireAcl(aclrtMemcpy(reinterpret_cast<void *>(copy.first), bytes, copy.second, bytes, ACL_MEMCPY_DEVICE_TO_HOST), "copy of a result");
        }
    }

private:
    void *Copied(uintptr_t address) {
        const auto block = CpuDebug::Get().Find(address);
        if (block == CpuDebug::Get().blocks.end()) {
            throw std::invalid_argument("ICPU_RUN_KF(" + kernel_ + "): an argument is an address that does not come from AscendC::GmAlloc");
        }
        void *&copy = copies_[block->first];
        if (copy == nullptr) {
            RequireAcl(aclrtMalloc(&copy, block->second, ACL_MEM_MALLOC_HUGE_FIRST), "memory for an argument");
            RequireAcl(aclrtMemcpy(copy, block->second, reinterpret_cast<const void *>(block->first), block->second, ACL_MEMCPY_HOST_TO_DEVICE),
                       "copy of an argument");
        }
        return static_cast<char *>(copy) + (address - block->first);
    }

    std::string kernel_;
    std::map<uintptr_t, void *> copies_;
};

/* `plain` and `keyed` launch the same kernel, the second with a tiling key. */
template <typename Result, typename... P, typename L, typename K, typename... A>
void RunCpuDebug(const char *name, Result (*)(P...), const std::pair<L, K> &launches, const A &...arguments) {
    static_assert(sizeof...(P) == sizeof...(A), "ICPU_RUN_KF needs one argument per parameter of the kernel");
    CpuDebugLaunch run(name);
    const CpuDebug &state = CpuDebug::Get();
    if (state.has_tiling_key) {
        launches.second(state.tiling_key, Converted<P>(run.OnDevice(arguments))...);
    } else {
        launches.first(Converted<P>(run.OnDevice(arguments))...);
    }
    run.Finish();
}

}  // namespace piton

namespace AscendC {

using ::KernelMode;

inline void *GmAlloc(std::size_t size) {
    if (size == 0) {
        return nullptr;
    }
    constexpr std::size_t kAlign = 512;
    void *memory = std::aligned_alloc(kAlign, (size + kAlign - 1) / kAlign * kAlign);
    if (memory != nullptr) {
        piton::CpuDebug::Get().blocks[reinterpret_cast<uintptr_t>(memory)] = size;
    }
    return memory;
}

inline void GmFree(void *memory) {
    if (piton::CpuDebug::Get().blocks.erase(reinterpret_cast<uintptr_t>(memory)) != 0) {
        std::free(memory);
    }
}

/* Which cores a kernel runs on is what its declaration or KERNEL_TASK_TYPE_DEFAULT says. */
inline void SetKernelMode(KernelMode) {}

}  // namespace AscendC

#define ICPU_SET_TILING_KEY(key)                                          \
    do {                                                                  \
        ::piton::CpuDebug::Get().tiling_key = static_cast<uint64_t>(key); \
        ::piton::CpuDebug::Get().has_tiling_key = true;                   \
    } while (false)

#define ICPU_RUN_KF(func, numBlocks, ...)                                                                                           \
    ::piton::RunCpuDebug(#func, +func,                                                                                              \
                         std::make_pair(PITON_LAUNCH(func)(numBlocks, nullptr, nullptr),                                            \
                                        PITON_LAUNCH((&::piton::Keyed<decltype(+func), +func>::Run))(numBlocks, nullptr, nullptr)), \
                         __VA_ARGS__)

#endif /* PITON_HOST_TIKICPULIB_H */
