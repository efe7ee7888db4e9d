/*
 * grid_sampler_3d for float16 and float32: volumes sampled at points, trilinear or nearest, any sizes.
 *
 * Problem: voxels lie anywhere in a volume, and the 910B gathers from the unified buffer only.
 * Approach: the box that points reach (grid_box.h) is loaded channel by channel, whole or in slabs, and all points are gathered from it; offsets and shares of
 * the points are formed once for all channels (grid_table.h, grid_resident.h). Where that would take too many slabs, each point fetches its neighbours
 * (grid_direct.h). Which of these, the cores decide by what they have found in the grid. Everything is float32, rounded once.
 * Limits: Gather takes 14 cycles for 64 voxels, so that the vector unit, not the memory, limits trilinear sampling.
 */
#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "grid_direct.h"
#include "grid_resident.h"
#include "grid_sampler_3d_launch.h"

struct GridTiling {
    uint32_t blocks;
    uint32_t mostSlabs;  // that the workspace has room for
    int64_t unifiedBytes;
};

constexpr uint32_t kLargeTile = 1024, kSmallTile = 512, kMostSlabs = 4;
constexpr int64_t kSpareBytes = 1024;                    // rounding of buffers
constexpr int64_t kMostSlabPoints = 1 << 20;             // beyond, tables for several slabs would take too much memory
constexpr int64_t kMixedCycles = 3, kDirectCycles = 45;  // per sample, simulated: a visit of a slab, or fetching all neighbours
constexpr int32_t kMostPlaneRows = 4095;                 // of a plane: it is loaded by one copy, which has no more blocks
constexpr int64_t kNearestSlabs = 4;                     // visits for nearest that take as long as one for trilinear
constexpr int64_t kLoadBytes = 10;                       // per cycle and core, simulated: loads of slabs, with what they wait

/* How the box lies in the unified buffer, and what else the kernel for it has to know. */
struct GridPlan {
    GridBox box;
    GridTable table;
    uint32_t volumes;  // 0: no slab fits
};

template <typename T>
__aicore__ inline GridPlan PlanResident(const GridTensors &tensors, const GridBox &box, int64_t unifiedBytes) {
    const int64_t bytes = box.elements * sizeof(T), room = unifiedBytes - kSpareBytes;
    const auto roomBeside = [&](uint32_t tile, bool hasSlabs) { return room - GridResident<T>::TileBytes(tensors.isNearest, tile, hasSlabs); };
    const uint32_t shares = tensors.isNearest ? 0 : kGridShares, offsets = tensors.isNearest ? 1 : kGridOffsets;
    const auto table = [&](uint32_t tile, uint32_t slabs, uint32_t depth) {
        return GridTable{tile, static_cast<uint32_t>((tensors.points + tile - 1) / tile), shares, offsets, slabs, depth, tensors.points};
    };
    const uint32_t depth = box.size[2];
    // Trilinear: larger tiles save more than loading ahead.
    const bool isLarge = !tensors.isNearest && 2 * bytes > roomBeside(kLargeTile, false) && bytes <= roomBeside(kLargeTile, false);
    for (uint32_t volumes = isLarge ? 1 : 2; volumes > 0; --volumes) {
        if (volumes * bytes <= roomBeside(kSmallTile, false)) {
            return {box, table(volumes * bytes <= roomBeside(kLargeTile, false) ? kLargeTile : kSmallTile, 1, depth), volumes};
        }
    }
    // Slabs of which two fit, or, of large planes, one.
    const int64_t rest = (box.elements - static_cast<int64_t>(depth) * box.plane) * static_cast<int64_t>(sizeof(T)), plane = box.plane * sizeof(T);
    for (uint32_t volumes = 2; volumes > 0; --volumes) {
        const int64_t planes = (roomBeside(kSmallTile, true) / volumes - rest) / plane;
        if (planes < 2) {
            continue;
        }
        const uint32_t step = planes - 1, slabs = depth > 1 ? (depth - 1 + step - 1) / step : 1, even = depth > 1 ? (depth - 1 + slabs - 1) / slabs : 1;
        // The last plane is the upper one of the slab before it, but may be the lower one of points at the end.
        const uint32_t needed = (depth + even - 1) / even;
        if (needed > kMostSlabs && volumes > 1) {
            continue;
        }
        const int32_t size[kGridAxes] = {box.size[0], box.size[1], static_cast<int32_t>(even + 1)};
        return {BoxOf(box.first, size, sizeof(T)), table(kSmallTile, needed, even), volumes};
    }
    return {box, table(kSmallTile, 1, depth), 0};
}

/* Whether it takes less time to visit all slabs than to fetch the voxels of all points, roughly. */
__aicore__ inline bool IsWorthwhile(const GridTensors &tensors, const GridPlan &plan, uint32_t mostSlabs, int64_t volumeBytes) {
    if (plan.volumes == 0 || plan.table.slabs > mostSlabs || plan.box.size[1] > kMostPlaneRows) {
        return false;
    }
    const int64_t cores = AscendC::GetBlockNum(), channels = tensors.batch * tensors.channels, samples = channels * tensors.points / cores;
    const int64_t groups = (channels * plan.table.tiles / (plan.table.slabs > 1 ? 8 : plan.table.tiles) + cores - 1) / cores;
    const int64_t loading = plan.table.slabs > 1 ? groups * volumeBytes / kLoadBytes : 0;
    const int64_t visiting = samples * plan.table.slabs * kMixedCycles / (tensors.isNearest ? kNearestSlabs : 1);
    return (loading > visiting ? loading : visiting) < samples * kDirectCycles;
}

template <typename T>
__aicore__ inline void RunResident(const GridTensors &tensors, const GridPlan &plan) {
    {
        GridTableMaker<T> maker;
        maker.Make(tensors, plan.box, plan.table);
    }
    GridResident<T> kernel;
    kernel.Init(tensors, plan.box, plan.table, plan.volumes);
    kernel.Process();
}

template <typename T>
__aicore__ inline GridBox FindBox(const GridTensors &tensors, int64_t mostBytes) {
    const int32_t first[kGridAxes] = {0, 0, 0};
    const int32_t size[kGridAxes] = {static_cast<int32_t>(tensors.width), static_cast<int32_t>(tensors.height), static_cast<int32_t>(tensors.depth)};
    const auto whole = BoxOf(first, size, sizeof(T));
    if (whole.elements * static_cast<int64_t>(sizeof(T)) <= mostBytes) {
        return whole;
    }
    GridBoxSearch<T> search;
    return search.Find(tensors, mostBytes);
}

template <typename T>
__global__ __aicore__ void grid_sampler_3d(GridTensors tensors, GridTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);  // SyncAll
    const int64_t mostBytes = tiling.unifiedBytes - GridResident<T>::TileBytes(tensors.isNearest, kSmallTile, false) - kSpareBytes;
    const auto box = FindBox<T>(tensors, mostBytes);
    const auto plan = PlanResident<T>(tensors, box, tiling.unifiedBytes);
    if (IsWorthwhile(tensors, plan, tiling.mostSlabs, box.elements * static_cast<int64_t>(sizeof(T)))) {
        RunResident<T>(tensors, plan);
        return;
    }
    GridDirect<T> kernel;
    kernel.Init(tensors);
    kernel.Process();
}

static uint32_t MostSlabs(const GridTensors &tensors) { return tensors.batch * tensors.points <= kMostSlabPoints ? kMostSlabs : 1; }

/* Tables of whole tiles, of the larger size. */
int64_t GridWorkspaceBytes(const GridTensors &tensors) {
    const int64_t points = common::RoundUp(tensors.points, kLargeTile), slabs = MostSlabs(tensors);
    const int64_t fields = tensors.isNearest ? slabs : kGridShares + slabs * kGridOffsets;
    return kBoxBytes + tensors.batch * points * fields * static_cast<int64_t>(sizeof(float));
}

template <typename T>
static void LaunchTyped(const GridTensors &tensors, void *stream) {
    constexpr int64_t kSamplesPerLaunch = 100;
    const int64_t cores = common::WorthwhileCores(tensors.batch * tensors.channels * tensors.points, kSamplesPerLaunch);
    const GridTiling tiling{static_cast<uint32_t>(std::min<int64_t>(cores, kMostBoxCores)), MostSlabs(tensors), common::UnifiedBufferBytes()};
    grid_sampler_3d<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
}

void LaunchGridSampler3d(common::ElementType type, const GridTensors &tensors, void *stream) {
    if (type == common::ElementType::kFloat16) {
        LaunchTyped<half>(tensors, stream);
    } else {
        LaunchTyped<float>(tensors, stream);
    }
}
