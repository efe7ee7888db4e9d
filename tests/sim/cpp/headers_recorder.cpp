/* Compiled without coverage, so that only the kernels' basic blocks are counted. */
#include "headers_recorder.h"

#include <cstdio>

Recorder &TheRecorder() {
    static Recorder recorder;
    return recorder;
}

static void PrintOperand(const char *name, const vnpu_operand &operand) {
    std::printf(", \"%s\": [%u, %llu, %u, %u, %u, %u]", name, operand.space, static_cast<unsigned long long>(operand.addr), operand.limit, operand.dtype,
                operand.blk, operand.rep);
}

void PrintRecord(const char *scenario, const vnpu_record &record) {
    std::printf("{\"scenario\": \"%s\", \"op\": %u, \"pipe\": %u, \"flags\": %u, \"line\": %u, \"file\": \"%s\"", scenario, record.opcode, record.pipe,
                record.flags, record.line, reinterpret_cast<const char *>(record.file));
    std::printf(", \"p\": [%u, %u, %u, %u], \"mask\": [%llu, %llu], \"scalar\": %llu", record.p[0], record.p[1], record.p[2], record.p[3],
                static_cast<unsigned long long>(record.mask[0]), static_cast<unsigned long long>(record.mask[1]),
                static_cast<unsigned long long>(record.scalar));
    PrintOperand("dst", record.dst);
    PrintOperand("src0", record.src0);
    PrintOperand("src1", record.src1);
    std::printf(", \"api\": \"%s\"}\n", record.opcode == VNPU_OP_FAULT ? reinterpret_cast<const char *>(record.src0.addr) : "");
}

/* A text lives until the call returns only. */
static void PrintText(const vnpu_record &record) {
    std::printf("{\"scenario\": \"text\", \"line\": %u, \"text\": \"", record.line);
    const char *text = reinterpret_cast<const char *>(record.src0.addr);
    for (uint32_t at = 0; at < record.p[0]; ++at) {
        text[at] == '\n' ? std::printf("\\n") : std::printf("%c", text[at]);
    }
    std::printf("\"}\n");
}

extern "C" void vnpu_submit(const vnpu_record *record) {
    TheRecorder().records.push_back(*record);
    if (record->opcode == VNPU_OP_PIPE_BEGIN) {
        TheRecorder().pipe = record->scalar;
    }
    if (record->opcode == VNPU_OP_PRINT) {
        PrintText(*record);
    }
    if (record->opcode == VNPU_OP_FAULT) {
        throw Faulted();
    }
}

extern "C" uint64_t vnpu_fetch(const vnpu_record *record) {
    TheRecorder().records.push_back(*record);
    switch (record->opcode) {
        case VNPU_OP_GET_BLOCK_IDX:
            return 3;
        case VNPU_OP_GET_BLOCK_NUM:
            return 48;
        case VNPU_OP_GET_TASK_RATIO:
            return 1;
        case VNPU_OP_GET_PIPE:
            return TheRecorder().pipe;
        case VNPU_OP_GET_SYSTEM_CYCLE:
            return 1000;
        case VNPU_OP_GET_CAPACITY:
            return record->p[0] == VNPU_SPACE_UB ? 196608 : record->p[0] == VNPU_SPACE_L1 ? 524288 : 65536;
        case VNPU_OP_GET_CORE_KIND:
            return TheRecorder().CoreKind();
        case VNPU_OP_SCALAR_LOAD:
            return 0x40490fdb; /* pi as float */
        default:
            return 0;
    }
}

extern "C" void __sanitizer_cov_trace_pc() { ++TheRecorder().basicBlocks; }
