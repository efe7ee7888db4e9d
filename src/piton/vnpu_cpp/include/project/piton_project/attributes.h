/*
 * gert::RuntimeAttrs: the attributes of one call, by their order in the operator's definition.
 *
 * Problem and approach: host code asks for a pointer to the value of attribute i; the call keeps the values, in the types the vendor gives them in.
 * Limits: lists of lists are whole numbers, and come from the definition's default alone, since torch has none.
 */
#ifndef PITON_PROJECT_ATTRIBUTES_H
#define PITON_PROJECT_ATTRIBUTES_H

#include <algorithm>
#include <cstdint>
#include <memory>
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
    TypedContinuousVector(const TypedContinuousVector &) = delete;
    TypedContinuousVector &operator=(const TypedContinuousVector &) = delete;
    template <typename Values>
    void Assign(const Values &values) {
        size_ = values.size();
        values_ = std::make_unique<T[]>(size_);
        std::copy(values.begin(), values.end(), values_.get());
        data_ = values_.get();
    }
    const T *GetData() const { return values_.get(); }

private:
    std::unique_ptr<T[]> values_; /* booleans have addresses too */
};

/* A list of lists. */
class ContinuousVectorVector {
public:
    ContinuousVectorVector() = default;
    ContinuousVectorVector(const ContinuousVectorVector &) = delete;
    ContinuousVectorVector &operator=(const ContinuousVectorVector &) = delete;
    void Assign(const std::vector<std::vector<int64_t>> &rows) {
        rows_ = std::make_unique<TypedContinuousVector<int64_t>[]>(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows_[i].Assign(rows[i]);
        }
        size_ = rows.size();
    }
    std::size_t GetSize() const { return size_; }
    const ContinuousVector *Get(std::size_t index) const { return index < size_ ? &rows_[index] : nullptr; }

private:
    std::unique_ptr<TypedContinuousVector<int64_t>[]> rows_;
    std::size_t size_ = 0;
};

}  // namespace gert

namespace piton_project {

enum class AttrKind { kInt, kFloat, kBool, kString, kListInt, kListFloat, kListBool, kListListInt };

inline const char *NameOf(AttrKind kind) {
    constexpr const char *kNames[] = {"Int", "Float", "Bool", "String", "ListInt", "ListFloat", "ListBool", "ListListInt"};
    return kNames[static_cast<int>(kind)];
}

/* A value, or the default of an attribute. */
struct AttrValue {
    AttrKind kind = AttrKind::kInt;
    int64_t whole = 0;
    float real = 0;
    bool truth = false;
    std::string text;
    std::vector<int64_t> wholes;
    std::vector<float> reals;
    std::vector<bool> truths;
    std::vector<std::vector<int64_t>> rows;
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
    const TypedContinuousVector<bool> *GetListBool(std::size_t index) const { return GetAttrPointer<TypedContinuousVector<bool>>(index); }
    const ContinuousVectorVector *GetListListInt(std::size_t index) const { return GetAttrPointer<ContinuousVectorVector>(index); }
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
            return value.kind == AttrKind::kListFloat ? &lists_[index].reals : nullptr;
        } else if constexpr (std::is_same<T, TypedContinuousVector<bool>>::value) {
            return value.kind == AttrKind::kListBool ? &lists_[index].truths : nullptr;
        } else if constexpr (std::is_same<T, ContinuousVectorVector>::value) {
            return value.kind == AttrKind::kListListInt ? &lists_[index].rows : nullptr;
        } else if constexpr (std::is_same<T, ContinuousVector>::value) {
            return List(index);
        } else {
            static_assert(std::is_same<T, TypedContinuousVector<int64_t>>::value, "GetAttrPointer: int64_t, float, bool, char or a list of them");
            return value.kind == AttrKind::kListInt ? &lists_[index].wholes : nullptr;
        }
    }

    void Fill(std::vector<piton_project::AttrValue> values) {
        values_ = std::move(values);
        lists_ = std::make_unique<Lists[]>(values_.size());
        for (std::size_t i = 0; i < values_.size(); ++i) {
            lists_[i].wholes.Assign(values_[i].wholes);
            lists_[i].reals.Assign(values_[i].reals);
            lists_[i].truths.Assign(values_[i].truths);
            lists_[i].rows.Assign(values_[i].rows);
        }
    }

private:
    struct Lists {
        TypedContinuousVector<int64_t> wholes;
        TypedContinuousVector<float> reals;
        TypedContinuousVector<bool> truths;
        ContinuousVectorVector rows;
    };

    /* A list whose elements the caller knows. */
    const ContinuousVector *List(std::size_t index) const {
        using piton_project::AttrKind;
        const AttrKind kind = values_[index].kind;
        const Lists &lists = lists_[index];
        return kind == AttrKind::kListInt     ? static_cast<const ContinuousVector *>(&lists.wholes)
               : kind == AttrKind::kListFloat ? static_cast<const ContinuousVector *>(&lists.reals)
               : kind == AttrKind::kListBool  ? static_cast<const ContinuousVector *>(&lists.truths)
                                              : nullptr;
    }

    std::vector<piton_project::AttrValue> values_;
    std::unique_ptr<Lists[]> lists_;
};

}  // namespace gert

#endif /* PITON_PROJECT_ATTRIBUTES_H */
