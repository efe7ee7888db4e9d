/* Registers, questions and small names whose records tests/sim/test_headers_registers.py looks at. */
#include <cstdio>

#include "headers_recorder.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

namespace {

template <typename T>
LocalTensor<T> At(TPosition position, uint32_t address, uint32_t elements) {
    return LocalTensor<T>(position, address, elements);
}

__gm__ uint8_t *const kMemory = reinterpret_cast<__gm__ uint8_t *>(0x200000001000);

/* What a call gave, as the value of a record of its own. */
void tell(int64_t value) { SetCtrlSpr<0, 63>(value); }

constexpr IsResetLoad3dConfig kKeep{false, false};

void images() {
    const auto from = At<half>(TPosition::A1, 64, 4096), to = At<half>(TPosition::A2, 512, 2048);
    const uint8_t pad[4] = {1, 2, 3, 4};
    LoadData3DParamsV2<half> load;
    load.padList[0] = pad[0], load.padList[1] = pad[1], load.padList[2] = pad[2], load.padList[3] = pad[3];
    load.l1H = 5, load.l1W = 6, load.channelSize = 16;
    load.kExtension = 48, load.mExtension = 32, load.kStartPt = 16, load.mStartPt = 8;
    load.strideW = 2, load.strideH = 3, load.filterW = 4, load.filterH = 5, load.dilationFilterW = 6, load.dilationFilterH = 7;
    load.filterSizeW = true, load.enTranspose = true;
    load.padValue = half(1.0f);
    LoadData(to, from, load);
    LoadData<half, kKeep>(to, from, load);
    SetFmatrix(5, 6, pad, FmatrixMode::FMATRIX_RIGHT);
    SetLoadDataPaddingValue(half(1.0f));
    LoadData3DParamsV2Pro pro;
    pro.channelSize = 16;
    pro.extConfig = 48 | 32ull << 16 | 16ull << 32 | 8ull << 48;
    pro.filterConfig = 2 | 3ull << 8 | 4ull << 16 | 5ull << 24 | 6ull << 32 | 7ull << 40;
    pro.filterSizeW = true, pro.fMatrixCtrl = true;
    LoadData(to, from, pro);
    SetLoadDataBoundary(1024);
    SetLoadDataRepeat(LoadDataRepeatParam(3, 4, 1));
}

void fills() {
    InitConstValue(At<half>(TPosition::A1, 64, 1024), InitConstValueParams<half>(2, 3, 1, half(1.0f)));
    InitConstValue(At<float>(TPosition::B2, 512, 1024), InitConstValueParams<float>(2, 1.0f));
}

void fixpipe() {
    SetFixpipeNz2ndFlag(2, 3, 4);
    SetFixpipePreQuantFlag(7);
    SetFixPipeConfig(At<uint64_t>(TPosition::C2PIPE2GM, 128, 16));
    static_assert(CFG_NZ.format == CO2Layout::NZ && CFG_ROW_MAJOR.format == CO2Layout::ROW_MAJOR, "FixpipeConfig as documented");
}

void controls() {
    SetHF32Mode(HF32Mode::ENABLE);
    SetHF32TransMode(HF32TransMode::NEAREST_ZERO);
    SetMMLayoutTransform(true);
    SetMMColumnMajor();
    SetMMRowMajor();
}

void questions() {
    tell(GetBlockIdx());
    tell(GetBlockNum());
    tell(GetSubBlockIdx());
    tell(GetTaskRatio());
    tell(GetTaskRation());
    tell(GetSubBlockNum());
    tell(GetSystemCycle());
    tell(GetDataBlockSizeInBytes());
    tell(GetCtrlSpr<3, 5>());
    tell(GetSaturationFlag<SaturationMode::FLOAT>());
    tell(ScalarGetCountOfValue<1>(7));
    tell(ScalarCountLeadingZero(1));
    tell(ScalarGetSFFValue<1>(8));
    tell(static_cast<int64_t>(ToFloat(ToBfloat16(3.0f))));
    tell(AscendCUtils::GetC0Count(2));
    static_assert(IsSameType<Conditional<true, int, float>::type, int>::value, "types can be chosen and compared");
    static_assert(GatherMaskMode::VERSION_V1 != GatherMaskMode::VERSION_V2 && static_cast<int>(CacheRwMode::RW) == 3, "as documented");
}

void others() {
    AscendCUtils::SetMask<half>(5);
    AscendCUtils::ResetMask();
    NotifyEvent<PIPE_MTE3>(6);
    WaitEvent(6);
    SetNextTaskStart();
    WaitPreTaskEnd();
    Barrier();
    static_assert(matmul::CeilDiv(7, 2) == 4, "rounded up");
    SetSysWorkspaceForce(kMemory);
    float value, index;
    GetReduceMaxMinCount(value, index);
    tell(GetReduceRepeatSumSpr<float>() == 0.0f);
    SubReluCast(At<half>(TPosition::VECCALC, 0, 64), At<float>(TPosition::VECCALC, 256, 64), At<float>(TPosition::VECCALC, 512, 64), 60);
}

/* A matrix of a Matmul object that the kernel loads itself. */
void held_in_l1() {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    TPipe pipe;
    TSCM<TPosition::GM, 1> queue;
    pipe.InitBuffer(queue, 1, 512);
    GlobalTensor<half> matrix;
    matrix.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(kMemory));
    LocalTensor<half> held = queue.AllocTensor<half>();
    DataCopy(held, matrix, 256);
    queue.EnQue(held);
    held = queue.DeQue<half>();
    queue.FreeTensor(held);
    constexpr MatmulApiStaticTiling tiling{};
    static_assert(ToMatmulConfig(CFG_MDL).doMultiDataLoad && !ToMatmulConfig(tiling).doMultiDataLoad, "of a configuration and of a constant tiling");
}

struct Scenario {
    const char *name;
    void (*kernel)();
};

#define SCENARIO(name) {#name, name}
const Scenario kScenarios[] = {SCENARIO(images),    SCENARIO(fills),  SCENARIO(fixpipe),   SCENARIO(controls),
                               SCENARIO(questions), SCENARIO(others), SCENARIO(held_in_l1)};

}  // namespace

int main() {
    for (const Scenario &scenario : kScenarios) {
        TheRecorder().records.clear();
        scenario.kernel();
        for (const vnpu_record &record : TheRecorder().records) {
            PrintRecord(scenario.name, record);
        }
    }
    return 0;
}
