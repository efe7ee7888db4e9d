/*
 * Element types of torch and of the project's host code, and numbers of a call as tensors.
 *
 * Problem: a definition may want as a tensor what the operator is called with as a number or a list of numbers (a scalar, axes, sizes).
 * Approach: torch converts them on the host to the element type that the definition's row has.
 * Limits: complex numbers and the eight-bit floats are not there, since the chip has none.
 */
#ifndef PITON_PROJECT_TORCH_TYPES_H
#define PITON_PROJECT_TORCH_TYPES_H

#include "piton_torch.h"
#include "rows.h"

namespace piton_project {

inline ge::DataType TypeOf(at::ScalarType type) {
    static const std::map<at::ScalarType, ge::DataType> types = {
        {at::kFloat, ge::DT_FLOAT},   {at::kHalf, ge::DT_FLOAT16},  {at::kBFloat16, ge::DT_BF16}, {at::kInt, ge::DT_INT32}, {at::kLong, ge::DT_INT64},
        {at::kShort, ge::DT_INT16},   {at::kChar, ge::DT_INT8},     {at::kByte, ge::DT_UINT8},    {at::kBool, ge::DT_BOOL}, {at::kDouble, ge::DT_DOUBLE},
        {at::kUInt16, ge::DT_UINT16}, {at::kUInt32, ge::DT_UINT32}, {at::kUInt64, ge::DT_UINT64},
    };
    const auto found = types.find(type);
    return found == types.end() ? ge::DT_UNDEFINED : found->second;
}

inline at::ScalarType TorchTypeOf(ge::DataType type) {
    for (const at::ScalarType candidate : {at::kFloat, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kShort, at::kChar, at::kByte, at::kBool, at::kDouble,
                                           at::kUInt16, at::kUInt32, at::kUInt64}) {
        if (TypeOf(candidate) == type) {
            return candidate;
        }
    }
    throw std::runtime_error("element type " + NameOf(type) + " has no torch type");
}

/* Numbers of a call as a tensor on the host, in double precision or whole; undefined for any other value. */
inline at::Tensor Numbers(const c10::IValue &value) {
    const auto wholes = at::TensorOptions().dtype(at::kLong);
    const auto reals = at::TensorOptions().dtype(at::kDouble);
    if (value.isInt() || value.isBool()) {
        return at::full({1}, value.isInt() ? value.toInt() : static_cast<int64_t>(value.toBool()), wholes);
    }
    if (value.isDouble()) {
        return at::full({1}, value.toDouble(), reals);
    }
    if (value.isIntList()) {
        const std::vector<int64_t> list = value.toIntVector();
        return at::from_blob(const_cast<int64_t *>(list.data()), {static_cast<int64_t>(list.size())}, wholes).clone();
    }
    if (value.isDoubleList()) {
        const std::vector<double> list = value.toDoubleVector();
        return at::from_blob(const_cast<double *>(list.data()), {static_cast<int64_t>(list.size())}, reals).clone();
    }
    return {};
}

inline std::vector<unsigned char> BytesOf(const at::Tensor &host) {
    const auto *first = static_cast<const unsigned char *>(host.const_data_ptr());
    return {first, first + host.nbytes()};
}

}  // namespace piton_project

#endif /* PITON_PROJECT_TORCH_TYPES_H */
