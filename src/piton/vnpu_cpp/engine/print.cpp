/*
 * printf of device code.
 *
 * The text goes to the standard output of the process that holds the engine, as the kernel formatted it; on the chip it arrives through global memory when
 * the kernel has ended. One launch prints at most kPrintLimit bytes, then a finding says that the rest was dropped.
 */
#include <algorithm>
#include <cstdio>

#include "core.h"

namespace vnpu {

namespace {

constexpr uint64_t kPrintLimit = 1 << 20;  // of one launch; the chip's buffers are of this order for each core

void note_dropped(Core &core, const vnpu_record &record) {
    if (core.launch.reporter.has(place_of(record), "other")) return;
    core.note(record, "other", "printf: this launch has printed " + std::to_string(kPrintLimit) + " bytes; what follows is dropped",
              {{"limit_bytes", static_cast<int64_t>(kPrintLimit)}});
}

}  // namespace

void print_text(Core &core, const vnpu_record &record) {
    const uint64_t left = kPrintLimit - core.launch.printed_bytes, bytes = std::min<uint64_t>(record.p[0], left);
    if (bytes < record.p[0]) note_dropped(core, record);
    core.launch.printed_bytes += bytes;
    std::fwrite(reinterpret_cast<const char *>(record.src0.addr), 1, bytes, stdout);
    std::fflush(stdout);
    core.append(cost_of(core.launch.chip, record, 0, 0));
}

}  // namespace vnpu
