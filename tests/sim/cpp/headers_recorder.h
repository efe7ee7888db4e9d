/* A stand-in for the engine: keeps every record and answers questions with fixed figures. A fault ends the scenario by an exception. */
#pragma once

#include <cstdint>
#include <vector>

#include "vnpu/abi.h"

struct Recorder {
    std::vector<vnpu_record> records;
    uint64_t pipe = 0; /* address of the last TPipe */
    uint64_t basicBlocks = 0;

    // What the kernel has said last.
    uint64_t CoreKind() const {
        uint64_t kind = VNPU_CORE_AIV;
        for (const vnpu_record &record : records)
            if (record.opcode == VNPU_OP_TASK_TYPE) kind = record.p[0];
        return kind;
    }
};

struct Faulted {};

Recorder &TheRecorder();
void PrintRecord(const char *scenario, const vnpu_record &record);
