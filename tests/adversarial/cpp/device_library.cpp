// Kernels of the test submissions, written against the ABI alone. Each takes (address, bytes).
#include <cstdlib>

#include <unistd.h>

#include "vnpu/abi.h"

namespace {

struct Arguments {
    uint64_t address;
    uint64_t bytes;
};

void fill(const void *block) {
    const auto *arguments = static_cast<const Arguments *>(block);
    vnpu_record record = {};
    record.opcode = VNPU_OP_SCALAR_STORE;
    record.dst.addr = arguments->address;
    record.p[0] = static_cast<uint32_t>(arguments->bytes);
    record.scalar = 7;
    vnpu_submit(&record);
}

void fail_engine(const void *) {
    vnpu_record record = {};
    record.opcode = VNPU_OP_FAULT;
    vnpu_submit(&record);
}

void store_raw(const void *block) { *reinterpret_cast<volatile int *>(static_cast<const Arguments *>(block)->address) = 1; }
void store_null(const void *) { *reinterpret_cast<volatile int *>(uint64_t{16}) = 1; }

// Not a loop in disguise: what comes after the call keeps each frame.
__attribute__((noinline)) int deeper(volatile int *count) {
    volatile int frame[16] = { *count += 1};
    return deeper(count) + frame[0];
}
void fill_stack(const void *) {
    volatile int count = 0;
    deeper(&count);
}

void end_process(const void *) { std::_Exit(0); }
void call_abort(const void *) { std::abort(); }
void wait_for_ever(const void *) { pause(); }

// To every descriptor, the parent's channel among them: kind, bytes of the body, body.
void forge(uint32_t kind, uint32_t bytes) {
    uint32_t frame[64] = {kind, bytes, 9999};
    for (int fd = 3; fd < 4096; ++fd)
        if (write(fd, frame, 8 + bytes) < 0) continue;
}
void forge_death(const void *) { forge(96, 149); }
void forge_half_death(const void *) { forge(96, 3); }
void forge_log(const void *) { forge(65, 9); }
void forge_refusal(const void *) { forge(66, 8); }
void forge_kind(const void *) { forge(12345, 0); }

// The first byte that it stores is the number of its launches, if variables live on.
void fill_by_count(const void *block) {
    static uint32_t launches = 0;
    const auto *arguments = static_cast<const Arguments *>(block);
    vnpu_record record = {};
    record.opcode = VNPU_OP_SCALAR_STORE;
    record.dst.addr = arguments->address;
    record.p[0] = static_cast<uint32_t>(arguments->bytes);
    record.scalar = ++launches;
    vnpu_submit(&record);
}

struct Registration {
    Registration(const char *name, void (*entry)(const void *), uint32_t bytes = sizeof(Arguments)) {
        const vnpu_kernel kernel = {VNPU_ABI_VERSION, VNPU_CORE_AIV, name, name, bytes, 0, entry, nullptr, nullptr};
        vnpu_register_kernel(&kernel);
    }
};
const Registration kernels[] = {{"fill", fill},
                                {"fail_engine", fail_engine},
                                {"store_raw", store_raw},
                                {"store_null", store_null},
                                {"fill_stack", fill_stack},
                                {"end_process", end_process},
                                {"call_abort", call_abort},
                                {"wait_for_ever", wait_for_ever},
                                {"forge_death", forge_death},
                                {"forge_half_death", forge_half_death},
                                {"forge_log", forge_log},
                                {"forge_kind", forge_kind},
                                {"forge_refusal", forge_refusal},
                                {"large_block", fill, 5000},
                                {"fill_by_count", fill_by_count}};

}  // namespace
