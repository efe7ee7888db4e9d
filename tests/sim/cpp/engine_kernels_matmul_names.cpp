/* MatmulImpl with constant sizes, asked by names that other kernels do not use (tests/sim/test_headers_places.py). */
#include "engine_kernels.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

namespace {

using namespace rig;

constexpr int32_t kM = 32, kN = 48, kK = 64;
constexpr MatmulShapeParams kSizes{kM, kN, kK, kM, kN, kK};
constexpr MatmulConfig kSized = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(kSizes);
using Side = MatmulType<TPosition::GM, CubeFormat::ND, half>;
using Result = MatmulType<TPosition::GM, CubeFormat::ND, GetMmDstType<half>::Type>;
constexpr MatmulApiStaticTiling kConstant = GetMatmulApiTiling<Side, Side, Result, Result>(kSized);

/* Pieces of A and B that fill L1 to the last byte: 16 of 128 x 64 and 8 of 64 x 256, as in public samples. */
constexpr MatmulShapeParams kFullSizes{128, 256, 512, 128, 256, 64};
constexpr MatmulApiStaticTiling FullOf() {
    MatmulApiStaticTiling tiling = GetMatmulApiTiling<Side, Side, Result, Result>(GetMMConfig<MatmulConfigMode::CONFIG_MDL>(kFullSizes));
    tiling.depthA1 = 16;
    tiling.stepKa = 8;
    tiling.depthB1 = 8;
    tiling.stepKb = 4;
    tiling.stepM = tiling.stepN = 1;
    return tiling;
}
constexpr MatmulApiStaticTiling kFull = FullOf();

/* A of 32 x 64 and B of 64 x 48 behind it; the first x.a rows and x.b columns of their product over the first 48 of k. */
template <const MatmulApiStaticTiling &TILING, bool kBiased = false>
void constant_sizes(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer(reinterpret_cast<half *>(x.in));
    b.SetGlobalBuffer(reinterpret_cast<half *>(x.in) + kM * kK);
    c.SetGlobalBuffer(reinterpret_cast<float *>(x.out));
    TPipe pipe;
    MatmulImpl<Side, Side, Result, Result, TILING, MatmulCallBackFunc<>, Impl::Detail::NBuffer33MatmulPolicy> mm;
    mm.SetSubBlockIdx(0);
    mm.Init(static_cast<const TCubeTiling *>(nullptr), &pipe);
    mm.SetUserDefInfo(0);
    mm.SetOrgShape(kM, kN, kK);
    mm.SetSingleShape(static_cast<int>(x.a), static_cast<int>(x.b), 48);
    mm.SetTensorA(a);
    mm.SetTensorB(b);
    if (kBiased) {
        mm.SetBias(c);
    }
    mm.IterateAll(c);
    mm.End();
}

const Row kRows[] = {
    {"constant_sizes", constant_sizes<kConstant>}, {"constant_sizes full", constant_sizes<kFull>}, {"constant_sizes full bias", constant_sizes<kFull, true>}};

}  // namespace

rig::Entry rig::FindNamedMatmulKernel(const char *name) { return Find(kRows, name); }
