/* Matmul objects of several types on one cube core: everything a call needs lies in front of the input (tests/sim/test_engine_matmul.py). */
#include "engine_matmul_cases.h"
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

namespace {

using namespace rig;

/* What the test wrote; addresses of matrices are device addresses. */
struct Case {
    TCubeTiling tiling;
    uint64_t a, b, bias, scale;
    int32_t isTransposedA, isTransposedB, way, atomic;
    int32_t tailM, tailN, tailK, isSequential;
    int32_t orgM, orgN, orgK, resultN;
};

enum Way { kAll = 0, kStepwise = 1, kTwice = 2, kSums = 3, kNothingSet = 4, kTooFar = 5 };

template <class Object, typename T, typename C, typename Bias>
void compute(Object &mm, const Case &given, const GlobalTensor<C> &c) {
    const auto a = At<T>(given.a), b = At<T>(given.b);
    if (given.orgM > 0) mm.SetOrgShape(given.orgM, given.orgN, given.orgK, given.orgK, given.resultN);
    if (given.tailM > 0) mm.SetTail(given.tailM, given.tailN, given.tailK);
    if (given.way == kNothingSet) mm.Iterate();
    mm.SetTensorA(a, given.isTransposedA != 0);
    mm.SetTensorB(b, given.isTransposedB != 0);
    if (given.bias != 0) mm.SetBias(At<Bias>(given.bias));
    mm.SetQuantScalar(given.scale);
    if (given.way == kAll) mm.IterateAll(c, static_cast<uint8_t>(given.atomic), given.isSequential != 0);
    while (given.way == kStepwise && mm.Iterate()) mm.GetTensorC(c, static_cast<uint8_t>(given.atomic));
    while (given.way == kTooFar && mm.Iterate()) {
    }
    /* k in parts that add up in L0C; every part has a whole singleCoreK. */
    for (int32_t k = 0; given.way == kSums && k < given.tiling.Ka; k += given.tiling.singleCoreK) {
        mm.SetTensorA(a[k]);
        mm.SetTensorB(b[k * given.tiling.N]);
        mm.Iterate(k != 0);
    }
    if (given.way == kSums) mm.GetTensorC(c);
}

template <typename T, typename C, typename Bias, CubeFormat format, const auto &config, bool canTranspose, CubeFormat resultFormat = CubeFormat::ND>
void matmul(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    using Type = MatmulType<TPosition::GM, format, T, canTranspose>;
    using TypeB = MatmulType<TPosition::GM, format == CubeFormat::VECTOR ? CubeFormat::ND : format, T, canTranspose>;
    using Object = Matmul<Type, TypeB, MatmulType<TPosition::GM, resultFormat, C>, MatmulType<TPosition::GM, CubeFormat::ND, Bias>, config>;
    Case given;
    std::memcpy(static_cast<void *>(&given), x.in, sizeof given);
    TPipe pipe;
    Object mm, other;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &given.tiling);
    const GlobalTensor<C> c = At<C>(reinterpret_cast<uint64_t>(x.out));
    if (given.way == kTwice) {
        /* Two objects take turns: the first computes the upper half of C, the second the lower. */
        REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), other, &given.tiling);
        given.way = kAll;
        compute<Object, T, C, Bias>(mm, given, c);
        given.a += uint64_t(given.tiling.singleCoreM) * given.tiling.Ka * sizeof(T);
        compute<Object, T, C, Bias>(other, given, c[given.tiling.singleCoreM * given.tiling.N]);
        return;
    }
    compute<Object, T, C, Bias>(mm, given, c);
    mm.End();
}

constexpr auto ND = CubeFormat::ND, NZ = CubeFormat::NZ, VECTOR = CubeFormat::VECTOR;
constexpr MatmulConfig kLongRows = GetNormalConfig(true);

const Row kRows[] = {
    {"matmul f16 f32", matmul<half, float, float, ND, CFG_NORM, true>},
    {"matmul f16 f16", matmul<half, half, half, ND, CFG_NORM, true>},
    {"matmul bf16 bf16", matmul<bfloat16_t, bfloat16_t, float, ND, CFG_MDL, true>},
    {"matmul f32 f32", matmul<float, float, float, ND, CFG_NORM, true>},
    {"matmul mdl f32 f32", matmul<float, float, float, ND, CFG_MDL, true>},
    {"matmul i8 i32", matmul<int8_t, int32_t, int32_t, ND, CFG_NORM, true>},
    {"matmul i8 f16", matmul<int8_t, half, int32_t, ND, CFG_MDL, true>},
    {"matmul f16 i8", matmul<half, int8_t, float, ND, CFG_NORM, true>},
    {"matmul mdl f16 f32", matmul<half, float, float, ND, CFG_MDL, true>},
    {"matmul nz f16 f32", matmul<half, float, float, NZ, CFG_NORM, true>},
    {"matmul nz f32 f32", matmul<float, float, float, NZ, CFG_NORM, true>},
    {"matmul nz out f16", matmul<half, half, float, ND, CFG_NORM, true, NZ>},
    {"matmul vector f16 f32", matmul<half, float, float, VECTOR, CFG_NORM, true>},
    {"matmul long rows", matmul<half, float, float, ND, kLongRows, true>},
    {"matmul fixed f16 f32", matmul<half, float, float, ND, CFG_NORM, false>},
};

}  // namespace

rig::Entry rig::FindMatmulKernel(const char *name) { return Find(kRows, name); }
