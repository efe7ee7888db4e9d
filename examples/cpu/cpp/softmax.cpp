// Softmax for the target `cpu`: one pass for the maximum, one for the sum of exponentials, one to divide, in float whatever the element type.
//   piton eval examples/cpu/cpp --target cpu --op softmax --case 15
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <piton/cpu.h>

namespace {

/// Where the rows of an axis lie: `outer` times `inner` rows of `length` elements that are `inner` apart.
struct Rows {
    std::int64_t outer = 1;
    std::int64_t length = 1;
    std::int64_t inner = 1;
};

Rows RowsOf(const piton::Ints &shape, std::int64_t dim) {
    Rows rows;
    const std::int64_t axis = dim < 0 ? dim + shape.size() : dim;
    for (std::int64_t at = 0; at < shape.size(); ++at) {
        (at < axis ? rows.outer : at == axis ? rows.length : rows.inner) *= shape[at];
    }
    return rows;
}

template <typename T>
void Softmax(const T *from, T *to, const Rows &rows) {
    std::vector<float> row(static_cast<std::size_t>(rows.length));
    for (std::int64_t start = 0; start < rows.outer * rows.inner; ++start) {
        const std::int64_t first = start / rows.inner * rows.length * rows.inner + start % rows.inner;
        float most = -std::numeric_limits<float>::infinity();
        for (std::int64_t at = 0; at < rows.length; ++at) {
            row[at] = static_cast<float>(from[first + at * rows.inner]);
            most = std::max(most, row[at]);
        }
        double sum = 0.0;  // a million terms of alike size would lose three digits in float
        for (float &value : row) {
            value = std::exp(value - most);
            sum += value;
        }
        for (std::int64_t at = 0; at < rows.length; ++at) {
            to[first + at * rows.inner] = T(static_cast<float>(row[at] / sum));
        }
    }
}

}  // namespace

namespace kernel {

void softmax(const piton::Tensor &x, std::int64_t dim, const piton::Output &y) {
    const Rows rows = RowsOf(x.shape, dim);
    switch (x.dtype) {
        case piton::DType::float16:
            return Softmax(x.data<piton::Float16>(), y.data<piton::Float16>(), rows);
        case piton::DType::bfloat16:
            return Softmax(x.data<piton::BFloat16>(), y.data<piton::BFloat16>(), rows);
        default:
            return Softmax(x.data<float>(), y.data<float>(), rows);
    }
}

}  // namespace kernel
