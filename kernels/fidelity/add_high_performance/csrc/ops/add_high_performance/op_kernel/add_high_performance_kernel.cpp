/*
 * z = x + y in float16 with static addresses and manual flags; README.md says which variant stands for what.
 *
 * Each buffer has its own flag ids (0 and 1). Per tile: load x and y once V has read the previous tile in that buffer, add once both have landed and the
 * previous result has left, store once the sum is there.
 */
#include "kernel_operator.h"
#include "platform/platform_ascendc.h"

#include "add_high_performance_launch.h"

struct AddLayout {
    uint32_t tileBytes;
    uint32_t buffers;
    bool isL2Bypassed;  // for the inputs
    uint32_t x[2];      // addresses in the unified buffer, one per buffer
    uint32_t y[2];
    uint32_t z[2];
};

constexpr uint32_t kKiB = 1024;

static AddLayout LayoutInSequence(uint32_t tileBytes, uint32_t buffers, bool isL2Bypassed) {
    AddLayout layout{tileBytes, buffers, isL2Bypassed, {}, {}, {}};
    for (uint32_t i = 0; i < buffers; ++i) {
        layout.x[i] = 3 * i * tileBytes;
        layout.y[i] = layout.x[i] + tileBytes;
        layout.z[i] = layout.y[i] + tileBytes;
    }
    return layout;
}

/* x and y of a tile are half a bank group cycle apart (256 modulo 512), so that the two reads do not meet; z lies in a bank of its own, away from both. */
static AddLayout LayoutWithoutConflicts() {
    constexpr uint32_t kTile = 32 * kKiB - 256;
    return {kTile, 2, true, {0, 64 * kKiB}, {kTile, 64 * kKiB + kTile}, {128 * kKiB, 128 * kKiB + kTile}};
}

static AddLayout LayoutOf(int64_t variant) {
    switch (variant) {
        case 2:
            return LayoutInSequence(8 * kKiB, 1, false);
        case 3:
            return LayoutInSequence(32 * kKiB, 1, false);
        case 4:
            return LayoutInSequence(32 * kKiB, 2, false);
        case 5:
            return LayoutInSequence(32 * kKiB, 2, true);
        default:
            return LayoutWithoutConflicts();
    }
}

class AddHighPerformance {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t rows, int64_t columns, const AddLayout &layout) {
        const int64_t block = AscendC::GetBlockIdx();
        const int64_t even = rows / AscendC::GetBlockNum();
        const int64_t left = rows % AscendC::GetBlockNum();  // the first blocks take one row more
        const int64_t start = (even * block + (block < left ? block : left)) * columns;
        length_ = (even + (block < left ? 1 : 0)) * columns;
        layout_ = layout;
        x_.SetGlobalBuffer((__gm__ half *)x + start, length_);
        y_.SetGlobalBuffer((__gm__ half *)y + start, length_);
        z_.SetGlobalBuffer((__gm__ half *)z + start, length_);
        if (layout.isL2Bypassed) {
            x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
            y_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
        }
    }

    __aicore__ inline void Process() {
        const bool isDouble = layout_.buffers == 2;
        for (uint32_t buffer = 0; isDouble && buffer < layout_.buffers; ++buffer) {
            AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(buffer);
            AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(buffer);
        }
        const int64_t perTile = layout_.tileBytes / sizeof(half);
        uint32_t buffer = 0;
        for (int64_t start = 0; start < length_; start += perTile) {
            const bool isFirst = start == 0, isLast = start + perTile >= length_;
            AddTile(start, isLast ? length_ - start : perTile, buffer, isDouble || !isFirst, isDouble || !isLast);
            buffer = (buffer + 1) % layout_.buffers;
        }
        for (uint32_t left = 0; isDouble && left < layout_.buffers; ++left) {
            AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(left);
            AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(left);
        }
    }

private:
    /* `waits`: for its buffer to be free; `tells`: when it is. A single buffer is free at the start, and nobody asks after the last tile. */
    __aicore__ inline void AddTile(int64_t start, uint32_t count, uint32_t buffer, bool waits, bool tells) {
        AscendC::LocalTensor<half> x(AscendC::TPosition::VECIN, layout_.x[buffer], count);
        AscendC::LocalTensor<half> y(AscendC::TPosition::VECIN, layout_.y[buffer], count);
        AscendC::LocalTensor<half> z(AscendC::TPosition::VECOUT, layout_.z[buffer], count);
        if (waits) AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(buffer);
        AscendC::DataCopy(x, x_[start], count);
        AscendC::DataCopy(y, y_[start], count);
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(buffer);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(buffer);
        if (waits) AscendC::WaitFlag<AscendC::HardEvent::MTE3_V>(buffer);
        AscendC::Add(z, x, y, count);
        if (tells) AscendC::SetFlag<AscendC::HardEvent::V_MTE2>(buffer);
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(buffer);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(buffer);
        AscendC::DataCopy(z_[start], z, count);
        if (tells) AscendC::SetFlag<AscendC::HardEvent::MTE3_V>(buffer);
    }

    AscendC::GlobalTensor<half> x_;
    AscendC::GlobalTensor<half> y_;
    AscendC::GlobalTensor<half> z_;
    AddLayout layout_;
    int64_t length_;
};

__global__ __aicore__ void add_high_performance(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t rows, int64_t columns, AddLayout layout) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    AscendC::InitSocState();
    AddHighPerformance kernel;
    kernel.Init(x, y, z, rows, columns, layout);
    kernel.Process();
    AscendC::PipeBarrier<PIPE_ALL>();
}

void LaunchAddHighPerformance(void *x, void *y, void *z, int64_t rows, int64_t columns, int64_t variant, void *stream) {
    const int64_t cores = platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreNumAiv();
    const uint32_t blocks = rows < cores ? rows : cores;
    add_high_performance<<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, (GM_ADDR)z, rows, columns, LayoutOf(variant));
}
