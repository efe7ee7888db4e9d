/*
 * Tiling data and tiling keys as a kernel of an operator project sees them.
 *
 * Problem: the vendor's build compiles such a kernel once per tiling key, with a generated structure for the tiling data; here one compile mostly serves all
 * keys. Approach: whoever launches the kernel (a generated entry, or ICPU_RUN_KF) says before each block which key holds and how many bytes of tiling data
 * there are. TILING_KEY_IS asks for that key when it runs; what reads tiling data checks the size first, since a structure that differs from the one the host
 * filled is a mistake that the chip would not tell.
 * A kernel that asks the preprocessor (`#if TILING_KEY_VAR == 1`) has an entry per key, which defines TILING_KEY_VAR anew.
 * Limits: the copy out of global memory is not timed.
 */
#ifndef PITON_ASCENDC_TILING_H
#define PITON_ASCENDC_TILING_H

#include <string>

#include "print.h"
#include "workspace.h"

namespace piton {

/* Of the launch that runs: equal for all of its blocks, set at the beginning of each. */
struct TilingState {
    uint64_t key = 0;
    uint64_t bytes = 0;
    bool is_size_known = false;
    bool is_asked = false; /* some TILING_KEY_IS was reached */
    bool is_taken = false; /* and one of them was true */
    Location asked;        /* the last of them */
};

inline TilingState tiling_state;

PITON_API void BeginTiling(uint64_t key, bool is_size_known, uint64_t bytes) { tiling_state = {key, bytes, is_size_known, false, false, Location()}; }

[[noreturn]] PITON_API void FailTiling(const std::string &text, Location at) { FailAssertion(text.c_str(), at); }

/* After the kernel: a key for which no branch exists leaves its outputs as they were, and only this says why. */
PITON_API void EndTiling() {
    if (tiling_state.is_asked && !tiling_state.is_taken) {
        FailTiling("no TILING_KEY_IS of the kernel takes tiling key " + std::to_string(tiling_state.key), tiling_state.asked);
    }
}

template <typename... Key>
PITON_API bool IsTilingKey(Location at, Key... keys) {
    const bool is_taken = ((tiling_state.key == static_cast<uint64_t>(keys)) || ...);
    tiling_state.is_asked = true;
    tiling_state.asked = at;
    tiling_state.is_taken = tiling_state.is_taken || is_taken;
    return is_taken;
}

/* The host rounds tiling data up to eight bytes. */
template <typename T>
PITON_API void CheckTiling(const char *name, Location at) {
    static_assert(std::is_trivially_copyable<T>::value, "tiling data has to be a plain structure");
    if (tiling_state.is_size_known && (sizeof(T) > (tiling_state.bytes + 7) / 8 * 8 || tiling_state.bytes > (sizeof(T) + 7) / 8 * 8)) {
        FailTiling("tiling data: the kernel reads " + std::string(name) + " of " + std::to_string(sizeof(T)) + " bytes, the tiling function wrote " +
                       std::to_string(tiling_state.bytes),
                   at);
    }
}

template <typename T, typename Address>
PITON_API T ReadTiling(Address address, const char *name, Location at = Location()) {
    CheckTiling<T>(name, at);
    T data;
    std::memcpy(static_cast<void *>(&data), reinterpret_cast<const void *>(address), sizeof(T));
    return data;
}

/* What GET_TILING_DATA reads where neither the project's host code nor the kernel has named a structure. */
struct NoTilingStructure_NameItWith_REGISTER_TILING_DEFAULT;

}  // namespace piton

/* The structure that GET_TILING_DATA reads; REGISTER_TILING_DEFAULT hides this name inside a kernel. */
#if defined(PITON_PROJECT_TILING)
using PitonTilingData = PITON_PROJECT_TILING;
#else
using PitonTilingData = ::piton::NoTilingStructure_NameItWith_REGISTER_TILING_DEFAULT;
#endif

#define REGISTER_TILING_DEFAULT(...) using PitonTilingData [[maybe_unused]] = __VA_ARGS__
#define REGISTER_TILING_FOR_TILINGKEY(condition, ...) static_assert(sizeof(__VA_ARGS__) > 0, "tiling data has to be a complete structure")

#define GET_TILING_DATA(name, address) [[maybe_unused]] PitonTilingData name = ::piton::ReadTiling<PitonTilingData>(address, "GET_TILING_DATA")
#define GET_TILING_DATA_WITH_STRUCT(structure, name, address) [[maybe_unused]] structure name = ::piton::ReadTiling<structure>(address, #structure)
#define GET_TILING_DATA_MEMBER(structure, member, name, address) \
    [[maybe_unused]] decltype(structure::member) name = ::piton::ReadTiling<structure>(address, #structure).member
#define GET_TILING_DATA_PTR_WITH_STRUCT(structure, name, address)     \
    ::piton::CheckTiling<structure>(#structure, ::piton::Location()); \
    [[maybe_unused]] __gm__ structure *name = reinterpret_cast<__gm__ structure *>(address)

#define TILING_KEY_IS(key) (::piton::IsTilingKey(::piton::Location(), key))
#define TILING_KEY_LIST(...) (::piton::IsTilingKey(::piton::Location(), __VA_ARGS__))
#define TILING_KEY_VAR (::piton::tiling_state.key)

/* For one key, in a kernel with several: before KERNEL_TASK_TYPE_DEFAULT, wherever either stands. */
#define KERNEL_TASK_TYPE(key, type)                          \
    do {                                                     \
        if (::piton::tiling_state.key == (key)) {            \
            ::piton::SubmitTaskType(type, VNPU_TYPE_OF_KEY); \
        }                                                    \
    } while (false)

namespace piton {

/* A kernel with its tiling key, for launchers that have no entry generated for it. */
template <typename F, F kernel>
struct Keyed;

template <typename Result, typename... P, Result (*kernel)(P...)>
struct Keyed<Result (*)(P...), kernel> {
    static Result Run(uint64_t key, P... arguments) {
        BeginTiling(key, false, 0);
        kernel(arguments...);
        EndTiling();
    }
};

}  // namespace piton

#endif /* PITON_ASCENDC_TILING_H */
