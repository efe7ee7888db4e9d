/*
 * REGIST_MATMUL_OBJ and the type Matmul.
 *
 * Problem: one macro ties up to four objects to their tilings; each tiling may be missing, null, or lie in global memory.
 * Approach: on a cube core every object gets its tiling by Init.
 * Limits: kernels with both kinds of core are not here yet.
 */
#ifndef PITON_ASCENDC_MATMUL_REGISTRATION_H
#define PITON_ASCENDC_MATMUL_REGISTRATION_H

#include "../workspace.h"
#include "object.h"

namespace piton {

template <typename T>
PITON_API const TCubeTiling *TilingOf(const T &given) {
    if constexpr (std::is_pointer<T>::value || std::is_null_pointer<T>::value) {
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

}  // namespace piton

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto &MM_CFG = CFG_NORM, class MM_CB = MatmulCallBackFunc<>,
          MATMUL_POLICY_DEFAULT_OF(MatmulPolicy)>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, MATMUL_POLICY>;

}  // namespace AscendC

/* The older namespace of the same names. */
namespace matmul = AscendC;

#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                          \
    do {                                                                  \
        (void)(workspace);                                                \
        ::piton::RegisterMatmul(tpipe, ::piton::Location(), __VA_ARGS__); \
    } while (false)
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

#endif /* PITON_ASCENDC_MATMUL_REGISTRATION_H */
