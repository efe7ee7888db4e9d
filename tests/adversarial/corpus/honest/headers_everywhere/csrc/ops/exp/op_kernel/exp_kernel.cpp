/* A kernel in pieces: headers in nested folders, under names that mean other things elsewhere. */
#include "kernel_operator.h"

#include "exp_launch.h"

#include "detail/v2/golden.h"

class ExpKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, int64_t elements, float factor, float offset) {
        elements_ = elements;
        factor_ = factor;
        offset_ = offset;
        x_.SetGlobalBuffer((__gm__ float *)x, elements);
        y_.SetGlobalBuffer((__gm__ float *)y, elements);
        pipe_.InitBuffer(in_, 2, kTile * sizeof(float));
        pipe_.InitBuffer(out_, 2, kTile * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (int64_t start = AscendC::GetBlockIdx() * kTile; start < elements_; start += AscendC::GetBlockNum() * kTile) {
            const uint32_t count = elements_ - start < kTile ? elements_ - start : kTile;
            CopyIn(start, count);
            Compute(count);
            CopyOut(start, count);
        }
    }

private:
    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        auto x = in_.AllocTensor<float>();
        const AscendC::DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
        AscendC::DataCopyPad(x, x_[start], copy, AscendC::DataCopyPadExtParams<float>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.DeQue<float>();
        auto y = out_.AllocTensor<float>();
        AscendC::Muls(y, x, factor_, count);
        AscendC::Adds(y, y, offset_, count);
        AscendC::Exp(y, y, count);
        out_.EnQue(y);
        in_.FreeTensor(x);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        auto y = out_.DeQue<float>();
        AscendC::DataCopyPad(y_[start], y, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::GlobalTensor<float> x_;
    AscendC::GlobalTensor<float> y_;
    int64_t elements_;
    float factor_;
    float offset_;
};

__global__ __aicore__ void exp_kernel(GM_ADDR x, GM_ADDR y, int64_t elements, float factor, float offset) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    ExpKernel kernel;
    kernel.Init(x, y, elements, factor, offset);
    kernel.Process();
}

void LaunchExp(void *x, void *y, int64_t elements, float factor, float offset, void *stream) {
    exp_kernel<<<kBlocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, elements, factor, offset);
}
