/*
 * API functions by their address: public kernels hand Add, Exp or Sin to a template as a function of the documented type.
 *
 * Problem: the functions here take the place of the call as a further argument, so that none of them has the documented type.
 * Approach: beside each stands one of that type whose result is a template parameter. A call cannot deduce it and never takes this one; the address of a
 * function of a known type can.
 * Limits: the forms that public kernels use. What is reported names no line: where such a function is called is not known to it.
 */
#ifndef PITON_ASCENDC_ADDRESSABLE_H
#define PITON_ASCENDC_ADDRESSABLE_H

#include "tensor.h"
#include "vector_binary.h"

#define PITON_ADDRESS_OF_ONE(Name)                                                                      \
    template <typename T, typename Result>                                                              \
    PITON_API Result Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const int32_t &count) { \
        return static_cast<Result>(Name(dst, src, count, piton::ByAddress()));                          \
    }
#define PITON_ADDRESS_OF_TWO(Name)                                                                                                                    \
    template <typename T, typename Result>                                                                                                            \
    PITON_API Result Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, const int32_t &count) {                  \
        return static_cast<Result>(Name(dst, src0, src1, count, piton::ByAddress()));                                                                 \
    }                                                                                                                                                 \
    template <typename T, typename Result>                                                                                                            \
    PITON_API Result Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1, uint64_t mask, const uint8_t repeatTime, \
                          const BinaryRepeatParams &repeatParams) {                                                                                   \
        return static_cast<Result>(Name(dst, src0, src1, mask, piton::Narrow<uint8_t>(repeatTime), repeatParams, piton::ByAddress()));                \
    }
#define PITON_ADDRESS_WITH_NUMBER(Name)                                                                                       \
    template <typename T, typename Result>                                                                                    \
    PITON_API Result Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const T &scalarValue, const int32_t &count) { \
        return static_cast<Result>(Name(dst, src, scalarValue, count, piton::ByAddress()));                                   \
    }
#define PITON_ADDRESS_OF_MATHEMATICS(Name)                                                                 \
    template <typename T, bool isReuseSource = false, bool = false, typename Result>                       \
    PITON_API Result Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t calCount) { \
        return static_cast<Result>(Name<T, isReuseSource>(dst, src, calCount, piton::ByAddress()));        \
    }

namespace AscendC {

PITON_ADDRESS_OF_ONE(Exp)
PITON_ADDRESS_OF_ONE(Ln)
PITON_ADDRESS_OF_ONE(Sqrt)
PITON_ADDRESS_OF_ONE(Rsqrt)
PITON_ADDRESS_OF_ONE(Reciprocal)
PITON_ADDRESS_OF_ONE(Abs)
PITON_ADDRESS_OF_ONE(Relu)
PITON_ADDRESS_OF_TWO(Add)
PITON_ADDRESS_OF_TWO(Sub)
PITON_ADDRESS_OF_TWO(Mul)
PITON_ADDRESS_OF_TWO(Div)
PITON_ADDRESS_OF_TWO(Max)
PITON_ADDRESS_OF_TWO(Min)
PITON_ADDRESS_WITH_NUMBER(Adds)
PITON_ADDRESS_WITH_NUMBER(Muls)
PITON_ADDRESS_WITH_NUMBER(Maxs)
PITON_ADDRESS_WITH_NUMBER(Mins)
PITON_ADDRESS_OF_MATHEMATICS(Sigmoid)
PITON_ADDRESS_OF_MATHEMATICS(Sin)
PITON_ADDRESS_OF_MATHEMATICS(Cos)
PITON_ADDRESS_OF_MATHEMATICS(Tan)
PITON_ADDRESS_OF_MATHEMATICS(Sinh)
PITON_ADDRESS_OF_MATHEMATICS(Cosh)
PITON_ADDRESS_OF_MATHEMATICS(Tanh)
PITON_ADDRESS_OF_MATHEMATICS(Asin)
PITON_ADDRESS_OF_MATHEMATICS(Acos)
PITON_ADDRESS_OF_MATHEMATICS(Atan)
PITON_ADDRESS_OF_MATHEMATICS(Asinh)
PITON_ADDRESS_OF_MATHEMATICS(Acosh)
PITON_ADDRESS_OF_MATHEMATICS(Atanh)
PITON_ADDRESS_OF_MATHEMATICS(Erf)
PITON_ADDRESS_OF_MATHEMATICS(Erfc)

}  // namespace AscendC

#undef PITON_ADDRESS_OF_ONE
#undef PITON_ADDRESS_OF_TWO
#undef PITON_ADDRESS_WITH_NUMBER
#undef PITON_ADDRESS_OF_MATHEMATICS

#endif /* PITON_ASCENDC_ADDRESSABLE_H */
