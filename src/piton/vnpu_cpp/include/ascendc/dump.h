/*
 * DumpTensor: the elements of a tensor as text.
 *
 * Problem: a kernel is debugged by what its tensors hold at a point of the program.
 * Approach: all pipes are waited for, then the scalar unit reads the elements and prints them as the documentation shows, also in the order of a shape.
 * Limits: tensors in global memory, the unified buffer, L1, L0A, L0B and L0C, which a scalar unit could not read. Of what the call costs on the chip nothing is
 * published; here it costs the loads.
 */
#ifndef PITON_ASCENDC_DUMP_H
#define PITON_ASCENDC_DUMP_H

#include <string>

#include "print.h"
#include "shape_info.h"
#include "sync.h"
#include "tensor.h"

namespace piton {

constexpr uint32_t kDumpBytes = 30 * 1024; /* of one call: documentation page of DumpTensor; more is not printed */

template <typename T>
constexpr const char *DumpedType() {
    switch (kDtype<T>) {
        case VNPU_DT_F16:
            return "float16";
        case VNPU_DT_BF16:
            return "bfloat16";
        case VNPU_DT_F32:
            return "float32";
        case VNPU_DT_BOOL:
            return "bool";
        default:
            return std::is_signed<T>::value ? (sizeof(T) == 1   ? "int8"
                                               : sizeof(T) == 2 ? "int16"
                                               : sizeof(T) == 4 ? "int32"
                                                                : "int64")
                                            : (sizeof(T) == 1   ? "uint8"
                                               : sizeof(T) == 2 ? "uint16"
                                               : sizeof(T) == 4 ? "uint32"
                                                                : "uint64");
    }
}

template <typename T>
PITON_API std::string DumpedValue(T value) {
    const bool isFloat = kDtype<T> == VNPU_DT_F16 || kDtype<T> == VNPU_DT_BF16 || kDtype<T> == VNPU_DT_F32;
    return PrintOne(isFloat ? "%f" : std::is_signed<T>::value ? "%d" : "%u", Widen(value));
}

PITON_API uint64_t SizeOf(const AscendC::ShapeInfo &shape) {
    uint64_t size = 1;
    for (uint32_t i = 0; i < shape.shapeDim; ++i) {
        size *= shape.shape[i];
    }
    return size;
}

/* Where shape and number of elements differ; empty where they agree. */
PITON_API std::string DumpedNotice(uint32_t count, const AscendC::ShapeInfo &shape) {
    const uint64_t size = SizeOf(shape);
    if (size == count) {
        return "";
    }
    std::string text = "shape is [";
    for (uint32_t i = 0; i < shape.shapeDim; ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.shape[i]);
    }
    return text + "], dumpSize is " + std::to_string(count) + (size < count ? ", dumpSize is greater than shapeSize.\n" : ", data is not enough.\n");
}

/* Its name; of the memories around the cube unit those that have a position of their own. */
PITON_API const char *DumpedMemory(const vnpu_operand &operand, Location at) {
    constexpr const char *kNames[] = {"", "GM", "UB", "L1", "L0A", "L0B", "L0C"};
    RequireRange("DumpTensor", 0, operand.space, VNPU_SPACE_GM, VNPU_SPACE_L0C, at);
    return kNames[operand.space];
}

template <typename T>
PITON_API T DumpedElement(vnpu_operand operand, uint64_t index, Location at) {
    const uint64_t bytes = index * sizeof(T);
    operand.addr += bytes;
    operand.limit = operand.space == VNPU_SPACE_GM ? operand.limit : bytes < operand.limit ? static_cast<uint32_t>(operand.limit - bytes) : 0;
    vnpu_record record = MakeNote(VNPU_OP_SCALAR_LOAD, at, sizeof(T), 1);
    record.src0 = operand;
    return FromBits<T>(Fetch(record));
}

/* The first `count` elements in the order of `shape`, brackets around each dimension; "-" for elements that were not dumped. */
template <typename Tensor>
PITON_API std::string DumpedText(const Tensor &tensor, uint32_t count, const AscendC::ShapeInfo &shape, Location at) {
    const uint64_t size = SizeOf(shape);
    std::string text(shape.shapeDim, '[');
    for (uint64_t i = 0; i < size; ++i) {
        text += i < count ? DumpedValue(DumpedElement<typename Tensor::PrimType>(tensor.Operand(), i, at)) : std::string("-");
        uint32_t ended = 0; /* dimensions that end with this element */
        for (uint64_t inside = i + 1, dim = shape.shapeDim; dim > 0 && inside % shape.shape[dim - 1] == 0; inside /= shape.shape[--dim]) {
            ++ended;
        }
        text += std::string(ended, ']');
        if (i + 1 < size) {
            text += ended == 0 ? "," : ",\n" + std::string(ended, '[');
        }
    }
    return text + "\n";
}

template <typename Tensor>
PITON_API void Dump(const Tensor &tensor, uint32_t desc, uint32_t count, const AscendC::ShapeInfo &shape, Location at) {
    using T = typename Tensor::PrimType;
    RequireRange("DumpTensor", 3, shape.shapeDim, 1, AscendC::kMaxShapeDims, at);
    if (uint64_t(count) * sizeof(T) > kDumpBytes) {
        return;
    }
    const vnpu_operand operand = tensor.Operand();
    const char *position = DumpedMemory(operand, at);
    SubmitBarrier(VNPU_PIPE_ALL, VNPU_F_QUEUE, at);
    const Printed values[] = {Widen(desc), Widen(operand.addr), Widen(DumpedType<T>()), Widen(position), Widen(count)};
    SubmitPrint(Format("DumpTensor: desc=%u, addr=0x%x, data_type=%s, position=%s, dump_size=%u\n", values, 5), at);
    SubmitPrint(DumpedNotice(count, shape), at);
    const std::string text = DumpedText(tensor, count, shape, at);
    for (std::size_t from = 0; from < text.size(); from += kPrintBytes) {
        SubmitPrint(text.substr(from, kPrintBytes), at);
    }
}

template <typename T>
PITON_API void PrintBlocks(const AscendC::LocalTensor<T> &tensor, uint32_t count, Location at) {
    constexpr uint32_t line = kBlockBytes / sizeof(T);
    SubmitBarrier(VNPU_PIPE_ALL, VNPU_F_QUEUE, at);
    std::string text;
    for (uint32_t i = 0; i < count; ++i) {
        text += DumpedValue(tensor.GetValue(i, at)) + ((i + 1) % line == 0 || i + 1 == count ? "\n" : " ");
        if (text.size() > kPrintBytes / 2) {
            SubmitPrint(text, at);
            text.clear();
        }
    }
    SubmitPrint(text, at);
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &shapeInfo, piton::Location at = piton::Location()) {
    piton::Dump(tensor, desc, dumpSize, shapeInfo, at);
}
template <typename T>
PITON_API void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, const ShapeInfo &shapeInfo, piton::Location at = piton::Location()) {
    piton::Dump(tensor, desc, dumpSize, shapeInfo, at);
}
template <typename T>
PITON_API void DumpTensor(const LocalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, piton::Location at = piton::Location()) {
    piton::Dump(tensor, desc, dumpSize, ShapeInfo(1, &dumpSize), at);
}
template <typename T>
PITON_API void DumpTensor(const GlobalTensor<T> &tensor, uint32_t desc, uint32_t dumpSize, piton::Location at = piton::Location()) {
    piton::Dump(tensor, desc, dumpSize, ShapeInfo(1, &dumpSize), at);
}

/* As the vendor's CPU twin does: 32 bytes a line. */
template <typename T>
void LocalTensor<T>::Print(piton::Location at) const {
    Print(size_, at);
}
template <typename T>
void LocalTensor<T>::Print(uint32_t len, piton::Location at) const {
    piton::PrintBlocks(*this, len, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_DUMP_H */
