/*
 * ReadGmByPassDCache and WriteGmByPassDCache: the scalar unit on global memory past its data cache. And flags through the cache, by DataCacheCleanAndInvalid.
 *
 * Problem: cores use them to wait for each other: one stores a word, others read it in a loop until it holds what they wait for. Blocks run one after
 * another here, so that such a loop would never end.
 * Approach: a read that finds what this core's last one there has found lets the others run until one of them has stored past its cache or changed the
 * word. When nobody else can go on, it goes on with what it has: the kernel may count its tries. A store tells what its core knows to be complete, and who
 * reads the word afterwards knows it too: that is the order that the kernel relies on. The two do not race with each other; with copies and cached stores they
 * do. The same holds for GetValue of a line for which DataCacheCleanAndInvalid was called just before (a look), and SetValue with one after it (published).
 * Limits: tries that find nothing new cost nothing while others run. A flag that a copy stores orders nothing here. That a core looks once and does not wait
 * for the flag is not found: blocks run in one order.
 */
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "access.h"
#include "other_cores.h"
#include "past_cache.h"

namespace vnpu {

namespace {

uint64_t word_at(const Launch &launch, uint64_t address, uint32_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, launch.memory.readable(address), bytes);
    return value;
}

void order(Core &core, const vnpu_record &record, const Touch &bytes) {
    vnpu_record on_s = record;
    on_s.pipe = VNPU_PIPE_S;
    order_accesses(core, on_s, {bytes});
    core.append(cost_of(core.launch.chip, on_s, 1, 1));
}

TraceEntry flag_entry(TraceKind kind, const vnpu_record &record, uint32_t token) {
    TraceEntry entry;
    entry.kind = kind;
    entry.pipe = entry.src_pipe = entry.dst_pipe = VNPU_PIPE_S;
    entry.flags = kTraceSoftFlag;
    entry.blocks = token;
    entry.opcode = record.opcode;
    entry.line = record.line;
    return entry;
}

// Its line may be in the core's own cache, with bytes that will be written back over the word.
void check_own_line(Core &core, const vnpu_record &record, uint64_t address, uint32_t bytes) {
    const CacheLine *line = core.cache.find(address);
    const uint64_t first = address % kCacheLine, word = (1ull << bytes) - 1;
    if (!line || (line->dirty & word << first) == 0 || core.launch.reporter.has(place_of(record), "missing_sync")) return;
    core.report(record, "missing_sync",
                describe(place_of(record)) + " stores at " + hex(address) +
                    ", while the data cache holds a SetValue to it that has not been written back and will overwrite it; needed: DataCacheCleanAndInvalid and "
                    "DataSyncBarrier<MemDsbT::DDR> before",
                {{"address", static_cast<int64_t>(address)}});
}

// Lets others run while the word holds what this core has seen there before.
void wait_for_news(Core &core, const vnpu_record &record, const std::map<uint64_t, uint64_t> &seen_before, uint64_t address, uint32_t bytes) {
    const auto seen = seen_before.find(address);
    if (seen == seen_before.end() || seen->second != word_at(core.launch, address, bytes)) return;
    core.waiting.kind = Waiting::Kind::Word;
    core.waiting.address = address;
    core.waiting.round = core.launch.cross.word_stores;
    core.waiting.bytes = bytes;
    core.waiting.word = seen->second;
    core.last_wait = place_of(record);
    while (!can_go_on(core.launch, core, core.waiting)) core.fibre->yield();
    core.waiting = Waiting{};
}

void learn_word(Core &core, const vnpu_record &record, uint64_t address) {
    const auto word = core.launch.cross.words.find(address);
    if (word == core.launch.cross.words.end()) return;
    uint32_t &known = core.known_tokens[address];
    if (known == word->second.token) return; /* a try that finds the same again tells nothing */
    known = word->second.token;
    learn(core, word->second.vouch);
    core.acquaintance.stamp = core.launch.cross.stamp;
    core.append(flag_entry(TraceKind::CrossWait, record, word->second.token));
}

// A store that others may wait for; its token.
uint32_t note_set(Core &core, const vnpu_record &record) {
    const uint32_t token = ++core.launch.cross.tokens;
    ++core.launch.cross.stamp;
    ++core.launch.cross.word_stores;
    ++core.epoch;
    core.append(flag_entry(TraceKind::CrossSet, record, token));
    return token;
}

void learn_line(Core &core, const vnpu_record &record, uint64_t address) {
    const auto line = core.launch.cross.lines.find(address);
    if (line == core.launch.cross.lines.end() || line->second.core == core.index) return;
    uint32_t &known = core.known_lines[address];
    if (known == line->second.token) return;
    known = line->second.token;
    Vouch vouch = *line->second.others;
    if (vouch.size() <= line->second.core) vouch.resize(line->second.core + 1);
    vouch[line->second.core] = line->second.own;
    learn(core, vouch);
    core.acquaintance.stamp = core.launch.cross.stamp;
    core.append(flag_entry(TraceKind::CrossWait, record, known));
}

// Where its line was cleaned in part, it is still there: with what memory holds now, as if the cleaning had come just before.
void load_anew(Core &core, uint64_t address, uint32_t bytes) {
    CacheLine *line = core.cache.find(address);
    if (line) std::memcpy(line->bytes.data() + address % kCacheLine, core.launch.memory.readable(address), bytes);
}

// Whether the word comes from memory because its line was just cleaned. Only the first load after it does.
bool is_look(Core &core, uint64_t address, uint32_t bytes) {
    const auto found = core.cleaned.find(address / kCacheLine * kCacheLine);
    if (found == core.cleaned.end()) return false;
    const uint64_t first = found->second;
    core.cleaned.erase(found);
    const CacheLine *line = core.cache.find(address);
    if (address < first || address % kCacheLine + bytes > kCacheLine) return false;
    return !line || (first % kCacheLine != 0 && line->dirty >> first % kCacheLine == 0);
}

}  // namespace

void note_cleaned(Core &core, uint64_t address) {
    if (core.launch.groups.cores() > 1) core.cleaned[address / kCacheLine * kCacheLine] = address;
}

void publish_line(Core &core, const vnpu_record &record, uint64_t line) {
    if (core.launch.groups.cores() == 1) return;
    if (!core.told || *core.told != core.acquaintance.others) core.told = std::make_shared<const Vouch>(core.acquaintance.others);
    LineFlag &flag = core.launch.cross.lines[line];
    flag = {core.index, 0, core.clocks.completed_by_set(VNPU_PIPE_S), core.told};
    flag.token = note_set(core, record);
}

bool look_again(Core &core, const vnpu_record &record, uint64_t address, uint32_t bytes) {
    if (!is_look(core, address, bytes)) return false;
    wait_for_news(core, record, core.seen_flags, address, bytes);
    load_anew(core, address, bytes);
    learn_line(core, record, address / kCacheLine * kCacheLine);
    core.seen_flags[address] = word_at(core.launch, address, bytes);
    return true;
}

bool has_news(const Launch &launch, const Waiting &waiting) {
    return launch.cross.word_stores != waiting.round || waiting.is_released || word_at(launch, waiting.address, waiting.bytes) != waiting.word;
}

void store_past_cache(Core &core, const vnpu_record &record) {
    const uint32_t bytes = value_bytes(core, record);
    const uint64_t address = record.dst.addr;
    Allocation &target = check_gm(core, record, address, bytes, true);
    if (!target.is_mutable) {
        core.report(record, "input_modified", api_name(place_of(record)) + " stores into an input at " + hex(address) + "; inputs are read-only",
                    {{"address", static_cast<int64_t>(address)}});
        return;
    }
    check_own_line(core, record, address, bytes);
    Touch touch{VNPU_SPACE_GM, true, address, address + bytes, reinterpret_cast<const uint8_t *>(&record.scalar)};
    touch.is_atomic = true;
    order(core, record, touch);
    core.seen_words.clear();
    SoftFlag &word = core.launch.cross.words[address];
    merge(word.vouch, vouch_of(core, VNPU_PIPE_S));
    word.token = note_set(core, record);
    if (target.timing_only) return;
    core.launch.has_stored = true;
    target.stored.add(address - target.address, address - target.address + bytes);
    target.defined.add(address - target.address, address - target.address + bytes);
    std::memcpy(core.launch.memory.writable(address), &record.scalar, bytes);
}

uint64_t load_past_cache(Core &core, const vnpu_record &record) {
    const uint32_t bytes = value_bytes(core, record);
    const uint64_t address = record.src0.addr;
    const Allocation &source = check_gm(core, record, address, bytes, false);
    if (!source.timing_only) wait_for_news(core, record, core.seen_words, address, bytes);
    learn_word(core, record, address);
    const uint64_t begin = address - source.address;
    if (!source.defined.covers(begin, begin + bytes) && core.moves_data() && !core.launch.reporter.has(place_of(record), "undefined_data"))
        core.report(record, "undefined_data", api_name(place_of(record)) + " reads global memory at " + hex(address) + " that nobody has written",
                    {{"address", static_cast<int64_t>(address)}});
    Touch touch{VNPU_SPACE_GM, false, address, address + bytes};
    touch.is_atomic = true;
    order(core, record, touch);
    if (source.timing_only) return 0;
    const uint64_t value = word_at(core.launch, address, bytes);
    core.seen_words[address] = value;
    return value;
}

}  // namespace vnpu
