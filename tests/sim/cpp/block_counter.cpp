// Stand-in for the engine: counts the basic blocks of device code before each record and prints them.
#include <cstdint>
#include <cstdio>

#include "vnpu/abi.h"

namespace {
int blocks = 0;

void tell(const vnpu_record *record) {
    std::printf("%u %u %d\n", record->opcode, record->line, blocks);
    blocks = 0;
}
}  // namespace

extern "C" void vnpu_submit(const vnpu_record *record) { tell(record); }
extern "C" uint64_t vnpu_fetch(const vnpu_record *record) {
    tell(record);
    return record->opcode == VNPU_OP_GET_CAPACITY ? 196608 : 0;
}
extern "C" void vnpu_register_kernel(const vnpu_kernel *) {}
extern "C" void __sanitizer_cov_trace_pc() { ++blocks; }
extern "C" void counted_kernel(uint8_t *memory, int32_t tiles);

int main() {
    blocks = 0;
    counted_kernel(nullptr, 3);
    return 0;
}
