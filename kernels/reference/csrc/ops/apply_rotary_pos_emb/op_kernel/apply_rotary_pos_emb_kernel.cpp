/*
 * Rotary position embedding of queries and keys, for float16, bfloat16 and float32, both orders of axes, both kinds of pairs.
 *
 * Bound by memory as long as pairs are halves: five instructions per element against two transfers. All angles of a tile are brought into the places of its
 * elements first (rotary_angles.h), for query and key and for all tiles of the same positions; then
 *     result = x cos + partner sin
 * is the same dense arithmetic for every layout. How an element finds its partner:
 *     halves of whole 32 bytes            the other half, by strides
 *     neighbours, 16-bit                  the halves of 32-bit words exchanged by shifts, before they are widened
 *     neighbours, float32; other halves   Gather, 14 cycles for 64 elements
 * 16-bit types are computed in float32 and rounded once.
 */
#include <type_traits>

#include "kernel_operator.h"

#include "rotary_angles.h"
#include "rotary_partner.h"

template <typename T>
class RotaryKernel {
public:
    using Floats = AscendC::LocalTensor<float>;
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr int64_t kFixedBytes = RotaryAngles<T>::kFixedBytes + 8 * common::kBurstBytes;

    __aicore__ inline void Init(const RotaryTensors &tensors, const RotaryPlan &plan) {
        plan_ = plan;
        length_ = 2 * plan.pairs;
        const uint32_t tile = plan.perTile[0] * plan.perTile[1] * plan.perTile[2] * length_;
        const uint32_t perTile = common::RoundUp(tile, RotaryAngles<T>::kGranule);
        for (int32_t which = 0; which < 2; ++which) {
            x_[which].SetGlobalBuffer((__gm__ T *)(which == 0 ? tensors.query : tensors.key));
            x_[which].SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the results
            y_[which].SetGlobalBuffer((__gm__ T *)(which == 0 ? tensors.queryOut : tensors.keyOut));
        }
        pipe_.InitBuffer(in_, 2, perTile * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(straight_, perTile * sizeof(float));
        }
        partner_.Init(pipe_, plan, perTile);
        pipe_.InitBuffer(pad_, common::kBurstBytes / 2);  // products start 256 bytes off: sources that share a bank group are read in turn
        pipe_.InitBuffer(out_, 2, perTile * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(product_, perTile * sizeof(float));
        }
        angles_.Init(pipe_, (GM_ADDR)tensors.cos, (GM_ADDR)tensors.sin, plan);
    }

    __aicore__ inline void Process() {
        const common::Share share = common::ShareOf(plan_.tiles);
        const int64_t end = 2 * (share.first + share.count);
        Place next = PlaceOf(2 * share.first);
        Load(next);
        angles_.FillOffsets(Spare(), plan_.isGathered, partner_.Offsets());
        for (int64_t step = 2 * share.first; step < end; ++step) {
            const Place now = next;
            if (step + 1 < end) {
                next = PlaceOf(step + 1);
                Load(next);
            }
            if (now.isNew) {
                angles_.Place(Spare(), now.positions);
            }
            Compute(now.count);
            CopyOut(now);
        }
    }

private:
    /* A tile of the query or of the key. */
    struct Place {
        int64_t first;
        uint32_t count;
        uint32_t positions;
        int64_t angles;  // the first of its positions
        int32_t which;
        bool isNew;  // other positions than the tile's before
    };

    /* Room for a tile in float32. */
    __aicore__ inline Floats Spare() {
        if constexpr (kIsFloat) {
            return angles_.Spare();
        } else {
            return straight_.template Get<float>();
        }
    }

    __aicore__ inline Place PlaceOf(int64_t step) const {
        const int64_t tile = step / 2, groupChunk = tile % plan_.chunks[0];
        int64_t rest = tile / plan_.chunks[0];
        const int64_t head = rest % plan_.chunks[2] * plan_.perTile[2];
        rest /= plan_.chunks[2];
        const int64_t position = rest % plan_.chunks[1] * plan_.perTile[1], batch = rest / plan_.chunks[1], group = groupChunk * plan_.perTile[0];
        const int64_t groups = Least(plan_.groups - group, plan_.perTile[0]), positions = Least(plan_.positions - position, plan_.perTile[1]);
        Place place;
        place.first = (((batch * plan_.groups + group) * plan_.positions + position) * plan_.heads + head) * length_;
        place.count = static_cast<uint32_t>(groups * positions * Least(plan_.heads - head, plan_.perTile[2]) * length_);
        place.positions = static_cast<uint32_t>(positions);
        place.angles = batch * plan_.positions + position;
        place.which = static_cast<int32_t>(step % 2);
        return place;
    }

    __aicore__ static inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

    __aicore__ inline void Load(Place &place) {
        place.isNew = place.angles != loadedAngles_;
        if (place.isNew) {
            angles_.Load(place.angles, place.positions);
            loadedAngles_ = place.angles;
        }
        const uint32_t bytes = place.count * sizeof(T);
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[place.which][place.first], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    __aicore__ inline void Compute(uint32_t count) {
        auto x = in_.template DeQue<T>();
        auto y = out_.template AllocTensor<T>();
        AscendC::PipeBarrier<PIPE_V>();  // what the last tile left has been read
        if constexpr (kIsFloat) {
            partner_.Multiply(y, x, x, angles_.Sin(), count);
            AscendC::MulAddDst(y, x, angles_.Cos(), count);
        } else {
            const auto product = product_.template Get<float>(), straight = straight_.template Get<float>();
            partner_.Multiply(product, straight, x, angles_.Sin(), count);
            AscendC::MulAddDst(product, straight, angles_.Cos(), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, product, AscendC::RoundMode::CAST_RINT, count);
        }
        in_.FreeTensor(x);
        out_.EnQue(y);
    }

    __aicore__ inline void CopyOut(const Place &place) {
        const uint32_t bytes = place.count * sizeof(T);
        auto y = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[place.which][place.first], y, AscendC::DataCopyExtParams{1, bytes, 0, 0, 0});
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> product_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> straight_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pad_;
    AscendC::GlobalTensor<T> x_[2];
    AscendC::GlobalTensor<T> y_[2];
    RotaryPartner<T> partner_;
    RotaryAngles<T> angles_;
    RotaryPlan plan_;
    uint32_t length_;
    int64_t loadedAngles_ = -1;
};

template <typename T>
__global__ __aicore__ void apply_rotary_pos_emb_kernel(RotaryTensors tensors, RotaryPlan plan) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    RotaryKernel<T> kernel;
    kernel.Init(tensors, plan);
    kernel.Process();
}

template <typename T>
static void LaunchTyped(const RotaryTensors &tensors, void *stream) {
    const auto plan = PlanRotary(tensors, sizeof(T), RotaryKernel<T>::kFixedBytes);
    apply_rotary_pos_emb_kernel<T><<<plan.blocks, nullptr, stream>>>(tensors, plan);
}

void LaunchApplyRotaryPosEmb(common::ElementType type, const RotaryTensors &tensors, void *stream) {
    switch (type) {
        case common::ElementType::kFloat16:
            return LaunchTyped<half>(tensors, stream);
        case common::ElementType::kBfloat16:
            return LaunchTyped<bfloat16_t>(tensors, stream);
        case common::ElementType::kFloat32:
            return LaunchTyped<float>(tensors, stream);
    }
}
