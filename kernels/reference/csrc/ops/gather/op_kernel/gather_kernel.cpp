/* gather for elements of 1, 2, 4 and 8 bytes: tables that fit into the unified buffer (gather_table.h), else element by element (gather_single.h). */
#include "kernel_operator.h"

#include "gather_launch.h"
#include "gather_single.h"
#include "gather_table.h"
#include "gather_tiling.h"

template <typename T>
__global__ __aicore__ void gather_table(GM_ADDR x, GM_ADDR index, GM_ADDR y, TableTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GatherTable<T> kernel;
    kernel.Init(x, index, y, tiling);
    kernel.Process();
}

template <typename T>
__global__ __aicore__ void gather_single(GM_ADDR x, GM_ADDR index, GM_ADDR y, SingleTiling tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    GatherSingle<T> kernel;
    kernel.Init(x, index, y, tiling);
    kernel.Process();
}

template <typename T>
static void LaunchSized(const GatherTypes &types, void *x, void *index, void *y, const GatherShape &shape, void *stream) {
    const auto planes = common::PlanPlanes(shape.shape, 2, kIndex, shape.rank, shape.dim);
    const int64_t elements = planes.planes * planes.length[kIndex] * planes.width;
    const auto tables = gather_tiling::PlanTables(planes, types, elements);
    if (tables.tables > 0) {
        gather_table<T><<<tables.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)index, (GM_ADDR)y, tables);
        return;
    }
    const auto singles = gather_tiling::PlanSingles(planes, types, elements);
    gather_single<T><<<singles.blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)index, (GM_ADDR)y, singles);
}

void LaunchGather(const GatherTypes &types, void *x, void *index, void *y, const GatherShape &shape, void *stream) {
    switch (types.elementBytes) {
        case 1:
            return LaunchSized<int8_t>(types, x, index, y, shape, stream);
        case 2:
            return LaunchSized<int16_t>(types, x, index, y, shape, stream);
        case 4:
            return LaunchSized<int32_t>(types, x, index, y, shape, stream);
        case 8:
            return LaunchSized<int64_t>(types, x, index, y, shape, stream);
    }
}
