/*
 * What host code of an operator says about a mistake, and how it shows what it saw.
 *
 * Problem: public operators report by some forty macros, which differ in the text around their arguments.
 * Approach: all of them reach one function that keeps the last text for the verdict of the case; levels below an error are compiled away.
 * Limits: the number of an error (E89999 and its like) is not kept.
 */
#ifndef PITON_PROJECT_REPORT_H
#define PITON_PROJECT_REPORT_H

#include <sstream>

#include "registry.h"
#include "type_names.h"

namespace piton_project {

/* What stands in a message for the place it came from: the name of a node, or of the operator of a context. */
inline const char *PlaceName(const char *name) { return name == nullptr ? "nil" : name; }
inline const char *PlaceName(const std::string &name) { return name.c_str(); }
inline const char *PlaceName(const Context *context) { return context == nullptr ? "nil" : context->GetNodeName(); }

/* A report whose arguments are the name of what is wrong, what was found and what was expected. */
template <typename Where, typename... Parts>
void LogParts(const char *what, const Where &where, const Parts &...parts) {
    std::ostringstream text;
    text << "invalid " << what;
    const char *separator = ": ";
    ((text << separator << parts, separator = ", "), ...);
    LogError(where, "%s", text.str().c_str());
}

}  // namespace piton_project

namespace Ops {
namespace Base {

template <typename Where>
std::string GetOpInfo(const Where &where) {
    return piton_project::PlaceName(where);
}
inline const char *GetSafeStr(const char *text) { return text == nullptr ? "nil" : text; }
inline const char *GetSafeStr(const std::string &text) { return text.c_str(); }

inline std::string ToString(const gert::Shape &shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.GetDimNum(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.GetDim(i));
    }
    return text + "]";
}
inline std::string ToString(ge::DataType type) { return ge::TypeUtils::DataTypeToSerialString(type); }
inline std::string ToString(ge::Format format) { return ge::TypeUtils::FormatToSerialString(format); }

}  // namespace Base
}  // namespace Ops

#define OP_LOGE(...) ::piton_project::LogError(__VA_ARGS__)
#define OP_LOGE_WITHOUT_REPORT(...) OP_LOGE(__VA_ARGS__)
#define D_OP_LOGE(...) OP_LOGE(__VA_ARGS__)
#define OP_LOGW(...) static_cast<void>(0)
#define OP_LOGI(...) static_cast<void>(0)
#define OP_LOGD(...) static_cast<void>(0)
#define D_OP_LOGW(...) static_cast<void>(0)
#define D_OP_LOGI(...) static_cast<void>(0)
#define D_OP_LOGD(...) static_cast<void>(0)
#define OP_LOG_FULL(...) static_cast<void>(0)
/* The second report of what an OP_LOGE beside it has said. */
#define REPORT_INNER_ERR_MSG(...) static_cast<void>(0)
#define OP_CHECK_IF(condition, log, ...) \
    do {                                 \
        if (condition) {                 \
            log;                         \
            __VA_ARGS__;                 \
        }                                \
    } while (false)
#define OP_TILING_CHECK(...) OP_CHECK_IF(__VA_ARGS__)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer) OP_CHECK_IF((pointer) == nullptr, OP_LOGE(context, #pointer " is null"), return ge::GRAPH_FAILED)
#define OPS_CHECK_NULL_WITH_CONTEXT(context, pointer) OP_CHECK_NULL_WITH_CONTEXT(context, pointer)
#define OP_CHECK_NULL_WITH_CONTEXT_RET(context, pointer, result) OP_CHECK_IF((pointer) == nullptr, OP_LOGE(context, #pointer " is null"), return result)

#define OP_LOGE_FOR_INVALID_VALUE(...) ::piton_project::LogParts("value", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) OP_LOGE_FOR_INVALID_VALUE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) ::piton_project::LogParts("values", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE(...) ::piton_project::LogParts("shape", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) OP_LOGE_FOR_INVALID_SHAPE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) ::piton_project::LogParts("shapes", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) ::piton_project::LogParts("number of dimensions", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) OP_LOGE_FOR_INVALID_SHAPEDIM(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) ::piton_project::LogParts("numbers of dimensions", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) ::piton_project::LogParts("number of elements", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) OP_LOGE_FOR_INVALID_SHAPESIZE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) ::piton_project::LogParts("numbers of elements", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE(...) ::piton_project::LogParts("element type", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) OP_LOGE_FOR_INVALID_DTYPE(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) ::piton_project::LogParts("element types", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT(...) ::piton_project::LogParts("format", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) OP_LOGE_FOR_INVALID_FORMAT(__VA_ARGS__)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) ::piton_project::LogParts("formats", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_LISTSIZE(...) ::piton_project::LogParts("length of a list", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) ::piton_project::LogParts("number of tensors", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) ::piton_project::LogParts("numbers of tensors", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_CONFIG_WITH_REASON(...) ::piton_project::LogParts("configuration", __VA_ARGS__)
#define OP_LOGE_FOR_INVALID_ARGUMENT_WITH_REASON(...) ::piton_project::LogParts("argument", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR(...) ::piton_project::LogParts("attribute", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_ATTR_SIZE(...) ::piton_project::LogParts("length of an attribute", __VA_ARGS__)
#define OP_LOGE_WITH_INVALID_INPUT_DTYPE(...) ::piton_project::LogParts("element type of an input", __VA_ARGS__)

#endif /* PITON_PROJECT_REPORT_H */
