/*
 * What the host code of an operator project registers before main(): definitions, functions, tiling structures, template combinations.
 *
 * Problem: OP_ADD, IMPL_OP_OPTILING and their like stand in different files and run in no order that is known.
 * Approach: one table in the library, filled by their constructors, read when all are done.
 * Limits: one library holds the host code of one operator, or of few; equal names replace each other.
 */
#ifndef PITON_PROJECT_REGISTRY_H
#define PITON_PROJECT_REGISTRY_H

#include <functional>

#include "definition.h"

namespace piton_project {

/* IMPL_OP and its like: functions apart from the definition. */
class Implementation {
public:
    Implementation &Tiling(TilingFunction function) {
        tiling = function;
        return *this;
    }
    Implementation &InferShape(InferShapeFunction function) {
        infer_shape = function;
        return *this;
    }
    Implementation &InferDataType(InferTypeFunction function) {
        infer_type = function;
        return *this;
    }
    template <typename Info, typename F>
    Implementation &TilingParse(F function) {
        parse = [function](Call &call, std::shared_ptr<void> &info) {
            info = std::make_shared<Info>();
            gert::TilingParseContext context(call, info.get());
            return static_cast<ge::graphStatus>(function(&context));
        };
        return *this;
    }
    /* Inputs whose values host code reads. */
    Implementation &InputsDataDependency(const std::vector<int32_t> &indices) {
        read.insert(read.end(), indices.begin(), indices.end());
        return *this;
    }
    template <typename... Where>
    Implementation &TilingInputsDataDependency(const std::vector<int32_t> &indices, Where...) {
        return InputsDataDependency(indices);
    }
    Implementation &OutputShapeDependOnCompute(std::initializer_list<int32_t>) { return *this; }
    template <typename F>
    Implementation &InferShapeRange(F) {
        return *this;
    }
    template <typename F>
    Implementation &InferFormat(F) {
        return *this;
    }
    template <typename F>
    Implementation &GenSimplifiedKey(F) {
        return *this;
    }
    template <typename... Values>
    Implementation &PrivateAttr(Values...) {
        return *this;
    }

    TilingFunction tiling = nullptr;
    InferShapeFunction infer_shape = nullptr;
    InferTypeFunction infer_type = nullptr;
    std::function<ge::graphStatus(Call &, std::shared_ptr<void> &)> parse;
    std::vector<int32_t> read; /* inputs whose values host code reads */
};

enum class TemplateKind { kType, kNumber, kKernelType, kIgnored };

/* A parameter of a kernel template with the values it may have. */
struct TemplateParameter {
    std::string name;
    TemplateKind kind;
    std::vector<int64_t> values;
};

constexpr int64_t kNoKernelType = -1; /* the kernel says itself on which cores it runs */

struct TemplateTable {
    std::vector<TemplateParameter> parameters;
    std::vector<std::vector<int64_t>> combinations; /* the tiling key is the place in this list */
    std::vector<int64_t> kernel_types;              /* of each combination: a KernelMetaType, or kNoKernelType */
};

struct Definition {
    std::function<std::shared_ptr<ops::OpDef>()> make;
    std::string file;
    int line;
};

struct Registry {
    std::map<std::string, Definition> definitions;
    std::map<std::string, Implementation> implementations;
    std::map<std::string, std::function<void(std::map<std::string, std::vector<Field>> &, std::vector<std::string> &)>> structures;
    std::map<std::string, std::string> structure_of; /* operator to the name of its structure */
    std::map<std::string, TemplateTable> templates;
    std::string last_error; /* of OP_LOGE */

    static Registry &Get() {
        static Registry registry;
        return registry;
    }
};

inline Implementation &ImplementationOf(const char *type) { return Registry::Get().implementations[type]; }

template <typename T>
bool AddDefinition(const char *type, const char *file, int line) {
    Registry::Get().definitions[type] = {[type] { return std::make_shared<T>(type); }, file, line};
    return true;
}

template <typename T>
bool AddStructure(const char *type) {
    Registry::Get().structures[type] = [](auto &found, auto &order) { T().Collect(found, order); };
    Registry::Get().structure_of[type] = T().Title();
    return true;
}

/* printf for OP_LOGE: its first argument is a context or a name. */
template <typename Where, typename... Args>
void LogError(const Where &, const char *format, Args... args) {
    char text[1024];
    if constexpr (sizeof...(Args) == 0) {
        std::snprintf(text, sizeof text, "%s", format);
    } else {
        std::snprintf(text, sizeof text, format, args...);
    }
    Registry::Get().last_error = text;
    std::fprintf(stderr, "op_host: %s\n", text);
}

}  // namespace piton_project

#define PITON_JOINED_(a, b) a##b
#define PITON_JOINED(a, b) PITON_JOINED_(a, b)
#define PITON_UNIQUE(name) [[maybe_unused]] static const auto &PITON_JOINED(piton_##name##_, __COUNTER__)

#define OP_ADD(op_class, ...) PITON_UNIQUE(op) = ::piton_project::AddDefinition<op_class>(#op_class, __FILE__, __LINE__)
#define IMPL_OP(op_type) PITON_UNIQUE(impl) = ::piton_project::ImplementationOf(#op_type)
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)
#define REGISTER_TILING_DATA_CLASS(op_type, class_name) PITON_UNIQUE(structure) = ::piton_project::AddStructure<class_name>(#op_type);

#endif /* PITON_PROJECT_REGISTRY_H */
