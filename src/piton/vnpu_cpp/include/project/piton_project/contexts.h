/*
 * The contexts that functions of an operator project are called with: tiling, shape and type inference.
 *
 * Problem: on the chip's host these are views into the graph engine's memory.
 * Approach: one call of the operator as plain data; the contexts are views of it with the vendor's names.
 * Limits: inputs have no data on the host (GetInputTensor(i)->GetData() is null): what depends on values cannot be tiled here.
 */
#ifndef PITON_PROJECT_CONTEXTS_H
#define PITON_PROJECT_CONTEXTS_H

#include <memory>

#include "attributes.h"
#include "platform/platform_resources.h"
#include "tiling_data.h"

namespace piton_project {

/* One call. */
struct Call {
    std::string type;                              /* of the operator, such as AddCustom */
    std::vector<std::vector<gert::Tensor>> inputs; /* by place in the definition: none for an optional one that is left out */
    std::vector<gert::Tensor> present;             /* the same, one after another */
    std::vector<gert::Shape> output_shapes;
    std::vector<ge::DataType> output_types;
    gert::RuntimeAttrs attributes;
    fe::PlatFormInfos platform;
};

/* What all contexts answer. */
class Context {
public:
    explicit Context(Call &call) : call_(call) {}

    const char *GetNodeName() const { return call_.type.c_str(); }
    const char *GetNodeType() const { return call_.type.c_str(); }
    const gert::RuntimeAttrs *GetAttrs() const { return &call_.attributes; }
    const Context *GetComputeNodeInfo() const { return this; }
    std::size_t GetInputsNum() const { return call_.present.size(); }
    std::size_t GetOutputsNum() const { return call_.output_types.size(); }
    /* Atomic additions of the engine happen in one order, so that every kernel is deterministic without being asked. */
    int32_t GetDeterministic() const { return 0; }
    int32_t GetDeterministicLevel() const { return 0; }
    std::size_t GetComputeNodeInputNum() const { return call_.present.size(); }
    std::size_t GetComputeNodeOutputNum() const { return call_.output_types.size(); }
    const gert::Tensor *GetInputTensor(std::size_t index) const { return index < call_.present.size() ? &call_.present[index] : nullptr; }
    const gert::Tensor *GetOptionalInputTensor(std::size_t index) const { return Slot(index, 0); }
    const gert::Tensor *GetRequiredInputTensor(std::size_t index) const { return Slot(index, 0); }
    const gert::Tensor *GetDynamicInputTensor(std::size_t index, std::size_t relative) const { return Slot(index, relative); }

protected:
    const gert::Tensor *Slot(std::size_t index, std::size_t relative) const {
        return index < call_.inputs.size() && relative < call_.inputs[index].size() ? &call_.inputs[index][relative] : nullptr;
    }

    Call &call_;
};

}  // namespace piton_project

namespace gert {

class InferShapeContext : public piton_project::Context {
public:
    using Context::Context;
    const Shape *GetInputShape(std::size_t index) const { return Of(GetInputTensor(index)); }
    const Shape *GetOptionalInputShape(std::size_t index) const { return Of(Slot(index, 0)); }
    const Shape *GetRequiredInputShape(std::size_t index) const { return Of(Slot(index, 0)); }
    const Shape *GetDynamicInputShape(std::size_t index, std::size_t relative) const { return Of(Slot(index, relative)); }
    Shape *GetOutputShape(std::size_t index) { return index < call_.output_shapes.size() ? &call_.output_shapes[index] : nullptr; }

private:
    static const Shape *Of(const Tensor *tensor) { return tensor == nullptr ? nullptr : &tensor->GetOriginShape(); }
};

class InferDataTypeContext : public piton_project::Context {
public:
    using Context::Context;
    ge::DataType GetInputDataType(std::size_t index) const { return Of(GetInputTensor(index)); }
    ge::DataType GetOptionalInputDataType(std::size_t index) const { return Of(Slot(index, 0)); }
    ge::DataType GetRequiredInputDataType(std::size_t index) const { return Of(Slot(index, 0)); }
    ge::DataType GetDynamicInputDataType(std::size_t index, std::size_t relative) const { return Of(Slot(index, relative)); }
    ge::DataType GetOutputDataType(std::size_t index) const { return index < call_.output_types.size() ? call_.output_types[index] : ge::DT_UNDEFINED; }
    ge::graphStatus SetOutputDataType(std::size_t index, ge::DataType type) {
        if (index >= call_.output_types.size()) {
            return ge::GRAPH_FAILED;
        }
        call_.output_types[index] = type;
        return ge::GRAPH_SUCCESS;
    }

private:
    static ge::DataType Of(const Tensor *tensor) { return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType(); }
};

/* Before tiling: fills what the tiling function gets as compile info. */
class TilingParseContext : public piton_project::Context {
public:
    TilingParseContext(piton_project::Call &call, void *info) : Context(call), info_(info) {}
    fe::PlatFormInfos *GetPlatformInfo() const { return &call_.platform; }
    template <typename T>
    T *GetCompiledInfo() const {
        return static_cast<T *>(info_);
    }

private:
    void *info_;
};

class TilingContext : public piton_project::Context {
public:
    explicit TilingContext(piton_project::Call &call) : Context(call) {
        for (const Tensor &tensor : call.present) {
            input_shapes_.emplace_back(tensor.GetOriginShape());
            input_descs_.emplace_back(tensor.GetDataType());
        }
        for (std::size_t i = 0; i < call.output_types.size(); ++i) {
            output_shapes_.emplace_back(call.output_shapes[i]);
            output_descs_.emplace_back(call.output_types[i]);
        }
    }

    const StorageShape *GetInputShape(std::size_t index) const { return At(input_shapes_, index); }
    const StorageShape *GetOptionalInputShape(std::size_t index) const { return At(input_shapes_, Present(index, 0)); }
    const StorageShape *GetRequiredInputShape(std::size_t index) const { return At(input_shapes_, Present(index, 0)); }
    const StorageShape *GetDynamicInputShape(std::size_t index, std::size_t relative) const { return At(input_shapes_, Present(index, relative)); }
    const StorageShape *GetOutputShape(std::size_t index) const { return At(output_shapes_, index); }
    const CompileTimeTensorDesc *GetInputDesc(std::size_t index) const { return At(input_descs_, index); }
    const CompileTimeTensorDesc *GetOptionalInputDesc(std::size_t index) const { return At(input_descs_, Present(index, 0)); }
    const CompileTimeTensorDesc *GetRequiredInputDesc(std::size_t index) const { return At(input_descs_, Present(index, 0)); }
    const CompileTimeTensorDesc *GetDynamicInputDesc(std::size_t index, std::size_t relative) const { return At(input_descs_, Present(index, relative)); }
    const CompileTimeTensorDesc *GetOutputDesc(std::size_t index) const { return At(output_descs_, index); }
    fe::PlatFormInfos *GetPlatformInfo() const { return &call_.platform; }

    const void *GetCompileInfo() const { return info_; }
    template <typename T>
    const T *GetCompileInfo() const {
        return static_cast<const T *>(info_);
    }
    void SetCompileInfo(const void *info) { info_ = info; }

    ge::graphStatus SetBlockDim(uint32_t blocks) {
        blocks_ = blocks;
        return ge::GRAPH_SUCCESS;
    }
    ge::graphStatus SetSimdNumBlocks(uint32_t blocks) { return SetBlockDim(blocks); }
    uint32_t GetBlockDim() const { return blocks_; }
    ge::graphStatus SetTilingKey(uint64_t key) {
        key_ = key;
        return ge::GRAPH_SUCCESS;
    }
    uint64_t GetTilingKey() const { return key_; }
    ge::graphStatus SetScheduleMode(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetLocalMemorySize(uint32_t) { return ge::GRAPH_SUCCESS; }

    TilingData *GetRawTilingData() { return &data_; }
    /* A structure at the beginning of the data, with the values its members are declared with. */
    template <typename T>
    T *GetTilingData() {
        static_assert(sizeof(T) <= TilingData::kCapacity, "tiling data: at most 4096 bytes");
        data_.SetDataSize(sizeof(T));
        return new (data_.GetData()) T();
    }
    std::size_t *GetWorkspaceSizes(std::size_t count) {
        workspaces_.resize(count > workspaces_.size() ? count : workspaces_.size());
        return workspaces_.data();
    }
    std::size_t GetWorkspaceNum() const { return workspaces_.size(); }

    const std::vector<std::size_t> &Workspaces() const { return workspaces_; }

private:
    template <typename T>
    static const T *At(const std::vector<T> &values, std::size_t index) {
        return index < values.size() ? &values[index] : nullptr;
    }
    /* Where an input of the definition is among those that are there. */
    std::size_t Present(std::size_t index, std::size_t relative) const {
        if (Slot(index, relative) == nullptr) {
            return input_shapes_.size();
        }
        std::size_t before = relative;
        for (std::size_t i = 0; i < index; ++i) {
            before += call_.inputs[i].size();
        }
        return before;
    }

    std::vector<StorageShape> input_shapes_, output_shapes_;
    std::vector<CompileTimeTensorDesc> input_descs_, output_descs_;
    const void *info_ = nullptr;
    uint32_t blocks_ = 0;
    uint64_t key_ = 0;
    TilingData data_;
    std::vector<std::size_t> workspaces_;
};

}  // namespace gert

#endif /* PITON_PROJECT_CONTEXTS_H */
