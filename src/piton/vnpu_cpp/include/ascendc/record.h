/*
 * Records: how an API call reaches the engine, and how it knows its place in the kernel's source.
 *
 * Problem: a report has to name the line of the kernel, not of these headers, and the vendor's signatures have no room for it.
 * Approach: every API takes a trailing defaulted Location; a default argument is evaluated where the user calls, so that __builtin_LINE is the user's line.
 * Each API is called by user code only: calls between headers pass the caller's Location on.
 * Limits: in the host pass nothing can be submitted; device code called there ends the process with a message.
 */
#ifndef PITON_ASCENDC_RECORD_H
#define PITON_ASCENDC_RECORD_H

#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "macros.h"
#include "types.h"
#include "vnpu/abi.h"

namespace piton {

/* Comes first, so that no argument of a call (a 0 among braces) is taken for a place. */
struct Here {
    explicit Here() = default;
};

struct Location {
    const char *file;
    uint32_t line;

    PITON_API constexpr Location(Here = Here(), const char *here = __builtin_FILE(), uint32_t at = __builtin_LINE()) : file(here), line(at) {}
};

/* The place of a call through a pointer, where nothing is known of the user's line. */
PITON_API constexpr Location ByAddress() { return Location(Here(), "(call through a pointer)", 0); }

#if defined(PITON_HOST_PASS)
[[noreturn]] PITON_API void RefuseOnHost(const vnpu_record &record) {
    std::fprintf(stderr, "%s:%u: device code called on the host\n", reinterpret_cast<const char *>(record.file), record.line);
    std::abort();
}

PITON_API void Submit(const vnpu_record &record) { RefuseOnHost(record); }

PITON_API uint64_t Fetch(const vnpu_record &record) { RefuseOnHost(record); }
#else
PITON_API void Submit(const vnpu_record &record) { vnpu_submit(&record); }

PITON_API uint64_t Fetch(const vnpu_record &record) { return vnpu_fetch(&record); }
#endif

PITON_API vnpu_record MakeRecord(uint16_t opcode, uint8_t pipe, Location at) {
    vnpu_record record{};
    record.opcode = opcode;
    record.pipe = pipe;
    record.file = reinterpret_cast<uint64_t>(at.file);
    record.line = at.line;
    return record;
}

/* A record whose only content is up to three numbers. */
PITON_API vnpu_record MakeNote(uint16_t opcode, Location at, uint32_t first = 0, uint32_t second = 0, uint32_t third = 0) {
    vnpu_record record = MakeRecord(opcode, VNPU_PIPE_S, at);
    record.p[0] = first;
    record.p[1] = second;
    record.p[2] = third;
    return record;
}

/* End the launch with the misuse in `record`. `api` is printed as the place's instruction: src0.addr holds its address. */
[[noreturn]] PITON_API void FaultRecord(vnpu_record record, const char *api) {
    record.src0.addr = reinterpret_cast<uint64_t>(api);
    Submit(record);
    std::abort(); /* the engine never returns from a fault */
}

/* Report a misuse that needs no more than three figures. */
[[noreturn]] PITON_API void Fault(vnpu_fault fault, const char *api, Location at, uint64_t value = 0, uint32_t first = 0, uint32_t second = 0) {
    vnpu_record record = MakeNote(VNPU_OP_FAULT, at, fault, first, second);
    record.scalar = value;
    FaultRecord(record, api);
}

/* Argument number `index` (from 0) of `api` lies outside [low, high]. */
[[noreturn]] PITON_API void FaultRange(const char *api, uint32_t index, uint64_t value, int64_t low, int64_t high, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_FAULT, at, VNPU_FAULT_BAD_ARGUMENT, index);
    record.scalar = value;
    record.mask[0] = static_cast<uint64_t>(low);
    record.mask[1] = static_cast<uint64_t>(high);
    FaultRecord(record, api);
}

/* Argument number `index` (from 0) of `api` has to lie in [low, high]. */
template <typename Number>
PITON_API void RequireRange(const char *api, uint32_t index, Number value, int64_t low, int64_t high, Location at) {
    const bool isTooLarge = std::is_unsigned<Number>::value && static_cast<uint64_t>(value) > static_cast<uint64_t>(INT64_MAX);
    if (isTooLarge || static_cast<int64_t>(value) < low || static_cast<int64_t>(value) > high) {
        FaultRange(api, index, static_cast<uint64_t>(value), low, high, at);
    }
}

/*
 * Where the compiler knows that a value does not fit, it says so at the user's line: the call that is left over after constants are folded makes the warning.
 */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define PITON_WARNS_OF_CUTS 1
__attribute__((noinline, no_sanitize_coverage,
               warning("a value above 255 for a parameter of 8 bits: the chip takes its low 8 bits only, so that a repeat "
                       "count of 256 is 0 and nothing happens"))) inline void CutTo8Bits() {
    __asm__ volatile("");
}
__attribute__((noinline, no_sanitize_coverage, warning("a value above 65535 for a parameter of 16 bits: the chip takes its low 16 bits only"))) inline void
CutTo16Bits() {
    __asm__ volatile("");
}
#else
#define PITON_WARNS_OF_CUTS 0
#endif

/*
 * A parameter of the narrow unsigned type `T` that notices a value it can't hold. The chip would use the low bits: a repeat count of 256 becomes 0 and
 * nothing happens, which is never what was meant.
 */
template <typename T>
struct Narrow {
    uint64_t given;

    template <typename Number, typename = std::enable_if_t<std::is_convertible<Number, int64_t>::value>>
    PITON_INLINE_API constexpr Narrow(Number value) : given(static_cast<uint64_t>(static_cast<int64_t>(value))) {
#if PITON_WARNS_OF_CUTS
        if (sizeof(T) < 4 && __builtin_constant_p(given) && given > static_cast<T>(-1)) {
            sizeof(T) == 1 ? CutTo8Bits() : CutTo16Bits();
        }
#endif
    }

    PITON_API constexpr T Get(const char *api, uint32_t index, Location at) const {
        constexpr uint64_t largest = static_cast<T>(-1);
        if (given > largest) {
            FaultRange(api, index, given, 0, static_cast<int64_t>(largest), at);
        }
        return static_cast<T>(given);
    }
};

}  // namespace piton

#endif /* PITON_ASCENDC_RECORD_H */
