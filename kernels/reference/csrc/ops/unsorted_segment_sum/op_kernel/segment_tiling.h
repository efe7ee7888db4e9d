/* Which way unsorted_segment_sum takes, and how it is cut; host code but for the structures. */
#ifndef REFERENCE_SEGMENT_TILING_H
#define REFERENCE_SEGMENT_TILING_H

#include "../../../common/sorted_places.h"
#include "../../../common/tiling.h"
#include "segment_element.h"
#include "unsorted_segment_sum_launch.h"

/* Rows are fetched segment by segment (segment_fetch.h): cores share segments and columns. */
struct FetchTiling {
    SegmentShape shape;
    int64_t idBytes;
    uint32_t pairs;          // room for the sorted list
    uint32_t segmentGroups;  // cores along segments
    uint32_t columnGroups;   // cores along columns
    uint32_t perGroup;       // columns of a core
    uint32_t perPiece;       // columns at a time
    int64_t firstKept;       // segments from here on may stay in L2; what is stored before would be pushed out by them
};

/* Rows are added where they belong, in the order in which they come (segment_add.h): cores share rows. */
struct AddTiling {
    SegmentShape shape;
    int64_t idBytes;
    uint32_t isLocal;  // sums of a core in its unified buffer first; otherwise every row goes to global memory
    uint32_t stride;   // elements of a row in the unified buffer
    uint32_t perTile;  // rows
    uint32_t parts;    // of the columns, one after another; one where sums are local
    int64_t perPart;   // columns
    uint32_t sums;     // room for segments there
    int64_t perRound;  // rows of all cores between two settlements in global memory
};

/* Single elements, sorted tile by tile (segment_sort.h): cores share elements. */
struct SortTiling {
    SegmentShape shape;
    int64_t idBytes;
    uint32_t copies;  // of all segments, for the elements of a tile in turn
    uint32_t padded;  // segments of a copy
    uint32_t places;  // of a pass, in whole groups
    uint32_t passes;
    uint32_t perTile;  // elements
};

enum class SegmentWay : int32_t { kFetch, kAdd, kSort };

struct SegmentPlan {
    SegmentWay way;
    uint32_t blocks;
    FetchTiling fetch;
    AddTiling add;
    SortTiling sort;
};

namespace segment_tiling {

struct Traits {
    int64_t bytes;  // of an element
    int64_t words;  // of its sums in one plane
    int64_t planes;
};

template <typename T>
constexpr Traits TraitsOf() {
    return {sizeof(T), SegmentElement<T>::kWords, SegmentElement<T>::kPlanes};
}

constexpr double kBytesPerCycle = 18.5;               // of one core among 48
constexpr double kStoreCycles = 20;                   // the least that a store takes
constexpr double kStoredPerCycle = 30;                // bytes, of one core among 48, into L2 for the most part
constexpr double kInstruction = 24;                   // cycles besides the repeats
constexpr double kScalarFetch = 60, kScalarAdd = 30;  // cycles of the scalar unit per row
constexpr int64_t kMostFetched = 4096;                // rows of a sorted list
constexpr int64_t kKeptBytes = 160 << 20;             // of y in L2
constexpr int64_t kFetchBuffers = 3;
constexpr int64_t kMostPerRound = 1 << 15;  // additions of halves that no plane overflows by
constexpr double kBarriers = 4000;          // cycles: clearing sums, meeting twice, finishing

inline int64_t Room() { return common::UnifiedBufferBytes() - 1024; }

/* Vector cycles that adding a row of so many elements takes. */
inline double AddCycles(const Traits &traits, double elements) {
    const double repeats = elements * static_cast<double>(traits.words) / 64, instructions = traits.planes == 2 ? 4 : traits.bytes == 2 ? 2 : 1;
    return instructions * (kInstruction + repeats);
}

/* A row costs what its slowest pipe takes. */
inline double RowCycles(const Traits &traits, double elements, double scalar) {
    return std::max({12 + std::max(8.0, elements * static_cast<double>(traits.bytes) / kBytesPerCycle), AddCycles(traits, elements), scalar});
}

/* Unified buffer per column of a piece: queues, zeros, sums and their work. */
inline int64_t FetchBytesPerColumn(const Traits &traits) {
    const int64_t work = traits.planes == 2 ? 5 * 8 : traits.bytes == 2 ? 8 : 0;
    return (kFetchBuffers + 3) * traits.bytes + work;
}

inline double FetchCycles(const Traits &traits, const SegmentShape &shape, int64_t groups, int64_t columnGroups) {
    const double rows = static_cast<double>(shape.rows) / static_cast<double>(groups),
                 width = static_cast<double>(common::CeilDiv(shape.columns, columnGroups));
    const double most = groups == 1 ? rows : rows + 2.2 * std::sqrt(rows);  // of a core, where ids are random
    const double stored =
        static_cast<double>(shape.segments) / static_cast<double>(groups) * std::max(40.0, width * static_cast<double>(traits.bytes) / kStoredPerCycle);
    return most * RowCycles(traits, width, kScalarFetch) + stored + static_cast<double>(shape.rows) * 3 + 2500;
}

inline double PlanFetch(SegmentPlan &plan, const Traits &traits) {
    auto &fetch = plan.fetch;
    const auto &shape = fetch.shape;
    if (shape.rows > kMostFetched) {
        return 1e18;
    }
    const int64_t cores = common::VectorCores(), granule = 32;
    double least = 1e18;
    for (int64_t along = 1; along <= std::min(cores, common::CeilDiv(shape.columns, granule)); ++along) {
        const int64_t groups = std::min(cores / along, shape.segments);
        const double cycles = FetchCycles(traits, shape, groups, along) + 207.0 * static_cast<double>(groups * along);
        if (cycles < least) {
            least = cycles;
            fetch.columnGroups = static_cast<uint32_t>(along);
            fetch.segmentGroups = static_cast<uint32_t>(groups);
        }
    }
    fetch.firstKept = std::max<int64_t>(0, shape.segments - kKeptBytes / (shape.columns * traits.bytes));
    fetch.perGroup = static_cast<uint32_t>(common::RoundUp(common::CeilDiv(shape.columns, static_cast<int64_t>(fetch.columnGroups)), granule));
    fetch.columnGroups = static_cast<uint32_t>(common::CeilDiv(shape.columns, static_cast<int64_t>(fetch.perGroup)));
    fetch.pairs = static_cast<uint32_t>(common::RoundUp(shape.rows + 1, 64));
    const int64_t room = Room() - fetch.pairs * 16 - shape.rows * fetch.idBytes - 64;
    const int64_t most = room / FetchBytesPerColumn(traits) / 64 * 64;
    const int64_t pieces = common::CeilDiv(static_cast<int64_t>(fetch.perGroup), most);
    fetch.perPiece = static_cast<uint32_t>(common::RoundUp(common::CeilDiv(static_cast<int64_t>(fetch.perGroup), pieces), 64));
    return least;
}

/* Unified buffer per row of a tile of SegmentAdd, for each element of its stride. */
inline int64_t AddBytesPerElement(const Traits &traits, bool isLocal) {
    const int64_t wide = isLocal ? (traits.bytes == 4 ? 0 : 4 * traits.words) : 2 * 4 * traits.words * traits.planes;
    return 2 * traits.bytes + wide;
}

inline double PlanAdd(SegmentPlan &plan, const Traits &traits) {
    auto &add = plan.add;
    const auto &shape = add.shape;
    const int64_t granule = 32 / traits.bytes, settling = traits.planes == 2 ? 3 * 4096 : 0, room = Room() - settling - 1024;
    const int64_t stride = common::RoundUp(shape.columns, granule), sumBytes = stride * 4 * traits.words * traits.planes;
    const int64_t rows = common::CeilDiv(shape.rows, common::VectorCores());
    const int64_t localRow = stride * AddBytesPerElement(traits, true) + 2 * add.idBytes;
    add.isLocal = sumBytes * shape.segments <= room * 3 / 5 && sumBytes * shape.segments + 2 * localRow <= room ? 1 : 0;
    const int64_t perElement = AddBytesPerElement(traits, add.isLocal != 0), least = add.isLocal ? 1 : 4;
    const int64_t widest = (room / least - 2 * add.idBytes) / perElement / 64 * 64;
    add.perPart = std::min(shape.columns, widest);
    add.parts = static_cast<uint32_t>(common::CeilDiv(shape.columns, add.perPart));
    add.stride = static_cast<uint32_t>(common::RoundUp(add.perPart, granule));
    add.sums = add.isLocal ? static_cast<uint32_t>(shape.segments) : 0;
    const int64_t left = room - (add.isLocal ? sumBytes * shape.segments : 0);
    add.perTile = static_cast<uint32_t>(std::clamp<int64_t>(left / (add.stride * perElement + 2 * add.idBytes), 1, std::min<int64_t>(rows, 1024)));
    add.perRound = traits.planes == 2 && !add.isLocal ? kMostPerRound : shape.rows;
    const double width = static_cast<double>(shape.columns), loaded = width * static_cast<double>(traits.bytes) / kBytesPerCycle;
    const double words = width * 4 * static_cast<double>(traits.words);
    const double there = static_cast<double>(traits.planes) * std::max(kStoreCycles, words / kBytesPerCycle) + (words > 512 ? loaded : 0);
    const double perRow = add.isLocal ? RowCycles(traits, width, kScalarAdd) : std::max(there, kScalarAdd);
    const double all = words * static_cast<double>(traits.planes), cleared = all * static_cast<double>(shape.segments) / 48 / kStoredPerCycle;
    const double finished = traits.bytes == 4 ? 0 : 2 * cleared;
    return static_cast<double>(rows) * perRow + static_cast<double>(add.sums) * all / kBytesPerCycle + cleared + finished + kBarriers;
}

/* Elements that are a row each. */
inline double PlanSort(SegmentPlan &plan, const Traits &traits) {
    constexpr int64_t kMostPlaces = 1536, kPairs = 4160, kCopied = 512;
    auto &sort = plan.sort;
    const auto &shape = sort.shape;
    if (shape.columns != 1 || shape.rows < 4096 || shape.segments > (1 << 22)) {
        return 1e18;
    }
    sort.padded = static_cast<uint32_t>(common::RoundUp(shape.segments, 8));
    sort.copies = 1;
    while (2 * sort.copies * sort.padded <= kCopied) {
        sort.copies *= 2;
    }
    const int64_t wanted = static_cast<int64_t>(sort.copies) * sort.padded;
    sort.passes = static_cast<uint32_t>(common::CeilDiv(wanted, kMostPlaces));
    sort.places = static_cast<uint32_t>(common::RoundUp(common::CeilDiv(wanted, static_cast<int64_t>(sort.passes)) + (sort.passes > 1 ? 1 : 0), 64));
    sort.perTile = static_cast<uint32_t>(
        std::min(kPairs - 64 - static_cast<int64_t>(sort.places), common::RoundUp(common::CeilDiv(shape.rows, common::VectorCores()), 64)));
    constexpr double kPerElement = 4.5;  // cycles, for each pass and plane
    return static_cast<double>(shape.rows) / 48 * kPerElement * static_cast<double>(sort.passes * traits.planes) + kBarriers;
}

inline SegmentPlan Plan(const Traits &traits, const SegmentShape &shape, int64_t idBytes) {
    SegmentPlan plan{};
    plan.fetch.shape = plan.add.shape = plan.sort.shape = shape;
    plan.fetch.idBytes = plan.add.idBytes = plan.sort.idBytes = idBytes;
    const double fetch = PlanFetch(plan, traits), add = PlanAdd(plan, traits), sort = PlanSort(plan, traits);
    plan.way = sort <= std::min(fetch, add) ? SegmentWay::kSort : fetch <= add ? SegmentWay::kFetch : SegmentWay::kAdd;
    plan.blocks = plan.way == SegmentWay::kFetch ? plan.fetch.segmentGroups * plan.fetch.columnGroups : static_cast<uint32_t>(common::VectorCores());
    return plan;
}

}  // namespace segment_tiling

#endif  // REFERENCE_SEGMENT_TILING_H
