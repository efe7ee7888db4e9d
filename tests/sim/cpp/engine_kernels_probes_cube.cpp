/* Instructions of cube cores whose footprints are probed, as engine_probes.h tells: what is before and behind them makes their effect seen in global memory. */
#include "engine_kernels.h"

using namespace rig;

namespace {

constexpr uint32_t kSide = 16, kFractal = 256, kArena = 8192, kResults = 4096; /* elements of a fractal; bytes of the arena in L1, of results */
enum Who : uint32_t { kIn = 1, kOut = 2, kOther = 3, kBefore = 4, kBehind = 8, kOrdered = 16 };

/* Bytes of L1: two sides of a product, as fractals, and a row of floats. */
constexpr uint32_t kLeftAt = 0, kRightAt = 2048, kToAt = 4096, kRowAt = 6144;

struct Unit {
    LocalTensor<half> l1{TPosition::A1, 0, kArena / 2}, a{TPosition::A2, 0, 8 * kFractal}, b{TPosition::B2, 0, 8 * kFractal};
    LocalTensor<float> l1Floats{TPosition::A1, 0, kArena / 4}, c{TPosition::CO1, 0, 4 * kFractal}, table{TPosition::C2, 0, 128};
    GlobalTensor<half> in, results, side;
    GlobalTensor<float> sums;

    explicit Unit(const Arguments &x) {
        in.SetGlobalBuffer(reinterpret_cast<half *>(x.in));
        sums.SetGlobalBuffer(reinterpret_cast<float *>(x.out));
        results.SetGlobalBuffer(reinterpret_cast<half *>(x.out + kResults));
        side.SetGlobalBuffer(reinterpret_cast<half *>(x.out + kResults + kArena));
    }
    LocalTensor<half> L1(uint32_t byte) const { return l1[byte / 2]; }
    void Wait() const { PipeBarrier<PIPE_ALL>(); }
    void LoadBoth() const {
        LoadData(a, L1(kLeftAt), LoadData2DParams(0, 4, 1, 0, 0, false, 0));
        LoadData(b, L1(kRightAt), LoadData2DParams(0, 4, 1, 0, 0, false, 0));
        DataCopy(table, l1Floats[kRowAt / 4], 64);
        Wait();
    }
    void Multiply() const { Mmad(c, a, b, MmadParams(32, 32, 32, 0, false, true)); }
    void Give() const {
        Wait();
        Fixpipe(sums, c, FixpipeParamsV220(32, 32, 32, 32, false));
    }
};

/* `other(unit, block)`: an intruder on another pipe than a copy between L1 and global memory. */
template <typename Prepare, typename Call, typename Finish, typename Other>
void Probe(const Arguments &x, const Prepare &prepare, const Call &call, const Finish &finish, const Other &other) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    const Unit unit(x);
    const auto intrude = [&] {
        const uint32_t at = x.a * kSide;
        if ((x.b & 3) == kIn) DataCopy(unit.l1[at], unit.in[kArena / 2 + at], kSide);
        if ((x.b & 3) == kOut) DataCopy(unit.side, unit.l1[at], kSide);
        if ((x.b & 3) == kOther) other(unit, x.a);
    };
    DataCopy(unit.l1, unit.in, kArena / 2);
    unit.Wait();
    prepare(unit);
    unit.Wait();
    if (x.b & kBefore) intrude();
    if ((x.b & kBefore) && (x.b & kOrdered)) unit.Wait();
    call(unit);
    if ((x.b & kBehind) && (x.b & kOrdered)) unit.Wait();
    if (x.b & kBehind) intrude();
    unit.Wait();
    finish(unit);
    unit.Wait();
    DataCopy(unit.results, unit.l1, kArena / 2);
    unit.Wait();
}

#define CALL [](const Unit &u)
void Nobody(const Unit &, uint32_t) {}
void FillLeft(const Unit &u, uint32_t block) { Fill(u.a[block * kFractal], InitConstValueParams<half>(1, half(3.0f))); }
void FillRight(const Unit &u, uint32_t block) { Fill(u.b[block * kFractal], InitConstValueParams<half>(1, half(3.0f))); }
void CopyRow(const Unit &u, uint32_t block) { DataCopy(u.table[block % 8 * kSide], u.l1Floats[kToAt / 4], kSide); }
void MultiplyInto(const Unit &u, uint32_t block) { Mmad(u.c[block % 4 * kFractal], u.a, u.b, MmadParams(kSide, kSide, kSide, 0, false, true)); }

/* The sums of the product with what has been loaded. */
void Product(const Unit &u) {
    u.Multiply();
    u.Give();
}

void load_matrix(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { LoadData(u.a, u.L1(kToAt), LoadData2DParams(1, 2, 2, 0, 1, false, 0)); }, Product, Nobody);
}
void load_turned(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { LoadData(u.b, u.L1(kToAt), LoadData2DParams(0, 2, 3, 0, 0, true, 0)); }, Product, Nobody);
}
void load_with_transpose(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { LoadDataWithTranspose(u.b, u.L1(kToAt), LoadData2dTransposeParams(0, 2, 2, 0, 0)); }, Product, Nobody);
}
void load_image(const Arguments &x) {
    const uint8_t pad[4] = {1, 0, 0, 0};
    const LoadData3DParamsV2<half> image(pad, 2, 8, 32, 32, 16, 16, 0, 1, 1, 2, 1, 1, 1, false, false, half(0.0f));
    Probe(x, CALL { u.LoadBoth(); }, [&](const Unit &u) { LoadData(u.a, u.L1(kToAt), image); }, Product, Nobody);
}
void copy_bias(const Arguments &x) {
    Probe(
        x, CALL { u.LoadBoth(); }, CALL { DataCopy(u.table, u.l1Floats[kToAt / 4], DataCopyParams(2, 1, 1, 0)); },
        CALL {
            Mmad(u.c, u.a, u.b, u.table, MmadParams(32, 32, 32, 0, false, false));
            u.Give();
        },
        Nobody);
}
void mmad_left(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { Mmad(u.c, u.a, u.b, MmadParams(32, 32, 16, 0, false, true)); }, CALL { u.Give(); }, FillLeft);
}
void mmad_right(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { Mmad(u.c, u.a, u.b, MmadParams(32, 32, 16, 0, false, true)); }, CALL { u.Give(); }, FillRight);
}
void mmad_bias(const Arguments &x) {
    Probe(x, CALL { u.LoadBoth(); }, CALL { Mmad(u.c, u.a, u.b, u.table[kSide], MmadParams(32, 32, 32, 0, false, false)); }, CALL { u.Give(); }, CopyRow);
}
/* Of the four fractals in L0C the two on the left. */
void fix_rows(const Arguments &x) {
    Probe(
        x,
        CALL {
            u.LoadBoth();
            u.Multiply();
        },
        CALL { Fixpipe(u.sums, u.c, FixpipeParamsV220(16, 32, 32, 16, false)); }, CALL { u.Wait(); }, MultiplyInto);
}
void fix_to_l1(const Arguments &x) {
    FixpipeParamsV220 params(32, 16, 32, 48, false);
    params.quantPre = QuantMode_t::F322F16;
    Probe(
        x,
        CALL {
            u.LoadBoth();
            u.Multiply();
        },
        [&](const Unit &u) { Fixpipe(u.L1(kToAt), u.c, params); }, CALL { u.Wait(); }, Nobody);
}
void matrix_to_l1(const Arguments &x) {
    Probe(x, CALL { u.Wait(); }, CALL { DataCopy(u.L1(kToAt), u.in, Nd2NzParams(2, 5, 24, 256, 32, 16, 1, 1024)); }, CALL { u.Wait(); }, Nobody);
}
void store_from_l1(const Arguments &x) {
    Probe(x, CALL { u.Wait(); }, CALL { DataCopy(u.side[1024], u.L1(kToAt), DataCopyParams(3, 2, 1, 0)); }, CALL { u.Wait(); }, Nobody);
}

#define ROW(name) {#name, name}
const Row kAll[] = {ROW(load_matrix), ROW(load_turned), ROW(load_with_transpose), ROW(load_image),   ROW(copy_bias),    ROW(mmad_left), ROW(mmad_right),
                    ROW(mmad_bias),   ROW(fix_rows),    ROW(fix_to_l1),           ROW(matrix_to_l1), ROW(store_from_l1)};

}  // namespace

rig::Entry rig::FindCubeProbe(const char *name) { return Find(kAll, name); }
