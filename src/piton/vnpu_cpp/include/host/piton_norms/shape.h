/*
 * ge::Shape, which host code of the high-level functions calls AscendC::TensorShape: the length of each dimension.
 *
 * Limits: lengths only, -1 and -2 (unknown) are kept as they are.
 */
#ifndef PITON_NORMS_SHAPE_H
#define PITON_NORMS_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ge {

class Shape {
public:
    Shape() = default;
    explicit Shape(const std::vector<int64_t> &dims) : dims_(dims) {}

    std::size_t GetDimNum() const { return dims_.size(); }
    /* 0 where there is no such dimension, as the vendor's class has it. */
    int64_t GetDim(std::size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
    bool SetDim(std::size_t index, int64_t value) {
        if (index >= dims_.size()) {
            return false;
        }
        dims_[index] = value;
        return true;
    }
    const std::vector<int64_t> &GetDims() const { return dims_; }
    /* The number of elements; 0 without dimensions. */
    int64_t GetShapeSize() const {
        int64_t size = dims_.empty() ? 0 : 1;
        for (const int64_t dim : dims_) {
            size *= dim;
        }
        return size;
    }

private:
    std::vector<int64_t> dims_;
};

}  // namespace ge

namespace AscendC {

using TensorShape = ge::Shape;

}  // namespace AscendC

#endif /* PITON_NORMS_SHAPE_H */
