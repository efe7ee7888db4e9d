/*
 * ge::DataType, ge::Format, gert::Shape: what host code of an operator project describes tensors with.
 *
 * Problem: op_host code speaks of tensors in the types of the vendor's graph engine.
 * Approach: their names and documented values, as plain classes.
 * Limits: shapes have at most 25 dimensions, as documented; storage and origin shapes are the same, since only dense layouts are there.
 */
#ifndef PITON_PROJECT_TYPES_H
#define PITON_PROJECT_TYPES_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0;
constexpr graphStatus GRAPH_FAILED = 0xFFFFFFFF;
constexpr graphStatus GRAPH_PARAM_INVALID = 50331649;

enum DataType : int32_t {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_QINT8 = 18,
    DT_QINT16 = 19,
    DT_QINT32 = 20,
    DT_QUINT8 = 21,
    DT_QUINT16 = 22,
    DT_BF16 = 27,
    DT_UNDEFINED = 28,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_INT2 = 31,
    DT_UINT2 = 32,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
    DT_MAX = 42,
};

/* In the order of the public list of C_FORMAT_* (Tiling template programming); the numbers follow from it. */
enum Format : int32_t {
    FORMAT_NCHW = 0,
    FORMAT_NHWC = 1,
    FORMAT_ND = 2,
    FORMAT_NC1HWC0 = 3,
    FORMAT_FRACTAL_Z = 4,
    FORMAT_NC1C0HWPAD = 5,
    FORMAT_NHWC1C0 = 6,
    FORMAT_FSR_NCHW = 7,
    FORMAT_FRACTAL_DECONV = 8,
    FORMAT_C1HWNC0 = 9,
    FORMAT_NC1HWC0_C04 = 12,
    FORMAT_FRACTAL_Z_C04 = 13,
    FORMAT_CHWN = 14,
    FORMAT_HWCN = 16,
    FORMAT_C1HWNCoC0 = 25,
    FORMAT_MD = 26,
    FORMAT_NDHWC = 27,
    FORMAT_FRACTAL_ZZ = 28,
    FORMAT_FRACTAL_NZ = 29,
    FORMAT_NCDHW = 30,
    FORMAT_DHWCN = 31,
    FORMAT_NDC1HWC0 = 32,
    FORMAT_FRACTAL_Z_3D = 33,
    FORMAT_CN = 34,
    FORMAT_NC = 35,
    FORMAT_DHWNC = 36,
    FORMAT_NCL = 47,
    FORMAT_FRACTAL_NZ_C0_16 = 50,
    FORMAT_FRACTAL_NZ_C0_32 = 51,
    FORMAT_FRACTAL_NZ_C0_2 = 52,
    FORMAT_FRACTAL_NZ_C0_4 = 53,
    FORMAT_FRACTAL_NZ_C0_8 = 54,
    FORMAT_END = 55,
};

/* Bytes of one element; -1 for a type that has none. */
inline int GetSizeByDataType(DataType type) {
    switch (type) {
        case DT_INT8:
        case DT_UINT8:
        case DT_BOOL:
        case DT_HIFLOAT8:
        case DT_FLOAT8_E5M2:
        case DT_FLOAT8_E4M3FN:
        case DT_FLOAT8_E8M0:
            return 1;
        case DT_FLOAT16:
        case DT_BF16:
        case DT_INT16:
        case DT_UINT16:
            return 2;
        case DT_FLOAT:
        case DT_INT32:
        case DT_UINT32:
        case DT_COMPLEX32:
            return 4;
        case DT_INT64:
        case DT_UINT64:
        case DT_DOUBLE:
        case DT_COMPLEX64:
            return 8;
        case DT_COMPLEX128:
            return 16;
        default:
            return -1;
    }
}

}  // namespace ge

namespace gert {

class Shape {
public:
    static constexpr std::size_t kMaxDimNum = 25;

    Shape() = default;
    Shape(std::initializer_list<int64_t> dims) {
        for (const int64_t dim : dims) {
            AppendDim(dim);
        }
    }

    std::size_t GetDimNum() const { return count_; }
    void SetDimNum(std::size_t count) { count_ = count <= kMaxDimNum ? count : kMaxDimNum; }
    int64_t GetDim(std::size_t index) const { return index < count_ ? dims_[index] : 0; }
    void SetDim(std::size_t index, int64_t value) {
        if (index < kMaxDimNum) {
            dims_[index] = value;
        }
    }
    Shape &AppendDim(int64_t value) {
        if (count_ < kMaxDimNum) {
            dims_[count_++] = value;
        }
        return *this;
    }
    int64_t operator[](std::size_t index) const { return dims_[Checked(index)]; }
    int64_t &operator[](std::size_t index) { return dims_[Checked(index)]; }
    /* Of all dimensions: the number of elements. */
    int64_t GetShapeSize() const {
        int64_t size = 1;
        for (std::size_t i = 0; i < count_; ++i) {
            size *= dims_[i];
        }
        return size;
    }
    bool IsScalar() const { return count_ == 0; }
    bool operator==(const Shape &other) const {
        bool is_equal = count_ == other.count_;
        for (std::size_t i = 0; is_equal && i < count_; ++i) {
            is_equal = dims_[i] == other.dims_[i];
        }
        return is_equal;
    }
    bool operator!=(const Shape &other) const { return !(*this == other); }

private:
    static std::size_t Checked(std::size_t index) {
        if (index >= kMaxDimNum) {
            throw std::out_of_range("gert::Shape: dimension " + std::to_string(index) + " of at most 25");
        }
        return index;
    }

    int64_t dims_[kMaxDimNum] = {};
    std::size_t count_ = 0;
};

class StorageShape {
public:
    StorageShape() = default;
    explicit StorageShape(const Shape &shape) : shape_(shape) {}
    const Shape &GetOriginShape() const { return shape_; }
    const Shape &GetStorageShape() const { return shape_; }
    Shape &MutableOriginShape() { return shape_; }
    Shape &MutableStorageShape() { return shape_; }
    bool operator==(const StorageShape &other) const { return shape_ == other.shape_; }
    bool operator!=(const StorageShape &other) const { return !(*this == other); }

private:
    Shape shape_;
};

}  // namespace gert

#endif /* PITON_PROJECT_TYPES_H */
