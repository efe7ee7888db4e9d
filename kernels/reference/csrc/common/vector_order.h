/* Order between vector instructions that depend on one another: the unit starts them in order, but the next may start before the last one has written. */
#ifndef REFERENCE_VECTOR_ORDER_H
#define REFERENCE_VECTOR_ORDER_H

#include "kernel_operator.h"

namespace common {

/* What follows on the vector unit sees what went before. */
__aicore__ inline void Settle() { AscendC::PipeBarrier<PIPE_V>(); }

/* The scalar unit sees what the vector unit has written. */
__aicore__ inline void SettleForScalar() {
    const auto event = static_cast<event_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_S));
    AscendC::SetFlag<AscendC::HardEvent::V_S>(event);
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(event);
}

/* The vector unit writes after the scalar unit has read. */
__aicore__ inline void SettleAfterScalar() {
    const auto event = static_cast<event_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::S_V));
    AscendC::SetFlag<AscendC::HardEvent::S_V>(event);
    AscendC::WaitFlag<AscendC::HardEvent::S_V>(event);
}

}  // namespace common

#endif  // REFERENCE_VECTOR_ORDER_H
