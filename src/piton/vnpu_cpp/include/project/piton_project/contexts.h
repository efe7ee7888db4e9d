/*
 * The contexts that functions of an operator project are called with: tiling, shape and type inference.
 *
 * Problem: each function sees its own part of a call, and writes its own results.
 * Approach: views of a call (call.h) with the vendor's names.
 * Limits: ranges of shapes (InferShapeRange) are for graphs that are built before their shapes are known; such a function compiles and is never called.
 */
#ifndef PITON_PROJECT_CONTEXTS_H
#define PITON_PROJECT_CONTEXTS_H

#include "call.h"

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

class InferShapeRangeContext : public piton_project::Context {
public:
    using Context::Context;
    const Range<Shape> *GetInputShapeRange(std::size_t) const { return nullptr; }
    const Range<Shape> *GetOptionalInputShapeRange(std::size_t) const { return nullptr; }
    const Range<Shape> *GetRequiredInputShapeRange(std::size_t) const { return nullptr; }
    const Range<Shape> *GetDynamicInputShapeRange(std::size_t, std::size_t) const { return nullptr; }
    Range<Shape> *GetOutputShapeRange(std::size_t) { return nullptr; }
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
        for (const Shape &shape : call.output_shapes) {
            output_shapes_.emplace_back(shape);
        }
    }

    const StorageShape *GetInputShape(std::size_t index) const { return Of(GetInputTensor(index)); }
    const StorageShape *GetOptionalInputShape(std::size_t index) const { return Of(Slot(index, 0)); }
    const StorageShape *GetRequiredInputShape(std::size_t index) const { return Of(Slot(index, 0)); }
    const StorageShape *GetDynamicInputShape(std::size_t index, std::size_t relative) const { return Of(Slot(index, relative)); }
    const StorageShape *GetOutputShape(std::size_t index) const { return At(output_shapes_, index); }
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
    bool NeedAtomic() const { return false; }
    ge::graphStatus SetTilingCond(int32_t condition) {
        condition_ = condition;
        return ge::GRAPH_SUCCESS;
    }
    int32_t GetTilingCond() const { return condition_; }
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
    static const StorageShape *Of(const Tensor *tensor) { return tensor == nullptr ? nullptr : &tensor->GetShape(); }

    std::vector<StorageShape> output_shapes_;
    const void *info_ = nullptr;
    uint32_t blocks_ = 0;
    uint64_t key_ = 0;
    int32_t condition_ = 0;
    TilingData data_;
    std::vector<std::size_t> workspaces_;
};

}  // namespace gert

#endif /* PITON_PROJECT_CONTEXTS_H */
