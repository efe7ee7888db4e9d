// A stand-in for the engine: kernels run on one block, one record fills global memory, time is a constant. What is tested are the processes around it.
#include <cstring>
#include <stdexcept>

#include "core.h"

namespace vnpu {

// Of the engine proper, for code in another process, which these tests do not have.
Core *running = nullptr;
void Core::cut() { throw std::logic_error("there is no core"); }
void scalar_exhausted(Core &core, std::vector<uint64_t>) { core.cut(); }

class ChipModel {};
class MemoryState {};
std::shared_ptr<const ChipModel> parse_chip(const std::string &table) {
    if (table.empty()) throw std::runtime_error("the chip table is empty");
    return std::make_shared<ChipModel>();
}

struct Engine::State {
    DeviceMemory &memory;
};
static DeviceMemory *device_memory = nullptr;

Engine::Engine(std::shared_ptr<const ChipModel>, DeviceMemory &memory) : state_(new State{memory}) { device_memory = &memory; }
Engine::~Engine() = default;
void Engine::configure(const EngineOptions &) {}
void Engine::cold_start() {}
uint64_t Engine::copy(uint64_t bytes) { return bytes; }

LaunchReport Engine::launch(const vnpu_kernel &kernel, const void *arguments, uint32_t) {
    kernel.entry(arguments);
    LaunchReport report;
    report.instructions = 1;
    report.timing.cycles = 1800;
    return report;
}

}  // namespace vnpu

extern "C" void vnpu_submit(const vnpu_record *record) {
    if (record->opcode == VNPU_OP_FAULT) throw std::runtime_error("an engine that fails");
    vnpu::Allocation *target = vnpu::device_memory->find(record->dst.addr, record->p[0]);
    if (!target) throw std::runtime_error("outside of every allocation");
    std::memset(vnpu::device_memory->writable(record->dst.addr), static_cast<int>(record->scalar), record->p[0]);
    const uint64_t begin = record->dst.addr - target->address;
    target->defined.add(begin, begin + record->p[0]);
    target->stored.add(begin, begin + record->p[0]);
}

extern "C" uint64_t vnpu_fetch(const vnpu_record *) { return 0; }
