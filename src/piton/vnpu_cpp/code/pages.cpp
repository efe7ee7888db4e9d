#include "pages.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>
#include <unistd.h>

#include "blocks.h"
#include "memory.h"
#include "ring.h"

#ifndef MAP_FIXED_NOREPLACE  // older C libraries; kernels that do not know it treat the address as a hint, which is checked below
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace vnpu::code {

namespace {

constexpr uint32_t kMaxCopies = 64;  // an instruction touches a handful of pages
uint64_t copies[kMaxCopies];
uint32_t copy_count = 0;
uint64_t page_bytes = 4096;

void *at(uint64_t address) { return reinterpret_cast<void *>(address); }

bool is_there(uint64_t page) { return std::find(copies, copies + copy_count, page) != copies + copy_count; }

bool copy_page(uint64_t page) {
    if (mprotect(at(page), page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    std::memcpy(at(page), code::page(), page_bytes);
    return mprotect(at(page), page_bytes, PROT_READ) == 0;
}

}  // namespace

void reserve_device_addresses() {
    page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *made = mmap(at(kArenaBase), kArenaBytes, PROT_NONE, flags, -1, 0);
    if (made != at(kArenaBase)) throw std::runtime_error("cannot reserve the device addresses: their range is taken");
}

bool provide_page(uint64_t address) {
    if (address < kArenaBase || address - kArenaBase >= kArenaBytes || !is_in_kernel()) return false;
    const uint64_t page = address / page_bytes * page_bytes;
    if (is_there(page)) return false;  // it may be read: this is a store
    if (copy_count == kMaxCopies) forget_pages();
    begin_slot(remote::Kind::Page).value = page;
    put();
    await_answer();
    copies[copy_count++] = page;
    return copy_page(page);
}

void forget_pages() {
    for (; copy_count > 0; --copy_count) {
        mprotect(at(copies[copy_count - 1]), page_bytes, PROT_NONE);
        madvise(at(copies[copy_count - 1]), page_bytes, MADV_DONTNEED);
    }
}

}  // namespace vnpu::code
