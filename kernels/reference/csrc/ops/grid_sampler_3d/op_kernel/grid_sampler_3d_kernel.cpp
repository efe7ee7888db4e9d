/*
 * grid_sampler_3d for float16 and float32: volumes sampled at points, trilinear or nearest, any sizes.
 *
 * Problem: voxels lie anywhere in a volume, and the 910B gathers from the unified buffer only.
 * Approach: where the box that points reach fits there (grid_box.h), it is loaded channel by channel and all points are gathered from it; offsets and shares
 * of the points are formed once for all channels (grid_table.h, grid_resident.h). Larger boxes: each point fetches its neighbours (grid_direct.h). Which of
 * the two, the cores decide by what they have found in the grid. Everything is float32, rounded once.
 * Limits: Gather takes 14 cycles for 64 voxels, so that the vector unit, not the memory, limits trilinear sampling.
 */
#include "kernel_operator.h"

#include "../../../common/tiling.h"
#include "grid_direct.h"
#include "grid_resident.h"
#include "grid_sampler_3d_launch.h"

struct GridTiling {
    uint32_t blocks;
    int64_t unifiedBytes;
};

constexpr uint32_t kLargeTile = 1024, kSmallTile = 512;
constexpr int64_t kSpareBytes = 1024;  // rounding of buffers

template <typename T>
__aicore__ inline void RunResident(const GridTensors &tensors, const GridBox &box, int64_t unifiedBytes) {
    const int64_t bytes = box.elements * sizeof(T), large = GridResident<T>::TileBytes(tensors.isNearest, kLargeTile) + kSpareBytes;
    const uint32_t tile = bytes + large <= unifiedBytes ? kLargeTile : kSmallTile;
    const int64_t left = unifiedBytes - GridResident<T>::TileBytes(tensors.isNearest, tile) - kSpareBytes;
    const GridTable table{tile, static_cast<uint32_t>((tensors.points + tile - 1) / tile), tensors.isNearest ? 1 : kGridFields, tensors.points};
    {
        GridTableMaker<T> maker;
        maker.Make(tensors, box, table);
    }
    GridResident<T> kernel;
    kernel.Init(tensors, box, table, 2 * bytes <= left ? 2 : 1);
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
    const int64_t mostBytes = tiling.unifiedBytes - GridResident<T>::TileBytes(tensors.isNearest, kSmallTile) - kSpareBytes;
    const auto box = FindBox<T>(tensors, mostBytes);
    if (box.elements * static_cast<int64_t>(sizeof(T)) <= mostBytes) {
        RunResident<T>(tensors, box, tiling.unifiedBytes);
        return;
    }
    GridDirect<T> kernel;
    kernel.Init(tensors);
    kernel.Process();
}

/* Tables of whole tiles, of the larger size. */
int64_t GridWorkspaceBytes(const GridTensors &tensors) {
    const int64_t points = common::RoundUp(tensors.points, kLargeTile), fields = tensors.isNearest ? 1 : kGridFields;
    return kBoxBytes + tensors.batch * points * fields * static_cast<int64_t>(sizeof(float));
}

template <typename T>
static void LaunchTyped(const GridTensors &tensors, void *stream) {
    constexpr int64_t kSamplesPerLaunch = 100;
    const int64_t cores = common::WorthwhileCores(tensors.batch * tensors.channels * tensors.points, kSamplesPerLaunch);
    const GridTiling tiling{static_cast<uint32_t>(std::min<int64_t>(cores, kMostBoxCores)), common::UnifiedBufferBytes()};
    grid_sampler_3d<T><<<tiling.blocks, nullptr, stream>>>(tensors, tiling);
}

void LaunchGridSampler3d(common::ElementType type, const GridTensors &tensors, void *stream) {
    if (type == common::ElementType::kFloat16) {
        LaunchTyped<half>(tensors, stream);
    } else {
        LaunchTyped<float>(tensors, stream);
    }
}
