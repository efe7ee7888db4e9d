/*
 * SetAtomicAdd and its kind: what copies to global memory do with what is there.
 *
 * Problem and approach: a register of the core, ordered by hardware; one record sets kind and dtype.
 * Limits: from UB only, as there are no cube memories here. Saturation modes of the device are not modelled: integers wrap around. Types as documented for the
 * Ascend 910B.
 */
#ifndef PITON_ASCENDC_ATOMIC_H
#define PITON_ASCENDC_ATOMIC_H

#include "vector.h"

namespace piton {

enum AtomicKind : uint32_t { kAtomicNone, kAtomicAdd, kAtomicMax, kAtomicMin, kAtomicTypeOnly };

template <typename T>
constexpr bool kIsAtomic = kIsOneOf<T, int8_t, int16_t, half, bfloat16_t, int32_t, float>;

PITON_API void SubmitAtomic(AtomicKind kind, uint8_t dtype, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SET_ATOMIC, at, kind);
    record.dst.dtype = dtype;
    Submit(record);
}

}  // namespace piton

#define PITON_ATOMIC(Name, kind)                                                                             \
    namespace AscendC {                                                                                      \
    template <typename T>                                                                                    \
    PITON_API void Name(piton::Location at = piton::Location()) {                                            \
        using piton::kDtype;                                                                                 \
        PITON_REQUIRE_TYPE(#Name, piton::kIsAtomic<T>, "int8_t, int16_t, half, bfloat16_t, int32_t, float"); \
        piton::SubmitAtomic(kind, kDtype<T>, at);                                                            \
    }                                                                                                        \
    }

PITON_ATOMIC(SetAtomicAdd, piton::kAtomicAdd)
PITON_ATOMIC(SetAtomicMax, piton::kAtomicMax)
PITON_ATOMIC(SetAtomicMin, piton::kAtomicMin)
PITON_ATOMIC(SetAtomicType, piton::kAtomicTypeOnly)

#undef PITON_ATOMIC

namespace AscendC {

PITON_API void SetAtomicNone(piton::Location at = piton::Location()) { piton::SubmitAtomic(piton::kAtomicNone, VNPU_DT_NONE, at); }

PITON_API void DisableDmaAtomic(piton::Location at = piton::Location()) { piton::SubmitAtomic(piton::kAtomicNone, VNPU_DT_NONE, at); }

}  // namespace AscendC

#endif /* PITON_ASCENDC_ATOMIC_H */
