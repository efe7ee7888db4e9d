/*
 * gert::RuntimeAttrs: the attributes of one call, by their order in the operator's definition.
 *
 * Problem and approach: host code asks for a pointer to the value of attribute i; the call keeps the values, in the types the vendor gives them in.
 * Limits: lists of lists are not there.
 */
#ifndef PITON_PROJECT_ATTRIBUTES_H
#define PITON_PROJECT_ATTRIBUTES_H

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "types.h"

namespace gert {

class ContinuousVector {
public:
    std::size_t GetSize() const { return size_; }
    const void *GetData() const { return data_; }

protected:
    std::size_t size_ = 0;
    const void *data_ = nullptr;
};

template <typename T>
class TypedContinuousVector : public ContinuousVector {
public:
    TypedContinuousVector() = default;
    explicit TypedContinuousVector(std::vector<T> values) : values_(std::move(values)) {
        size_ = values_.size();
        data_ = values_.data();
    }
    TypedContinuousVector(const TypedContinuousVector &) = delete;
    TypedContinuousVector &operator=(const TypedContinuousVector &) = delete;
    void Assign(std::vector<T> values) {
        values_ = std::move(values);
        size_ = values_.size();
        data_ = values_.data();
    }
    const T *GetData() const { return values_.data(); }

private:
    std::vector<T> values_;
};

}  // namespace gert

namespace piton_project {

enum class AttrKind { kInt, kFloat, kBool, kString, kListInt, kListFloat, kListBool };

inline const char *NameOf(AttrKind kind) {
    constexpr const char *kNames[] = {"Int", "Float", "Bool", "String", "ListInt", "ListFloat", "ListBool"};
    return kNames[static_cast<int>(kind)];
}

/* A value, or the default of an attribute. Booleans of a list are numbers, so that they have addresses. */
struct AttrValue {
    AttrKind kind = AttrKind::kInt;
    int64_t whole = 0;
    float real = 0;
    bool truth = false;
    std::string text;
    std::vector<int64_t> wholes;
    std::vector<float> reals;
};

}  // namespace piton_project

namespace gert {

class RuntimeAttrs {
public:
    RuntimeAttrs() = default;
    RuntimeAttrs(const RuntimeAttrs &) = delete;
    RuntimeAttrs &operator=(const RuntimeAttrs &) = delete;

    std::size_t GetAttrNum() const { return values_.size(); }
    const int64_t *GetInt(std::size_t index) const { return GetAttrPointer<int64_t>(index); }
    const float *GetFloat(std::size_t index) const { return GetAttrPointer<float>(index); }
    const bool *GetBool(std::size_t index) const { return GetAttrPointer<bool>(index); }
    const char *GetStr(std::size_t index) const { return GetAttrPointer<char>(index); }
    const TypedContinuousVector<int64_t> *GetListInt(std::size_t index) const { return GetAttrPointer<TypedContinuousVector<int64_t>>(index); }
    const TypedContinuousVector<float> *GetListFloat(std::size_t index) const { return GetAttrPointer<TypedContinuousVector<float>>(index); }

    /* Null for an index that is not there and for another type than the attribute has. */
    template <typename T>
    const T *GetAttrPointer(std::size_t index) const {
        using piton_project::AttrKind;
        if (index >= values_.size()) {
            return nullptr;
        }
        const auto &value = values_[index];
        if constexpr (std::is_same<T, int64_t>::value) {
            return value.kind == AttrKind::kInt ? &value.whole : nullptr;
        } else if constexpr (std::is_same<T, float>::value) {
            return value.kind == AttrKind::kFloat ? &value.real : nullptr;
        } else if constexpr (std::is_same<T, bool>::value) {
            return value.kind == AttrKind::kBool ? &value.truth : nullptr;
        } else if constexpr (std::is_same<T, char>::value) {
            return value.kind == AttrKind::kString ? value.text.c_str() : nullptr;
        } else if constexpr (std::is_same<T, TypedContinuousVector<float>>::value) {
            return value.kind == AttrKind::kListFloat ? &reals_[index] : nullptr;
        } else {
            static_assert(std::is_base_of<T, TypedContinuousVector<int64_t>>::value, "GetAttrPointer: int64_t, float, bool, char or a list of them");
            return value.kind == AttrKind::kListInt || value.kind == AttrKind::kListBool ? &wholes_[index] : nullptr;
        }
    }

    void Fill(std::vector<piton_project::AttrValue> values) {
        values_ = std::move(values);
        wholes_ = std::vector<TypedContinuousVector<int64_t>>(values_.size());
        reals_ = std::vector<TypedContinuousVector<float>>(values_.size());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            wholes_[i].Assign(values_[i].wholes);
            reals_[i].Assign(values_[i].reals);
        }
    }

private:
    std::vector<piton_project::AttrValue> values_;
    std::vector<TypedContinuousVector<int64_t>> wholes_;
    std::vector<TypedContinuousVector<float>> reals_;
};

}  // namespace gert

#endif /* PITON_PROJECT_ATTRIBUTES_H */
