/*
 * REGIST_MATMUL_OBJ and the type Matmul.
 *
 * Problem: one macro ties objects to their tilings; each tiling may be missing, null, or lie in global memory.
 * Approach: on a cube core by itself (ASCENDC_CUBE_ONLY, or a launch of cube cores) every object gets its tiling by Init. In a mixed launch the macro makes
 * the objects of a vector core proxies, and the cube core serves them where the macro stands and then returns from the function, as the vendor's does.
 * Limits: the function that holds the macro returns nothing. A kernel that says nothing about its cores becomes a mixed one of 1:2, as with the vendor.
 */
#ifndef PITON_ASCENDC_MATMUL_REGISTRATION_H
#define PITON_ASCENDC_MATMUL_REGISTRATION_H

#include "../workspace.h"
#include "arithmetic.h"
#include "object.h"

namespace piton {

template <typename T>
PITON_API const TCubeTiling *TilingOf(const T &given) {
    if constexpr (std::is_convertible<const T &, const TCubeTiling *>::value) { /* is_pointer knows no __restrict */
        return given;
    } else {
        return &given;
    }
}

PITON_API void RegisterMatmul(AscendC::TPipe *, Location) {}
/* An object whose tiling comes later, by Init. */
template <class Object>
PITON_API void RegisterMatmul(AscendC::TPipe *, Location, Object &) {}
template <class Object, typename Tiling, class... Rest>
PITON_API void RegisterMatmul(AscendC::TPipe *pipe, Location at, Object &object, const Tiling &tiling, Rest &&...rest) {
    object.Init(TilingOf(tiling), pipe, at);
    RegisterMatmul(pipe, at, rest...);
}

/* Objects on a vector core, with their numbers; the cube core's, by number. */
PITON_API void BeginProxies(uint32_t, Location) {}
template <class Object>
PITON_API void BeginProxies(uint32_t number, Location at, Object &object) {
    object.BeginProxy(number, nullptr, at);
}
template <class Object, typename Tiling, class... Rest>
PITON_API void BeginProxies(uint32_t number, Location at, Object &object, const Tiling &tiling, Rest &&...rest) {
    object.BeginProxy(number, TilingOf(tiling), at);
    BeginProxies(number + 1, at, rest...);
}

PITON_API void CollectCores(CubeCore **) {}
template <class Object>
PITON_API void CollectCores(CubeCore **cores, Object &object) {
    *cores = &object.Core();
}
template <class Object, typename Tiling, class... Rest>
PITON_API void CollectCores(CubeCore **cores, Object &object, const Tiling &, Rest &&...rest) {
    *cores = &object.Core();
    CollectCores(cores + 1, rest...);
}

/* In a kernel that may have both kinds of core. True on a cube core that has served its vector cores: nothing of the kernel is left for it. */
template <class... Parts>
PITON_API bool RegisterMixed(AscendC::TPipe *pipe, Location at, Parts &&...parts) {
    Submit(MakeNote(VNPU_OP_TASK_TYPE, at, VNPU_CORE_MIX_1_2, VNPU_TYPE_GUESSED));
    if (!IsMixedLaunch(at)) {
        RegisterMatmul(pipe, at, parts...);
        return false;
    }
    RequireMatmulFlags(at);
    if (IsVectorCore(at)) {
        BeginProxies(0, at, parts...);
        pipe->AtEnd([](Location end) { EndMatmul(end); });
        return false;
    }
    CubeCore *cores[sizeof...(Parts)] = {}; /* objects, most of them with a tiling */
    RegisterMatmul(pipe, at, parts...);
    CollectCores(cores, parts...);
    ServeMatmul(cores, at);
    return true;
}

}  // namespace piton

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, class MM_CB = MatmulCallBackFunc<>,
          MATMUL_POLICY_DEFAULT_OF(MatmulPolicy)>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;

}  // namespace AscendC

/* The older namespace of the same names. */
namespace matmul = AscendC;

#if defined(ASCENDC_CUBE_ONLY)
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                          \
    do {                                                                  \
        (void)(workspace);                                                \
        ::piton::RegisterMatmul(tpipe, ::piton::Location(), __VA_ARGS__); \
    } while (false)
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                               \
    do {                                                                       \
        (void)(workspace);                                                     \
        if (::piton::RegisterMixed(tpipe, ::piton::Location(), __VA_ARGS__)) { \
            return;                                                            \
        }                                                                      \
    } while (false)
#endif
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

#endif /* PITON_ASCENDC_MATMUL_REGISTRATION_H */
