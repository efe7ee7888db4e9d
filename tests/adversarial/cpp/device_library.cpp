// Kernels of the test submissions, written against the ABI alone. Each takes (address, bytes).
#include <cstdlib>

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
void end_process(const void *) { std::_Exit(0); }
void call_abort(const void *) { std::abort(); }

struct Registration {
    Registration(const char *name, void (*entry)(const void *)) {
        const vnpu_kernel kernel = {VNPU_ABI_VERSION, VNPU_CORE_AIV, name, name, sizeof(Arguments), 0, entry};
        vnpu_register_kernel(&kernel);
    }
};
const Registration kernels[] = {{"fill", fill},
                                {"fail_engine", fail_engine},
                                {"store_raw", store_raw},
                                {"store_null", store_null},
                                {"end_process", end_process},
                                {"call_abort", call_abort}};

}  // namespace
