/*
 * What a kernel of an operator project is launched with: one address per parameter of the definition, workspace and tiling data.
 *
 * Problem: a parameter that is a list reaches a kernel as one address, too.
 * Approach: behind it lies the documented table that ListTensorDesc reads (ascendc/list_tensor.h), in 64-bit words: the offset of the addresses in bytes; per
 * tensor a word of dimensions and place and then its sizes; one address per tensor. The memory lives as long as this object.
 * Limits: an empty list has a table without tensors.
 */
#ifndef PITON_PROJECT_ARGUMENTS_H
#define PITON_PROJECT_ARGUMENTS_H

#include "torch_types.h"

namespace piton_project {

inline at::Tensor OnDevice(const at::Tensor &host) {
    const at::Tensor made = at::empty(host.sizes(), host.options().device(c10::DeviceType::PrivateUse1));
    if (host.numel() != 0) {
        made.copy_(host);
    }
    return made;
}

class Arguments {
public:
    void Add(const ops::OpParamDef &parameter, const std::vector<at::Tensor> &tensors) {
        if (parameter.kind == ops::DYNAMIC) {
            Keep(OnDevice(Table(tensors)));
        } else {
            addresses_.push_back(tensors.empty() ? nullptr : tensors[0].data_ptr());
        }
    }

    /* Null for no bytes. */
    void AddBytes(std::size_t count) {
        const auto options = at::TensorOptions().device(c10::DeviceType::PrivateUse1).dtype(at::kByte);
        count == 0 ? addresses_.push_back(nullptr) : Keep(at::empty({static_cast<int64_t>(count)}, options));
    }
    void AddBytes(const std::vector<unsigned char> &bytes) {
        AddBytes(bytes.size());
        if (!bytes.empty()) {
            kept_.back().copy_(at::from_blob(const_cast<unsigned char *>(bytes.data()), {static_cast<int64_t>(bytes.size())}, at::kByte));
        }
    }

    const std::vector<void *> &Addresses() const { return addresses_; }

private:
    static at::Tensor Table(const std::vector<at::Tensor> &tensors) {
        std::vector<int64_t> words(1);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            words.push_back(static_cast<int64_t>(i << 32) | tensors[i].dim());
            words.insert(words.end(), tensors[i].sizes().begin(), tensors[i].sizes().end());
        }
        words[0] = static_cast<int64_t>(words.size() * sizeof(int64_t));
        for (const at::Tensor &tensor : tensors) {
            words.push_back(static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data_ptr())));
        }
        return at::from_blob(words.data(), {static_cast<int64_t>(words.size())}, at::kLong).clone();
    }

    void Keep(const at::Tensor &tensor) {
        kept_.push_back(tensor);
        addresses_.push_back(tensor.data_ptr());
    }

    std::vector<at::Tensor> kept_;
    std::vector<void *> addresses_;
};

}  // namespace piton_project

#endif /* PITON_PROJECT_ARGUMENTS_H */
