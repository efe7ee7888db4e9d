/*
 * OpDef: what an operator project says about its operator.
 *
 * Problem and approach: a class in the project's host code describes inputs, outputs and attributes by calls that return the object itself; the description is
 * kept as it is made and read by the build (which kernels to compile) and at every call.
 * Limits: of what can be said, names, kinds, types, formats, initial values, attributes with defaults and the three functions count.
 */
#ifndef PITON_PROJECT_DEFINITION_H
#define PITON_PROJECT_DEFINITION_H

#include <deque>

#include "contexts.h"

namespace piton_project {

using InferShapeFunction = ge::graphStatus (*)(gert::InferShapeContext *);
using InferTypeFunction = ge::graphStatus (*)(gert::InferDataTypeContext *);
using TilingFunction = ge::graphStatus (*)(gert::TilingContext *);

}  // namespace piton_project

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope { ALL = 0, TILING = 1 };
enum class FormatCheckOption { DEFAULT = 0, STRICT = 1 };

/* What an output holds before the kernel runs, said by type and number. */
enum class ScalarType : uint32_t { UINT64 = 0, INT64, UINT32, INT32, UINT16, INT16, UINT8, INT8, FLOAT32, FLOAT16, INVALID_DTYPE };
struct ScalarVar {
    ScalarType scalar_type = ScalarType::INVALID_DTYPE;
    double number = 0;
};

class OpParamDef {
public:
    explicit OpParamDef(const char *given) : name(given) {}
    OpParamDef &ParamType(Option value) {
        kind = value;
        return *this;
    }
    OpParamDef &DataType(std::vector<ge::DataType> values) {
        types = std::move(values);
        return *this;
    }
    /* Every combination with other parameters' lists. */
    OpParamDef &DataTypeList(std::vector<ge::DataType> values) {
        is_free = true;
        return DataType(std::move(values));
    }
    OpParamDef &Follow(const char *other) {
        follows = other;
        return *this;
    }
    OpParamDef &DataTypeForBinQuery(const std::vector<ge::DataType> &) { return *this; }
    OpParamDef &Format(std::vector<ge::Format> values) {
        formats = std::move(values);
        return *this;
    }
    /* Every combination; the first that is dense is taken. */
    OpParamDef &FormatList(std::vector<ge::Format> values) { return Format(std::move(values)); }
    OpParamDef &FormatForBinQuery(const std::vector<ge::Format> &) { return *this; }
    OpParamDef &UnknownShapeFormat(const std::vector<ge::Format> &) { return *this; }
    /* Host code reads the values of this input. */
    OpParamDef &ValueDepend(Option, DependScope = DependScope::ALL) {
        is_read = true;
        return *this;
    }
    OpParamDef &AutoContiguous() { return *this; }
    OpParamDef &IgnoreContiguous() { return *this; }
    OpParamDef &InitValue(uint64_t value) { return InitValue(ScalarVar{ScalarType::UINT64, static_cast<double>(value)}); }
    OpParamDef &InitValue(const ScalarVar &value) {
        has_initial = true;
        initial = value.number;
        return *this;
    }
    OpParamDef &InitValue(const std::vector<ScalarVar> &values) { return values.empty() ? *this : InitValue(values.front()); }
    OpParamDef &OutputShapeDependOnCompute() {
        is_shaped_by_kernel = true;
        return *this;
    }
    OpParamDef &Version(uint32_t) { return *this; }
    OpParamDef &Comment(const char *) { return *this; }
    /* A number, or numbers, of the call: a tensor for the kernel. */
    OpParamDef &Scalar() {
        is_scalar = true;
        return *this;
    }
    OpParamDef &ScalarList() { return Scalar(); }

    std::string name;
    Option kind = REQUIRED;
    std::vector<ge::DataType> types;
    std::vector<ge::Format> formats;
    bool is_free = false;
    bool is_scalar = false, is_read = false;
    bool has_initial = false;
    double initial = 0;
    bool is_shaped_by_kernel = false;
    std::string follows;
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char *given) : name(given) {}
    OpAttrDef &AttrType(Option value) {
        kind = value;
        return *this;
    }
    OpAttrDef &Version(uint32_t) { return *this; }
    OpAttrDef &Comment(const char *) { return *this; }
    OpAttrDef &Int() { return Kind(piton_project::AttrKind::kInt); }
    OpAttrDef &Int(int64_t initial) {
        value.whole = initial;
        return Int().HasDefault();
    }
    OpAttrDef &Float() { return Kind(piton_project::AttrKind::kFloat); }
    OpAttrDef &Float(float initial) {
        value.real = initial;
        return Float().HasDefault();
    }
    OpAttrDef &Bool() { return Kind(piton_project::AttrKind::kBool); }
    OpAttrDef &Bool(bool initial) {
        value.truth = initial;
        return Bool().HasDefault();
    }
    OpAttrDef &String() { return Kind(piton_project::AttrKind::kString); }
    OpAttrDef &String(const char *initial) {
        value.text = initial;
        return String().HasDefault();
    }
    OpAttrDef &ListInt() { return Kind(piton_project::AttrKind::kListInt); }
    OpAttrDef &ListInt(std::vector<int64_t> initial) {
        value.wholes = std::move(initial);
        return ListInt().HasDefault();
    }
    OpAttrDef &ListFloat() { return Kind(piton_project::AttrKind::kListFloat); }
    OpAttrDef &ListFloat(std::vector<float> initial) {
        value.reals = std::move(initial);
        return ListFloat().HasDefault();
    }
    OpAttrDef &ListListInt() { return Kind(piton_project::AttrKind::kListListInt); }
    OpAttrDef &ListListInt(std::vector<std::vector<int64_t>> initial) {
        value.rows = std::move(initial);
        return ListListInt().HasDefault();
    }
    OpAttrDef &ListBool() { return Kind(piton_project::AttrKind::kListBool); }
    OpAttrDef &ListBool(const std::vector<bool> &initial) {
        value.truths = initial;
        return ListBool().HasDefault();
    }

    std::string name;
    Option kind = REQUIRED;
    piton_project::AttrValue value;
    bool has_default = false; /* written in the definition: a call without the attribute has it, REQUIRED or not */

private:
    OpAttrDef &Kind(piton_project::AttrKind kind_of_value) {
        value.kind = kind_of_value;
        return *this;
    }
    OpAttrDef &HasDefault() {
        has_default = true;
        return *this;
    }
};

/* The parameter of that name, made if there is none. */
template <typename T>
T &Named(std::deque<T> &values, const char *name) {
    for (T &value : values) {
        if (value.name == name) {
            return value;
        }
    }
    values.emplace_back(name);
    return values.back();
}

class OpAICoreConfig {
public:
    OpParamDef &Input(const char *name) { return Named(inputs, name); }
    OpParamDef &Output(const char *name) { return Named(outputs, name); }
    OpAICoreConfig &DynamicCompileStaticFlag(bool) { return *this; }
    OpAICoreConfig &DynamicFormatFlag(bool) { return *this; }
    OpAICoreConfig &DynamicRankSupportFlag(bool) { return *this; }
    OpAICoreConfig &DynamicShapeSupportFlag(bool) { return *this; }
    OpAICoreConfig &NeedCheckSupportFlag(bool) { return *this; }
    OpAICoreConfig &PrecisionReduceFlag(bool) { return *this; }
    OpAICoreConfig &ExtendCfgInfo(const char *, const char *) { return *this; }
    OpAICoreConfig &Comment(const char *) { return *this; }

    std::deque<OpParamDef> inputs, outputs;
};

class OpAICoreDef {
public:
    OpAICoreDef &SetTiling(piton_project::TilingFunction function) {
        tiling = function;
        return *this;
    }
    template <typename F>
    OpAICoreDef &SetCheckSupport(F) {
        return *this;
    }
    OpAICoreDef &AddConfig(const char *soc) { return AddConfig(soc, OpAICoreConfig()); }
    OpAICoreDef &AddConfig(const char *soc, OpAICoreConfig config) {
        socs.emplace_back(soc);
        if (socs.back() == "ascend910b") {
            own = std::move(config);
        }
        return *this;
    }

    piton_project::TilingFunction tiling = nullptr;
    std::vector<std::string> socs;
    OpAICoreConfig own; /* what is different on the chip that is simulated */
};

class OpDef {
public:
    explicit OpDef(const char *given) : type(given) {}
    OpParamDef &Input(const char *name) { return Named(inputs, name); }
    OpParamDef &Output(const char *name) { return Named(outputs, name); }
    OpAttrDef &Attr(const char *name) { return Named(attributes, name); }
    OpDef &SetInferShape(piton_project::InferShapeFunction function) {
        infer_shape = function;
        return *this;
    }
    OpDef &SetInferDataType(piton_project::InferTypeFunction function) {
        infer_type = function;
        return *this;
    }
    template <typename F>
    OpDef &SetInferShapeRange(F) {
        return *this;
    }
    OpDef &Comment(const char *) { return *this; }
    OpDef &EnableFallBack() { return *this; }
    OpAICoreDef &AICore() { return core; }

    std::string type;
    std::deque<OpParamDef> inputs, outputs;
    std::deque<OpAttrDef> attributes;
    piton_project::InferShapeFunction infer_shape = nullptr;
    piton_project::InferTypeFunction infer_type = nullptr;
    OpAICoreDef core;
};

}  // namespace ops

#endif /* PITON_PROJECT_DEFINITION_H */
