/* Gamma functions, padding, dropout, dequantised integers and interpolation; run by tests/sim/test_headers_shapes.py. */
#include "engine_kernels.h"

using namespace rig;

namespace {

/* Sections of the input and of the output lie whole blocks apart. */
constexpr uint32_t Blocks(uint32_t bytes) { return (bytes + 31) / 32 * 32; }

/* Local memory with bytes of the input from `from` on; 4 KiB of the unified buffer are left to the library. */
struct Desk {
    TPipe pipe;
    TBuf<> buffer;
    LocalTensor<uint8_t> free;

    Desk() {
        pipe.InitBuffer(buffer, 196608 - 8192);
        free = buffer.Get<uint8_t>();
    }
    template <typename T>
    LocalTensor<T> Take(uint32_t bytes) {
        const auto taken = free.ReinterpretCast<T>();
        free = free[Blocks(bytes)];
        LocalTensor<T> sized = taken;
        sized.SetBufferLen(bytes);
        return sized;
    }
    template <typename T>
    LocalTensor<T> Load(const uint8_t *&from, uint32_t bytes) {
        const auto local = Take<T>(bytes);
        GlobalTensor<uint8_t> memory;
        memory.SetGlobalBuffer(const_cast<uint8_t *>(from));
        DataCopyPad(local.template ReinterpretCast<uint8_t>(), memory, DataCopyExtParams(1, bytes, 0, 0, 0), DataCopyPadExtParams<uint8_t>());
        PipeBarrier<PIPE_ALL>();
        from += Blocks(bytes);
        return local;
    }
    template <typename T>
    void Store(uint8_t *to, const LocalTensor<T> &local, uint32_t bytes) {
        PipeBarrier<PIPE_ALL>();
        GlobalTensor<uint8_t> memory;
        memory.SetGlobalBuffer(to);
        DataCopyPad(memory, local.template ReinterpretCast<uint8_t>(), DataCopyExtParams(1, bytes, 0, 0, 0));
    }
};

#define GAMMA(name, Function)                                                                      \
    template <typename T>                                                                          \
    void name(const Arguments &x) {                                                                \
        const uint8_t *from = x.in;                                                                \
        Desk desk;                                                                                 \
        const auto src = desk.Load<T>(from, x.a * sizeof(T)), dst = desk.Take<T>(x.a * sizeof(T)); \
        if (x.b == 0) {                                                                            \
            Function(dst, src, desk.Take<uint8_t>(8192), x.a);                                     \
        } else {                                                                                   \
            Function(dst, src, x.a);                                                               \
        }                                                                                          \
        desk.Store(x.out, dst, x.a * sizeof(T));                                                   \
    }
GAMMA(lgamma, Lgamma)
GAMMA(digamma, Digamma)

/* x.a rows of the low 16 bits of x.b columns; then 8 bits each: columns at the left and at the right. */
template <typename T>
void pad(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    tiling::PadTiling shape;
    shape.srcHeight = x.a;
    shape.srcWidth = x.b & 0xffff;
    const uint32_t perBlock = 32 / sizeof(T), pitch = (shape.srcWidth + perBlock - 1) / perBlock * perBlock;
    const auto src = desk.Load<T>(from, x.a * shape.srcWidth * sizeof(T)), dst = desk.Take<T>(x.a * pitch * sizeof(T)),
               again = desk.Take<T>(x.a * pitch * sizeof(T));
    PadParams params{static_cast<uint16_t>(x.b >> 16 & 0xff), static_cast<uint16_t>(x.b >> 24), 77};
    Pad(dst, src, params, desk.Take<uint8_t>(1024), shape);
    Pad(again, src, params, shape);
    desk.Store(x.out, dst, x.a * pitch * sizeof(T));
    desk.Store(x.out + x.a * pitch * sizeof(T), again, x.a * pitch * sizeof(T));
}

/* The same without what the high 8 bits of x.b say. */
template <typename T>
void unpad(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    tiling::UnPadTiling shape;
    shape.srcHeight = x.a;
    shape.srcWidth = x.b & 0xffff;
    UnPadParams params{0, static_cast<uint16_t>(x.b >> 24)};
    const uint32_t bytes = x.a * (shape.srcWidth - params.rightPad) * sizeof(T);
    const auto src = desk.Load<T>(from, x.a * shape.srcWidth * sizeof(T)), dst = desk.Take<T>(bytes), again = desk.Take<T>(bytes);
    UnPad(dst, src, params, desk.Take<uint8_t>(32), shape);
    UnPad(again, src, params, shape);
    desk.Store(x.out, dst, bytes);
    desk.Store(x.out + bytes, again, bytes);
}

/* x.a rows; columns of the data and of the mask in the halves of x.b. */
template <typename T, uint32_t mode>
void dropout(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    DropOutShapeInfo shape;
    shape.firstAxis = x.a;
    shape.srcLastAxis = x.b & 0xffff;
    shape.maskLastAxis = x.b >> 16;
    const uint32_t bytes = x.a * shape.srcLastAxis * sizeof(T);
    const auto src = desk.Load<T>(from, bytes), dst = desk.Take<T>(bytes), again = desk.Take<T>(bytes);
    const auto mask = desk.Load<uint8_t>(from, x.a * shape.maskLastAxis);
    DropOut<T, false, mode>(dst, src, mask, desk.Take<uint8_t>(1024), 0.75f, shape);
    DropOut<T, false, mode>(again, src, mask, 0.75f, shape);
    desk.Store(x.out, dst, bytes);
    desk.Store(x.out + bytes, again, bytes);
}

/* k = x.a; rows of offsets and scales in the low byte of x.b, the other length of the source above. */
template <typename S, typename D, bool isTranspose>
void antiquant(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    const uint32_t height = x.b & 0xff, other = x.b >> 8, elements = x.a * other, width = isTranspose ? 1 : other;
    const auto src = desk.Load<S>(from, std::is_same<S, int4b_t>::value ? elements / 2 : elements);
    const auto offset = desk.Load<D>(from, height * width * sizeof(D)), scale = desk.Load<D>(from, height * width * sizeof(D));
    const auto dst = desk.Take<D>(elements * sizeof(D));
    const auto memory = desk.Take<uint8_t>(10240);
    const D two = static_cast<D>(2.0f), three = static_cast<D>(3.0f);
    uint32_t told = 0;
    const auto leave = [&](const auto &call) {
        call();
        desk.Store(x.out + told++ * elements * sizeof(D), dst, elements * sizeof(D));
        PipeBarrier<PIPE_ALL>();
    };
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, offset, scale, memory, x.a, {height, width, height, width}); });
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, offset, scale, x.a); });
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, scale, memory, x.a); });
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, three, two, memory, x.a); });
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, three, two, x.a); });
    leave([&] { AscendAntiQuant<S, D, isTranspose>(dst, src, two, memory, x.a); });
}

/* x.a horizontal, x.b vertical repeats; blocks of 512 elements, their offsets, weights. */
template <bool isPerBlock, bool isBits>
void bilinear(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    const uint32_t repeats = x.a * x.b;
    const auto src = desk.Load<half>(from, 1024);
    const auto offsets = desk.Load<uint32_t>(from, repeats * 32);
    const auto weights = desk.Load<half>(from, (repeats * (isPerBlock ? 8 : 1) + 15) / 16 * 32);
    const auto dst = desk.Take<half>(x.b * 384 * 2), memory = desk.Take<half>(65536);
    Duplicate(dst, half(-1), static_cast<int32_t>(x.b * 384));
    PipeBarrier<PIPE_V>();
    const auto h = static_cast<uint8_t>(x.a), v = static_cast<uint8_t>(x.b);
    if (isBits) {
        uint64_t mask[2] = {0x5555555555555555u, 0xffffu};
        BilinearInterpolation(dst, src, offsets, weights, mask, h, isPerBlock, 2, 384, v, memory.ReinterpretCast<uint8_t>());
    } else {
        BilinearInterpolation(dst, src, offsets, weights, uint64_t(100), h, isPerBlock, 2, 384, v, memory.ReinterpretCast<uint8_t>());
    }
    desk.Store(x.out, dst, x.b * 384 * 2);
}

/* x.a rows; columns in the low, matrices in the high half of x.b: side by side in rows of an odd length. */
template <typename T>
void nz2nd(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    const auto rows = static_cast<uint16_t>(x.a), columns = static_cast<uint16_t>(x.b & 0xffff), matrices = static_cast<uint16_t>(x.b >> 16);
    const auto step = static_cast<uint16_t>((rows * columns + 255) / 256), side = static_cast<uint16_t>(columns + 8);
    const auto src = desk.Load<T>(from, matrices * step * 256 * sizeof(T));
    GlobalTensor<T> out;
    out.SetGlobalBuffer(reinterpret_cast<T *>(x.out));
    DataCopy(out, src, Nz2NdParamsFull(matrices, rows, columns, step, rows, static_cast<uint16_t>(matrices * side + 3), side));
}

constexpr AscendQuantConfig kConstant{256, 64, 64, 1024};

/* x.a rows of 64 columns, scales, offsets: every form over whole tensors, then constants in place of counts that would fault. */
template <typename T>
void quant(const Arguments &x) {
    const uint8_t *from = x.in;
    Desk desk;
    const uint32_t count = x.a * 64;
    const auto src = desk.Load<T>(from, count * sizeof(T)), scale = desk.Load<T>(from, 64 * sizeof(T)), offset = desk.Load<T>(from, 64 * sizeof(T));
    const auto both = desk.Take<int8_t>(count), own = desk.Take<int8_t>(count), number = desk.Take<int8_t>(count), constant = desk.Take<int8_t>(count);
    const auto memory = desk.Take<uint8_t>(1024);
    AscendQuant<T>(both, src, memory, scale, offset);
    AscendQuant<T>(own, src, scale, offset);
    AscendQuant<T>(number, src, scale, static_cast<T>(2));
    AscendQuant<T, false, kConstant>(constant, src, memory, scale, offset, 7, 9, 11);
    desk.Store(x.out, both, count);
    desk.Store(x.out + count, own, count);
    desk.Store(x.out + 2 * count, number, count);
    desk.Store(x.out + 3 * count, constant, count);
}

#define BOTH(name) \
    {#name " f16", name<half>}, { #name " f32", name<float> }
const Row kRows[] = {
    BOTH(lgamma),
    BOTH(digamma),
    BOTH(pad),
    {"pad i16", pad<int16_t>},
    {"pad u32", pad<uint32_t>},
    BOTH(unpad),
    {"unpad u16", unpad<uint16_t>},
    {"unpad i32", unpad<int32_t>},
    BOTH(nz2nd),
    BOTH(quant),
    {"dropout 0 f16", dropout<half, 0>},
    {"dropout 0 f32", dropout<float, 0>},
    {"dropout 1 f16", dropout<half, 1>},
    {"dropout 2 f32", dropout<float, 2>},
    {"dropout 3 f32", dropout<float, 3>},
    {"dropout 4 f16", dropout<half, 4>},
    {"antiquant i8 f16", antiquant<int8_t, half, false>},
    {"antiquant i8 bf16", antiquant<int8_t, bfloat16_t, false>},
    {"antiquant i4 f16", antiquant<int4b_t, half, false>},
    {"antiquant i4 bf16", antiquant<int4b_t, bfloat16_t, false>},
    {"antiquant turned i8 f16", antiquant<int8_t, half, true>},
    {"antiquant turned i8 bf16", antiquant<int8_t, bfloat16_t, true>},
    {"bilinear repeat lanes", bilinear<false, false>},
    {"bilinear repeat bits", bilinear<false, true>},
    {"bilinear block lanes", bilinear<true, false>},
    {"bilinear block bits", bilinear<true, true>},
};

}  // namespace

rig::Entry rig::FindShapeKernel(const char *name) { return Find(kRows, name); }
