/*
 * Tiling data: the raw buffer that a tiling function fills, and structures that macros define.
 *
 * Problem: BEGIN_TILING_DATA_DEF describes a structure on the host that the kernel sees as a plain one of the same name.
 * Approach: such a class knows its fields by type, name and offset (each at its natural alignment, the whole a multiple of eight bytes), keeps the bytes and
 * tells the build what to generate for the kernel.
 * Limits: at most 4 KiB of tiling data, which is what a call may carry.
 */
#ifndef PITON_PROJECT_TILING_DATA_H
#define PITON_PROJECT_TILING_DATA_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace gert {

class TilingData {
public:
    static constexpr std::size_t kCapacity = 4096;

    void *GetData() { return bytes_; }
    const void *GetData() const { return bytes_; }
    std::size_t GetDataSize() const { return size_; }
    std::size_t GetCapacity() const { return kCapacity; }
    void SetDataSize(std::size_t size) { size_ = size; }
    template <typename T>
    int32_t Append(const T &value) {
        if (size_ + sizeof(T) > kCapacity) {
            return -1;
        }
        std::memcpy(bytes_ + size_, &value, sizeof(T));
        size_ += sizeof(T);
        return 0;
    }

private:
    alignas(16) unsigned char bytes_[kCapacity] = {};
    std::size_t size_ = 0;
};

}  // namespace gert

namespace piton_project {

/* One member of the structure that the kernel sees. */
struct Field {
    std::string type;
    std::string name;
    std::size_t offset;
    std::size_t bytes; /* of one element */
    std::size_t count; /* 0 for a single value */
};

}  // namespace piton_project

namespace optiling {

class TilingDef {
public:
    std::size_t GetDataSize() const { return Rounded(bytes_.size(), kAlign); }
    const char *GetTilingClassName() const { return title_.c_str(); }
    void SaveToBuffer(void *buffer, std::size_t capacity) const {
        const std::vector<unsigned char> bytes = Bytes();
        std::memcpy(buffer, bytes.data(), bytes.size() < capacity ? bytes.size() : capacity);
    }

    /* For the build. */
    const std::string &Title() const { return title_; }
    const std::vector<piton_project::Field> &Fields() const { return fields_; }
    /* This structure's inner ones first. */
    void Collect(std::map<std::string, std::vector<piton_project::Field>> &found, std::vector<std::string> &order) const {
        for (const auto &inner : inner_) {
            Inner(inner.second)->Collect(found, order);
        }
        if (found.emplace(title_, fields_).second) {
            order.push_back(title_);
        }
    }

protected:
    explicit TilingDef(const char *title) : title_(title) {}

    std::size_t AddField(const char *type, const char *name, std::size_t bytes, std::size_t count) {
        const std::size_t offset = Rounded(bytes_.size(), bytes);
        bytes_.resize(offset + bytes * (count == 0 ? 1 : count));
        fields_.push_back({type, name, offset, bytes, count});
        return offset;
    }
    std::size_t AddStruct(const char *type, const char *name, const TilingDef *inner) {
        const std::size_t offset = Rounded(bytes_.size(), kAlign);
        bytes_.resize(offset + inner->GetDataSize());
        fields_.push_back({type, name, offset, inner->GetDataSize(), 0});
        inner_.emplace_back(offset, reinterpret_cast<const char *>(inner) - reinterpret_cast<const char *>(this));
        return offset;
    }
    template <typename T>
    T Get(std::size_t offset) const {
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    void Set(std::size_t offset, const void *value, std::size_t bytes) { std::memcpy(bytes_.data() + offset, value, bytes); }
    const unsigned char *At(std::size_t offset) const { return bytes_.data() + offset; }

private:
    static constexpr std::size_t kAlign = 8;

    static std::size_t Rounded(std::size_t value, std::size_t align) { return (value + align - 1) / align * align; }
    const TilingDef *Inner(std::ptrdiff_t distance) const { return reinterpret_cast<const TilingDef *>(reinterpret_cast<const char *>(this) + distance); }
    std::vector<unsigned char> Bytes() const {
        std::vector<unsigned char> bytes = bytes_;
        bytes.resize(GetDataSize());
        for (const auto &inner : inner_) {
            const std::vector<unsigned char> part = Inner(inner.second)->Bytes();
            std::memcpy(bytes.data() + inner.first, part.data(), part.size());
        }
        return bytes;
    }

    std::string title_;
    std::vector<unsigned char> bytes_;
    std::vector<piton_project::Field> fields_;
    std::vector<std::pair<std::size_t, std::ptrdiff_t>> inner_; /* offset in the data, distance of the member from this object */
};

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)             \
    class class_name : public ::optiling::TilingDef { \
    public:                                           \
        class_name() : TilingDef(#class_name) {}

#define TILING_DATA_FIELD_DEF(data_type, name)                                       \
private:                                                                             \
    std::size_t piton_at_##name = AddField(#data_type, #name, sizeof(data_type), 0); \
                                                                                     \
public:                                                                              \
    data_type get_##name() const { return Get<data_type>(piton_at_##name); }         \
    void set_##name(data_type value) { Set(piton_at_##name, &value, sizeof value); }

#define TILING_DATA_FIELD_DEF_ARR(data_type, length, name)                                                   \
private:                                                                                                     \
    std::size_t piton_at_##name = AddField(#data_type, #name, sizeof(data_type), length);                    \
                                                                                                             \
public:                                                                                                      \
    const data_type *get_##name() const { return reinterpret_cast<const data_type *>(At(piton_at_##name)); } \
    void set_##name(const data_type *values) { Set(piton_at_##name, values, sizeof(data_type) * (length)); }

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, name)                  \
public:                                                                  \
    struct_type name;                                                    \
                                                                         \
private:                                                                 \
    std::size_t piton_at_##name = AddStruct(#struct_type, #name, &name); \
                                                                         \
public:

#define END_TILING_DATA_DEF }

#endif /* PITON_PROJECT_TILING_DATA_H */
