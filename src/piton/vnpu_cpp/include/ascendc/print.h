/*
 * printf and assert of device code.
 *
 * Problem: arguments may be half or bfloat16_t, and integers of any width go with any integer conversion; an assertion has to end the launch with its place.
 * Approach: the text is made here, conversion by conversion, with each argument widened, and handed to the engine (engine/print.cpp).
 * Limits: conversions d i u x X o c f F e g s p and %%, with flags, width and precision; no '*'. What has no argument is printed as it stands. A call prints
 * at most kPrintBytes, as on the chip, where a longer text is not printed at all.
 */
#ifndef PITON_ASCENDC_PRINT_H
#define PITON_ASCENDC_PRINT_H

#include <string>

#include "record.h"

namespace piton {

constexpr std::size_t kPrintBytes = 30 * 1024; /* of one call: documentation page of printf */

/* An argument, widened. */
struct Printed {
    enum class Kind : uint8_t { Signed, Unsigned, Real, Text, Address } kind = Kind::Signed;
    uint64_t bits = 0;
    double real = 0;
    const char *text = nullptr;
};

PITON_API Printed Widen(const char *text) { return {Printed::Kind::Text, 0, 0, text}; }
template <typename T>
PITON_API Printed Widen(const T &value) {
    if constexpr (std::is_pointer<T>::value) {
        return {Printed::Kind::Address, reinterpret_cast<uint64_t>(value), 0, nullptr};
    } else if constexpr (std::is_enum<T>::value) {
        return {Printed::Kind::Signed, static_cast<uint64_t>(value), 0, nullptr};
    } else if constexpr (std::is_integral<T>::value) {
        return {std::is_signed<T>::value ? Printed::Kind::Signed : Printed::Kind::Unsigned, static_cast<uint64_t>(static_cast<int64_t>(value)), 0, nullptr};
    } else {
        static_assert(std::is_convertible<T, float>::value || std::is_convertible<T, double>::value, "printf takes numbers, texts and addresses");
        return {Printed::Kind::Real, 0, static_cast<double>(value), nullptr};
    }
}

/* `conversion` is from '%' to its letter, without length letters. */
PITON_API std::string PrintOne(std::string conversion, const Printed &value) {
    char buffer[512];
    const char letter = conversion.back();
    int length = 0;
    if (letter == 's') {
        const char *text = value.kind == Printed::Kind::Text && value.text != nullptr ? value.text : "(no text)";
        return text;
    }
    if (letter == 'f' || letter == 'F' || letter == 'e' || letter == 'g') {
        const double real = value.kind == Printed::Kind::Real ? value.real : static_cast<double>(static_cast<int64_t>(value.bits));
        length = std::snprintf(buffer, sizeof buffer, conversion.c_str(), real);
    } else if (letter == 'p') {
        length = std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(value.bits));
    } else {
        const long long whole = value.kind == Printed::Kind::Real ? static_cast<long long>(value.real) : static_cast<long long>(value.bits);
        if (letter != 'c') {
            conversion.insert(conversion.size() - 1, "ll");
            length = std::snprintf(buffer, sizeof buffer, conversion.c_str(), whole);
        } else {
            length = std::snprintf(buffer, sizeof buffer, conversion.c_str(), static_cast<int>(whole));
        }
    }
    return length < 0 ? std::string() : std::string(buffer);
}

PITON_API std::string Format(const char *fmt, const Printed *values, std::size_t count) {
    std::string text;
    std::size_t next = 0;
    for (const char *at = fmt; *at != '\0';) {
        if (*at != '%') {
            text += *at++;
            continue;
        }
        std::string conversion(1, *at++);
        while (*at != '\0' && std::strchr("-+ #.0123456789", *at) != nullptr) {
            conversion += *at++;
        }
        while (*at == 'l' || *at == 'h' || *at == 'z') {
            ++at;
        }
        const char letter = *at;
        if (letter != '\0') {
            conversion += letter;
            ++at;
        }
        if (letter == '%') {
            text += '%';
        } else if (letter == '\0' || std::strchr("diuxXocfFegsp", letter) == nullptr || next == count) {
            text += conversion;
        } else {
            text += PrintOne(conversion, values[next++]);
        }
    }
    return text;
}

PITON_API void SubmitPrint(const std::string &text, Location at) {
    if (text.empty() || text.size() > kPrintBytes) {
        return;
    }
    vnpu_record record = MakeNote(VNPU_OP_PRINT, at, static_cast<uint32_t>(text.size()));
    record.src0.addr = reinterpret_cast<uint64_t>(text.data());
    Submit(record);
}

/* A format with the place of the call. */
struct CallFormat {
    const char *text;
    Location at;

    PITON_API CallFormat(const char *given, Location here = Location()) : text(given), at(here) {}
};

[[noreturn]] PITON_API void FailAssertion(const char *condition, Location at) { Fault(VNPU_FAULT_ASSERTION, condition, at); }

}  // namespace piton

namespace AscendC {

template <class... Args>
PITON_API void printf(const piton::CallFormat &fmt, const Args &...args) {
    const piton::Printed values[] = {piton::Widen(args)..., piton::Printed()};
    piton::SubmitPrint(piton::Format(fmt.text, values, sizeof...(Args)), fmt.at);
}

template <class... Args>
PITON_API void PRINTF(const piton::CallFormat &fmt, const Args &...args) {
    AscendC::printf(fmt, args...);
}

}  // namespace AscendC

/* In the host pass assert is the C library's: kernels use it without including anything. */
#if defined(PITON_HOST_PASS)
#include <cassert>
#else
#undef assert
#define assert(...) ((__VA_ARGS__) ? static_cast<void>(0) : ::piton::FailAssertion(#__VA_ARGS__, ::piton::Location()))
#endif
/* The older name, which kernels write with a message behind &&. The host pass compiles kernels too, but runs none. */
#if !defined(ASSERT) && defined(PITON_HOST_PASS)
#define ASSERT(...) static_cast<void>(0)
#elif !defined(ASSERT)
#define ASSERT(...) ((__VA_ARGS__) ? static_cast<void>(0) : ::piton::FailAssertion(#__VA_ARGS__, ::piton::Location()))
#endif
/* Words for the vendor's CPU twin, which say nothing on a chip. */
#if !defined(KERNEL_LOG)
#define KERNEL_LOG(...) static_cast<void>(0)
#endif
/* With what to do first where the condition does not hold: a block with KERNEL_LOG. */
#if !defined(ASCENDC_ASSERT) && defined(PITON_HOST_PASS)
#define ASCENDC_ASSERT(...) static_cast<void>(0)
#elif !defined(ASCENDC_ASSERT)
#define ASCENDC_ASSERT(condition, ...)                               \
    do {                                                             \
        if (!(condition)) {                                          \
            __VA_ARGS__;                                             \
            ::piton::FailAssertion(#condition, ::piton::Location()); \
        }                                                            \
    } while (false)
#endif
/* With a message, which is for the reader of the source only. */
#define ascendc_assert(condition, ...) ((condition) ? static_cast<void>(0) : ::piton::FailAssertion(#condition, ::piton::Location()))

#endif /* PITON_ASCENDC_PRINT_H */
