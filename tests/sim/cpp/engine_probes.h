/*
 * A call between two things that touch a block of its memory, with and without order.
 *
 * Problem: whether the race detector knows exactly which bytes an instruction touches can't be read off kernels that are right.
 * Approach: the call works inside an arena that is loaded before and stored after. An intruder, a copy into a block of the arena, a copy out of it or a fill of
 * it, comes before or behind the call, with a barrier of all pipes between or without. Where the two orders end differently, order matters and its absence has
 * to be reported; where they do not, nothing may be. tests/sim/test_footprints.py asks.
 */
#ifndef PITON_ENGINE_PROBES_H
#define PITON_ENGINE_PROBES_H

#include "engine_kernels.h"

namespace rig {

constexpr uint32_t kArenaBytes = 4096, kRestBytes = 32768;
constexpr uint32_t kTo = 0, kFrom = 1024, kSecond = 2048, kThird = 3072; /* bytes of the arena where operands lie */

/* `Arguments::b`: who intrudes, where, with order or without, and where scratch memory lies (bytes of the arena; apart from it by default). */
enum Intruder : uint32_t { kNobody, kCopyIn, kCopyOut, kFill };
enum Moment : uint32_t { kBefore = 4, kBehind = 8, kOrdered = 16 };
constexpr uint32_t kScratchShift = 8;

struct Arena {
    LocalTensor<float> all;
    LocalTensor<uint8_t> memory;
    uint8_t *gm;

    template <typename T>
    LocalTensor<T> At(uint32_t byte) const {
        return all.ReinterpretCast<uint8_t>()[byte].template ReinterpretCast<T>();
    }
    template <typename T>
    GlobalTensor<T> Gm() const {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(reinterpret_cast<T *>(gm));
        return tensor;
    }
};

/* What comes beside the call; `block` of 32 bytes. */
inline void Intrude(const Tensors<float> &memory, const LocalTensor<float> &all, uint32_t block, uint32_t who) {
    constexpr uint32_t floats = 8;
    switch (who & 3) {
        case kCopyIn:
            return DataCopy(all[block * floats], memory.in[kArenaBytes / 4 + block * floats], floats);
        case kCopyOut:
            return DataCopy(memory.out[kArenaBytes / 4], all[block * floats], floats);
        case kFill:
            return Duplicate(all[block * floats], memory.in.GetValue(kArenaBytes / 4 + block * floats), floats);
        default:
            return;
    }
}

/* in: the arena, then what the intruder brings. out: the arena, then what it takes. */
template <typename Call>
void Probe(const Arguments &x, const Call &call) {
    TPipe pipe;
    TBuf<> buffer, rest;
    pipe.InitBuffer(buffer, kArenaBytes);
    pipe.InitBuffer(rest, kRestBytes);
    const Tensors<float> memory(x);
    const LocalTensor<float> all = buffer.Get<float>();
    const uint32_t scratch = x.b >> kScratchShift;
    const Arena arena{all, scratch ? all.ReinterpretCast<uint8_t>()[scratch - 32] : rest.Get<uint8_t>(), x.out + kArenaBytes + 1024};
    DataCopy(all, memory.in, kArenaBytes / 4);
    PipeBarrier<PIPE_ALL>();
    if (x.b & kBefore) {
        Intrude(memory, all, x.a, x.b);
        if (x.b & kOrdered) PipeBarrier<PIPE_ALL>();
    }
    call(arena);
    if (x.b & kBehind) {
        if (x.b & kOrdered) PipeBarrier<PIPE_ALL>();
        Intrude(memory, all, x.a, x.b);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(memory.out, all, kArenaBytes / 4);
}

}  // namespace rig

#endif /* PITON_ENGINE_PROBES_H */
