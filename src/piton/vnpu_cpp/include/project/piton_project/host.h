/*
 * All that host code of an operator project includes, whichever of the vendor's headers it names.
 *
 * Problem and approach: the vendor's headers include one another, so that code gets by with any of them; here each name brings everything, with the secure
 * string functions, logging (report.h) and arithmetic that projects use.
 * Limits: no graph construction; tiling of the high-level APIs is in tiling/tiling_api.h.
 */
#ifndef PITON_PROJECT_HOST_H
#define PITON_PROJECT_HOST_H

#if defined(PITON_PROJECT_KERNEL_NUMBERS_H)
/* A kernel, for which element types are macros: it includes such a header for a plain structure beside it, or for one that its entry has defined already. */
#include <cstdint>

#define BEGIN_TILING_DATA_DEF(...)
#define TILING_DATA_FIELD_DEF(...)
#define TILING_DATA_FIELD_DEF_ARR(...)
#define TILING_DATA_FIELD_DEF_STRUCT(...)
#define END_TILING_DATA_DEF
#define REGISTER_TILING_DATA_CLASS(...)
#else
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "infer.h"
#include "secure.h"

/* What checks of public operators expect to be there, as in code of the system. */
#ifndef PITON_HAS_LIKELY
#define PITON_HAS_LIKELY
constexpr bool likely(bool condition) { return condition; }
constexpr bool unlikely(bool condition) { return condition; }
#endif

namespace Ops {
namespace Base {

template <typename A, typename B>
std::common_type_t<A, B> CeilDiv(A value, B step) {
    return step == 0 ? value : (value + step - 1) / step;
}
template <typename A, typename B>
std::common_type_t<A, B> CeilAlign(A value, B step) {
    return CeilDiv(value, step) * step;
}
template <typename A, typename B>
std::common_type_t<A, B> FloorDiv(A value, B step) {
    return step == 0 ? value : value / step;
}
template <typename A, typename B>
std::common_type_t<A, B> FloorAlign(A value, B step) {
    return FloorDiv(value, step) * step;
}

/* A tensor without dimensions as one of one element, which is how kernels take it. */
inline gert::Shape EnsureNotScalar(const gert::Shape &shape) { return shape.IsScalar() ? gert::Shape({1}) : shape; }

/* Shapes while a graph is built: -2 as the only dimension is a rank that is not known, -1 a dimension that is not. */
inline bool IsUnknownRank(const gert::Shape &shape) { return shape.GetDimNum() == 1 && shape.GetDim(0) == -2; }
inline void SetUnknownRank(gert::Shape &shape) { shape = gert::Shape({-2}); }
inline bool IsUnknownShape(const gert::Shape &shape) {
    for (std::size_t i = 0; i < shape.GetDimNum(); ++i) {
        if (shape.GetDim(i) == -1) {
            return true;
        }
    }
    return false;
}

inline void SetUnknownShape(int64_t rank, gert::Shape &shape) {
    shape = gert::Shape();
    for (int64_t i = 0; i < rank; ++i) {
        shape.AppendDim(-1);
    }
}

/* Bytes of a data block of the unified buffer. */
template <typename Context>
uint32_t GetUbBlockSize(const Context *) {
    return 32;
}
/* Bytes of a vector register: what an instruction takes at once. */
template <typename Context>
uint32_t GetVRegSize(const Context *) {
    return 256;
}

inline bool IsFloatEqual(float a, float b) { return std::fabs(a - b) <= std::numeric_limits<float>::epsilon(); }

}  // namespace Base
}  // namespace Ops

#endif
#endif /* PITON_PROJECT_HOST_H */
