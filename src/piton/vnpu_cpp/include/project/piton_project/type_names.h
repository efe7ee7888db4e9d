/*
 * Element types and formats as text, for messages of host code.
 *
 * Problem and approach: host code prints types by ge::TypeUtils; the names are those of the enumerations.
 * Limits: a format has no sub-format here, so that its primary format is itself.
 */
#ifndef PITON_PROJECT_TYPE_NAMES_H
#define PITON_PROJECT_TYPE_NAMES_H

#include <map>

#include "types.h"

namespace ge {

/* Text with the vendor's accessors. */
class AscendString {
public:
    AscendString() = default;
    AscendString(const char *text) : text_(text == nullptr ? "" : text) {}
    const char *GetString() const { return text_.c_str(); }
    std::size_t GetLength() const { return text_.size(); }
    bool operator==(const AscendString &other) const { return text_ == other.text_; }
    bool operator<(const AscendString &other) const { return text_ < other.text_; }

private:
    std::string text_;
};

inline Format GetPrimaryFormat(int32_t format) { return static_cast<Format>(format & 0xff); }

class TypeUtils {
public:
    static std::string DataTypeToSerialString(DataType type) {
#define PITON_NAMED(name) \
    {                     \
        name, #name       \
    }
        static const std::map<DataType, const char *> names = {
            PITON_NAMED(DT_FLOAT),       PITON_NAMED(DT_FLOAT16),     PITON_NAMED(DT_INT8),          PITON_NAMED(DT_INT32),       PITON_NAMED(DT_UINT8),
            PITON_NAMED(DT_INT16),       PITON_NAMED(DT_UINT16),      PITON_NAMED(DT_UINT32),        PITON_NAMED(DT_INT64),       PITON_NAMED(DT_UINT64),
            PITON_NAMED(DT_DOUBLE),      PITON_NAMED(DT_BOOL),        PITON_NAMED(DT_STRING),        PITON_NAMED(DT_COMPLEX64),   PITON_NAMED(DT_COMPLEX128),
            PITON_NAMED(DT_BF16),        PITON_NAMED(DT_INT4),        PITON_NAMED(DT_UINT1),         PITON_NAMED(DT_INT2),        PITON_NAMED(DT_COMPLEX32),
            PITON_NAMED(DT_HIFLOAT8),    PITON_NAMED(DT_FLOAT8_E5M2), PITON_NAMED(DT_FLOAT8_E4M3FN), PITON_NAMED(DT_FLOAT8_E8M0), PITON_NAMED(DT_FLOAT4_E2M1),
            PITON_NAMED(DT_FLOAT4_E1M2),
        };
        return Found(names, type, "DT_UNDEFINED");
    }
    static std::string FormatToSerialString(Format format) {
        static const std::map<Format, const char *> names = {
            {FORMAT_NCHW, "NCHW"}, {FORMAT_NHWC, "NHWC"},   {FORMAT_ND, "ND"},       {FORMAT_NC1HWC0, "NC1HWC0"},       {FORMAT_FRACTAL_Z, "FRACTAL_Z"},
            {FORMAT_HWCN, "HWCN"}, {FORMAT_NDHWC, "NDHWC"}, {FORMAT_NCDHW, "NCDHW"}, {FORMAT_FRACTAL_NZ, "FRACTAL_NZ"}, {FORMAT_NCL, "NCL"},
        };
        return Found(names, format, "RESERVED");
    }
    static AscendString DataTypeToAscendString(DataType type) { return AscendString(DataTypeToSerialString(type).c_str()); }
    static AscendString FormatToAscendString(Format format) { return AscendString(FormatToSerialString(format).c_str()); }

private:
    template <typename T>
    static std::string Found(const std::map<T, const char *> &names, T value, const char *otherwise) {
        const auto found = names.find(value);
        return found == names.end() ? otherwise : found->second;
    }
#undef PITON_NAMED
};

}  // namespace ge

#endif /* PITON_PROJECT_TYPE_NAMES_H */
