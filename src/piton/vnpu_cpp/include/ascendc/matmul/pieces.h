/*
 * The part of L1 that a Matmul object keeps of one input matrix.
 *
 * Problem: base blocks are used several times, L1 holds only some of them, and loading the next ones has to overlap with the use of the present ones.
 * Approach: L1 is a row of equal slots, filled in turn; a piece that is still there is not loaded again. The slots form two groups (one where there is one
 * slot). Leaving a group sets a flag behind its last read, and coming back to it waits for that flag, so that two flags are enough for any number of slots.
 * Limits: the vendor's objects clear what they keep at other moments; the number of loads is equal where k fits or nothing does, and may differ in between.
 */
#ifndef PITON_ASCENDC_MATMUL_PIECES_H
#define PITON_ASCENDC_MATMUL_PIECES_H

#include "../pipe.h"
#include "side.h"

namespace piton {

class KeptPieces {
public:
    static constexpr uint32_t kMost = 128;

    PITON_API void Place(uint32_t at, uint32_t slotBytes, uint32_t slots) {
        at_ = at;
        slotBytes_ = slotBytes;
        slots_ = slots > kMost ? kMost : slots;
        Clear();
    }
    /* Nothing is kept any more; flags stay as they are. */
    PITON_API void Clear() {
        filled_ = 0;
        next_ = 0;
    }
    /* After the cube unit was somebody else's: no flag is outstanding. */
    PITON_API void TakeFlags(AscendC::TPipe &pipe, Location at) {
        current_ = kNone;
        ++stay_;
        for (uint32_t group = 0; group < Groups(); ++group) {
            free_[group] = pipe.Cube().Take(pipe, AscendC::HardEvent::MTE1_MTE2, at);
        }
    }

    /* Where the piece (outer, k) is or has to go; `isThere` says which. */
    PITON_API vnpu_operand Find(AscendC::TPipe &pipe, uint32_t outer, uint32_t k, uint8_t dtype, bool &isThere, Location at) {
        uint32_t slot = 0;
        while (slot < filled_ && !(outer_[slot] == outer && k_[slot] == k)) {
            ++slot;
        }
        isThere = slot < filled_;
        if (!isThere) {
            slot = next_;
            next_ = (next_ + 1) % slots_;
            filled_ = filled_ > slot ? filled_ : slot + 1;
            outer_[slot] = outer;
            k_[slot] = k;
        }
        Enter(pipe, GroupOf(slot), !isThere && usedIn_[slot] == stay_, at);
        usedIn_[slot] = stay_;
        return OperandOf(slot, dtype);
    }

private:
    static constexpr uint32_t kNone = 2;

    PITON_API uint32_t Groups() const { return slots_ > 1 ? 2 : 1; }
    PITON_API uint32_t GroupOf(uint32_t slot) const { return slots_ > 1 && slot >= (slots_ + 1) / 2 ? 1 : 0; }
    /* `isAgain`: what is about to be overwritten has been read since the group was entered. */
    PITON_API void Enter(AscendC::TPipe &pipe, uint32_t group, bool isAgain, Location at) {
        if (group == current_ && !isAgain) {
            return;
        }
        if (current_ != kNone) {
            pipe.Cube().Set(free_[current_], at);
        }
        pipe.Cube().Wait(free_[group], at);
        current_ = group;
        ++stay_;
    }
    PITON_API vnpu_operand OperandOf(uint32_t slot, uint8_t dtype) const {
        vnpu_operand operand{};
        operand.addr = at_ + uint64_t(slot) * slotBytes_;
        operand.limit = slotBytes_ * (slots_ - slot);
        operand.space = VNPU_SPACE_L1;
        operand.dtype = dtype;
        return operand;
    }

    uint32_t at_ = 0;
    uint32_t slotBytes_ = 0;
    uint32_t slots_ = 1;
    uint32_t filled_ = 0;
    uint32_t next_ = 0; /* the slot that is filled next */
    uint32_t current_ = kNone;
    uint32_t free_[2] = {};
    uint32_t outer_[kMost] = {};
    uint32_t k_[kMost] = {};
    uint64_t stay_ = 0;           /* counts the times a group was entered */
    uint64_t usedIn_[kMost] = {}; /* the last stay in which a slot was used */
};

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_PIECES_H */
