/* A stand-in for the engine: keeps every record and answers questions with fixed figures. A fault ends the scenario by an exception. */
#pragma once

#include <cstdint>
#include <vector>

#include "vnpu/abi.h"

struct Recorder {
    std::vector<vnpu_record> records;
    uint64_t basicBlocks = 0;
};

struct Faulted {};

Recorder &TheRecorder();
void PrintRecord(const char *scenario, const vnpu_record &record);
