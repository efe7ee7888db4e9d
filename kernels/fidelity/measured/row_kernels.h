/*
 * Jobs on rows: norms, softmax, quantisation, swiglu. Each block takes its rows one after another; a row is held in the unified buffer as float.
 */
#ifndef MEASURED_ROW_KERNELS_H
#define MEASURED_ROW_KERNELS_H

#include "element_kernels.h"

namespace measured {

enum class Row { RMS_NORM, ADD_RMS_NORM, LAYER_NORM, SOFTMAX, SWIGLU, DYNAMIC_QUANT, QUANT };

constexpr uint32_t kLongest = 7168;

/* Aligned so that a row's float form starts at a block. */
__aicore__ inline uint32_t Padded(uint32_t columns) { return (columns + 63) / 64 * 64; }

template <Row job, typename T>
class RowKernel {
public:
    static constexpr bool kIsQuantised = job == Row::DYNAMIC_QUANT || job == Row::QUANT;
    static constexpr bool kHasTwoInputs = job == Row::ADD_RMS_NORM || job == Row::SWIGLU;
    static constexpr bool kHasParameters = job == Row::RMS_NORM || job == Row::ADD_RMS_NORM || job == Row::LAYER_NORM || job == Row::QUANT;
    static constexpr bool kHasStatistic = job == Row::RMS_NORM || job == Row::ADD_RMS_NORM || job == Row::LAYER_NORM || job == Row::DYNAMIC_QUANT;
    using Result = typename std::conditional<kIsQuantised, int8_t, T>::type;

    /* `columns` of a result row; a row of swiglu's input has twice as many. */
    __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR parameters, GM_ADDR z, GM_ADDR statistic, uint64_t rows, uint32_t columns) {
        columns_ = columns;
        const Share share = ShareOf(rows);
        const uint64_t pitch = job == Row::SWIGLU ? 2 * columns : columns;
        x_.SetGlobalBuffer((__gm__ T *)x + share.first * pitch);
        y_.SetGlobalBuffer((__gm__ T *)(job == Row::SWIGLU ? x : y) + share.first * pitch + (job == Row::SWIGLU ? columns : 0));
        z_.SetGlobalBuffer((__gm__ Result *)z + share.first * columns);
        sum_.SetGlobalBuffer((__gm__ T *)y + share.first * columns);
        statistic_.SetGlobalBuffer((__gm__ float *)statistic + share.first);
        Prepare(parameters);
        for (uint64_t row = 0; row < share.count; ++row) OneRow(row, pitch);
    }

private:
    __aicore__ inline void Prepare(GM_ADDR parameters) {
        const uint32_t padded = Padded(columns_);
        pipe_.InitBuffer(inX_, 1, padded * sizeof(T));
        if constexpr (kHasTwoInputs) pipe_.InitBuffer(inY_, 1, padded * sizeof(T));
        pipe_.InitBuffer(out_, 1, padded * sizeof(Result));
        if constexpr (job == Row::ADD_RMS_NORM) pipe_.InitBuffer(outSum_, 1, padded * sizeof(T));
        if constexpr (kHasStatistic) pipe_.InitBuffer(outStatistic_, 1, 32);
        pipe_.InitBuffer(row_, padded * sizeof(float));
        pipe_.InitBuffer(other_, padded * sizeof(float));
        pipe_.InitBuffer(work_, 2 * 512);
        if constexpr (kHasParameters) {
            pipe_.InitBuffer(gamma_, padded * sizeof(float));
            Global<T> gamma;
            gamma.SetGlobalBuffer((__gm__ T *)parameters);
            Local<T> given = inX_.template AllocTensor<T>();
            Load(given, gamma, columns_);
            inX_.EnQue(given);
            given = inX_.template DeQue<T>();
            Widen(gamma_.template Get<float>(), given);
            inX_.FreeTensor(given);
        }
    }

    __aicore__ inline void OneRow(uint64_t row, uint64_t pitch) {
        Local<float> a = row_.template Get<float>(), b = other_.template Get<float>();
        Take(inX_, a, x_[row * pitch]);
        if constexpr (kHasTwoInputs) Take(inY_, b, y_[row * pitch]);
        AscendC::PipeBarrier<PIPE_V>();
        if constexpr (job == Row::ADD_RMS_NORM) AddInputs(a, b, row);
        const float statistic = Work(a, b);
        Give(a, row);
        if constexpr (kHasStatistic) GiveStatistic(statistic, row);
    }

    template <typename Queue>
    __aicore__ inline void Take(Queue &queue, const Local<float> &wide, const Global<T> &from) {
        Local<T> given = queue.template AllocTensor<T>();
        Load(given, from, columns_);
        queue.EnQue(given);
        given = queue.template DeQue<T>();
        Widen(wide, given);
        queue.FreeTensor(given);
    }

    __aicore__ inline void Widen(const Local<float> &wide, const Local<T> &given) {
        if constexpr (std::is_same<T, float>::value)
            AscendC::Adds(wide, given, 0.0f, columns_);
        else
            AscendC::Cast(wide, given, AscendC::RoundMode::CAST_NONE, columns_);
    }

    __aicore__ inline void AddInputs(const Local<float> &a, const Local<float> &b, uint64_t row) {
        AscendC::Add(a, a, b, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        Local<T> sum = outSum_.template AllocTensor<T>();
        AscendC::Cast(sum, a, AscendC::RoundMode::CAST_RINT, columns_);
        outSum_.EnQue(sum);
        sum = outSum_.template DeQue<T>();
        Store(sum_[row * columns_], sum, columns_);
        outSum_.FreeTensor(sum);
    }

    /* What the row's sum (or its maximum) is, in the scalar unit. */
    __aicore__ inline float Reduced(const Local<float> &values, const Local<float> &scratch, bool isMaximum) {
        Local<float> result = work_.template Get<float>();
        AscendC::PipeBarrier<PIPE_V>();
        if (isMaximum)
            AscendC::ReduceMax(result, values, scratch, static_cast<int32_t>(columns_));
        else
            AscendC::ReduceSum(result, values, scratch, static_cast<int32_t>(columns_));
        AscendC::SetFlag<AscendC::HardEvent::V_S>(EVENT_ID3);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(EVENT_ID3);
        const float found = result.GetValue(0);
        AscendC::SetFlag<AscendC::HardEvent::S_V>(EVENT_ID3);
        AscendC::WaitFlag<AscendC::HardEvent::S_V>(EVENT_ID3);
        return found;
    }

    __aicore__ inline float Root(float value) {
        Local<float> one = work_.template Get<float>()[128];
        AscendC::Duplicate(one, value, 8);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Sqrt(one, one, 8);
        AscendC::SetFlag<AscendC::HardEvent::V_S>(EVENT_ID3);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(EVENT_ID3);
        return one.GetValue(0);
    }

    /* The row's result in `a`. */
    __aicore__ inline float Work(const Local<float> &a, const Local<float> &b) {
        if constexpr (job == Row::SWIGLU) {
            Swish(a, b);
            return 0;
        } else if constexpr (job == Row::SOFTMAX) {
            AscendC::Adds(a, a, -Reduced(a, b, true), columns_);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Exp(a, a, columns_);
            AscendC::Muls(a, a, 1 / Reduced(a, b, false), columns_);
            return 0;
        } else if constexpr (job == Row::QUANT) {
            AscendC::Mul(a, a, gamma_.template Get<float>(), columns_);
            return 0;
        } else if constexpr (job == Row::DYNAMIC_QUANT) {
            AscendC::Abs(b, a, columns_);
            const float scale = Reduced(b, b, true) / 127;
            AscendC::Muls(a, a, 1 / scale, columns_);
            return scale;
        } else {
            return Norm(a, b);
        }
    }

    __aicore__ inline void Swish(const Local<float> &a, const Local<float> &b) {
        Local<float> c = a;
        AscendC::Mul(b, b, a, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Muls(c, a, -1.0f, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Exp(c, c, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Adds(c, c, 1.0f, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Div(a, b, c, columns_);
    }

    __aicore__ inline float Norm(const Local<float> &a, const Local<float> &b) {
        if constexpr (job == Row::LAYER_NORM) {
            AscendC::Muls(b, a, 1.0f, columns_);
            AscendC::Adds(a, a, -Reduced(b, b, false) / columns_, columns_);
            AscendC::PipeBarrier<PIPE_V>();
        }
        AscendC::Mul(b, a, a, columns_);
        const float factor = 1 / Root(Reduced(b, b, false) / columns_ + 1e-6f);
        AscendC::Muls(a, a, factor, columns_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(a, a, gamma_.template Get<float>(), columns_);
        return factor;
    }

    __aicore__ inline void Give(const Local<float> &a, uint64_t row) {
        AscendC::PipeBarrier<PIPE_V>();
        Local<Result> z = out_.template AllocTensor<Result>();
        if constexpr (kIsQuantised) {
            Local<half> between = other_.template Get<half>();
            AscendC::Cast(between, a, AscendC::RoundMode::CAST_RINT, columns_);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(z, between, AscendC::RoundMode::CAST_RINT, columns_);
        } else if constexpr (std::is_same<T, float>::value) {
            AscendC::Adds(z, a, 0.0f, columns_);
        } else {
            AscendC::Cast(z, a, AscendC::RoundMode::CAST_RINT, columns_);
        }
        out_.EnQue(z);
        z = out_.template DeQue<Result>();
        Store(z_[row * columns_], z, columns_);
        out_.FreeTensor(z);
    }

    __aicore__ inline void GiveStatistic(float value, uint64_t row) {
        Local<float> one = outStatistic_.template AllocTensor<float>();
        AscendC::Duplicate(one, value, 8);
        outStatistic_.EnQue(one);
        one = outStatistic_.template DeQue<float>();
        Store(statistic_[row], one, 1);
        outStatistic_.FreeTensor(one);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<TPosition::VECIN, 1> inX_, inY_;
    AscendC::TQue<TPosition::VECOUT, 1> out_, outSum_, outStatistic_;
    AscendC::TBuf<TPosition::VECCALC> row_, other_, gamma_, work_;
    Global<T> x_, y_, sum_;
    Global<Result> z_;
    Global<float> statistic_;
    uint32_t columns_ = 0;
};

}  // namespace measured

#endif
