/* Instructions whose footprints are probed (engine_probes.h); the arena holds floats, halves or what the name behind the comma says. */
#include "engine_probes.h"

using namespace rig;

namespace {

#define PROBE(name, ...)                                \
    void name(const Arguments &x) {                     \
        Probe(x, [&](const Arena &m) { __VA_ARGS__; }); \
    }

using F = float;
using H = half;
using U = uint32_t;

/* ---- elementwise ---- */
PROBE(add_count, Add(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 100))
PROBE(add_lanes, Add(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), uint64_t(40), 2, {2, 1, 1, 16, 8, 0}))
PROBE(add_into_itself, Add(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kTo), uint64_t(64), 3, {1, 1, 1, 0, 8, 0}))
PROBE(adds_bits, const uint64_t bits[] = {0xff00ff00ff00ff00, 0}; Adds(m.At<F>(kTo), m.At<F>(kFrom), 1.0f, bits, 3, {1, 1, 8, 8}))
PROBE(muls_half, Muls(m.At<H>(kTo), m.At<H>(kFrom), half(2.0f), uint64_t(128), 2, {1, 0, 8, 1}))
PROBE(axpy, Axpy(m.At<F>(kTo), m.At<F>(kFrom), 2.0f, 70))
PROBE(axpy_half, Axpy(m.At<F>(kTo), m.At<H>(kFrom), half(2.0f), 70))
PROBE(mul_add_dst, MulAddDst(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 70))
PROBE(exp, Exp(m.At<F>(kTo), m.At<F>(kFrom), 37))
PROBE(not_bits, Not(m.At<uint16_t>(kTo), m.At<uint16_t>(kFrom), 200))
PROBE(shift, ShiftLeft(m.At<U>(kTo), m.At<U>(kFrom), 3u, 66))
PROBE(cast_down, Cast(m.At<H>(kTo), m.At<F>(kFrom), RoundMode::CAST_RINT, 100))
PROBE(cast_up, Cast(m.At<F>(kTo), m.At<H>(kFrom), RoundMode::CAST_NONE, uint64_t(50), 2, {1, 1, 8, 4}))
PROBE(cast_bytes, Cast(m.At<int8_t>(kTo), m.At<H>(kFrom), RoundMode::CAST_RINT, 100))
PROBE(add_relu_cast, AddReluCast(m.At<H>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 70))
PROBE(by_register, SetVectorMask<float>(0, 0xff); Adds<float, false>(m.At<F>(kTo), m.At<F>(kFrom), 1.0f, MASK_PLACEHOLDER, 2, {1, 1, 8, 8}); ResetMask())
PROBE(counted, SetMaskCount(); SetVectorMask<float, MaskMode::COUNTER>(0, 100);
      Adds<float, false>(m.At<F>(kTo), m.At<F>(kFrom), 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8}); SetMaskNorm(); ResetMask())

/* ---- compare and select ---- */
PROBE(compare, Compare(m.At<uint8_t>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), CMPMODE::GT, 128))
PROBE(compare_scalar, CompareScalar(m.At<uint8_t>(kTo), m.At<F>(kFrom), 0.0f, CMPMODE::GT, 192))
PROBE(compare_lanes, Compare(m.At<uint8_t>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), CMPMODE::GT, uint64_t(64), 2, {1, 1, 1, 8, 16, 8}))
PROBE(select_mode0, Select(m.At<F>(kTo), m.At<uint8_t>(kThird), m.At<F>(kFrom), m.At<F>(kSecond), SELMODE::VSEL_CMPMASK_SPR, 128))
PROBE(select_mode1, Select(m.At<F>(kTo), m.At<uint8_t>(kThird), m.At<F>(kFrom), 9.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, 100))
PROBE(select_mode2, Select(m.At<F>(kTo), m.At<uint8_t>(kThird), m.At<F>(kFrom), m.At<F>(kSecond), SELMODE::VSEL_TENSOR_TENSOR_MODE, 128))
PROBE(gather_mask, uint64_t n = 0; GatherMask(m.At<F>(kTo), m.At<F>(kFrom), uint8_t(1), true, 50, {1, 2, 8, 0}, n))
PROBE(gather_mask_bits, uint64_t n = 0; GatherMask(m.At<F>(kTo), m.At<F>(kFrom), m.At<U>(kThird), false, 0, {1, 2, 8, 1}, n))

/* ---- reductions ---- */
PROBE(reduce_sum, ReduceSum(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 200))
PROBE(reduce_sum_lanes, ReduceSum(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 64, 3, 8))
PROBE(reduce_max, ReduceMax(m.At<F>(kTo), m.At<F>(kFrom), m.At<F>(kSecond), 200, true))
PROBE(reduce_min, ReduceMin(m.At<H>(kTo), m.At<H>(kFrom), m.At<H>(kSecond), 128, 3, 8, false))
PROBE(whole_sum, WholeReduceSum(m.At<F>(kTo), m.At<F>(kFrom), 40, 3, 1, 1, 8))
PROBE(whole_max, WholeReduceMax(m.At<F>(kTo), m.At<F>(kFrom), 64, 3, 4, 1, 8))
PROBE(block_sum, BlockReduceSum(m.At<F>(kTo), m.At<F>(kFrom), 3, 64, 1, 1, 8))
PROBE(block_max, BlockReduceMax(m.At<H>(kTo), m.At<H>(kFrom), 2, 100, 2, 1, 8))
PROBE(pair_sum, PairReduceSum(m.At<F>(kTo), m.At<F>(kFrom), 2, 64, 1, 1, 8))

/* ---- filling, moving, sorting ---- */
PROBE(brcb, Brcb(m.At<F>(kTo), m.At<F>(kFrom), 3, {1, 8}))
PROBE(brcb_apart, Brcb(m.At<H>(kTo), m.At<H>(kFrom), 1, {2, 16}))
PROBE(gather, Gather(m.At<F>(kTo), m.At<F>(kFrom), m.At<U>(kThird), 0u, 40u))
PROBE(gather_lanes, Gather(m.At<H>(kTo), m.At<H>(kFrom), m.At<U>(kThird), 64u, uint64_t(60), 2, 8))
PROBE(gather_blocks, Gatherb(m.At<U>(kTo), m.At<U>(kFrom), m.At<U>(kThird), 2, {1, 8}))
PROBE(create_index, CreateVecIndex(m.At<int32_t>(kTo), 7, 75))
PROBE(duplicate, const uint64_t bits[] = {0xf0, 0}; Duplicate(m.At<F>(kTo), 5.0f, bits, 3, 1, 8))
PROBE(copy, Copy(m.At<F>(kTo), m.At<F>(kFrom), uint64_t(64), 2, {1, 2, 8, 16}))
PROBE(copy_local, DataCopy(m.At<F>(kTo), m.At<F>(kFrom), DataCopyParams(2, 3, 1, 2)))
PROBE(transpose, Transpose(m.At<H>(kTo), m.At<H>(kFrom)))
PROBE(to_5hd, LocalTensor<half> to[16], from[16]; for (uint32_t i = 0; i < 16; ++i) to[i] = m.At<H>(kTo + 32 * i), from[i] = m.At<H>(kFrom + 64 * i);
      TransDataTo5HD<half>(to, from, TransDataTo5HDParams(false, false, 1, 0, 0)))
PROBE(nchw, Transpose(m.At<H>(kTo), m.At<H>(kFrom), m.memory, TransposeParamsExt{1, 4, 4, 8, TransposeType::TRANSPOSE_NCHW2NHWC}))
PROBE(sort32, Sort32(m.At<F>(kTo), m.At<F>(kFrom), m.At<U>(kThird), 3))
PROBE(merge, const uint16_t lengths[] = {16, 24, 0, 0};
      MrgSort(m.At<F>(kTo), MrgSortSrcList<float>(m.At<F>(kFrom), m.At<F>(kSecond), m.At<F>(kFrom), m.At<F>(kFrom)), MrgSort4Info(lengths, false, 3, 1)))

/* ---- copies, of which the intruder is a vector instruction ---- */
PROBE(load, DataCopy(m.At<F>(kTo), m.Gm<F>(), DataCopyParams(3, 2, 1, 1)))
PROBE(load_padded, DataCopyPad(m.At<H>(kTo), m.Gm<H>(), DataCopyExtParams(3, 50, 6, 1, 0), DataCopyPadExtParams<H>(true, 2, 3, half(0.0f))))
PROBE(store, DataCopy(m.Gm<F>(), m.At<F>(kFrom), DataCopyParams(3, 2, 1, 1)))
PROBE(store_bytes, DataCopyPad(m.Gm<H>(), m.At<H>(kFrom), DataCopyExtParams(3, 50, 1, 2, 0)))

#define ROW(name) {#name, name}
const Row kAll[] = {ROW(add_count),
                    ROW(add_lanes),
                    ROW(add_into_itself),
                    ROW(adds_bits),
                    ROW(muls_half),
                    ROW(axpy),
                    ROW(axpy_half),
                    ROW(mul_add_dst),
                    ROW(exp),
                    ROW(not_bits),
                    ROW(shift),
                    ROW(cast_down),
                    ROW(cast_up),
                    ROW(cast_bytes),
                    ROW(add_relu_cast),
                    ROW(by_register),
                    ROW(counted),
                    ROW(compare),
                    ROW(compare_scalar),
                    ROW(compare_lanes),
                    ROW(select_mode0),
                    ROW(select_mode1),
                    ROW(select_mode2),
                    ROW(gather_mask),
                    ROW(gather_mask_bits),
                    ROW(reduce_sum),
                    ROW(reduce_sum_lanes),
                    ROW(reduce_max),
                    ROW(reduce_min),
                    ROW(whole_sum),
                    ROW(whole_max),
                    ROW(block_sum),
                    ROW(block_max),
                    ROW(pair_sum),
                    ROW(brcb),
                    ROW(brcb_apart),
                    ROW(gather),
                    ROW(gather_lanes),
                    ROW(gather_blocks),
                    ROW(create_index),
                    ROW(duplicate),
                    ROW(copy),
                    ROW(copy_local),
                    ROW(transpose),
                    ROW(to_5hd),
                    ROW(nchw),
                    ROW(sort32),
                    ROW(merge),
                    ROW(load),
                    ROW(load_padded),
                    ROW(store),
                    ROW(store_bytes)};

}  // namespace

rig::Entry rig::FindProbe(const char *name) { return Find(kAll, name); }
