/*
 * The table behind ASCENDC_TPL_*: parameters, combinations, keys.
 *
 * Problem: combinations are given as lists of allowed values per parameter, several lists beside one another.
 * Approach: they are multiplied out in the order in which they stand; the key of a combination is its place.
 * Limits: kMaxCombinations, since each is compiled.
 */
#ifndef PITON_PROJECT_TEMPLATES_H
#define PITON_PROJECT_TEMPLATES_H

#include <algorithm>

#include "registry.h"

namespace piton_project {

constexpr int64_t kTemplateTensor = int64_t{1} << 40; /* ASCENDC_TPL_INPUT and _OUTPUT: no value */
constexpr std::size_t kMaxCombinations = 256;

inline TemplateParameter TypeParameter(const char *name, std::vector<int64_t> values) {
    values.erase(std::remove(values.begin(), values.end(), kTemplateTensor), values.end());
    return {name, TemplateKind::kType, std::move(values)};
}

inline TemplateParameter ListParameter(const char *name, std::vector<int64_t> values) {
    TemplateParameter made = TypeParameter(name, std::move(values));
    made.kind = TemplateKind::kNumber;
    return made;
}

/* The first number says how the others are meant: ranges (their number, then their ends), a list, or ranges and then a list. */
inline TemplateParameter NumberParameter(const char *name, const std::vector<int64_t> &given) {
    std::vector<int64_t> values;
    std::size_t at = 1;
    if (given.size() > 1 && given[0] != 1) {
        const std::size_t end = std::min(given.size(), 2 + 2 * static_cast<std::size_t>(given[1]));
        for (at = 2; at + 1 < end; at += 2) {
            for (int64_t value = given[at]; value <= given[at + 1] && values.size() <= kMaxCombinations; ++value) {
                values.push_back(value);
            }
        }
    }
    values.insert(values.end(), given.begin() + static_cast<std::ptrdiff_t>(std::min(at, given.size())), given.end());
    return {name, TemplateKind::kNumber, std::move(values)};
}

/* On which cores combinations run; without a name it is no parameter of the kernel. */
inline TemplateParameter KernelTypeParameter(const char *name, std::vector<int64_t> values) { return {name, TemplateKind::kKernelType, std::move(values)}; }

inline TemplateParameter IgnoredParameter() { return {"", TemplateKind::kIgnored, {}}; }

struct TemplateDeclaration {
    TemplateDeclaration(const char *op, std::vector<TemplateParameter> given) : type(op) {
        for (auto &parameter : given) {
            if (parameter.kind != TemplateKind::kIgnored) {
                parameters.push_back(std::move(parameter));
            }
        }
    }

    std::string type;
    std::vector<TemplateParameter> parameters;
};

class TemplateSelection {
public:
    TemplateSelection(const TemplateDeclaration &declaration, const std::vector<std::vector<TemplateParameter>> &selections) : type_(declaration.type) {
        table_.parameters = declaration.parameters;
        for (const auto &selection : selections) {
            std::vector<int64_t> chosen;
            type_of_selection_ = KernelTypeOf(selection);
            Multiply(selection, chosen);
        }
        Registry::Get().templates[type_] = table_;
    }

    uint64_t Key(const std::vector<int64_t> &values) const {
        const auto found = std::find(table_.combinations.begin(), table_.combinations.end(), values);
        if (found == table_.combinations.end()) {
            const bool is_cut = table_.combinations.size() >= kMaxCombinations;
            throw std::invalid_argument("tiling key: no ASCENDC_TPL_SEL of " + type_ + " has " + Shown(values) +
                                        (is_cut ? " among its first " + std::to_string(kMaxCombinations) + " combinations, and no more are compiled" : ""));
        }
        return static_cast<uint64_t>(found - table_.combinations.begin());
    }
    template <typename... V>
    uint64_t KeyOf(V... values) const {
        return Key({static_cast<int64_t>(values)...});
    }

private:
    void Multiply(const std::vector<TemplateParameter> &selection, std::vector<int64_t> &chosen) {
        if (table_.combinations.size() >= kMaxCombinations) {
            return;
        }
        if (chosen.size() == table_.parameters.size()) {
            if (std::find(table_.combinations.begin(), table_.combinations.end(), chosen) == table_.combinations.end()) {
                table_.combinations.push_back(chosen);
                table_.kernel_types.push_back(KernelTypeOf(chosen));
            }
            return;
        }
        const TemplateParameter &parameter = table_.parameters[chosen.size()];
        const auto named = std::find_if(selection.begin(), selection.end(), [&](const TemplateParameter &item) { return item.name == parameter.name; });
        for (const int64_t value : named == selection.end() ? parameter.values : named->values) {
            chosen.push_back(value);
            Multiply(selection, chosen);
            chosen.pop_back();
        }
    }

    /* As ASCENDC_TPL_KERNEL_TYPE_SEL of the selection says. */
    static int64_t KernelTypeOf(const std::vector<TemplateParameter> &selection) {
        for (const auto &item : selection) {
            if (item.kind == TemplateKind::kKernelType && item.name.empty() && !item.values.empty()) {
                return item.values[0];
            }
        }
        return kNoKernelType;
    }

    /* As the parameter of the combination says that is a kernel type, if there is one. */
    int64_t KernelTypeOf(const std::vector<int64_t> &chosen) const {
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (table_.parameters[i].kind == TemplateKind::kKernelType) {
                return chosen[i];
            }
        }
        return type_of_selection_;
    }

    std::string Shown(const std::vector<int64_t> &values) const {
        std::string text;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string name = i < table_.parameters.size() ? table_.parameters[i].name : "?";
            text += (i == 0 ? "" : ", ") + name + " = " + std::to_string(values[i]);
        }
        return text;
    }

    std::string type_;
    int64_t type_of_selection_ = kNoKernelType;
    TemplateTable table_;
};

}  // namespace piton_project

#endif /* PITON_PROJECT_TEMPLATES_H */
