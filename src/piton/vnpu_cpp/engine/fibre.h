/*
 * A virtual core's own stack, so that it can stop at SyncAll and let the others run.
 *
 * Approach: ucontext, which every Linux libc has, on a mapped stack with an inaccessible page below it: device code that recurses without end faults
 * instead of writing over its neighbour. Leaving a fibre for good (a cut) abandons the C++ objects on its stack.
 */
#pragma once

#include <ucontext.h>

#include <cstddef>

namespace vnpu {

class Fibre {
public:
    Fibre();  // throws std::bad_alloc when the stack can't be mapped
    ~Fibre();
    Fibre(const Fibre &) = delete;
    Fibre &operator=(const Fibre &) = delete;

    void start(void (*body)(void *), void *argument);  // the next resume() runs body(argument)
    void resume();                                     // from the scheduler; returns at yield() or when the body has returned
    void yield();                                      // from inside the body
    [[noreturn]] void abandon();                       // from inside the body: back to the scheduler, never resumed
    bool is_done() const { return is_done_; }

private:
    static void enter(unsigned low, unsigned high);
    void switch_to_scheduler(bool is_final);

    ucontext_t scheduler_{};
    ucontext_t own_{};
    char *mapping_ = nullptr;
    void (*body_)(void *) = nullptr;
    void *argument_ = nullptr;
    bool is_done_ = true;
    void *sanitizer_state_ = nullptr;  // AddressSanitizer has to be told of every change of stack
    const void *scheduler_stack_ = nullptr;
    size_t scheduler_stack_bytes_ = 0;
};

}  // namespace vnpu
