/* Kernels of composed elementwise functions, run by tests/sim/test_headers_functions.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* The given memory's size; most functions need up to six parts of it. */
constexpr uint32_t kMemoryBytes = 4096;

LocalTensor<uint8_t> OwnMemory() {
    LocalTensor<uint8_t> rest;
    PopStackBuffer<uint8_t, TPosition::VECCALC>(rest);
    rest.SetSize(kMemoryBytes);
    return rest;
}

/* How a kernel calls a function: with memory and a count, in place without memory, and on whole tensors. */
enum Form : uint32_t { kGiven, kInPlace, kWhole };

template <typename T, typename Call>
void OfOne(const Arguments &x, const Call &call) {
    Between<T>(x, x.a, x.a, [&](LocalTensor<T> dst, LocalTensor<T> src) {
        dst.SetSize(x.a);
        src.SetSize(x.a);
        if (x.b == kInPlace) {
            Muls(dst, src, static_cast<T>(1), static_cast<int32_t>(x.a));
            PipeBarrier<PIPE_V>();
            call(dst, dst, x);
        } else {
            call(dst, src, x);
        }
    });
}

/* x.a elements of each source (multiples of 16), one behind the other. */
template <typename T, typename Call>
void OfTwo(const Arguments &x, const Call &call) {
    Between<T>(x, 2 * x.a, x.a, [&](LocalTensor<T> dst, LocalTensor<T> src) {
        LocalTensor<T> first = src[0], second = src[x.a];
        first.SetSize(x.a);
        second.SetSize(x.a);
        call(dst, first, second, x);
    });
}

#define COUNTED(name, Function)                                                                         \
    template <typename T>                                                                               \
    void name(const Arguments &x) {                                                                     \
        OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) {  \
            given.b == kGiven ? Function(dst, src, OwnMemory(), given.a) : Function(dst, src, given.a); \
        });                                                                                             \
    }
#define ONE(name, Function)                                                                                 \
    template <typename T>                                                                                   \
    void name(const Arguments &x) {                                                                         \
        OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) {      \
            if (given.b == kWhole) {                                                                        \
                Function(dst, src);                                                                         \
                Function(dst, src, OwnMemory());                                                            \
            } else {                                                                                        \
                given.b == kGiven ? Function(dst, src, OwnMemory(), given.a) : Function(dst, src, given.a); \
            }                                                                                               \
        });                                                                                                 \
    }
#define TWO(name, Function, Type, ...)                                                                                                        \
    template <typename T>                                                                                                                     \
    void name(const Arguments &x) {                                                                                                           \
        OfTwo<Type>(x, [](const LocalTensor<Type> &dst, const LocalTensor<Type> &one, const LocalTensor<Type> &two, const Arguments &given) { \
            if (given.b == kWhole) {                                                                                                          \
                Function(dst, one, two __VA_ARGS__);                                                                                          \
                Function(dst, one, two __VA_ARGS__, OwnMemory());                                                                             \
            } else if (given.b == kGiven) {                                                                                                   \
                Function(dst, one, two __VA_ARGS__, OwnMemory(), given.a);                                                                    \
            } else {                                                                                                                          \
                Function(dst, one, two __VA_ARGS__, given.a);                                                                                 \
            }                                                                                                                                 \
        });                                                                                                                                   \
    }

ONE(sin, Sin)
ONE(cos, Cos)
ONE(tan, Tan)
ONE(asin, Asin)
ONE(acos, Acos)
ONE(atan, Atan)
ONE(sinh, Sinh)
ONE(cosh, Cosh)
ONE(asinh, Asinh)
ONE(acosh, Acosh)
ONE(atanh, Atanh)
ONE(erf, Erf)
ONE(erfc, Erfc)
ONE(round, Round)
ONE(frac, Frac)
COUNTED(gelu, Gelu)
COUNTED(faster_gelu, FasterGelu)
COUNTED(faster_gelu_v2, FasterGeluV2)
COUNTED(silu, Silu)
TWO(fmod, Fmod, T, )
TWO(geglu, GeGLU, T, )
TWO(reglu, ReGlu, T, )
TWO(swiglu, SwiGLU, T, , 1.5f)
TWO(xor_of, Xor, int16_t, )

template <typename T>
void swish(const Arguments &x) {
    OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) { Swish(dst, src, given.a, static_cast<T>(1.5f)); });
}

template <typename T>
void exp_series(const Arguments &x) {
    OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) {
        if (given.b == kGiven) {
            Exp<T, 9, false>(dst, src, OwnMemory(), given.a);
        } else {
            Exp<T, 9, true>(dst, src, given.a);
        }
    });
}

template <typename T>
void exp_without_series(const Arguments &x) {
    OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) { Exp<T, 0, false>(dst, src, OwnMemory(), given.a); });
}

/* Into [-2, 1.5]. */
template <typename T>
void clamp(const Arguments &x) {
    OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) {
        if (given.b == kGiven) {
            ClampMax<T>(dst, src, OwnMemory(), static_cast<T>(1.5f), given.a);
            ClampMin<T>(dst, dst, OwnMemory(), static_cast<T>(-2.0f), given.a);
        } else {
            ClampMax<T>(dst, src, static_cast<T>(1.5f), given.a);
            ClampMin<T>(dst, dst, static_cast<T>(-2.0f), given.a);
        }
    });
}

/* The memory of the call is what it reads. */
template <typename T>
void overlap(const Arguments &x) {
    OfOne<T>(x, [](const LocalTensor<T> &dst, const LocalTensor<T> &src, const Arguments &given) {
        Sin(dst, src, src.template ReinterpretCast<uint8_t>(), given.a);
    });
}

/* The caches are told what comes; then the data is copied. */
void preload(const Arguments &x) {
    GlobalTensor<uint64_t> line;
    line.SetGlobalBuffer(reinterpret_cast<uint64_t *>(x.in));
    DataCachePreload(line, int64_t(8));
    DataCachePreload(line, int16_t(0));
    ICachePreLoad(x.b);
    if (GetICachePreloadStatus() == 0) {
        Between<float>(x, x.a, x.a, [&](const LocalTensor<float> &dst, const LocalTensor<float> &src) { Adds(dst, src, 0.0f, static_cast<int32_t>(x.a)); });
    }
}

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
const Row kRows[] = {BOTH(sin),
                     BOTH(cos),
                     BOTH(tan),
                     BOTH(asin),
                     BOTH(acos),
                     BOTH(atan),
                     BOTH(sinh),
                     BOTH(cosh),
                     BOTH(asinh),
                     BOTH(acosh),
                     BOTH(atanh),
                     BOTH(erf),
                     BOTH(erfc),
                     BOTH(round),
                     BOTH(frac),
                     BOTH(gelu),
                     BOTH(silu),
                     BOTH(swish),
                     BOTH(faster_gelu),
                     BOTH(faster_gelu_v2),
                     BOTH(fmod),
                     BOTH(geglu),
                     BOTH(reglu),
                     BOTH(swiglu),
                     BOTH(clamp),
                     BOTH(exp_series),
                     BOTH(exp_without_series),
                     BOTH(overlap),
                     {"xor_of i16", xor_of<int16_t>},
                     {"preload f32", preload}};

}  // namespace

rig::Entry rig::FindFunctionKernel(const char *name) { return Find(kRows, name); }
