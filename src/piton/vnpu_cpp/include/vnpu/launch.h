/*
 * Kernel launches: what `k<<<blocks, l2, stream>>>(args)` becomes.
 *
 * Problem: the launch syntax is no C++, host and device code of one source end up in different processes, and the host has to name a kernel that the device
 * knows.
 * Approach: the rewriter turns the launch into `PITON_LAUNCH(k)(blocks, l2, stream)(args)`. In the device pass, instantiating that registers the kernel
 * with an entry that unpacks an argument block; in the host pass it packs the block and hands it to the host library. The key is the translation unit
 * (macro PITON_TU) and the kernel as the compiler prints it, which is the same in both passes since the compiler is.
 * Limits: parameters have to be trivially copyable; a launch is accepted or refused, and what became of it is the harness's to know.
 */
#ifndef PITON_VNPU_LAUNCH_H
#define PITON_VNPU_LAUNCH_H

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ascendc/macros.h"
#include "vnpu/abi.h"
#include "vnpu/host_abi.h"

#ifndef PITON_TU
#define PITON_TU "unit"
#endif

#if !defined(PITON_HOST_PASS)
/* Around the variables that every core has for itself; the link defines them (block_local.ld). A library that is linked otherwise has no such bounds. */
extern "C" __attribute__((weak, visibility("hidden"))) char piton_block_local_begin[], piton_block_local_end[];
#endif

namespace piton {

/* The name of this translation unit, as a type of its own: two units may define different kernels under one name. */
namespace {
struct ThisUnit {
    static const char *Name() { return PITON_TU; }
};
}  // namespace

constexpr uint32_t kMaxBlocks = 65535; /* blocks of one launch, documentation of the launch syntax */

/* Where the parameters lie in the argument block: in order, each at its natural alignment. */
template <typename... P>
struct ArgumentBlock {
    static_assert((std::is_trivially_copyable<P>::value && ...), "a kernel's parameters have to be trivially copyable: pointers, numbers or plain structures");

    static constexpr uint32_t OffsetOf(std::size_t index) {
        constexpr std::size_t sizes[] = {sizeof(P)..., 1};
        constexpr std::size_t aligns[] = {alignof(P)..., 1};
        std::size_t offset = 0;
        for (std::size_t i = 0;; ++i) {
            offset = (offset + aligns[i] - 1) / aligns[i] * aligns[i];
            if (i == index) {
                return static_cast<uint32_t>(offset);
            }
            offset += sizes[i];
        }
    }
    static constexpr uint32_t kBytes = OffsetOf(sizeof...(P));

    template <typename T>
    PITON_API static T Load(const void *block, uint32_t offset) {
        std::remove_const_t<T> value;
        std::memcpy(&value, static_cast<const char *>(block) + offset, sizeof value);
        return value;
    }
    template <typename Result, std::size_t... I>
    PITON_API static void Call(Result (*kernel)(P...), const void *block, std::index_sequence<I...>) {
        kernel(Load<P>(block, OffsetOf(I))...);
    }
    template <std::size_t... I>
    PITON_API static void Store(unsigned char *block, std::index_sequence<I...>, const P &...values) {
        (std::memcpy(block + OffsetOf(I), &values, sizeof values), ...);
    }
};

/* The kind of core that `__cube__` or `__mix__` in a kernel's declaration stands for. */
template <typename Result>
constexpr uint32_t DeclaredKind() {
    constexpr bool kIsConst = std::is_const<Result>::value, kIsVolatile = std::is_volatile<Result>::value;
    return kIsVolatile ? (kIsConst ? VNPU_CORE_MIX_1_1 : VNPU_CORE_MIX_1_2) : kIsConst ? VNPU_CORE_AIC : VNPU_CORE_AIV;
}

#if !defined(PITON_HOST_PASS)
inline uint32_t BlockLocalBytes() {
    const uint64_t bytes = reinterpret_cast<uint64_t>(piton_block_local_end) - reinterpret_cast<uint64_t>(piton_block_local_begin);
    return bytes > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(bytes);
}
#endif

struct Registrar {
    explicit Registrar(const vnpu_kernel &kernel) { vnpu_register_kernel(&kernel); }
};

template <typename Unit, typename F, F kernel>
class Launch;

/* `Result` is void with the qualifiers that `__cube__` and `__mix__` stand for. */
template <typename Unit, typename Result, typename... P, Result (*kernel)(P...)>
class Launch<Unit, Result (*)(P...), kernel> {
    static_assert(std::is_void<Result>::value, "a kernel returns nothing");

public:
    template <typename L2>
    Launch(int64_t blocks, const L2 &, const void *stream) : blocks_(blocks), stream_(stream) {
#if !defined(PITON_HOST_PASS)
        (void)&registrar_;
#endif
    }
    template <typename L2, typename Reserved>
    Launch(int64_t blocks, const L2 &l2, const Reserved &, const void *stream) : Launch(blocks, l2, stream) {}

    void operator()(P... arguments) const {
#if defined(PITON_HOST_PASS)
        if (blocks_ < 1 || blocks_ > static_cast<int64_t>(kMaxBlocks)) {
            const std::string limits = "1 to " + std::to_string(kMaxBlocks) + " are possible";
            throw std::runtime_error("launch of " + Title() + " with " + std::to_string(blocks_) + " blocks: " + limits);
        }
        alignas(std::max_align_t) unsigned char block[Block::kBytes + 1] = {};
        Block::Store(block, std::index_sequence_for<P...>(), arguments...);
        if (piton_host_launch(Name().c_str(), static_cast<uint32_t>(blocks_), block, Block::kBytes, stream_) != 0) {
            throw std::runtime_error("launch of " + Title() + ": the device does not answer any more");
        }
#else
        (void)std::tuple<const P &...>(arguments...);
        throw std::logic_error("launch of " + Title() + " from device code");
#endif
    }

    static const std::string &Name() {
        static const std::string name = std::string(Unit::Name()) + ": " + Title();
        return name;
    }

    /* The kernel with its template arguments. */
    static const std::string &Title() {
        static const std::string title = KernelIn(Kept(Pretty()));
        return title;
    }

#if !defined(PITON_HOST_PASS)
    /* In a device pass without the launch itself. */
    static const void *Register() { return &registrar_; }
#endif

private:
    using Block = ArgumentBlock<P...>;
    static constexpr uint32_t kCoreKind = DeclaredKind<Result>();

    static const char *Pretty() { return __PRETTY_FUNCTION__; }

    /* The text as a whole has to be in the object, where the toolchain looks for the kernels that are launched. */
    static const char *Kept(const char *text) {
        __asm__("" : "+r"(text));
        return text;
    }

    static std::string KernelIn(const std::string &text) {
        static const std::string label = " = "; /* the last one: the kernel is the last template parameter */
        const std::size_t begin = text.rfind(label) + label.size();
        return text.substr(begin, text.size() - begin - 1);
    }

#if !defined(PITON_HOST_PASS)
    PITON_API static void Run(const void *arguments) { Block::Call(kernel, arguments, std::index_sequence_for<P...>()); }

    static const vnpu_kernel &Description() {
#if defined(PITON_CUBE_PASS)
        static const vnpu_kernel description = {VNPU_ABI_VERSION,  kCoreKind, Name().c_str(), Title().c_str(),        Block::kBytes,
                                                BlockLocalBytes(), nullptr,   &Run,           piton_block_local_begin};
#else
        static const vnpu_kernel description = {VNPU_ABI_VERSION,  kCoreKind, Name().c_str(), Title().c_str(),        Block::kBytes,
                                                BlockLocalBytes(), &Run,      nullptr,        piton_block_local_begin};
#endif
        return description;
    }
    inline static const Registrar registrar_{Description()};
#endif

    int64_t blocks_;
    const void *stream_;
};

}  // namespace piton

namespace piton {

template <typename To, typename From>
PITON_API To Converted(From value) {
    if constexpr (std::is_pointer<To>::value && std::is_pointer<From>::value) {
        return reinterpret_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

/* The body of a generated launcher: its pointers are `void *`, whatever the kernel's are. */
template <typename Result, typename... P, typename L, typename... A>
PITON_API void Relay(Result (*)(P...), const L &launch, A... arguments) {
    launch(Converted<P>(arguments)...);
}

}  // namespace piton

/* `+` and not `&`: it takes a function as well as a pointer to one that is a constant, such as a template parameter. */

/* One line per kernel that the host pass of a single-source file launched. */
#define PITON_REGISTER_KERNEL(index, ...)                                                                                                           \
    namespace {                                                                                                                                     \
    [[maybe_unused]] const void *const piton_kernel_##index = ::piton::Launch<::piton::ThisUnit, decltype(+__VA_ARGS__), +__VA_ARGS__>::Register(); \
    }

#define PITON_LAUNCH(...) ::piton::Launch<::piton::ThisUnit, decltype(+__VA_ARGS__), +__VA_ARGS__>

#endif /* PITON_VNPU_LAUNCH_H */
