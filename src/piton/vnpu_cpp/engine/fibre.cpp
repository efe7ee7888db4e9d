#include "fibre.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace vnpu {

namespace {

constexpr size_t kStackBytes = 2 << 20;
constexpr size_t kGuardBytes = 64 << 10;  // a whole page on every host (aarch64 kernels have pages of up to 64 KiB)

void before_switch(void **state, const void *stack, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(state, stack, bytes);
#else
    (void)state, (void)stack, (void)bytes;
#endif
}

void after_switch(void *state, const void **stack, size_t *bytes) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(state, stack, bytes);
#else
    (void)state, (void)stack, (void)bytes;
#endif
}

}  // namespace

Fibre::Fibre() {
    void *at = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapping_ = static_cast<char *>(at);
    if (mprotect(mapping_, kGuardBytes, PROT_NONE) == 0) return;
    munmap(mapping_, kGuardBytes + kStackBytes);
    throw std::bad_alloc();
}

Fibre::~Fibre() { munmap(mapping_, kGuardBytes + kStackBytes); }

void Fibre::start(void (*body)(void *), void *argument) {
    body_ = body;
    argument_ = argument;
    is_done_ = false;
    getcontext(&own_);
    own_.uc_stack.ss_sp = mapping_ + kGuardBytes;
    own_.uc_stack.ss_size = kStackBytes;
    own_.uc_link = nullptr;
    // makecontext passes ints only, so the pointer travels in two halves.
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&own_, reinterpret_cast<void (*)()>(&Fibre::enter), 2, static_cast<unsigned>(self), static_cast<unsigned>(static_cast<uint64_t>(self) >> 32));
}

void Fibre::enter(unsigned low, unsigned high) {
    auto *self = reinterpret_cast<Fibre *>(static_cast<uintptr_t>(static_cast<uint64_t>(high) << 32 | low));
    after_switch(nullptr, &self->scheduler_stack_, &self->scheduler_stack_bytes_);
    self->body_(self->argument_);
    self->abandon();
}

void Fibre::resume() {
    void *state = nullptr;
    before_switch(&state, mapping_ + kGuardBytes, kStackBytes);
    swapcontext(&scheduler_, &own_);
    after_switch(state, nullptr, nullptr);
}

void Fibre::switch_to_scheduler(bool is_final) {
    before_switch(is_final ? nullptr : &sanitizer_state_, scheduler_stack_, scheduler_stack_bytes_);
    swapcontext(&own_, &scheduler_);
    after_switch(sanitizer_state_, &scheduler_stack_, &scheduler_stack_bytes_);
}

void Fibre::yield() { switch_to_scheduler(false); }

void Fibre::abandon() {
    is_done_ = true;
    switch_to_scheduler(true);
    std::abort();  // a fibre that is done is never resumed
}

}  // namespace vnpu
