/* Batches, scales per column, triangles, partial results and HF32 of Matmul objects on one cube core (tests/sim/test_engine_matmul_forms.py). */
#include "engine_kernels.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

namespace {

using namespace rig;

/* What the test wrote: the tiling, device addresses, numbers of a batch, and elements from one call's matrices to the next's. */
struct Case {
    TCubeTiling tiling;
    uint64_t a, b, bias, scales;
    int32_t lefts, rights, loops, strideA, strideB;
    int32_t stepA, stepB, stepC, stepBias;
};

template <typename T>
GlobalTensor<T> At(uint64_t address) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<T *>(address));
    return tensor;
}

Case CaseOf(const Arguments &x) {
    Case given;
    std::memcpy(static_cast<void *>(&given), x.in, sizeof given);
    return given;
}

template <CubeFormat format, LayoutMode layout, LayoutMode outLayout, bool turnA, bool turnB, const auto &config>
void batch(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    using Object = Matmul<MatmulType<TPosition::GM, format, half, turnA, layout>, MatmulType<TPosition::GM, format, half, turnB, layout>,
                          MatmulType<TPosition::GM, CubeFormat::ND, float, false, outLayout>, MatmulType<TPosition::GM, CubeFormat::ND, float>, config>;
    const Case given = CaseOf(x);
    TPipe pipe;
    Object mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &given.tiling);
    const auto c = At<float>(reinterpret_cast<uint64_t>(x.out));
    for (int32_t i = 0; i < given.loops; ++i) {
        mm.SetTensorA(At<half>(given.a)[i * given.stepA], turnA);
        mm.SetTensorB(At<half>(given.b)[i * given.stepB], turnB);
        if (given.bias != 0) mm.SetBias(At<float>(given.bias)[i * given.stepBias]);
        mm.SetBatchNum(given.lefts, given.rights);
        mm.IterateBatch(c[i * given.stepC], false, 0, false, given.strideA, given.strideB);
    }
    mm.End();
}

template <typename T, typename C, const auto &config, template <const auto &, typename, typename, typename, typename> class Policy>
void form(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    using Bias = std::conditional_t<std::is_same<T, int8_t>::value, int32_t, float>;
    using Object = Matmul<MatmulType<TPosition::GM, CubeFormat::ND, T>, MatmulType<TPosition::GM, CubeFormat::ND, T>,
                          MatmulType<TPosition::GM, CubeFormat::ND, C>, MatmulType<TPosition::GM, CubeFormat::ND, Bias>, config, MatmulCallBackFunc<>, Policy>;
    const Case given = CaseOf(x);
    TPipe pipe;
    Object mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm);
    mm.Init(&given.tiling);
    mm.SetTensorA(At<T>(given.a));
    mm.SetTensorB(At<T>(given.b));
    if (given.scales != 0) mm.SetQuantVector(At<uint64_t>(given.scales));
    const auto c = At<C>(reinterpret_cast<uint64_t>(x.out));
    if (given.lefts != 0) { /* its first columns alone, before all of it */
        mm.SetTail(-1, given.lefts, -1);
        mm.IterateAll(c);
        mm.SetTail(-1, given.tiling.singleCoreN, -1);
    }
    mm.SetHF32(x.a != 0, x.b);
    uint32_t at = 0;
    while (config.isPartialOutput && given.loops == 0 && mm.Iterate()) {
        mm.GetTensorC(c[at], 0, true);
        at += given.tiling.baseM * given.tiling.baseN;
    }
    if (!config.isPartialOutput || given.loops != 0) mm.IterateAll(c);
    mm.SetHF32(false);
    mm.End();
}

/* Base blocks of C one behind the other. */
template <CubeFormat format>
void sequence(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    using Side = MatmulType<TPosition::GM, CubeFormat::ND, half>;
    const Case given = CaseOf(x);
    TPipe pipe;
    Matmul<Side, Side, MatmulType<TPosition::GM, format, float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &given.tiling);
    mm.SetTensorA(At<half>(given.a));
    mm.SetTensorB(At<half>(given.b));
    mm.IterateAll(At<float>(reinterpret_cast<uint64_t>(x.out)), 0, true);
    mm.End();
}

/* Pairs of 4-bit elements, transposed or not. */
template <typename C, bool turnB>
void nibbles(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    using Object = Matmul<MatmulType<TPosition::GM, CubeFormat::ND, int4b_t>, MatmulType<TPosition::GM, CubeFormat::ND, int4b_t, turnB>,
                          MatmulType<TPosition::GM, CubeFormat::ND, C>, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>, CFG_MDL>;
    const Case given = CaseOf(x);
    TPipe pipe;
    Object mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &given.tiling);
    mm.SetTensorA(At<int4b_t>(given.a)[given.stepA]);
    mm.SetTensorB(At<int4b_t>(given.b)[given.stepB], turnB);
    if (given.bias != 0) mm.SetBias(At<int32_t>(given.bias));
    if (given.scales != 0) mm.SetQuantVector(At<uint64_t>(given.scales));
    mm.IterateAll(At<C>(reinterpret_cast<uint64_t>(x.out)));
    mm.End();
}

/* A cube core has no unified buffer: the value comes from L1. */
void fillFromCube(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    Fill(At<float>(reinterpret_cast<uint64_t>(x.out)), x.a, 3.5f);
}

constexpr MatmulConfig Partial() {
    MatmulConfig config = CFG_MDL;
    config.isPartialOutput = true;
    return config;
}
constexpr MatmulConfig kPartial = Partial();
constexpr MatmulBatchParams kShared = {false, BatchMode::BATCH_LESS_THAN_L1, false};
constexpr MatmulConfig kOneBias = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(kShared);

constexpr auto ND = CubeFormat::ND, NZ = CubeFormat::NZ;
constexpr auto BSNGD = LayoutMode::BSNGD, SBNGD = LayoutMode::SBNGD, DENSE = LayoutMode::BNGS1S2, NORMAL = LayoutMode::NORMAL;

const Row kRows[] = {
    {"batch bsngd to bngs1s2", batch<ND, BSNGD, DENSE, false, true, CFG_NORM>},
    {"batch bsngd to bsngd", batch<ND, BSNGD, BSNGD, false, true, CFG_NORM>},
    {"batch sbngd to sbngd", batch<ND, SBNGD, SBNGD, false, true, CFG_NORM>},
    {"batch bngs1s2 turned", batch<ND, DENSE, DENSE, true, false, CFG_NORM>},
    {"batch normal", batch<ND, NORMAL, NORMAL, false, false, CFG_NORM>},
    {"batch normal one bias", batch<ND, NORMAL, NORMAL, false, false, kOneBias>},
    {"batch normal nz", batch<NZ, NORMAL, NORMAL, false, false, CFG_NORM>},
    {"batch without layouts", batch<ND, LayoutMode::NONE, LayoutMode::NONE, false, false, CFG_NORM>},
    {"form f16 f32", form<half, float, CFG_NORM, Impl::Detail::MatmulPolicy>},
    {"form f32 f32", form<float, float, CFG_NORM, Impl::Detail::MatmulPolicy>},
    {"form i8 f16", form<int8_t, half, CFG_NORM, Impl::Detail::MatmulPolicy>},
    {"form i8 i8", form<int8_t, int8_t, CFG_MDL, Impl::Detail::MatmulPolicy>},
    {"form f16 i8", form<half, int8_t, CFG_NORM, Impl::Detail::MatmulPolicy>},
    {"form upper", form<half, float, CFG_NORM, Impl::Detail::TrianUpperMatmulPolicy>},
    {"form lower", form<half, float, CFG_MDL, Impl::Detail::TrianLowerMatmulPolicy>},
    {"sequence aligned", sequence<CubeFormat::ND_ALIGN>},
    {"sequence strips", sequence<NZ>},
    {"fill on a cube core", fillFromCube},
    {"i4 plain", nibbles<int32_t, false>},
    {"i4 turned", nibbles<int32_t, true>},
    {"i4 f16", nibbles<half, true>},
    {"form partial", form<half, float, kPartial, Impl::Detail::MatmulPolicy>},
};

}  // namespace

rig::Entry rig::FindMatmulFormKernel(const char *name) { return Find(kRows, name); }
