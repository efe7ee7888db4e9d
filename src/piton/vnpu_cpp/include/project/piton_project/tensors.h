/*
 * gert::Tensor and what describes one: type, formats, shape, and the values where host code may read them.
 *
 * Problem: host code asks for tensors by several views (shape, description, tensor), and some tiling depends on values.
 * Approach: one plain class keeps all; a tensor has values only if the definition says that host code reads them (ValueDepend), as on the chip's host.
 * Limits: origin and storage format are the same.
 */
#ifndef PITON_PROJECT_TENSORS_H
#define PITON_PROJECT_TENSORS_H

#include <memory>
#include <vector>

#include "types.h"

namespace gert {

/* Both formats of a tensor. */
class StorageFormat {
public:
    StorageFormat() = default;
    explicit StorageFormat(ge::Format format) : format_(format) {}
    ge::Format GetOriginFormat() const { return format_; }
    ge::Format GetStorageFormat() const { return format_; }

private:
    ge::Format format_ = ge::FORMAT_ND;
};

/* Type and format of a tensor. */
class CompileTimeTensorDesc {
public:
    CompileTimeTensorDesc() = default;
    explicit CompileTimeTensorDesc(ge::DataType type, ge::Format format = ge::FORMAT_ND) : type_(type), format_(format) {}
    ge::DataType GetDataType() const { return type_; }
    const StorageFormat &GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }

private:
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
};

class Tensor {
public:
    Tensor() = default;
    Tensor(const Shape &shape, ge::DataType type) : shape_(shape), type_(type) {}
    const Shape &GetOriginShape() const { return shape_.GetOriginShape(); }
    const Shape &GetStorageShape() const { return shape_.GetStorageShape(); }
    const StorageShape &GetShape() const { return shape_; }
    ge::DataType GetDataType() const { return type_; }
    const StorageFormat &GetFormat() const { return format_; }
    ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
    ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
    void SetDataType(ge::DataType type) { type_ = type; }
    void SetFormat(ge::Format format) { format_ = StorageFormat(format); }
    int64_t GetShapeSize() const { return GetStorageShape().GetShapeSize(); }
    std::size_t GetSize() const { return static_cast<std::size_t>(GetShapeSize()) * static_cast<std::size_t>(ge::GetSizeByDataType(type_)); }
    /* Null where host code may not read values. */
    template <typename T>
    const T *GetData() const {
        return static_cast<const T *>(GetAddr());
    }
    const void *GetAddr() const { return values_ == nullptr ? nullptr : values_->data(); }
    void SetValues(std::vector<unsigned char> values) { values_ = std::make_shared<const std::vector<unsigned char>>(std::move(values)); }

private:
    StorageShape shape_;
    ge::DataType type_ = ge::DT_UNDEFINED;
    StorageFormat format_;
    std::shared_ptr<const std::vector<unsigned char>> values_;
};

/* Which of a call's tensors belong to one parameter: how many, and the place of the first. */
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(std::size_t start, std::size_t count) : start_(start), count_(count) {}
    std::size_t GetInstanceNum() const { return count_; }
    std::size_t GetInstanceStart() const { return start_; }

private:
    std::size_t start_ = 0, count_ = 0;
};

/* The least and the greatest shape that is possible: while a graph is built. */
template <typename T>
class Range {
public:
    Range() = default;
    Range(T *least, T *greatest) : least_(least), greatest_(greatest) {}
    const T *GetMin() const { return least_; }
    const T *GetMax() const { return greatest_; }
    T *GetMin() { return least_; }
    T *GetMax() { return greatest_; }
    void SetMin(T *value) { least_ = value; }
    void SetMax(T *value) { greatest_ = value; }

private:
    T *least_ = nullptr, *greatest_ = nullptr;
};

}  // namespace gert

#endif /* PITON_PROJECT_TENSORS_H */
