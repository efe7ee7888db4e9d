/* Calls of several instructions whose footprints, and whose scratch memory, are probed (engine_probes.h). */
#include "engine_probes.h"

using namespace rig;

namespace {

struct Shape {
    uint32_t srcM;
    uint32_t srcK;
    uint32_t bLength;
    uint32_t sLength;
    uint32_t hLength;
    uint32_t originalHLength;
};

constexpr uint32_t kCount = 100, kHeight = 3, kColumns = 32;
constexpr Shape kShape{kHeight, kColumns, 1, kHeight, kColumns, kColumns};
constexpr SoftMaxShapeInfo kInfo{kHeight, kColumns, kHeight, kColumns};

#define PROBE(name, ...)                                                                              \
    template <typename T>                                                                             \
    void name(const Arguments &x) {                                                                   \
        Probe(x, [&](const Arena &m) {                                                                \
            const LocalTensor<T> to = m.At<T>(kTo), from = m.At<T>(kFrom), second = m.At<T>(kSecond); \
            LocalTensor<uint8_t> memory = m.memory;                                                   \
            (void)to, (void)from, (void)second, (void)memory;                                         \
            __VA_ARGS__;                                                                              \
        });                                                                                           \
    }
#define ONE(name, Function) PROBE(name, Function(to, from, memory, kCount))
#define TWO(name, Function) PROBE(name, Function(to, from, second, memory, kCount))

ONE(floor_of, Floor)
ONE(rint_of, Rint)
ONE(log_of, Log)
ONE(tanh_of, Tanh)
ONE(sign_of, Sign)
ONE(sigmoid_of, Sigmoid)
ONE(sin_of, Sin)
ONE(acosh_of, Acosh)
ONE(erf_of, Erf)
ONE(frac_of, Frac)
ONE(gelu_of, Gelu)
ONE(silu_of, Silu)
TWO(power_of, Power)
TWO(fmod_of, Fmod)
TWO(geglu_of, GeGLU)
PROBE(swiglu_of, SwiGLU(to, from, second, T(1.5f), memory, kCount))
PROBE(exp_of, Exp<T, 9, false>(to, from, memory, kCount))
PROBE(clamp_of, ClampMax<T>(to, from, memory, T(1.5f), kCount))
PROBE(column, const uint32_t shape[] = {20, 7}, narrow[] = {20, 1}; Broadcast<T, 2, 1>(to, from, shape, narrow, memory))
PROBE(row, const uint32_t shape[] = {5, 16}, narrow[] = {1, 16}; Broadcast<T, 2, 0>(to, from, shape, narrow, memory))
PROBE(sum_of_rows, Sum(to, from, memory, SumParams{kHeight, kColumns, kColumns - 3}))
PROBE(mean_of_rows, Mean(to, from, memory, MeanParams{kHeight, kColumns, kColumns - 3}))
PROBE(rms_norm_of, RmsNorm<T>(to, from, second, memory, T(0.5f), kShape))
PROBE(softmax_grad_of, SoftmaxGrad(to, from, second, memory, kShape, false, kInfo))
PROBE(softmax_front_of, SoftmaxGradFront(to, from, second, memory, kShape, kInfo))
PROBE(softmax_again_of, SimpleSoftMax<T>(to, second, second[kHeight * 32 / sizeof(T)], from, memory, kShape, kInfo))
PROBE(softmax_of, SoftMax<T>(to, second, second[kHeight * 32 / sizeof(T)], from, memory, kShape, kInfo))
PROBE(max_of_rows, const uint32_t matrix[] = {kHeight, kColumns}; ReduceMax<T, Pattern::Reduce::AR>(to, from, memory, matrix, true))
PROBE(sort_of, const auto tmp = memory.ReinterpretCast<T>(); Sort<T, true>(to, from, m.At<uint32_t>(kThird), tmp, 2))
PROBE(top_k_of, const TopKInfo info{2, 32, 30}; TopK<T>(to, m.At<int32_t>(kSecond), from, m.At<int32_t>(kThird), m.At<bool>(kThird), memory, 5, kShape, info))
PROBE(quant_of, AscendQuant(m.At<int8_t>(kTo), from, memory, 2.0f, 1.0f, 96))
PROBE(bytes_column, const uint32_t shape[] = {20, 7}, narrow[] = {20, 1};
      Broadcast<int8_t, 2, 1>(m.At<int8_t>(kTo), m.At<int8_t>(kFrom), shape, narrow, memory))
PROBE(xor_bits, Xor(m.At<int16_t>(kTo), m.At<int16_t>(kFrom), m.At<int16_t>(kSecond), memory, kCount))

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
const Row kAll[] = {BOTH(floor_of),
                    {"rint_of f32", rint_of<float>},
                    BOTH(log_of),
                    BOTH(tanh_of),
                    BOTH(sign_of),
                    BOTH(sigmoid_of),
                    BOTH(sin_of),
                    BOTH(acosh_of),
                    BOTH(erf_of),
                    BOTH(frac_of),
                    BOTH(gelu_of),
                    BOTH(silu_of),
                    BOTH(power_of),
                    BOTH(fmod_of),
                    BOTH(geglu_of),
                    BOTH(swiglu_of),
                    BOTH(exp_of),
                    BOTH(clamp_of),
                    BOTH(column),
                    BOTH(row),
                    BOTH(sum_of_rows),
                    BOTH(mean_of_rows),
                    BOTH(rms_norm_of),
                    BOTH(softmax_grad_of),
                    BOTH(softmax_front_of),
                    BOTH(softmax_again_of),
                    {"softmax_of f32", softmax_of<float>},
                    BOTH(max_of_rows),
                    BOTH(sort_of),
                    BOTH(top_k_of),
                    BOTH(quant_of),
                    {"bytes_column", bytes_column<half>},
                    {"xor_bits", xor_bits<half>}};

}  // namespace

rig::Entry rig::FindComposedProbe(const char *name) { return Find(kAll, name); }
