/*
 * Shapes of outputs that many operators have in common, and whole numbers of inputs whose values host code reads.
 *
 * Problem and approach: public operators share functions for outputs shaped like their input, like two inputs broadcast together, or like an input without
 * some axes; they are the usual rules, here for contexts of a call, where every dimension is known.
 * Limits: no unknown dimensions (-1, -2), which occur only while a graph is built.
 */
#ifndef PITON_PROJECT_INFER_H
#define PITON_PROJECT_INFER_H

#include <algorithm>

#include "report.h"

namespace Ops {
namespace Base {

/* Sizes count from the last axis; one of 1 stretches. False if two sizes do not go together. */
inline bool BroadcastShape(const gert::Shape *a, const gert::Shape *b, gert::Shape *to) {
    const std::size_t rank = std::max(a->GetDimNum(), b->GetDimNum());
    gert::Shape made;
    for (std::size_t i = 0; i < rank; ++i) {
        const int64_t first = i + a->GetDimNum() < rank ? 1 : a->GetDim(i + a->GetDimNum() - rank);
        const int64_t second = i + b->GetDimNum() < rank ? 1 : b->GetDim(i + b->GetDimNum() - rank);
        if (first != second && first != 1 && second != 1) {
            return false;
        }
        made.AppendDim(first == 1 ? second : first);
    }
    *to = made;
    return true;
}

inline bool BroadcastShape(const std::vector<const gert::Shape *> &shapes, gert::Shape *to) {
    gert::Shape made;
    for (const gert::Shape *shape : shapes) {
        if (shape == nullptr || !BroadcastShape(&made, shape, &made)) {
            return false;
        }
    }
    *to = made;
    return true;
}

inline ge::graphStatus InferShape4Elewise(gert::InferShapeContext *context) {
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputShape(0));
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(0));
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}

/* Output 0 from the first `count` inputs. */
inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context, std::size_t count) {
    std::vector<const gert::Shape *> shapes;
    std::string shown;
    for (std::size_t i = 0; i < count; ++i) {
        OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputShape(i));
        shapes.push_back(context->GetInputShape(i));
        shown += (i == 0 ? "" : ", ") + ToString(*shapes.back());
    }
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(0));
    OP_CHECK_IF(!BroadcastShape(shapes, context->GetOutputShape(0)), OP_LOGE(context, "shapes %s do not broadcast", shown.c_str()), return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}

inline ge::graphStatus InferShape4Broadcast(gert::InferShapeContext *context) { return InferShape4Broadcast(context, 2); }

/* The values of an input of int32 or int64; empty if it has another type or host code may not read them. */
template <typename Context>
std::vector<int64_t> WholeNumbers(const Context *context, std::size_t index) {
    const gert::Tensor *tensor = context->GetInputTensor(index);
    std::vector<int64_t> values;
    const ge::DataType type = tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
    if (tensor == nullptr || tensor->GetAddr() == nullptr || (type != ge::DT_INT32 && type != ge::DT_INT64)) {
        return values;
    }
    for (int64_t i = 0; i < tensor->GetShapeSize(); ++i) {
        values.push_back(type == ge::DT_INT32 ? tensor->template GetData<int32_t>()[i] : tensor->template GetData<int64_t>()[i]);
    }
    return values;
}

/* Is that what WholeNumbers gives of a tensor that is there and can be read? */
inline bool AreAllOf(const gert::Tensor *tensor, const std::vector<int64_t> &values) {
    return tensor != nullptr && tensor->GetShapeSize() == static_cast<int64_t>(values.size());
}

template <typename Context>
bool GetConstInt(const Context *context, std::size_t index, int64_t &value) {
    const std::vector<int64_t> values = WholeNumbers(context, index);
    value = values.empty() ? value : values[0];
    return !values.empty();
}

template <typename Context>
bool GetConstIntToShape(const Context *context, std::size_t index, gert::Shape &shape) {
    const std::vector<int64_t> values = WholeNumbers(context, index);
    shape = gert::Shape();
    for (const int64_t value : values) {
        shape.AppendDim(value);
    }
    return AreAllOf(context->GetInputTensor(index), values);
}

/* Axes may count from the end. False for one that is not there. */
inline bool ReducedShape(const gert::Shape &from, const std::vector<int64_t> &axes, bool keeps_axes, gert::Shape &to) {
    const auto rank = static_cast<int64_t>(from.GetDimNum());
    std::vector<bool> is_gone(from.GetDimNum());
    for (const int64_t axis : axes) {
        if (axis < -rank || axis >= rank) {
            return false;
        }
        is_gone[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
    }
    gert::Shape made;
    for (std::size_t i = 0; i < is_gone.size(); ++i) {
        if (!is_gone[i] || keeps_axes) {
            made.AppendDim(is_gone[i] ? 1 : from.GetDim(i));
        }
    }
    to = made;
    return true;
}

template <typename T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape *from, const T *axes, std::size_t count, gert::Shape *to) {
    return ReducedShape(*from, {axes, axes + count}, true, *to) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

template <typename T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape *from, const T *axes, std::size_t count, gert::Shape *to) {
    return ReducedShape(*from, {axes, axes + count}, false, *to) ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
}

/* Axes are the values of input 1, attribute 0 says whether they stay as 1. */
inline ge::graphStatus InferShape4Reduce(gert::InferShapeContext *context) {
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetInputShape(0));
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetAttrs()->GetBool(0));
    OP_CHECK_NULL_WITH_CONTEXT(context, context->GetOutputShape(0));
    const gert::Tensor *given = context->GetInputTensor(1);
    OP_CHECK_IF(given == nullptr || (given->GetAddr() == nullptr && given->GetShapeSize() != 0),
                OP_LOGE(context, "the axes, which are the values of input 1, may not be read here: give it ValueDepend in the OpDef"), return ge::GRAPH_FAILED);
    const std::vector<int64_t> axes = WholeNumbers(context, 1);
    OP_CHECK_IF(!AreAllOf(given, axes), OP_LOGE(context, "the axes, which are the values of input 1, have to be of int32 or int64"), return ge::GRAPH_FAILED);
    OP_CHECK_IF(!ReducedShape(*context->GetInputShape(0), axes, *context->GetAttrs()->GetBool(0), *context->GetOutputShape(0)),
                OP_LOGE(context, "an axis is not one of shape %s", ToString(*context->GetInputShape(0)).c_str()), return ge::GRAPH_FAILED);
    return ge::GRAPH_SUCCESS;
}

}  // namespace Base
}  // namespace Ops

#endif /* PITON_PROJECT_INFER_H */
