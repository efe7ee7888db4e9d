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

/* A of 32 x 64 and B of 64 x 48 behind it; the first x.a rows and x.b columns of their product over the first 48 of k. */
void constant_sizes(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer(reinterpret_cast<half *>(x.in));
    b.SetGlobalBuffer(reinterpret_cast<half *>(x.in) + kM * kK);
    c.SetGlobalBuffer(reinterpret_cast<float *>(x.out));
    TPipe pipe;
    MatmulImpl<Side, Side, Result, Result, kConstant, MatmulCallBackFunc<>, Impl::Detail::NBuffer33MatmulPolicy> mm;
    mm.SetSubBlockIdx(0);
    mm.Init(static_cast<const TCubeTiling *>(nullptr), &pipe);
    mm.SetUserDefInfo(0);
    mm.SetOrgShape(kM, kN, kK);
    mm.SetSingleShape(static_cast<int>(x.a), static_cast<int>(x.b), 48);
    mm.SetTensorA(a);
    mm.SetTensorB(b);
    mm.IterateAll(c);
    mm.End();
}

const Row kRows[] = {{"constant_sizes", constant_sizes}};

}  // namespace

rig::Entry rig::FindNamedMatmulKernel(const char *name) { return Find(kRows, name); }
