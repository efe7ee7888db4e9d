/*
 * The operators of the torch device "npu": allocation, views and copies. There is no compute: whatever else a submission asks torch to do on the device is
 * refused by name, since a kernel benchmark must not be won with the framework's kernels.
 */
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <torch/library.h>

#include "torch_device.h"
#include "transport.h"

namespace piton::host {

namespace {

using at::Tensor;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

[[noreturn]] void refuse(const char *cause, const std::string &message) {
    notice(cause, message);
    TORCH_CHECK_NOT_IMPLEMENTED(false, message);
}

uint64_t address_of(const Tensor &tensor) { return reinterpret_cast<uint64_t>(tensor.const_data_ptr()); }

Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
    return at::detail::empty_generic_symint(sizes, &allocator(), kKeys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>) {
    return at::detail::empty_strided_generic(sizes, strides, &allocator(), kKeys, c10::dtype_or_default(dtype));
}

// A tensor's bytes form one gapless run from its first element.
void require_dense(const Tensor &tensor) {
    if (tensor.is_non_overlapping_and_dense()) return;
    refuse("strided_copy", "a strided copy has no kernel on the npu device: a submission brings its own");
}

Tensor staging_for(const Tensor &device) { return at::empty_strided(device.sizes(), device.strides(), device.options().device(at::kCPU)); }

void upload(const Tensor &from, const Tensor &to) {
    require_dense(to);
    const Tensor staging = staging_for(to);
    staging.copy_(from);
    copy_in(address_of(to), staging.const_data_ptr(), staging.nbytes());
}

void download(const Tensor &from, const Tensor &to) {
    require_dense(from);
    const Tensor staging = staging_for(from);
    copy_out(staging.mutable_data_ptr(), address_of(from), staging.nbytes());
    to.copy_(staging);
}

void copy_on_device(const Tensor &from, const Tensor &to) {
    if (from.scalar_type() != to.scalar_type())
        refuse("casting_copy",
               c10::str("a cast from ", from.scalar_type(), " to ", to.scalar_type(), " has no kernel on the npu device: a submission brings its own"));
    if (from.sizes() != to.sizes() || from.strides() != to.strides())
        refuse("strided_copy", "a strided copy has no kernel on the npu device: a submission brings its own");
    require_dense(from);
    copy_device(address_of(to), address_of(from), from.nbytes());
}

Tensor copy_from(const Tensor &from, const Tensor &to, bool) {
    if (from.is_cpu()) {
        upload(from, to);
    } else if (to.is_cpu()) {
        download(from, to);
    } else {
        copy_on_device(from, to);
    }
    return to;
}

const Tensor &resize(const Tensor &self, c10::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
    const size_t bytes = c10::multiply_integers(sizes) * self.itemsize() + self.storage_offset() * self.itemsize();
    if (bytes > self.storage().nbytes()) {
        TORCH_CHECK(self.storage().nbytes() == 0, "a tensor on the npu device cannot grow: allocate a new one");
        self.storage().set_data_ptr_noswap(allocator().allocate(bytes));
        self.storage().set_nbytes(bytes);
    }
    self.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return self;
}

Tensor copy_from_and_resize(const Tensor &from, const Tensor &to) {
    if (to.sizes() != from.sizes()) resize(to, from.sizes(), std::nullopt);
    return copy_from(from, to, false);
}

at::Scalar local_scalar(const Tensor &self) {
    const Tensor host = staging_for(self);
    download(self, host);
    return host.item();
}

Tensor &set_storage(Tensor &self, at::Storage source, int64_t offset, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
    auto *impl = self.unsafeGetTensorImpl();
    impl->set_storage_keep_dtype(std::move(source));
    impl->set_storage_offset(offset);
    strides.empty() ? impl->set_sizes_contiguous(sizes) : impl->set_sizes_and_strides(sizes, strides);
    return self;
}

Tensor &set_whole_storage(Tensor &self, at::Storage source) {
    const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
    return set_storage(self, std::move(source), 0, {count}, {});
}

// Anything without a kernel of its own ends here.
void refuse_operator(const c10::OperatorHandle &operation, torch::jit::Stack *) {
    const std::string name = operation.operator_name().name;
    refuse("framework_compute", "operator " + name + " has no kernel on the npu device: a submission brings its own");
}

// A tensor over memory that the parent allocated: it frees nothing.
Tensor adopt(int64_t address, c10::IntArrayRef sizes, at::ScalarType dtype) {
    const size_t bytes = c10::multiply_integers(sizes) * c10::elementSize(dtype);
    c10::DataPtr data(reinterpret_cast<void *>(address), c10::Device(c10::DeviceType::PrivateUse1, 0));
    c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes, std::move(data), nullptr, false));
    Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), kKeys, c10::scalarTypeToTypeMeta(dtype));
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return tensor;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", copy_from_and_resize);
    m.impl("_local_scalar_dense", local_scalar);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", at::native::view);
    m.impl("_reshape_alias", at::native::_reshape_alias);
    m.impl("unfold", at::native::unfold);
    m.impl("resize_", resize);
    m.impl("set_.source_Storage", set_whole_storage);
    m.impl("set_.source_Storage_storage_offset", set_storage);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_operator>()); }

TORCH_LIBRARY(piton, m) { m.def("adopt(int address, int[] sizes, ScalarType dtype) -> Tensor", adopt); }

}  // namespace piton::host
