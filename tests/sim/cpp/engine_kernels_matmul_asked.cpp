/* Further calls of Matmul objects on the two vector cores of a block (tests/sim/test_engine_matmul_asked.py): each computes its own rows or batches of C. */
#include "engine_kernels.h"
#include "lib/matmul_intf.h"

namespace {

using namespace rig;

struct Case {
    TCubeTiling tiling;
    uint64_t a, b, scales, workspace;
    int32_t way, lefts, rights, loops;
    int32_t stepA, stepB, stepC; /* elements from the first vector core's part to the second one's */
};

enum Way { kBatch = 0, kBatchLocal, kNBatch, kBoth, kAllLocal, kAll, kPartial, kStrips, kBatchLater, kLater };

constexpr uint32_t kNoWorkspace = 9; /* as x.a */

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

template <class Object, typename C>
void batches(Object &mm, const Case &given, const GlobalTensor<C> &c, const LocalTensor<C> &local) {
    const uint32_t unit = Object::CType::format == CubeFormat::NZ ? 16 : 1; /* in fractals a matrix takes whole ones */
    const uint32_t each = (given.tiling.M + unit - 1) / unit * unit * ((given.tiling.N + unit - 1) / unit * unit), all = given.lefts * each;
    if (given.way == kBatch) mm.IterateBatch(c, given.lefts, given.rights, false);
    if (given.way == kBatchLater) {
        mm.template IterateBatch<false>(c, given.lefts, given.rights, false);
        mm.WaitIterateBatch();
    }
    if (given.way == kBatchLocal) {
        mm.IterateBatch(local, given.lefts, given.rights, true);
        DataCopy(c, local, all);
    }
    if (given.way != kNBatch) return;
    mm.template IterateNBatch<false>(given.loops, given.lefts, given.rights, false);
    for (int32_t loop = 0; loop < given.loops; ++loop) {
        const auto ready = loop == 0 ? mm.template GetBatchTensorC<false>(given.lefts, given.rights) : mm.GetBatchC(given.lefts, given.rights);
        DataCopy(local, ready, all);
        PipeBarrier<PIPE_ALL>();
        DataCopy(c[loop * all], local, all);
        PipeBarrier<PIPE_ALL>();
    }
}

/* All of C through local memory; rows are filled up to 32 bytes there. */
template <class Object, typename C>
void throughLocal(Object &mm, const Case &given, const GlobalTensor<C> &c, const LocalTensor<C> &local) {
    const TCubeTiling &tiling = given.tiling;
    const uint32_t rows = tiling.singleCoreM;
    if (given.way == kAllLocal) {
        mm.IterateAll(local);
        DataCopyPad(c, local, DataCopyExtParams(rows, tiling.N * sizeof(C), 0, 0, 0));
    }
    if (given.way == kStrips) {
        mm.IterateAll(local);
        DataCopy(c, local, rows * tiling.N);
    }
    if (given.way == kLater) {
        mm.template Iterate<false>();
        mm.AsyncGetTensorC(local);
        mm.WaitGetTensorC();
        DataCopyPad(c, local, DataCopyExtParams(rows, tiling.N * sizeof(C), 0, 0, 0));
    }
    while (given.way == kBoth && mm.Iterate()) {
        mm.GetTensorC(c, local, 0, true);
        const MatrixOffset at = mm.GetOffsetC();
        DataCopyPad(At<C>(given.workspace)[GetBlockIdx() * given.stepC + at.offset], local,
                    DataCopyExtParams(at.height, at.width * sizeof(C), 0, (tiling.N - at.width) * sizeof(C), 0));
        PipeBarrier<PIPE_ALL>();
    }
}

template <typename T, typename C, CubeFormat outFormat, LayoutMode layout, bool isShared, const auto &config>
void asked(const Arguments &x) {
    using Left = MatmulType<TPosition::GM, CubeFormat::ND, T, false, layout, isShared>;
    using Right = MatmulType<TPosition::GM, CubeFormat::ND, T, false, layout, isShared>;
    const Case given = CaseOf(x);
    TPipe pipe;
    Matmul<Left, Right, MatmulType<TPosition::VECIN, outFormat, C, false, layout>, MatmulType<TPosition::GM, CubeFormat::ND, float>, config> mm;
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, 65536); /* on the cube core, too, as programs that set up everything first do */
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm);
    mm.Init(&given.tiling);
    const int32_t self = GetBlockIdx();
    const auto c = At<C>(reinterpret_cast<uint64_t>(x.out))[self * given.stepC];
    const LocalTensor<C> local = buffer.Get<C>();
    mm.SetTensorA(At<T>(given.a)[self * given.stepA]);
    mm.SetTensorB(At<T>(given.b)[self * given.stepB]);
    if (given.scales != 0) mm.SetQuantVector(At<uint64_t>(given.scales));
    auto workspace = At<C>(given.workspace)[self * given.stepC];
    if (x.a != kNoWorkspace) mm.SetWorkspace(workspace);
    if constexpr (layout != LayoutMode::NONE) {
        batches(mm, given, c, local);
    } else {
        throughLocal(mm, given, c, local);
        if (given.way == kAll) mm.IterateAll(c, x.a);
        uint32_t at = 0;
        while (given.way == kPartial && mm.Iterate()) {
            mm.GetTensorC(c[at], 0, true);
            at += given.tiling.baseM * given.tiling.baseN;
        }
    }
    mm.End();
}

constexpr MatmulConfig Partial() {
    MatmulConfig config = CFG_MDL;
    config.isPartialOutput = true;
    return config;
}
constexpr MatmulConfig kPartialConfig = Partial(), kManyBatches = GetNormalConfig(false, true);
constexpr auto ND = CubeFormat::ND;
constexpr auto NONE = LayoutMode::NONE;

const Row kRows[] = {
    {"asked batch", asked<half, float, ND, LayoutMode::NORMAL, false, kManyBatches>},
    {"asked batch strips", asked<half, float, CubeFormat::NZ, LayoutMode::NORMAL, false, kManyBatches>},
    {"asked", asked<half, float, ND, NONE, false, CFG_NORM>},
    {"asked aligned", asked<half, half, CubeFormat::ND_ALIGN, NONE, false, CFG_NORM>},
    {"asked strips", asked<half, half, CubeFormat::NZ, NONE, false, CFG_NORM>},
    {"asked scaled", asked<int8_t, half, ND, NONE, false, CFG_NORM>},
    {"asked shared", asked<half, float, ND, NONE, true, CFG_NORM>},
    {"asked partial", asked<half, float, ND, NONE, false, kPartialConfig>},
};

}  // namespace

rig::Entry rig::FindAskedMatmulKernel(const char *name) { return Find(kRows, name); }
