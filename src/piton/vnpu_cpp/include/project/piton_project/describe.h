/*
 * The description of a project that its build reads: a program that is linked with the host code and prints it as JSON.
 *
 * Problem: what to compile (element types, template combinations, the kernel's view of tiling data) is known by running the project's own constructors only.
 * Approach: that program runs in the sandbox of the build.
 * Limits: it is foreign code and may print anything; the build checks what it reads.
 */
#ifndef PITON_PROJECT_DESCRIBE_H
#define PITON_PROJECT_DESCRIBE_H

#include <cstdio>

#include "rows.h"

/* While a project is described there is no chip. */
extern "C" uint64_t piton_host_platform(uint32_t) { return 0; }

namespace piton_project {

inline std::string Quoted(const std::string &text) {
    std::string quoted = "\"";
    for (const char sign : text) {
        quoted += sign == '"' || sign == '\\' ? "\\" : "";
        quoted += static_cast<unsigned char>(sign) < ' ' ? ' ' : sign;
    }
    return quoted + "\"";
}

template <typename Values, typename Show>
std::string Listed(const Values &values, Show show) {
    std::string text;
    for (const auto &value : values) {
        text += (text.empty() ? "" : ", ") + show(value);
    }
    return "[" + text + "]";
}

inline std::string Shown(const Field &field) {
    return "{\"type\": " + Quoted(field.type) + ", \"name\": " + Quoted(field.name) + ", \"count\": " + std::to_string(field.count) + "}";
}

inline std::string Shown(const ops::OpParamDef &item) {
    constexpr const char *kKinds[] = {"required", "optional", "required", "dynamic", "required"};
    return "{\"name\": " + Quoted(item.name) + ", \"kind\": " + Quoted(kKinds[item.kind]) +
           ", \"takes_numbers\": " + (item.is_scalar || item.is_read ? "true" : "false") + ", \"has_initial\": " + (item.has_initial ? "true" : "false") +
           ", \"is_shaped_by_kernel\": " + (item.is_shaped_by_kernel ? "true" : "false") + "}";
}

inline std::string Shown(const Row &row) {
    const auto types = Listed(row.types, [](ge::DataType item) { return Quoted(NameOf(item)); });
    const auto formats = Listed(row.formats, [](ge::Format item) { return std::to_string(static_cast<int>(item)); });
    return "{\"types\": " + types + ", \"formats\": " + formats + "}";
}

inline std::string ShownStructures() {
    std::map<std::string, std::vector<Field>> found;
    std::vector<std::string> order;
    for (const auto &item : Registry::Get().structures) {
        item.second(found, order);
    }
    return Listed(order, [&](const std::string &title) {
        return "{\"title\": " + Quoted(title) + ", \"fields\": " + Listed(found[title], [](const Field &field) { return Shown(field); }) + "}";
    });
}

inline std::string ShownTemplate(const TemplateTable &table) {
    const auto parameters = Listed(table.parameters, [](const TemplateParameter &item) {
        return "{\"name\": " + Quoted(item.name) + ", \"is_type\": " + (item.kind == TemplateKind::kType ? "true" : "false") + "}";
    });
    const auto combinations =
        Listed(table.combinations, [](const auto &values) { return Listed(values, [](int64_t value) { return std::to_string(value); }); });
    const auto types = Listed(table.kernel_types, [](int64_t type) { return std::to_string(type); });
    return "{\"parameters\": " + parameters + ", \"combinations\": " + combinations + ", \"kernel_types\": " + types + "}";
}

inline std::string ShownOperator(const std::string &type, const Definition &definition) {
    const auto made = definition.make();
    const Registry &registry = Registry::Get();
    const auto name = [](const auto &item) { return Quoted(item.name); };
    const auto structure = registry.structure_of.find(type);
    auto table = registry.templates.find(type);
    if (table == registry.templates.end() && registry.templates.size() == 1 && registry.definitions.size() == 1) {
        table = registry.templates.begin(); /* its name is only a word: the vendor's build takes the table that the kernel includes */
    }
    std::string text = "{\"type\": " + Quoted(type) + ", \"file\": " + Quoted(definition.file) + ", \"line\": " + std::to_string(definition.line);
    const auto parameter = [](const ops::OpParamDef &item) { return Shown(item); };
    text += ", \"inputs\": " + Listed(made->inputs, parameter) + ", \"outputs\": " + Listed(made->outputs, parameter);
    text += ", \"attributes\": " + Listed(made->attributes, name);
    text += ", \"rows\": " + Listed(Rows(*made), [](const Row &row) { return Shown(row); });
    text += ", \"structure\": " + Quoted(structure == registry.structure_of.end() ? "" : structure->second);
    text += ", \"template\": " + (table == registry.templates.end() ? "null" : ShownTemplate(table->second));
    return text + "}";
}

inline int Describe() {
    const auto &definitions = Registry::Get().definitions;
    const auto operators = Listed(definitions, [](const auto &item) { return ShownOperator(item.first, item.second); });
    std::printf("{\"operators\": %s, \"structures\": %s}\n", operators.c_str(), ShownStructures().c_str());
    return 0;
}

}  // namespace piton_project

#endif /* PITON_PROJECT_DESCRIBE_H */
