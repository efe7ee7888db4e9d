/*
 * From a question to a tiling: the split over cores around the search for one core's cut.
 *
 * Problem: M and N (and K, if asked) are shared out over at most `cores` cores; kernels find their part from singleCoreM and singleCoreN alone.
 * Approach: every number of parts along M and N whose product the cores allow, each priced by the cut of the largest part; of
 *   equal ones the first, M before N.
 * Limits: parts are equal but for the last ones.
 */
#ifndef PITON_MATMUL_SOLVE_H
#define PITON_MATMUL_SOLVE_H

#include <cstdio>

#include "search.h"

namespace piton_matmul {

/* A tiling, or what stands against one. */
struct Answer {
    AscendC::tiling::TCubeTiling tiling;
    std::string problem;
    int64_t partsM = 1, partsN = 1, partsK = 1;
};

struct Split {
    Part part{0, 0, 0, 1};
    int64_t partsM = 1, partsN = 1, partsK = 1;
    Cut cut;
};

inline int64_t Said(int64_t value, int64_t otherwise) { return value > 0 ? value : otherwise; }

/* What has to hold whatever the tiling; empty when it does. */
inline std::string ProblemOf(const Request &request, const Part &whole) {
    const auto shape = std::to_string(whole.m) + " x " + std::to_string(whole.n) + " x " + std::to_string(whole.k);
    if (whole.m < 1 || whole.n < 1 || whole.k < 1) {
        return "M x N x K is " + shape + ": call SetShape or SetOrgShape with numbers above 0";
    }
    if (request.a.type != request.b.type) {
        return "A and B have different types: the cube unit of the 910B multiplies equal types";
    }
    if (request.base.m > 0 && request.base.m % 16 != 0) {
        return "SetFixSplit: baseM is " + std::to_string(request.base.m) + ", not a multiple of 16";
    }
    if (request.base.n > 0 && request.base.n % 16 != 0) {
        return "SetFixSplit: baseN is " + std::to_string(request.base.n) + ", not a multiple of 16";
    }
    return "";
}

inline int64_t PartOf(int64_t whole, int64_t parts, int64_t align, int32_t most, int32_t least) {
    int64_t single = CeilTo(CeilDiv(whole, parts), align);
    single = least > 0 ? std::max<int64_t>(single, least) : single;
    single = most > 0 ? std::min<int64_t>(single, most) : single;
    return std::min(single, parts == 1 && most <= 0 ? whole : single);
}

class Solver {
public:
    explicit Solver(const Request &request) : request_(request), search_(request) {}

    Answer Solve() const {
        Answer answer;
        const Part whole = Whole();
        answer.problem = ProblemOf(request_, whole);
        if (!answer.problem.empty()) {
            return answer;
        }
        const Split best = BestSplit(whole);
        if (!best.cut.IsThere()) {
            answer.problem = "nothing fits: L0A " + std::to_string(request_.room.l0a) + ", L0B " + std::to_string(request_.room.l0b) + ", L0C " +
                             std::to_string(request_.room.l0c) + ", L1 " + std::to_string(request_.room.l1) +
                             " bytes for the base block or parts that were asked for (SetFixSplit, SetSingleShape, SetBufferSpace, " +
                             std::to_string(request_.cores) + " cores)";
            return answer;
        }
        Fill(whole, best, answer);
        return answer;
    }

private:
    Part Whole() const { return {Said(request_.shape.m, request_.org.m), Said(request_.shape.n, request_.org.n), Said(request_.shape.k, request_.org.k), 1}; }

    Split BestSplit(const Part &whole) const {
        Split best;
        const int64_t mostK = request_.splitsK ? request_.cores : 1;
        for (int64_t m = 1; m <= request_.cores; ++m) {
            for (int64_t n = 1; m * n <= request_.cores; ++n) {
                for (int64_t k = 1; k <= mostK && m * n * k <= request_.cores; ++k) {
                    Consider(whole, {m, n, k}, best);
                }
            }
        }
        return best;
    }

    struct Parts {
        int64_t m, n, k;
    };

    void Consider(const Part &whole, const Parts &parts, Split &best) const {
        Split split;
        const Triple &align = request_.alignSingle, &most = request_.mostSingle, &least = request_.leastSingle;
        split.part.m = Said(request_.single.m, PartOf(whole.m, parts.m, Said(align.m, 16), most.m, least.m));
        split.part.n = Said(request_.single.n, PartOf(whole.n, parts.n, Said(align.n, search_.UnitN()), most.n, least.n));
        split.part.k = Said(request_.single.k, parts.k == 1 ? whole.k : PartOf(whole.k, parts.k, Said(align.k, search_.UnitK()), most.k, least.k));
        split.partsM = CeilDiv(whole.m, split.part.m);
        split.partsN = CeilDiv(whole.n, split.part.n);
        split.partsK = CeilDiv(whole.k, split.part.k);
        split.part.cores = split.partsM * split.partsN * split.partsK;
        /* The same parts again, which fewer cores gave already; a part that was asked for is taken whatever the cores. */
        const bool isAgain = split.partsM != parts.m || split.partsN != parts.n || split.partsK != parts.k;
        const bool isAsked = request_.single.m > 0 || request_.single.n > 0 || request_.single.k > 0 || most.m > 0 || most.n > 0;
        const bool isUneven = whole.m % split.part.m != 0 || whole.n % split.part.n != 0 || whole.k % split.part.k != 0;
        if ((isAgain && !isAsked) || split.part.cores > request_.cores || ((request_.isEven || request_.splitsK) && isUneven)) {
            return;
        }
        if (isAsked && best.cut.IsThere() && best.part.m == split.part.m && best.part.n == split.part.n && best.part.k == split.part.k) {
            return;
        }
        split.cut = search_.Best(split.part);
        split.cut.cycles *= parts.k > 1 ? 1.05 : 1; /* parts of k meet in global memory: only where it clearly pays */
        if (split.cut.IsThere() && (!best.cut.IsThere() || IsBetter(split, best))) {
            best = split;
        }
    }

    /* Cheaper, or as cheap on as many cores with more parts of M: the public sample matmul_advanced_api says of its tiling that M is divided, not N. */
    static bool IsBetter(const Split &split, const Split &best) {
        const double least = best.cut.cycles * (1 - 1e-9), most = best.cut.cycles * (1 + 1e-9);
        return split.cut.cycles < least || (split.cut.cycles <= most && split.part.cores == best.part.cores && split.partsM > best.partsM);
    }

    void Fill(const Part &whole, const Split &split, Answer &answer) const {
        AscendC::tiling::TCubeTiling &tiling = answer.tiling;
        const Cut &cut = split.cut;
        const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
        tiling.usedCoreNum = number(split.part.cores);
        tiling.M = number(Said(request_.org.m, whole.m));
        tiling.N = number(Said(request_.org.n, whole.n));
        tiling.Ka = number(Said(request_.org.k, whole.k));
        tiling.Kb = number(Said(request_.orgKb, tiling.Ka));
        tiling.singleCoreM = number(split.part.m);
        tiling.singleCoreN = number(split.part.n);
        tiling.singleCoreK = number(split.part.k);
        tiling.baseM = number(cut.baseM);
        tiling.baseN = number(cut.baseN);
        tiling.baseK = number(cut.baseK);
        tiling.stepM = tiling.stepN = 1;
        tiling.stepKa = number(cut.stepKa);
        tiling.stepKb = number(cut.stepKb);
        tiling.depthA1 = number(cut.stepKa * cut.buffersA);
        tiling.depthB1 = number(cut.stepKb * cut.buffersB);
        tiling.isBias = request_.hasBias ? 1 : 0;
        tiling.iterateOrder = cut.isFirstN ? 1 : 0;
        tiling.dbL0A = tiling.dbL0B = 2;
        tiling.dbL0C = number(cut.buffersC);
        const int64_t bytes = request_.a.Bytes();
        tiling.shareL1Size = number((cut.baseM * tiling.depthA1 + cut.baseN * tiling.depthB1) * cut.baseK * bytes + (request_.hasBias ? cut.baseN * 4 : 0));
        tiling.shareL0CSize = number(cut.baseM * cut.baseN * 4 * cut.buffersC);
        answer.partsM = split.partsM;
        answer.partsN = split.partsN;
        answer.partsK = split.partsK;
    }

    const Request &request_;
    Search search_;
};

}  // namespace piton_matmul

#endif /* PITON_MATMUL_SOLVE_H */
