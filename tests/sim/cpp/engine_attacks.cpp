// Device code that reaches past the Ascend C API, to what the process it runs in holds. Arguments: source, output, a number, which variant.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <sched.h>
#include <sys/socket.h>

#include "remote/channel.h"
#include "vnpu/abi.h"

namespace {

struct Arguments {
    uint64_t source;
    uint64_t out;
    uint32_t number;
    uint32_t variant;
};

constexpr uint64_t kArenaBase = 0x200000000000ull;

// Where a writable mapping of a memfd of that name begins; null without one.
uint8_t *mapping(const char *name) {
    std::FILE *maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long long begin = 0;
    uint8_t *found = nullptr;
    while (maps && std::fgets(line, sizeof line, maps))
        if (std::strstr(line, name) && std::strstr(line, " rw-s ") && std::sscanf(line, "%llx", &begin) == 1) found = reinterpret_cast<uint8_t *>(begin);
    if (maps) std::fclose(maps);
    return found;
}

// An honest store of 32 bytes, then other numbers by the engine's own mapping: they would count as stored by the kernel, and cost nothing.
void rewrite_memory(const Arguments &given) {
    vnpu_record record = {};
    record.opcode = VNPU_OP_SCALAR_STORE;
    record.pipe = VNPU_PIPE_S;
    record.dst.addr = given.out;
    record.dst.limit = 0xffffffff;
    record.dst.space = VNPU_SPACE_GM;
    record.dst.dtype = VNPU_DT_F32;
    record.p[0] = 4;
    record.scalar = 0x3f800000;
    vnpu_submit(&record);
    record.opcode = VNPU_OP_CACHE_CLEAN;
    record.src0 = record.dst;
    record.p[0] = 1;
    vnpu_submit(&record);
    vnpu_record question = {};
    question.opcode = VNPU_OP_GET_BLOCK_IDX;
    vnpu_fetch(&question);  // the store has happened
    const float forged = 9;
    if (uint8_t *memory = mapping("device memory")) std::memcpy(memory + (given.out - kArenaBase), &forged, sizeof forged);
}

void make_socket(const Arguments &) { socket(AF_INET, SOCK_STREAM, 0); }

// One message over and over, as fast as it is taken.
[[noreturn]] void flood(vnpu::remote::Channel &channel, const vnpu::remote::Slot &slot) {
    using namespace vnpu::remote;
    const Slot one = slot;
    for (Slot &each : channel.slots) each = one;
    for (;;) publish(channel.head, channel.tail.load() + kSlots, channel.is_engine_asleep);
}

// Straight into the ring, past this side of it.
void forge_ring(const Arguments &given) {
    using namespace vnpu::remote;
    auto *channel = reinterpret_cast<Channel *>(mapping("piton-ring"));
    if (!channel) return;
    const uint32_t head = channel->head.load();
    Slot &slot = channel->slots[head % kSlots];
    const uint32_t core = slot.core = channel->command.core;
    slot.blocks = 0;
    slot.has_text = 0;
    slot.kind = Kind::Submit;
    std::memset(slot.payload, 0, sizeof slot.payload);
    auto *record = reinterpret_cast<vnpu_record *>(slot.payload);
    uint32_t count = 1;
    switch (given.variant) {
        case 0:
            slot.kind = static_cast<Kind>(4711);
            break;
        case 1:
            slot.core = core + 1;
            break;
        case 2:
            count = kSlots + 1;
            break;
        case 3:
            slot.kind = Kind::Text;
            slot.bytes = 1 << 30;
            break;
        case 4:
            slot.kind = Kind::Page;
            slot.value = kArenaBase - 4096;
            break;
        case 5:
            slot.kind = Kind::Scalar;
            slot.blocks = 3;
            break;
        case 6:
            record->opcode = VNPU_OP_PRINT;
            record->p[0] = 1 << 19;
            break;
        case 7:
            slot.kind = Kind::Text;
            slot.bytes = 0;
            break;
        case 8:
            slot.kind = Kind::Page;
            slot.value = kArenaBase + (1ull << 35);
            return flood(*channel, slot);
        default:  // an address that only this process has, for the engine to follow
            record->opcode = VNPU_OP_FAULT;
            record->p[0] = VNPU_FAULT_FOREIGN_TENSOR;
            record->p[1] = VNPU_TENSOR_OF_ANOTHER_QUEUE;
            record->p[2] = 1;
            record->file = record->mask[0] = record->mask[1] = record->src0.addr = reinterpret_cast<uint64_t>(channel);
    }
    publish(channel->head, head + count, channel->is_engine_asleep);
    for (;;) sched_yield();
}

void be_silent(const Arguments &) {
    for (;;) sched_yield();
}

struct Attack {
    const char *name;
    void (*run)(const Arguments &);
};
constexpr Attack kAttacks[] = {{"rewrites memory", rewrite_memory}, {"makes a socket", make_socket}, {"forges the ring", forge_ring}, {"is silent", be_silent}};

template <int at>
void entry(const void *block) {
    Arguments given;
    std::memcpy(&given, block, sizeof given);
    kAttacks[at].run(given);
}

}  // namespace

extern "C" void (*rig_state_attack(const char *name))(const void *);  // engine_attacks_state.cpp

extern "C" void (*rig_attack(const char *name))(const void *) {
    static constexpr void (*kEntries[])(const void *) = {entry<0>, entry<1>, entry<2>, entry<3>};
    for (int at = 0; at < 4; ++at)
        if (std::strcmp(kAttacks[at].name, name) == 0) return kEntries[at];
    return rig_state_attack(name);
}
