/* Matmul objects that two vector cores ask their cube core for (tests/sim/test_engine_matmul_mixed.py): each computes its own rows of C. */
#include "engine_kernels.h"
#include "lib/matmul_intf.h"

namespace {

using namespace rig;

struct Case {
    TCubeTiling tiling;
    uint64_t a, b, bias, workspace;
    int32_t way, only; /* `only`: this vector core alone asks, -1 for both */
};

enum Way { kAll = 0, kAllLater = 1, kByBlock = 2, kIntoLocal = 3, kAhead = 4, kFromLocal = 5 };

template <typename T>
GlobalTensor<T> At(uint64_t address) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<T *>(address));
    return tensor;
}

template <class Object>
void outThroughLocal(Object &mm, const Case &given, const GlobalTensor<float> &c, TBuf<TPosition::VECIN> &buffer) {
    const TCubeTiling &tiling = given.tiling;
    const uint32_t blocksM = tiling.singleCoreM / tiling.baseM, all = blocksM * ((tiling.singleCoreN + tiling.baseN - 1) / tiling.baseN);
    LocalTensor<float> local = buffer.Get<float>();
    for (uint32_t block = 0; block < all; ++block) {
        given.way == kAhead ? mm.template GetTensorC<false>(local, 0, true) : mm.GetTensorC(local, 0, true);
        const uint32_t at = block % blocksM * tiling.baseM * tiling.N + block / blocksM * tiling.baseN;
        DataCopyPad(c[at], local, DataCopyExtParams(tiling.baseM, tiling.baseN * 4, 0, (tiling.N - tiling.baseN) * 4, 0));
        const bool goesOn = given.way == kAhead ? mm.template Iterate<false>() : mm.Iterate();
        ASCENDC_ASSERT(goesOn == (block + 1 < all));
    }
}

constexpr MatmulConfig WithRelu() {
    MatmulConfig config = CFG_NORM;
    config.enableRelu = true;
    return config;
}
constexpr MatmulConfig kWithRelu = WithRelu();

/* `C` is where the object writes; the result goes to `c` in any case. */
template <TPosition A, TPosition C, const auto &Config = CFG_NORM>
void mixed(const Arguments &x) {
    Case given;
    std::memcpy(static_cast<void *>(&given), x.in, sizeof given);
    TPipe pipe;
    Matmul<MatmulType<A, CubeFormat::ND, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>, MatmulType<C, CubeFormat::ND, float>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>, Config>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &given.tiling);
    TBuf<TPosition::VECIN> buffer;
    pipe.InitBuffer(buffer, 65536);
    const uint32_t self = GetBlockIdx(), rows = given.tiling.singleCoreM;
    if (given.only >= 0 && self != static_cast<uint32_t>(given.only)) return;
    const auto a = At<half>(given.a)[self * rows * given.tiling.Ka];
    const auto c = At<float>(reinterpret_cast<uint64_t>(x.out))[self * rows * given.tiling.N];
    if constexpr (A == TPosition::GM) {
        mm.SetTensorA(a);
    } else {
        LocalTensor<half> local = buffer.Get<half>();
        DataCopy(local, a, rows * given.tiling.Ka);
        mm.SetTensorA(local);
    }
    mm.SetTensorB(At<half>(given.b));
    if (given.bias != 0) mm.SetBias(At<float>(given.bias));
    auto workspace = At<float>(given.workspace)[self * rows * given.tiling.N];
    mm.SetWorkspace(workspace);
    if (given.way == kAll || given.way == kFromLocal) mm.IterateAll(c);
    if (given.way == kAllLater) {
        mm.template IterateAll<false>(c, 0, false, true);
        mm.WaitIterateAll();
    }
    while (given.way == kByBlock && mm.Iterate()) mm.GetTensorC(c);
    if (given.way == kIntoLocal && mm.Iterate()) outThroughLocal(mm, given, c, buffer);
    if (given.way == kAhead) {
        mm.template Iterate<false>();
        outThroughLocal(mm, given, c, buffer);
    }
    mm.End();
}

/* Every vector core stores its number, all meet by flags in memory, and each fetches its neighbour's. */
void meeting(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    GlobalTensor<int32_t> flags = At<int32_t>(reinterpret_cast<uint64_t>(x.in)), out = At<int32_t>(reinterpret_cast<uint64_t>(x.out));
    const LocalTensor<int32_t> none;
    if ASCEND_IS_AIC {
        SyncAll(flags, none, x.a);
        return;
    }
    pipe.InitBuffer(buffer, 64);
    const uint32_t self = GetBlockIdx(), cores = GetBlockNum() * GetTaskRation(), next = (self + 1) % cores;
    LocalTensor<int32_t> local = buffer.Get<int32_t>();
    Duplicate(local, static_cast<int32_t>(self + 1), 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out[self * 8], local, 8);
    x.b == 0 ? SyncAll(flags, none, x.a) : SyncAll<false>(flags, none, x.a);
    DataCopy(local, out[next * 8], 8);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out[(cores + self) * 8], local, 8);
}

/* Each vector core adds its number to what the one before has left; cube cores call the same functions, which are none of theirs. `b`: by IBSet and IBWait,
 * or one after another by WaitPreBlock and NotifyNextBlock. */
void turns(const Arguments &x) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GlobalTensor<int32_t> flags = At<int32_t>(reinterpret_cast<uint64_t>(x.in)), out = At<int32_t>(reinterpret_cast<uint64_t>(x.out));
    LocalTensor<int32_t> none;
    const int32_t self = static_cast<int32_t>(GetBlockIdx());
    if (x.b == 0) InitDetermineComputeWorkspace(flags, none);
    if (x.b == 0) WaitPreBlock(flags, none);
    if (x.b != 0 && self > 0) IBWait(flags, none, self - 1, 1);
    if ASCEND_IS_AIV {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 32);
        LocalTensor<int32_t> local = buffer.Get<int32_t>();
        Duplicate(local, 0, 8);
        PipeBarrier<PIPE_ALL>();
        if (self > 0) DataCopy(local, out[(self - 1) * 8], 8);
        PipeBarrier<PIPE_ALL>();
        Adds(local, local, self + 1, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(out[self * 8], local, 8);
        PipeBarrier<PIPE_ALL>();
    }
    x.b == 0 ? NotifyNextBlock(flags, none) : IBSet(flags, none, self, 1);
}

const Row kRows[] = {
    {"mixed turns", turns},
    {"mixed meeting by flags in memory", meeting},
    {"mixed matmul with relu", mixed<TPosition::GM, TPosition::GM, kWithRelu>},
    {"mixed matmul", mixed<TPosition::GM, TPosition::GM>},
    {"mixed matmul into ub", mixed<TPosition::GM, TPosition::VECIN>},
    {"mixed matmul from ub", mixed<TPosition::VECOUT, TPosition::GM>},
};

}  // namespace

rig::Entry rig::FindMixedMatmulKernel(const char *name) { return Find(kRows, name); }
