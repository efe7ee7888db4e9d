// A C interface over the engine for ctypes: the test builds the records of every core, the kernel submits them one after another.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "engine.h"
#include "engine_timing_double.h"
#include "paths.h"
#include "remote/remote.h"

using namespace vnpu;

extern "C" void __sanitizer_cov_trace_pc();

namespace {

struct Rig {
    Rig(uint64_t ub_bytes, uint32_t cores, int memfd) : file(memfd), memory(memfd), engine(chip_double(ub_bytes, cores), memory) {}
    int file;  // of the device memory, which does not own it
    DeviceMemory memory;
    Engine engine;
    std::string text;
    std::unique_ptr<remote::Remote> remote;  // kernels in another process
};

// What the kernel of a launch gets: for core i records [first[i], first[i + 1]); fetched values go to answers by record index.
struct Program {
    const vnpu_record *records;
    const uint32_t *first;
    uint64_t *answers;
};

uint32_t vectors_of_block = 0;  // of a mixed launch

bool is_question(uint16_t opcode) {
    return opcode == VNPU_OP_SCALAR_LOAD || opcode == VNPU_OP_PAST_CACHE_LOAD || opcode == VNPU_OP_GATHER_MASK || opcode == VNPU_OP_SOFT_SET ||
           (opcode >= VNPU_OP_GET_BLOCK_IDX && opcode <= VNPU_OP_GET_PIPE);
}

uint64_t ask(uint16_t opcode) {
    vnpu_record record{};
    record.opcode = opcode;
    return vnpu_fetch(&record);
}

// Programs of a mixed launch are in the order AIC, AIV 0, AIV 1 of block 0, then of block 1.
uint64_t running_core() {
    const uint64_t number = ask(VNPU_OP_GET_BLOCK_IDX), ratio = vectors_of_block;
    if (ratio == 0) return number;
    return ask(VNPU_OP_GET_CORE_KIND) == VNPU_CORE_AIC ? number * (ratio + 1) : number / ratio * (ratio + 1) + 1 + number % ratio;
}

constexpr uint16_t kThrow = 1000;  // pseudo opcode of the driver

void run(const void *arguments) {
    Program program;
    std::memcpy(&program, arguments, sizeof program);
    const uint64_t core = running_core();
    for (uint32_t at = program.first[core]; at < program.first[core + 1]; ++at) {
        const vnpu_record &record = program.records[at];
        if (record.opcode == kThrow) throw std::runtime_error("thrown by the kernel");
        if (is_question(record.opcode))
            program.answers[at] = vnpu_fetch(&record);
        else
            vnpu_submit(&record);
    }
}

// A scalar loop without records, as the instrumented code of a kernel would run it.
void spin(const void *) {
    for (;;) __sanitizer_cov_trace_pc();
}

void quote(std::ostringstream &out, const std::string &text) {
    out << '"';
    for (const char c : text) (c == '"' || c == '\\') ? out << '\\' << c : out << c;
    out << '"';
}

void write(std::ostringstream &out, const Diagnostic &found) {
    out << "{\"is_finding\":" << (found.is_finding ? "true" : "false") << ",\"cause\":";
    quote(out, found.is_finding ? found.kind : found.cause);
    out << ",\"message\":";
    quote(out, found.message);
    out << ",\"file\":";
    quote(out, found.file);
    out << ",\"line\":" << found.line << ",\"core\":" << found.core << ",\"instruction\":";
    quote(out, found.instruction);
    out << ",\"occurrences\":" << found.occurrences << ",\"numbers\":{";
    for (size_t i = 0; i < found.numbers.size(); ++i) {
        out << (i ? "," : "");
        quote(out, found.numbers[i].first);
        out << ':' << found.numbers[i].second;
    }
    out << "}}";
}

void write(std::ostringstream &out, const TraceEntry &entry) {
    out << '[' << int(entry.kind) << ',' << int(entry.pipe) << ',' << int(entry.src_pipe) << ',' << int(entry.dst_pipe) << ',' << int(entry.event) << ','
        << int(entry.flags) << ',' << entry.opcode << ',' << entry.line << ',' << entry.cycles << ']';
}

template <class List>
void write_list(std::ostringstream &out, const List &list) {
    for (size_t i = 0; i < list.size(); ++i) {
        out << (i ? "," : "");
        write(out, list[i]);
    }
}

std::string as_json(const LaunchReport &report) {
    std::ostringstream out;
    out << "{\"is_cut\":" << (report.is_cut ? "true" : "false") << ",\"instructions\":" << report.instructions << ",\"cycles\":" << report.timing.cycles
        << ",\"diagnostics\":[";
    write_list(out, report.diagnostics);
    out << "],\"trace\":[";
    const LaunchTrace &trace = replayed_trace();
    for (size_t core = 0; core < trace.cores.size() && !report.is_cut; ++core) {
        out << (core ? ",[" : "[");
        write_list(out, trace.cores[core]);
        out << ']';
    }
    out << "]}";
    return out.str();
}

std::string ranges(const IntervalSet &set) {
    std::ostringstream out;
    for (const auto &[begin, end] : set.ranges()) out << begin << '-' << end << ' ';
    return out.str();
}

}  // namespace

extern "C" {

void (*rig_kernel(const char *name))(const void *);
void (*rig_attack(const char *name))(const void *);
void (*rig_seeded(const char *name))(const void *);  // kernels with a defect that the last argument chooses

Rig *rig_open(uint64_t ub_bytes, uint32_t cores) {
    const int memfd = memfd_create("device memory", 0);
    if (memfd < 0 || ftruncate(memfd, static_cast<off_t>(kArenaBytes)) != 0) return nullptr;
    return new Rig(ub_bytes, cores, memfd);
}
void rig_close(Rig *rig) {
    const int file = rig->file;
    delete rig;
    close(file);
}
void rig_reset(Rig *rig) { rig->memory.reset(); }
uint64_t rig_allocate(Rig *rig, uint64_t bytes, int is_mutable) { return rig->memory.allocate(bytes, Owner::Host, is_mutable != 0); }
int rig_release(Rig *rig, uint64_t address) { return rig->memory.release(address); }
void rig_upload(Rig *rig, uint64_t address, const void *data, uint64_t bytes) {
    std::memcpy(rig->memory.writable(address), data, bytes);
    Allocation *target = rig->memory.find(address, bytes);
    target->owner = Owner::Parent;
    target->defined.add(address - target->address, address - target->address + bytes);
}
// What host code copies into memory of its own.
void rig_copy_in(Rig *rig, uint64_t address, const void *data, uint64_t bytes) {
    rig_upload(rig, address, data, bytes);
    Allocation *target = rig->memory.find(address, bytes);
    target->owner = Owner::Host;
    target->stored.remove(address - target->address, address - target->address + bytes);
}
void rig_download(Rig *rig, uint64_t address, void *data, uint64_t bytes) { std::memcpy(data, rig->memory.readable(address), bytes); }

int rig_has_path(const char *path) { return find_path(path) != nullptr; }
int rig_use_path(const char *path) { return use_path(path); }
// The loop of an instruction on a path; 0 when there is no such instruction.
int rig_loop(const char *path, const uint32_t *key, void *dst, const void *src0, const void *src1, uint64_t scalar, uint32_t count) {
    const VectorKernel kernel = find_path(path)->vector(static_cast<uint16_t>(key[0]), static_cast<uint8_t>(key[1]), static_cast<uint8_t>(key[2]), key[3]);
    if (kernel) kernel(dst, src0, src1, scalar, count);
    return kernel != nullptr;
}

const char *rig_stored(Rig *rig, uint64_t address) {
    rig->text = ranges(rig->memory.find(address, 0)->stored);
    return rig->text.c_str();
}
void rig_configure(Rig *rig, int auto_sync, int modes, uint64_t budget_cycles, uint32_t max_diagnostics) {
    EngineOptions options;
    options.auto_sync = auto_sync != 0;
    options.timing_only = modes & 1;
    options.is_pessimistic = modes & 2;
    options.budget_cycles = budget_cycles;
    options.max_diagnostics = max_diagnostics;
    rig->engine.configure(options);
}
const char *rig_launch(Rig *rig, const vnpu_record *records, const uint32_t *first, uint64_t *answers, uint32_t blocks, uint32_t core_kind, int spins) {
    const Program program{records, first, answers};
    const vnpu_kernel kernel{VNPU_ABI_VERSION, core_kind, "test", "test", sizeof program, 0, spins ? spin : run, nullptr, nullptr};
    vectors_of_block = core_kind == VNPU_CORE_MIX_1_2 ? 2 : core_kind == VNPU_CORE_MIX_1_1 ? 1 : 0;
    rig->text = as_json(rig->engine.launch(kernel, &program, blocks / (vectors_of_block + 1)));
    return rig->text.c_str();
}
// The other process, ready; empty or why its library could not be loaded.
const char *rig_connect(Rig *rig, int ring_fd, int control_fd) {
    rig->remote = std::make_unique<remote::Remote>(ring_fd, control_fd, rig->memory);
    rig->text = rig->remote->load();
    return rig->text.c_str();
}
const char *rig_run_apart(Rig *rig, const void *arguments, uint32_t bytes, uint32_t blocks) {
    const vnpu_kernel &kernel = *find_kernel("by name");
    rig->remote->begin(kernel, std::string(static_cast<const char *>(arguments), bytes));
    rig->text = as_json(rig->engine.launch(kernel, nullptr, blocks));
    return rig->text.c_str();
}
const char *rig_run(Rig *rig, const char *name, const void *arguments, uint32_t bytes, uint32_t blocks) {
    const auto attack = rig_attack(name), seeded = attack ? attack : rig_seeded(name);
    const vnpu_kernel kernel{VNPU_ABI_VERSION, VNPU_CORE_AIV, name, name, bytes, 0, seeded ? seeded : rig_kernel(name), nullptr, nullptr};
    rig->text = as_json(rig->engine.launch(kernel, arguments, blocks));
    return rig->text.c_str();
}
}
