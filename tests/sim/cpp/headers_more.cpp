/* Kernels whose records tests/sim/test_headers_more.py looks at. A comment with @name marks a line whose number has to be in a record. */
#include "kernel_operator.h"

#include <cstring>

#include "headers_recorder.h"

using namespace AscendC;

namespace {

template <typename T>
LocalTensor<T> At(uint32_t address, uint32_t elements) {
    return LocalTensor<T>(TPosition::VECCALC, address, elements);
}

__gm__ int32_t *const kWorkspace = reinterpret_cast<__gm__ int32_t *>(0x200000001000);

void fused() {
    auto x = At<float>(0, 64), y = At<float>(256, 64), z = At<float>(512, 64);
    auto h = At<half>(1024, 64);
    AddRelu(z, x, y, 60);
    FusedMulAdd(z, x, y, uint64_t(7), 2, {1, 2, 3, 4, 5, 6});
    MulAddDst(z, h, h, 64);
    uint64_t mask[2] = {5, 0};
    AddReluCast(h, x, y, mask, 1, {1, 1, 1, 4, 8, 8});
}

void operators() {
    auto x = At<float>(0, 64), y = At<float>(256, 64), z = At<float>(512, 48);
    auto i = At<int32_t>(1024, 16);
    auto bits = At<uint8_t>(2048, 8);
    z = x + y;      // @plus
    z = x[8] / y;   // @over
    i = i & i;      // @both
    bits = x >= y;  // @atleast
    And(i, i, i, 10);
}

void sorting() {
    auto scores = At<float>(0, 64), out = At<float>(4096, 512);
    Sort32(out, scores, At<uint32_t>(256, 64), 2);
    MrgSortSrcList<float> lists(out, out[64], out[128], out[192]);
    const uint16_t lengths[4] = {32, 31, 30, 29};
    MrgSort(scores, lists, MrgSort4Info(lengths, true, 15, 1));
    uint16_t a, b, c, d;
    GetMrgSortResult(a, b, c, d);
}

void transposing() {
    auto from = At<half>(0, 4096), to = At<half>(16384, 4096);
    uint64_t sources[16], targets[16];
    for (uint32_t i = 0; i < 16; ++i) {
        sources[i] = from[i * 16].GetPhyAddr();
        targets[i] = to[i * 256].GetPhyAddr();
    }
    TransDataTo5HD<half>(targets, sources, TransDataTo5HDParams(true, false, 3, 16, 1));
    Transpose(to, from);
    TransposeParamsExt params(2, 3, 4, 8, TransposeType::TRANSPOSE_NHWC2NCHW);
    Transpose(to, from, At<uint8_t>(65536, 8192), params);
}

void older_names() {
    half *sources[16], *targets[16];
    for (uint64_t i = 0; i < 16; ++i) {
        sources[i] = (half *)(i * 32);
        targets[i] = (half *)(16384 + i * 512);
    }
    TransDataTo5HDImpl(targets, sources, TransDataTo5HDParams(false, false, 3, 16, 1));
    TQueSync<PIPE_MTE3, PIPE_MTE2> sync;
    sync.SetFlag(2);
    sync.WaitFlag(EVENT_ID2);
    (void)GetAccVal();
    (void)GetAccVal<float>();
}
void fault_queue_flag() { TQueSync<PIPE_V, PIPE_S>().SetFlag(8); }

void selecting() {
    auto x = At<float>(0, 64), y = At<float>(256, 64);
    Select<float, SELMODE::VSEL_TENSOR_TENSOR_MODE>(x, x, y, 3, {1, 1, 1, 8, 8, 8});
    Select(x, At<uint8_t>(512, 8), y, 3, {1, 1, 1, 8, 8, 8});
}

void registers() {
    SetDeqScale(half(0.5));
    SetCtrlSpr<48, 48>(1);
    SetCtrlSpr<6, 8>(0xff);
    SetSaturationFlag<SaturationMode::FLOAT>(true);
    float value, index;
    GetReduceRepeatMaxMinSpr(value, index);
}

void workspace() {
    GM_ADDR memory = reinterpret_cast<GM_ADDR>(kWorkspace);
    SetSysWorkspace(memory);
    GetSysWorkSpacePtr();
    SetSysWorkspace(GetUserWorkspace(memory));
}

void between_cores() {
    CrossCoreSetFlag<0, PIPE_MTE3>(5);
    CrossCoreWaitFlag(5);
    GlobalTensor<int32_t> flags;
    flags.SetGlobalBuffer(kWorkspace);
    auto local = At<int32_t>(0, 512);
    IBSet(flags, local, 2, 1);
    IBWait(flags, local, 2, 1);
    SyncAll(flags, local, 2);
}

void turns() {
    GlobalTensor<int32_t> flags;
    flags.SetGlobalBuffer(kWorkspace);
    auto local = At<int32_t>(0, 512);
    InitDetermineComputeWorkspace(flags, local);
    WaitPreBlock(flags, local);
    NotifyNextBlock(flags, local);
}

void printing() {
    AscendC::printf("%d of %u: %5.2f|%-4x|%s|%%|%p %lld %c\n", -3, 7u, half(1.5), 255, "text", kWorkspace, int64_t(1) << 40, 65);  // @print
    AscendC::printf("%d %d\n", 1);
    PRINTF("%f %f %i\n", bfloat16_t(2.0f), 3, true);
    AscendC::printf("");
}

void dumping() {
    const uint32_t shape[] = {2, 2};
    DumpTensor(At<float>(64, 8), 5, 3);  // @dump
    DumpTensor(At<int16_t>(96, 8), 6, 3, ShapeInfo(2, shape));
    GlobalTensor<uint32_t> memory;
    memory.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t *>(kWorkspace));
    DumpTensor(memory, 7, 5, ShapeInfo(2, shape));
    DumpTensor(At<float>(64, 8), 8, 7681); /* more than a call prints */
    At<float>(64, 8).Print(9);             // @lines
    At<int16_t>(96, 2).Print();
}

void fault_shape() { DumpTensor(At<float>(64, 8), 5, 3, ShapeInfo()); }

void four_bits() {
    auto bytes = At<int8_t>(64, 64);
    auto nibbles = bytes.ReinterpretCast<int4b_t>();
    Cast(nibbles[32], At<half>(1024, 128), RoundMode::CAST_RINT, 64);
    Cast(At<half>(1024, 128), nibbles, RoundMode::CAST_NONE, nibbles.GetSize());
}

volatile int three = 3;

void fault_assertion() {
    assert(three == 3);
    assert(three == 4);  // @assertion
}

void fault_misaligned_list() {
    uint64_t list[16] = {};
    list[3] = 40;
    TransDataTo5HD<half>(list, list, TransDataTo5HDParams());
}

void fault_far_list() {
    uint64_t list[16] = {};
    list[15] = 0x200000;
    TransDataTo5HD<half>(list, list, TransDataTo5HDParams());
}

void fault_plane() { Transpose(At<half>(0, 64), At<half>(256, 64), At<uint8_t>(512, 64), TransposeParamsExt(1, 1, 3, 5, TransposeType::TRANSPOSE_NCHW2NHWC)); }

void fault_sort() { Sort32(At<float>(0, 64), At<float>(256, 64), At<uint32_t>(512, 64), three * 100); }

void fault_cores() {
    GlobalTensor<int32_t> flags;
    SyncAll(flags, At<int32_t>(0, 64), 49);
}

/* What the scalar functions give, as the scalars of register records. */
void scalar_functions() {
    const auto tell = [](int64_t value) { SetCtrlSpr<0, 63>(value); };
    tell(GetBitCount<1>(0xF0F));
    tell(GetBitCount<0>(0xF0F));
    tell(CountLeadingZero(1));
    tell(CountLeadingZero(0));
    tell(CountBitsCntSameAsSignBit(0x0100000000000020));
    tell(CountBitsCntSameAsSignBit(-1));
    tell(GetSFFValue<1>(0x1000000000000100));
    tell(GetSFFValue<0>(~uint64_t(0)));
    tell(AscendC::Cast<float, int32_t, RoundMode::CAST_ROUND>(-2.5f));
    tell(AscendC::Cast<float, int32_t, RoundMode::CAST_RINT>(2.5f));
    tell(AscendC::Cast<float, int32_t, RoundMode::CAST_CEIL>(-2.5f));
    tell(ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(3e9f));
    tell(static_cast<int64_t>(piton::ToBits(AscendC::Cast<float, half, RoundMode::CAST_ODD>(3.14159f))));
    tell(static_cast<int64_t>(piton::ToBits(AscendC::Cast<float, half, RoundMode::CAST_ODD>(-1e9f))));
    tell(static_cast<int64_t>(piton::ToBits(AscendC::Cast(1.5f))));
    tell(DivCeil(10, 4) * 100 + AlignUp(10, 4) + DivCeil(3, 0));
    static_assert(Std::is_same<Std::conditional_t<true, int, float>, int>::value, "Std is there");
}

struct Scenario {
    const char *name;
    void (*kernel)();
};

#define SCENARIO(name) {#name, name}
const Scenario kScenarios[] = {
    SCENARIO(fused),          SCENARIO(operators),
    SCENARIO(sorting),        SCENARIO(transposing),
    SCENARIO(older_names),    SCENARIO(fault_queue_flag),
    SCENARIO(selecting),      SCENARIO(registers),
    SCENARIO(workspace),      SCENARIO(turns),
    SCENARIO(between_cores),  SCENARIO(printing),
    SCENARIO(four_bits),      SCENARIO(fault_cores),
    SCENARIO(fault_sort),     SCENARIO(fault_misaligned_list),
    SCENARIO(fault_far_list), SCENARIO(fault_assertion),
    SCENARIO(fault_plane),    SCENARIO(scalar_functions),
    SCENARIO(dumping),        SCENARIO(fault_shape),
};

}  // namespace

int main() {
    for (const Scenario &scenario : kScenarios) {
        Recorder &recorder = TheRecorder();
        recorder.records.clear();
        try {
            scenario.kernel();
        } catch (const Faulted &) {
        }
        for (const vnpu_record &record : recorder.records) {
            PrintRecord(scenario.name, record);
        }
    }
    return 0;
}
