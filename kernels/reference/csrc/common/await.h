/* One pipe waits for another, where no queue orders them. */
#ifndef REFERENCE_AWAIT_H
#define REFERENCE_AWAIT_H

#include "kernel_operator.h"

namespace common {

/* The later pipe of the event waits for what the earlier one has done so far. */
template <AscendC::HardEvent event>
__aicore__ inline void Await() {
    const auto id = GetTPipePtr()->FetchEventID(event);
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
}

}  // namespace common

#endif  // REFERENCE_AWAIT_H
