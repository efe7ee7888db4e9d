/*
 * The tiling itself: how a product is cut over cores, base blocks and buffers.
 *
 * Problem: a tiling has to fit L0A, L0B, L0C, the bias table and L1 with double buffers, and its quality decides the kernel's time.
 * Approach: every split over cores and every base block of whole fractals that fits is priced by what its slowest unit takes (cube, L1 to L0, global memory to
 * L1, results); the cheapest wins, the first one where several are equal, so that the answer is the same everywhere. Rates are public figures of the 910B1
 * at 1.85 GHz (the tables of msopmodeling, as in docs/timing-model.md), in bytes per cycle.
 * Limits: a model, not a measurement. The vendor's tiling is a closed library: its numbers may differ wherever several tilings are possible.
 */
#ifndef PITON_MATMUL_SEARCH_H
#define PITON_MATMUL_SEARCH_H

#include <algorithm>
#include <string>

#include "ascendc/matmul/cube_tiling.h"
#include "request.h"

namespace piton_matmul {

/* Bytes per cycle and core. */
constexpr double kToL1 = 92;      /* 170 GB/s: 603 MB a core in 3552 us, published for the 8192^3 matmul sample */
constexpr double kToL0a = 238;    /* 441 GB/s */
constexpr double kToL0b = 119;    /* 220.5 GB/s */
constexpr double kFromL0c = 38;   /* 70 GB/s */
constexpr double kMmadStart = 20; /* cycles beside the fractals of one Mmad, as for vector instructions */
constexpr int64_t kLargePiece = 32 * 1024;
constexpr int64_t kBurst = 256; /* rows are loaded in bursts; a part of one costs a whole one */

inline int64_t CeilDiv(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }
inline int64_t CeilTo(int64_t value, int64_t unit) { return CeilDiv(value, unit) * unit; }

/* One core's answer. */
struct Cut {
    int64_t baseM = 0, baseN = 0, baseK = 0;
    int64_t stepKa = 1, stepKb = 1, buffersA = 1, buffersB = 1;
    int64_t buffersC = 1;
    bool isFirstN = false;
    double cycles = 0;

    bool IsThere() const { return baseM > 0; }
};

/* A core's part of the product. */
struct Part {
    int64_t m, n, k;
    int64_t cores;
};

class Search {
public:
    explicit Search(const Request &request) : request_(request), bytes_(std::max(request.a.Bytes(), request.b.Bytes())) {}

    /* The best cut of one core's part; none where nothing fits. */
    Cut Best(const Part &part) const {
        Cut best;
        for (int64_t baseM = Least(request_.leastBase.m, 16); baseM <= Most(part.m, request_.mostBase.m, request_.base.m, 16); baseM += 16) {
            for (int64_t baseN = Least(request_.leastBase.n, UnitN()); baseN <= Most(part.n, request_.mostBase.n, request_.base.n, UnitN()); baseN += UnitN()) {
                if (IsWished(baseM, request_.base.m) && IsWished(baseN, request_.base.n)) {
                    Try(part, baseM, baseN, best);
                }
            }
        }
        return best;
    }

    /* Elements that base blocks are multiples of. */
    int64_t UnitN() const { return IsOfHalfBytes() ? 64 : bytes_ == 1 ? 32 : 16; }
    int64_t UnitK() const { return UnitN(); }
    bool IsOfHalfBytes() const { return request_.a.type == matmul_tiling::DataType::DT_INT4; }

private:
    static constexpr int64_t kMostBase = 512;

    static int64_t Least(int32_t wish, int64_t unit) { return CeilTo(std::max(wish, 1), unit); }
    static int64_t Most(int64_t whole, int32_t wish, int32_t fixed, int64_t unit) {
        const int64_t most = fixed > 0 ? fixed : wish > 0 ? wish : kMostBase;
        return std::min(most, CeilTo(whole, unit));
    }
    static bool IsWished(int64_t value, int32_t fixed) { return fixed <= 0 || value == fixed; }

    void Try(const Part &part, int64_t baseM, int64_t baseN, Cut &best) const {
        if (request_.hasBias && baseN * 4 > request_.room.biasTable) {
            return;
        }
        for (int64_t buffersC = 2; buffersC >= 1; --buffersC) {
            if (baseM * baseN * 4 * buffersC > request_.room.l0c) {
                continue;
            }
            Cut cut;
            cut.baseM = baseM;
            cut.baseN = baseN;
            cut.buffersC = buffersC;
            cut.baseK = DeepestK(part, baseM, baseN);
            if (cut.baseK > 0) {
                TryL1(part, cut, best);
            }
        }
    }

    /* The largest depth of which L0A and L0B hold two tiles. */
    int64_t DeepestK(const Part &part, int64_t baseM, int64_t baseN) const {
        const int64_t fits = std::min(request_.room.l0a / 2 / (baseM * bytes_), request_.room.l0b / 2 / (baseN * bytes_)) / UnitK() * UnitK();
        const int64_t wished = request_.base.k > 0 ? request_.base.k : request_.mostBase.k > 0 ? request_.mostBase.k : fits;
        const int64_t depth = std::min({fits, wished, CeilTo(part.k, UnitK())});
        return request_.base.k > 0 && depth != request_.base.k && request_.base.k > fits ? 0 : depth / UnitK() * UnitK();
    }

    /* Three ways to use L1: pieces of both matrices, twice each; all of k of A, or of B, which then stays while the other passes. */
    void TryL1(const Part &part, const Cut &given, Cut &best) const {
        const int64_t steps = CeilDiv(part.k, given.baseK), bias = request_.hasBias ? CeilTo(given.baseN * 4, 512) : 0, room = request_.room.l1 - bias;
        const int64_t pieceA = request_.a.IsInL1() ? 0 : given.baseM * given.baseK * bytes_,
                      pieceB = request_.b.IsInL1() ? 0 : given.baseN * given.baseK * bytes_;
        const int64_t held = (request_.a.IsInL1() ? CeilTo(part.m, 16) * CeilTo(part.k, 32) * bytes_ : 0) +
                             (request_.b.IsInL1() ? CeilTo(part.n, 32) * CeilTo(part.k, 32) * bytes_ : 0);
        for (int way = 0; way < 3; ++way) {
            Cut cut = given;
            const int64_t keptA = way == 1 ? steps * pieceA : 0, keptB = way == 2 ? steps * pieceB : 0;
            const int64_t perStep = 2 * ((way == 1 ? 0 : pieceA) + (way == 2 ? 0 : pieceB)), left = room - held - keptA - keptB;
            if (left < perStep) {
                continue;
            }
            /* Where one matrix stays, the other passes in pieces that are large enough for a load; more of L1 would only be kept from other objects. */
            const int64_t large =
                way == 0 || perStep == 0 ? steps : std::max<int64_t>(CeilDiv(2 * kLargePiece, perStep), CeilDiv(kBurst, given.baseK * bytes_));
            const int64_t step = perStep == 0 ? steps : std::min({steps, left / perStep, large});
            cut.stepKa = way == 1 ? steps : step;
            cut.stepKb = way == 2 ? steps : step;
            cut.buffersA = way == 1 ? 1 : 2;
            cut.buffersB = way == 2 ? 1 : 2;
            cut.isFirstN = way == 1;
            Keep(part, way, cut, best);
        }
    }

    void Keep(const Part &part, int way, Cut cut, Cut &best) const {
        using T = matmul_tiling::MatrixTraverse;
        const T wish = request_.traverse;
        if ((wish == T::FIRSTM && way == 1) || (wish == T::FIRSTN && way == 2)) {
            return;
        }
        cut.isFirstN = way == 0 ? wish == T::FIRSTN : cut.isFirstN;
        cut.cycles = Price(part, way, cut);
        if (!best.IsThere() || cut.cycles < best.cycles * (1 - 1e-9)) {
            best = cut;
        }
    }

    /* Cycles of the slowest unit; without a second buffer of results the cube waits for them. */
    double Price(const Part &part, int way, const Cut &cut) const {
        const int64_t blocksM = CeilDiv(part.m, cut.baseM), blocksN = CeilDiv(part.n, cut.baseN), steps = CeilDiv(part.k, cut.baseK);
        const double m = static_cast<double>(blocksM * cut.baseM), n = static_cast<double>(blocksN * cut.baseN),
                     k = static_cast<double>(CeilTo(part.k, UnitK()));
        const double fractals = m / 16 * n / 16 * k / (32.0 / bytes_) * (bytes_ == 4 ? 2 : 1);
        const double products = fractals + kMmadStart * static_cast<double>(blocksM * blocksN * steps);
        const double tiles = m * k * bytes_ * static_cast<double>(blocksN) / kToL0a + n * k * bytes_ * static_cast<double>(blocksM) / kToL0b;
        const double passesA = way == 1 ? 1 : static_cast<double>(blocksN), passesB = way == 2 ? 1 : static_cast<double>(blocksM);
        const double loadsA = m * k * passesA * Waste(request_.a.isTransposed ? cut.baseM : cut.stepKa * cut.baseK);
        const double loadsB = n * k * passesB * Waste(request_.b.isTransposed ? cut.stepKb * cut.baseK : cut.baseN);
        const double loads = (loadsA + loadsB) * bytes_ / kToL1;
        const double results = static_cast<double>(part.m * part.n * request_.c.Bytes()) / kFromL0c;
        const double cube = cut.buffersC == 2 ? products : products + results;
        return std::max({cube, tiles, loads, results}) + 0.01 * (products + tiles + loads + results);
    }

    /* How much more than a row of that many elements is loaded for it. */
    double Waste(int64_t elements) const {
        const int64_t bytes = elements * bytes_;
        return static_cast<double>(CeilTo(bytes, kBurst)) / static_cast<double>(bytes);
    }

    const Request &request_;
    int64_t bytes_;
};

}  // namespace piton_matmul

#endif /* PITON_MATMUL_SEARCH_H */
