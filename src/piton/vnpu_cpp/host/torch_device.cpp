/*
 * The torch device "npu": allocation, device guard and hooks of PrivateUse1.
 * Written against torch 2.10 to 2.13; the shape of these classes is torch's.
 */
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "torch_device.h"
#include "transport.h"

namespace piton::host {

namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
const c10::Device kDevice(kType, 0);

void release_block(void *context) {
    auto *block = static_cast<DeviceBlock *>(context);
    release(*block);
    delete block;
}

class NpuAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(size_t bytes) override {
        auto *block = new DeviceBlock(host::allocate(bytes));
        return {reinterpret_cast<void *>(block->address), block, &release_block, kDevice};
    }
    c10::DeleterFnPtr raw_deleter() const override { return nullptr; }  // a bare pointer does not carry its generation
    void copy_data(void *to, const void *from, size_t bytes) const override {
        copy_device(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes);
    }
};
NpuAllocator npu_allocator;  // torch keeps a pointer for the life of the process

struct NpuGuard final : public c10::impl::DeviceGuardImplInterface {
    static constexpr c10::DeviceType static_type = kType;
    c10::DeviceType type() const override { return kType; }
    c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
    c10::Device getDevice() const override { return kDevice; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
    c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }
    void synchronizeDevice(const c10::DeviceIndex) const override {}  // every request has been executed when it returns
    void synchronizeStream(const c10::Stream &) const override {}
    bool queryStream(const c10::Stream &) const override { return true; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, NpuGuard)

struct NpuHooks final : public at::PrivateUse1HooksInterface {
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    c10::DeviceIndex deviceCount() const override { return 1; }
    c10::DeviceIndex getCurrentDevice() const override { return 0; }
    void setCurrentDevice(c10::DeviceIndex) const override {}
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
    at::Device getDeviceFromPtr(void *) const override { return kDevice; }
    void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override {
        TORCH_CHECK(storage.nbytes() == 0 || bytes <= storage.nbytes(), "a storage on the npu device cannot grow: allocate a new tensor");
        if (bytes <= storage.nbytes()) return;
        storage.set_data_ptr_noswap(npu_allocator.allocate(bytes));
        storage.set_nbytes(bytes);
    }
};

struct Registration {
    Registration() {
        c10::SetAllocator(kType, &npu_allocator);
        at::RegisterPrivateUse1HooksInterface(new NpuHooks());  // torch keeps it for the life of the process
    }
} registration;

}  // namespace

c10::Allocator &allocator() { return npu_allocator; }

}  // namespace piton::host
