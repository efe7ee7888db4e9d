/*
 * Enumerations of the API, with the vendor's names and values, and what each means in the terms of a record.
 *
 * Problem: logical positions, pipe pairs and modes have to become memory spaces and pipes.
 * Approach: constexpr functions, so that a queue's events are known at compile time.
 * Limits: the mapping is that of the Ascend 910B (dav-2201): C1 is L1, C2 the bias table, CO2 and SPM are global memory.
 */
#ifndef PITON_ASCENDC_ENUMS_H
#define PITON_ASCENDC_ENUMS_H

#include <cstdint>

#include "macros.h"
#include "vnpu/abi.h"

enum pipe_t {
    PIPE_S = 0,
    PIPE_V,
    PIPE_M,
    PIPE_MTE1,
    PIPE_MTE2,
    PIPE_MTE3,
    PIPE_ALL,
    PIPE_FIX = 10,
};

enum event_t { EVENT_ID0 = 0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace AscendC {

enum class TPosition : uint8_t {
    GM,
    A1,
    A2,
    B1,
    B2,
    C1,
    C2,
    CO1,
    CO2,
    VECIN,
    VECOUT,
    VECCALC,
    LCM = VECCALC,
    SPM,
    SHM = SPM,
    TSCM,
    C2PIPE2GM,
    C2PIPE2LOCAL,
    MAX,
};
using QuePosition = TPosition;

/* SOURCE_DESTINATION pipe. */
enum class HardEvent : uint8_t {
    MTE2_MTE1,
    MTE1_MTE2,
    MTE1_M,
    M_MTE1,
    MTE2_V,
    V_MTE2,
    MTE3_V,
    V_MTE3,
    M_V,
    V_M,
    V_V,
    MTE3_MTE1,
    MTE1_MTE3,
    MTE1_V,
    MTE2_M,
    M_MTE2,
    V_MTE1,
    M_FIX,
    FIX_M,
    MTE3_MTE2,
    MTE2_MTE3,
    S_V,
    V_S,
    S_MTE2,
    MTE2_S,
    S_MTE3,
    MTE3_S,
    MTE2_FIX,
    FIX_MTE2,
    FIX_S,
    M_S,
    FIX_MTE3,
    MTE1_FIX,
    FIX_MTE1,
    FIX_FIX,
    MAX,
};
using TEventID = int8_t;

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,
    CAST_FLOOR,
    CAST_CEIL,
    CAST_ROUND,
    CAST_TRUNC,
    CAST_ODD,
    CAST_HYBRID,
};

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V1;

enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };

enum class ReduceOrder : uint8_t { ORDER_VALUE_INDEX = 0, ORDER_INDEX_VALUE, ORDER_ONLY_VALUE, ORDER_ONLY_INDEX };

enum class CacheMode : uint32_t {
    CACHE_MODE_DISABLE = 0,
    CACHE_MODE_NORMAL = 1,
    CACHE_MODE_LAST = 2,
    CACHE_MODE_PERSISTENT = 4,
};

enum class CacheRwMode : uint8_t { READ = 1, WRITE = 2, RW = 3 };

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

}  // namespace AscendC

namespace piton {

struct PipePair {
    uint8_t source;
    uint8_t destination;
};

/* enum vnpu_pipe of a hardware pipe. */
PITON_API constexpr uint8_t ToPipe(pipe_t pipe) {
    return pipe == PIPE_ALL ? uint8_t(VNPU_PIPE_ALL) : pipe == PIPE_FIX ? uint8_t(VNPU_PIPE_FIX) : uint8_t(pipe);
}

/* Row by row in the order of AscendC::HardEvent. */
constexpr PipePair kEventPipes[] = {
    {VNPU_PIPE_MTE2, VNPU_PIPE_MTE1}, {VNPU_PIPE_MTE1, VNPU_PIPE_MTE2}, {VNPU_PIPE_MTE1, VNPU_PIPE_M},  {VNPU_PIPE_M, VNPU_PIPE_MTE1},
    {VNPU_PIPE_MTE2, VNPU_PIPE_V},    {VNPU_PIPE_V, VNPU_PIPE_MTE2},    {VNPU_PIPE_MTE3, VNPU_PIPE_V},  {VNPU_PIPE_V, VNPU_PIPE_MTE3},
    {VNPU_PIPE_M, VNPU_PIPE_V},       {VNPU_PIPE_V, VNPU_PIPE_M},       {VNPU_PIPE_V, VNPU_PIPE_V},     {VNPU_PIPE_MTE3, VNPU_PIPE_MTE1},
    {VNPU_PIPE_MTE1, VNPU_PIPE_MTE3}, {VNPU_PIPE_MTE1, VNPU_PIPE_V},    {VNPU_PIPE_MTE2, VNPU_PIPE_M},  {VNPU_PIPE_M, VNPU_PIPE_MTE2},
    {VNPU_PIPE_V, VNPU_PIPE_MTE1},    {VNPU_PIPE_M, VNPU_PIPE_FIX},     {VNPU_PIPE_FIX, VNPU_PIPE_M},   {VNPU_PIPE_MTE3, VNPU_PIPE_MTE2},
    {VNPU_PIPE_MTE2, VNPU_PIPE_MTE3}, {VNPU_PIPE_S, VNPU_PIPE_V},       {VNPU_PIPE_V, VNPU_PIPE_S},     {VNPU_PIPE_S, VNPU_PIPE_MTE2},
    {VNPU_PIPE_MTE2, VNPU_PIPE_S},    {VNPU_PIPE_S, VNPU_PIPE_MTE3},    {VNPU_PIPE_MTE3, VNPU_PIPE_S},  {VNPU_PIPE_MTE2, VNPU_PIPE_FIX},
    {VNPU_PIPE_FIX, VNPU_PIPE_MTE2},  {VNPU_PIPE_FIX, VNPU_PIPE_S},     {VNPU_PIPE_M, VNPU_PIPE_S},     {VNPU_PIPE_FIX, VNPU_PIPE_MTE3},
    {VNPU_PIPE_MTE1, VNPU_PIPE_FIX},  {VNPU_PIPE_FIX, VNPU_PIPE_MTE1},  {VNPU_PIPE_FIX, VNPU_PIPE_FIX},
};
constexpr uint32_t kEventCount = sizeof(kEventPipes) / sizeof(kEventPipes[0]);
static_assert(kEventCount == static_cast<uint32_t>(AscendC::HardEvent::MAX), "one row per event");

PITON_API constexpr PipePair PipesOf(AscendC::HardEvent event) { return kEventPipes[static_cast<uint32_t>(event)]; }

/* Physical memory of a logical position. */
PITON_API constexpr uint8_t SpaceOf(AscendC::TPosition position) {
    using P = AscendC::TPosition;
    switch (position) {
        case P::GM:
        case P::CO2:
        case P::SPM:
            return VNPU_SPACE_GM;
        case P::A1:
        case P::B1:
        case P::C1:
        case P::TSCM:
            return VNPU_SPACE_L1;
        case P::A2:
            return VNPU_SPACE_L0A;
        case P::B2:
            return VNPU_SPACE_L0B;
        case P::CO1:
            return VNPU_SPACE_L0C;
        case P::C2:
            return VNPU_SPACE_BT;
        case P::C2PIPE2GM:
            return VNPU_SPACE_FB;
        case P::VECIN:
        case P::VECOUT:
        case P::VECCALC:
            return VNPU_SPACE_UB;
        default:
            return VNPU_SPACE_NONE;
    }
}

struct QueueEvents {
    AscendC::HardEvent forward;
    AscendC::HardEvent backward;
};

/* Events of a queue that moves data from `source` to `destination` memory; MAX where there is no such path. */
PITON_API constexpr QueueEvents EventsOfPath(uint8_t source, uint8_t destination) {
    using E = AscendC::HardEvent;
    if (source == VNPU_SPACE_GM && destination == VNPU_SPACE_UB) return {E::MTE2_V, E::V_MTE2};
    if (source == VNPU_SPACE_UB && destination == VNPU_SPACE_GM) return {E::V_MTE3, E::MTE3_V};
    if (source == VNPU_SPACE_UB && destination == VNPU_SPACE_UB) return {E::MTE2_MTE3, E::MTE3_MTE2};
    if (source == VNPU_SPACE_GM && destination == VNPU_SPACE_L1) return {E::MTE2_MTE1, E::MTE1_MTE2};
    if (source == VNPU_SPACE_UB && destination == VNPU_SPACE_L1) return {E::MTE3_MTE1, E::MTE1_MTE3};
    if (source == VNPU_SPACE_L1 && destination == VNPU_SPACE_FB) return {E::MTE1_FIX, E::FIX_MTE1};
    if (source == VNPU_SPACE_L1 && destination >= VNPU_SPACE_L0A) return {E::MTE1_M, E::M_MTE1};
    if (source == VNPU_SPACE_L0C && destination == VNPU_SPACE_GM) return {E::M_FIX, E::FIX_M};
    return {E::MAX, E::MAX};
}

struct PositionPair {
    AscendC::TPosition source;
    AscendC::TPosition destination;
};

/* Where the data of TQue<position> come from and go to. */
PITON_API constexpr PositionPair PathOf(AscendC::TPosition position) {
    using P = AscendC::TPosition;
    switch (position) {
        case P::VECIN:
        case P::A1:
        case P::B1:
        case P::C1:
            return {P::GM, position};
        case P::VECOUT:
            return {position, P::GM};
        case P::SPM:
            return {P::VECOUT, P::GM};
        case P::A2:
            return {P::A1, position};
        case P::B2:
            return {P::B1, position};
        case P::C2:
            return {P::C1, position};
        case P::C2PIPE2GM:
            return {P::B1, position};
        case P::CO1:
            return {position, P::CO2};
        case P::CO2:
            return {position, P::GM};
        case P::VECCALC: /* scratch memory as a queue: what EnQue and DeQue order is for no instruction of the vector unit */
            return {position, position};
        default:
            return {P::MAX, P::MAX};
    }
}

}  // namespace piton

#endif /* PITON_ASCENDC_ENUMS_H */
