/*
 * The frame of a kernel that computes dense tensors from dense tensors of as many elements, element by element.
 *
 * A core takes its share of the elements, tile by tile (tiling.h). Every tensor has two tiles in the unified buffer, and the next tile is loaded before the
 * current one is computed, so that load, compute and store overlap. Tails of any length are loaded and stored by their bytes; nothing outside is touched.
 * A vector instruction whose sources share a bank group, that is whose addresses agree modulo 512, takes twice as long: so each tensor's tiles start 256 bytes
 * off from those of the tensor before (inputs first, then outputs, then what the body allocates; the first input at a multiple of 512).
 *
 * Body has: Inputs and Outputs, the element types as Types<...>; kBytesPerElement and kFixedBytes, what it keeps in the unified buffer besides their tiles;
 * kElementsPerLaunch, see KernelTraits; Init(pipe, perTile, arguments...); Run(in, out, count), which takes each input once (in.Take<i>), frees it after its
 * last use (in.Free<i>), makes each output (out.Make<i>) and puts it when written (out.Put<i>). Between dependent vector instructions it needs a
 * PipeBarrier<PIPE_V>, also from one Run to the next where a tensor of its own is written again; the queues order everything else.
 */
#ifndef REFERENCE_ELEMENT_KERNEL_H
#define REFERENCE_ELEMENT_KERNEL_H

#include "kernel_operator.h"

#include "shares.h"
#include "tiling.h"

namespace common {

constexpr int32_t kTileBuffers = 2;
constexpr uint32_t kBankPadBytes = 256;

template <typename... T>
struct Types {
    static constexpr int32_t kCount = sizeof...(T);
    static constexpr int64_t kBytes = (static_cast<int64_t>(sizeof(T)) + ... + 0);
    static constexpr int64_t kSmallest = std::min({static_cast<int64_t>(kBurstBytes), static_cast<int64_t>(sizeof(T))...});
};

/* The tensors of a launch in device memory, in the order of Body::Inputs and Body::Outputs. */
template <typename Body>
struct ElementTensors {
    GM_ADDR in[Body::Inputs::kCount];
    GM_ADDR out[Body::Outputs::kCount];
};

/* What PlanTiling has to know of a body. */
template <typename Body>
constexpr KernelTraits ElementTraits() {
    using In = typename Body::Inputs;
    using Out = typename Body::Outputs;
    const int64_t perElement = kTileBuffers * (In::kBytes + Out::kBytes) + Body::kBytesPerElement;
    const int64_t fixed = (In::kCount + Out::kCount) * kBankPadBytes + Body::kFixedBytes;
    return {std::min(In::kSmallest, Out::kSmallest), perElement, fixed, Body::kElementsPerLaunch, In::kBytes};
}

/* A core's share of one tensor, and its queue of tiles. */
template <typename T, AscendC::TPosition kPosition>
class ElementStream {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR address, int64_t first, int64_t length, uint32_t perTile) {
        share_.SetGlobalBuffer((__gm__ T *)address + first, length);
        if constexpr (kPosition == AscendC::TPosition::VECIN) {
            share_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        }
        pipe.InitBuffer(queue_, kTileBuffers, perTile * sizeof(T));
        pipe.InitBuffer(pad_, kBankPadBytes);
    }

    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        const uint32_t bytes = count * sizeof(T);
        auto tile = queue_.template AllocTensor<T>();
        AscendC::DataCopyPad(tile, share_[start], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        queue_.EnQue(tile);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        const uint32_t bytes = count * sizeof(T);
        auto tile = queue_.template DeQue<T>();
        AscendC::DataCopyPad(share_[start], tile, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        queue_.FreeTensor(tile);
    }

    __aicore__ inline AscendC::LocalTensor<T> Take() { return queue_.template DeQue<T>(); }
    __aicore__ inline void Free(AscendC::LocalTensor<T> &tile) { queue_.FreeTensor(tile); }
    __aicore__ inline AscendC::LocalTensor<T> Make() { return queue_.template AllocTensor<T>(); }
    __aicore__ inline void Put(AscendC::LocalTensor<T> &tile) { queue_.EnQue(tile); }

private:
    AscendC::TQue<kPosition, kTileBuffers> queue_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::GlobalTensor<T> share_;
};

/* The streams of all inputs, or of all outputs, one after the other. */
template <AscendC::TPosition kPosition, typename List>
class ElementStreams;

template <AscendC::TPosition kPosition>
class ElementStreams<kPosition, Types<>> {
public:
    __aicore__ inline void Init(AscendC::TPipe &, GM_ADDR const *, int64_t, int64_t, uint32_t) {}
    __aicore__ inline void CopyIn(int64_t, uint32_t) {}
    __aicore__ inline void CopyOut(int64_t, uint32_t) {}
};

template <AscendC::TPosition kPosition, typename T, typename... Rest>
class ElementStreams<kPosition, Types<T, Rest...>> {
public:
    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR const *addresses, int64_t first, int64_t length, uint32_t perTile) {
        first_.Init(pipe, addresses[0], first, length, perTile);
        rest_.Init(pipe, addresses + 1, first, length, perTile);
    }

    __aicore__ inline void CopyIn(int64_t start, uint32_t count) {
        first_.CopyIn(start, count);
        rest_.CopyIn(start, count);
    }

    __aicore__ inline void CopyOut(int64_t start, uint32_t count) {
        first_.CopyOut(start, count);
        rest_.CopyOut(start, count);
    }

    template <int32_t kIndex>
    __aicore__ inline auto Take() {
        return At<kIndex>().Take();
    }

    template <int32_t kIndex, typename Tile>
    __aicore__ inline void Free(Tile &tile) {
        At<kIndex>().Free(tile);
    }

    template <int32_t kIndex>
    __aicore__ inline auto Make() {
        return At<kIndex>().Make();
    }

    template <int32_t kIndex, typename Tile>
    __aicore__ inline void Put(Tile &tile) {
        At<kIndex>().Put(tile);
    }

    template <int32_t kIndex>
    __aicore__ inline auto &At() {
        if constexpr (kIndex == 0) {
            return first_;
        } else {
            return rest_.template At<kIndex - 1>();
        }
    }

private:
    ElementStream<T, kPosition> first_;
    ElementStreams<kPosition, Types<Rest...>> rest_;
};

template <typename Body>
class ElementKernel {
public:
    template <typename... Arguments>
    __aicore__ inline void Init(const ElementTensors<Body> &tensors, int64_t elements, const Tiling &tiling, Arguments... arguments) {
        const int64_t first = StartOf(tiling.shares, AscendC::GetBlockIdx()) * tiling.granule;
        const int64_t share = LengthOf(tiling.shares, AscendC::GetBlockIdx()) * tiling.granule;
        length_ = elements - first < share ? elements - first : share;
        perTile_ = tiling.perTile;
        in_.Init(pipe_, tensors.in, first, length_, perTile_);
        out_.Init(pipe_, tensors.out, first, length_, perTile_);
        body_.Init(pipe_, perTile_, arguments...);
    }

    __aicore__ inline void Process() {
        CopyIn(0);
        for (int64_t start = 0; start < length_; start += perTile_) {
            CopyIn(start + perTile_);
            body_.Run(in_, out_, CountAt(start));
            out_.CopyOut(start, CountAt(start));
        }
    }

private:
    __aicore__ inline uint32_t CountAt(int64_t start) const { return length_ - start < perTile_ ? length_ - start : perTile_; }

    __aicore__ inline void CopyIn(int64_t start) {
        if (start < length_) {
            in_.CopyIn(start, CountAt(start));
        }
    }

    AscendC::TPipe pipe_;
    ElementStreams<AscendC::TPosition::VECIN, typename Body::Inputs> in_;
    ElementStreams<AscendC::TPosition::VECOUT, typename Body::Outputs> out_;
    Body body_;
    int64_t length_;
    uint32_t perTile_;
};

}  // namespace common

#endif  // REFERENCE_ELEMENT_KERNEL_H
