/*
 * Flags that a Matmul object leaves set between its calls, and whose turn the cube unit is.
 *
 * Problem: an object runs ahead: a buffer's "free" flag is set by one call and waited for by a later one, or by nobody. There are eight ids for a pair of
 * pipes, and several objects share L0A, L0B and L0C.
 * Approach: the pipe owns the flags that are outstanding. When another object takes the cube unit, or the pipe ends, all of them are waited for and their ids
 * go back, so that objects never need ids at the same time and never meet in L0.
 * Limits: a change of object costs the waits; the vendor's objects behave alike as far as its pages say (End).
 */
#ifndef PITON_ASCENDC_MATMUL_TOKENS_H
#define PITON_ASCENDC_MATMUL_TOKENS_H

#include "../enums.h"
#include "../record.h"

namespace piton {

/* What the pipe keeps for Matmul objects. */
class CubeFlags {
public:
    static constexpr uint32_t kMost = 16;

    /* A flag of its own for the user of the unit: an index that lasts until the next change of user. `ids` is the pipe. */
    template <class Ids>
    PITON_API uint32_t Take(Ids &ids, AscendC::HardEvent event, Location at) {
        Flag &flag = flags_[count_];
        flag.event = event;
        flag.id = ids.TakeCubeId(event, at);
        flag.isSet = false;
        return count_++;
    }
    PITON_API void Set(uint32_t index, Location at) {
        Submit(VNPU_OP_SET_FLAG, flags_[index], at);
        flags_[index].isSet = true;
    }
    /* Nothing to wait for at the first use. */
    PITON_API void Wait(uint32_t index, Location at) {
        if (flags_[index].isSet) {
            Submit(VNPU_OP_WAIT_FLAG, flags_[index], at);
            flags_[index].isSet = false;
        }
    }
    /* The next pipe of the pair may go on when all earlier work of the first is done. */
    PITON_API void Pass(uint32_t index, Location at) {
        Set(index, at);
        Wait(index, at);
    }
    template <class Ids>
    PITON_API void GiveBack(Ids &ids, Location at) {
        for (uint32_t index = 0; index < count_; ++index) {
            Wait(index, at);
            ids.GiveBackCubeId(flags_[index].event, flags_[index].id);
        }
        count_ = 0;
        user_ = nullptr;
    }

    PITON_API const void *User() const { return user_; }
    PITON_API void SetUser(const void *user) { user_ = user; }
    PITON_API void Forget() { *this = CubeFlags(); }

    /* Bytes of L0C that Matmul objects have from the pipe, from `resultsAt` on. */
    uint32_t resultsAt = 0;
    uint32_t resultBytes = 0;

private:
    struct Flag {
        AscendC::HardEvent event = AscendC::HardEvent::MAX;
        AscendC::TEventID id = 0;
        bool isSet = false;
    };

    PITON_API static void Submit(uint16_t opcode, const Flag &flag, Location at) {
        const PipePair pipes = PipesOf(flag.event);
        vnpu_record record = MakeNote(opcode, at, pipes.source, pipes.destination, static_cast<uint32_t>(flag.id));
        record.pipe = opcode == VNPU_OP_SET_FLAG ? pipes.source : pipes.destination;
        record.flags = VNPU_F_QUEUE;
        piton::Submit(record);
    }

    Flag flags_[kMost];
    uint32_t count_ = 0;
    const void *user_ = nullptr;
};

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_TOKENS_H */
