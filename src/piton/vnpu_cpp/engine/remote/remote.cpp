#include "remote.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../frames.h"

namespace vnpu::remote {

namespace {

// Naps without a slot after which a living process counts as silent: an honest one tells of every slice of scalar code, which takes milliseconds.
constexpr int kSilentNaps = 200;

// Messages of a block that use up nothing of its budget (texts, names, pages, values), beside one for every cycle of it: an honest block has hardly more of
// them than basic blocks, all names there can be (kMaxNames of kMaxNameBytes) fit into this.
constexpr uint64_t kFreeMessages = 1 << 20;
static_assert(kFreeMessages > uint64_t(kMaxNames) * (kMaxNameBytes / kPayloadBytes + 2), "names alone are no reason for a verdict");

// While a library is loaded: kMaxKernels with the longest of texts.
constexpr uint64_t kMaxLoadSlots = uint64_t(kMaxKernels) * (2 * kMaxNameBytes / kPayloadBytes + 3);

Remote *active = nullptr;  // entries of kernels take no argument that could lead here

void entry(const void *) { active->run_block(*running); }

bool has_one_processor() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < 2;
}

// The offsets that a slot brings; they name places for people, the parent looks them up.
std::vector<uint64_t> frames_in(const Slot &slot) {
    Frames frames;
    static_assert(sizeof frames <= kPayloadBytes, "frames fit into a slot");
    std::memcpy(&frames, slot.payload, sizeof frames);
    std::vector<uint64_t> calls;
    for (uint32_t index = 0; index < std::min(frames.count, kMaxFrames); ++index) {
        uint64_t offset;  // the structure is packed
        std::memcpy(&offset, slot.payload + sizeof frames.count + index * sizeof offset, sizeof offset);
        calls.push_back(offset);
    }
    return calls;
}

}  // namespace

Remote::Remote(int ring_fd, int control_fd, DeviceMemory &memory) : control_fd_(control_fd), memory_(memory), looks_(has_one_processor() ? 0 : kLooks) {
    void *at = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map the ring of the device code's process");
    channel_ = static_cast<Channel *>(at);
    active = this;
}

Remote::~Remote() {
    if (active == this) active = nullptr;
    munmap(channel_, sizeof(Channel));
}

bool Remote::is_control_closed() const {
    pollfd control = {control_fd_, POLLIN, 0};
    if (poll(&control, 1, 0) <= 0) return false;
    char byte;
    return (control.revents & (POLLHUP | POLLERR)) != 0 || recv(control_fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

Silence Remote::next(Slot &slot) {
    uint32_t head = channel_->head.load(std::memory_order_acquire);
    for (int naps = 0; head == tail_; ++naps) {
        if (naps == kSilentNaps) return Silence::TooLong;
        head = changed(channel_->head, tail_, channel_->is_engine_asleep, looks_);
        if (head == tail_ && is_control_closed()) {
            head = channel_->head.load(std::memory_order_acquire);  // what it said before its end counts
            if (head == tail_) return Silence::Gone;
        }
    }
    if (head - tail_ > kSlots) return Silence::Nonsense;
    std::memcpy(&slot, &channel_->slots[tail_ % kSlots], sizeof slot);
    channel_->tail.store(++tail_, std::memory_order_seq_cst);
    const bool has_room = head - tail_ <= kSlots / 2;  // it is not woken for every single slot
    if (has_room && channel_->is_device_asleep.load(std::memory_order_seq_cst) != 0) wake(channel_->tail);
    return Silence::None;
}

void Remote::order(Order order, uint32_t core, uint32_t kernel, uint64_t value, int64_t budget_left) {
    Command &command = channel_->command;
    command.order = order;
    command.core = core;
    command.kernel = kernel;
    command.value = value;
    command.budget_left = budget_left;
    publish(command.serial, ++serial_, channel_->is_device_asleep);
}

std::string Remote::load() {
    order(Order::Load, 0, 0, 0, 0);
    for (uint64_t slots = 0; slots < kMaxLoadSlots; ++slots) {
        Slot slot;
        const Silence silence = next(slot);
        is_gone_ = is_gone_ || silence == Silence::Gone;
        if (silence == Silence::TooLong) return "loading the device library did not end";
        if (silence != Silence::None) return "the process of the device code ended while it loaded the device library";
        if (slot.kind == Kind::Loaded) return "";
        if (slot.kind == Kind::LoadFailed) return text_.empty() ? "loading failed" : text_.c_str();
        const bool is_good = slot.kind == Kind::Text ? add_text(slot) : slot.kind == Kind::Kernel && declare(slot);
        if (!is_good) break;
    }
    return "the process of the device code sent what no process of ours sends while it loaded the device library";
}

bool Remote::declare(const Slot &slot) {
    Declaration declared;
    std::memcpy(&declared, slot.payload, sizeof declared);
    const size_t zero = text_.find('\0');
    if (zero == std::string::npos || text_.size() > 2 * kMaxNameBytes || kernels_.size() >= kMaxKernels) return false;
    if (kernels_.count(text_.substr(0, zero)) != 0) return false;
    kernel_texts_.push_back(text_.substr(0, zero));
    const char *name = kernel_texts_.back().c_str();
    kernel_texts_.push_back(text_.substr(zero + 1));
    const vnpu_kernel kernel = {declared.abi_version,
                                declared.core_kind,
                                name,
                                kernel_texts_.back().c_str(),
                                declared.argument_bytes,
                                declared.local_bytes,
                                entry,
                                declared.is_compiled_by_core ? entry : nullptr,
                                nullptr};
    kernels_.emplace(name, static_cast<uint32_t>(kernels_.size()));
    vnpu_register_kernel(&kernel);
    text_.clear();
    return true;
}

void Remote::begin(const vnpu_kernel &kernel, const std::string &arguments) {
    running_kernel_ = kernels_.at(kernel.name);
    std::memcpy(channel_->arguments, arguments.data(), std::min<size_t>(arguments.size(), kArgumentBytes));
}

std::optional<uint64_t> Remote::clean() {
    order(Order::Clean, 0, 0, 0, 0);
    Slot slot;
    const Silence silence = next(slot);
    is_gone_ = is_gone_ || silence == Silence::Gone;
    if (silence != Silence::None || slot.kind != Kind::Cleaned) return std::nullopt;
    return slot.value;
}

void Remote::run_block(Core &core) {
    core.seat = ++seats_;
    order(Order::Start, core.seat, running_kernel_, core.is_cube() ? 1 : 0, core.budget_left);
    Slot slot;
    const uint64_t budget = core.launch.options.budget_cycles;
    uint64_t messages = 0;  // that cost nothing
    bool is_going_on = true;
    while (is_going_on) {
        const Silence silence = next(slot);
        if (silence != Silence::None) stop(core, silence);
        if (slot.core != core.seat) refuse(core, "a message of a block that is not the one that runs");
        if (messages > kFreeMessages && messages - kFreeMessages > budget) refuse(core, "more messages that cost nothing than any block has reason for");
        const int64_t left = core.budget_left;
        is_going_on = serve(core, slot);
        if (core.budget_left == left) ++messages;
    }
    if (slot.kind == Kind::Threw) ended_by_exception(slot);
}

// Nothing more can be heard of this launch. Its core is abandoned; so is the process.
void Remote::stop(Core &core, Silence silence) {
    is_gone_ = silence == Silence::Gone;
    if (silence == Silence::Nonsense) refuse(core, "positions in the ring that cannot be");
    if (silence == Silence::TooLong)
        core.launch.reporter.violation(core.last_place, core.index, "device_budget", "device code waits for ever instead of computing");
    core.cut();
}

void Remote::refuse(Core &core, const std::string &what) {
    core.launch.reporter.violation(core.last_place, core.index, "protocol_violation", "the process of the device code sent " + what);
    core.cut();
}

// False when the block has ended.
bool Remote::serve(Core &core, const Slot &slot) {
    if (slot.kind != Kind::Scalar) spend(core, slot);
    switch (slot.kind) {
        case Kind::Submit:
        case Kind::Wait:
        case Kind::Fetch:
            issue(core, slot);
            return true;
        case Kind::Scalar:
            scalar_slice(core, slot);
            return true;
        case Kind::Text:
            if (!add_text(slot)) refuse(core, "a text of no bytes, or a text that is too long");
            return true;
        case Kind::Name:
            if (!add_name()) refuse(core, "too many names of files");
            return true;
        case Kind::Page:
            send_page(core, slot.value);
            return true;
        case Kind::End:
        case Kind::Threw:
            return false;
        default:
            refuse(core, "a message of kind " + std::to_string(static_cast<uint32_t>(slot.kind)));
    }
}

void Remote::answer(Core &core, uint64_t value) { order(Order::Continue, core.seat, 0, value, core.budget_left); }

void Remote::issue(Core &core, const Slot &slot) {
    vnpu_record record;
    std::memcpy(&record, slot.payload, sizeof record);
    own_addresses(core, slot, record);
    if (slot.kind == Kind::Fetch) return answer(core, vnpu_fetch(&record));
    vnpu_submit(&record);
    if (slot.kind == Kind::Wait) answer(core, 0);
}

// The basic blocks before a record. Where the budget ends among them is not known any more: the device side learns what is left only with answers.
void Remote::spend(Core &core, const Slot &slot) {
    const auto left = static_cast<uint64_t>(std::max<int64_t>(core.budget_left, 0));
    if (slot.blocks > left) scalar_exhausted(core, {});
    core.budget_left -= static_cast<int64_t>(slot.blocks);
}

// Scalar code without a record. An honest process tells of a whole slice, or that the budget is used up.
void Remote::scalar_slice(Core &core, const Slot &slot) {
    const auto left = static_cast<uint64_t>(std::max<int64_t>(core.budget_left, 0));
    if (slot.blocks > left) scalar_exhausted(core, frames_in(slot));
    if (slot.blocks < kScalarSlice) refuse(core, "a count of scalar code before it was due");
    core.budget_left -= static_cast<int64_t>(slot.blocks);
    answer(core, 0);
}

// Reading through a raw pointer works, as it does where device memory is mapped; the copy is the reader's own.
void Remote::send_page(Core &core, uint64_t address) {
    const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    if (bytes > kPageBytes || address % bytes != 0 || address < kArenaBase || address - kArenaBase > kArenaBytes - bytes)
        refuse(core, "a request for a page outside global memory");
    const Allocation *last = memory_.nearest(address + bytes - 1);
    if (last && last->address + last->bytes > address)
        std::memcpy(channel_->page, memory_.readable(address), bytes);
    else
        std::memset(channel_->page, 0, bytes);  // as it reads; looking at it would make the arena hold it
    answer(core, 0);
}

void Remote::ended_by_exception(const Slot &slot) {
    if (!slot.has_text) throw 0;  // as the kernel did: something that is not a std::exception
    std::string text;
    text.swap(text_);
    throw std::runtime_error(text.c_str());
}

bool Remote::add_text(const Slot &slot) {
    if (slot.bytes == 0 || slot.bytes > kPayloadBytes || text_.size() + slot.bytes > kMaxTextBytes) return false;
    text_.append(reinterpret_cast<const char *>(slot.payload), slot.bytes);
    return true;
}

bool Remote::add_name() {
    if (names_.size() >= kMaxNames || text_.size() > kMaxNameBytes) return false;
    names_.emplace_back(text_.c_str());  // up to a zero, if there is one inside
    text_.clear();
    return true;
}

// Numbers count from 1; 0 is no name, as is one that was never told.
uint64_t Remote::name_at(uint64_t index) const { return index == 0 || index > names_.size() ? 0 : reinterpret_cast<uint64_t>(names_[index - 1].c_str()); }

// Whatever the engine would follow becomes an address of the engine's own.
void Remote::own_addresses(Core &core, const Slot &slot, vnpu_record &record) {
    record.file = name_at(record.file);
    if (names_files(record)) {
        record.mask[0] = name_at(record.mask[0]);
        record.mask[1] = name_at(record.mask[1]);
    }
    if (record.opcode != VNPU_OP_PRINT && record.opcode != VNPU_OP_FAULT) return;
    static std::string kept;  // the one text that a record refers to: until the next such record, which is longer than it is looked at
    kept.clear();
    kept.swap(text_);
    if (!slot.has_text) kept.clear();
    if (record.opcode == VNPU_OP_PRINT && kept.size() < std::min<uint64_t>(record.p[0], kMaxTextBytes)) refuse(core, "a text that is shorter than it says");
    record.src0.addr = reinterpret_cast<uint64_t>(kept.c_str());
}

}  // namespace vnpu::remote
