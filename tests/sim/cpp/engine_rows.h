/* What the kernels of functions of rows share: a matrix in local memory, a result, numbers of its rows and temporary memory. */
#ifndef PITON_ENGINE_ROWS_H
#define PITON_ENGINE_ROWS_H

#include "engine_kernels.h"

namespace rig {

template <typename T>
uint32_t PitchOf(uint32_t columns) {
    constexpr uint32_t unit = 32 / sizeof(T);
    return (columns + unit - 1) / unit * unit;
}

/* x.a rows of x.b elements, and what kernels add to them. */
template <typename T>
struct Bench {
    TPipe pipe;
    TBuf<> data, result, numbers, rest;
    Tensors<T> memory;
    uint32_t rows, columns, pitch;
    LocalTensor<T> local, dst;
    LocalTensor<uint8_t> scratch;

    /* `more` rows behind x.a of them; `ends` bytes of numbers; `room` bytes of temporary memory, 0 for none. */
    Bench(const Arguments &x, uint32_t more, uint32_t ends, uint32_t room) : memory(x), rows(x.a), columns(x.b), pitch(PitchOf<T>(x.b)) {
        pipe.InitBuffer(data, (rows + more) * pitch * sizeof(T));
        pipe.InitBuffer(result, rows * pitch * sizeof(T));
        pipe.InitBuffer(numbers, ends);
        if (room != 0) {
            pipe.InitBuffer(rest, room);
            scratch = rest.Get<uint8_t>();
        }
        local = data.Get<T>();
        dst = result.Get<T>();
        DataCopyPad(local, memory.in, DataCopyExtParams(rows + more, columns * sizeof(T), 0, 0, 0),
                    DataCopyPadExtParams<T>(true, 0, pitch - columns, static_cast<T>(0.0f)));
        PipeBarrier<PIPE_ALL>();
    }
    LocalTensor<T> Row(uint32_t number) { return local[number * pitch]; }
    /* The matrix without padding, then `count` numbers from each of two tensors of S. */
    template <typename S>
    void Store(const LocalTensor<S> &one, const LocalTensor<S> &two) {
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(memory.out, dst, DataCopyExtParams(rows, columns * sizeof(T), 0, 0, 0));
        GlobalTensor<S> behind;
        behind.SetGlobalBuffer(reinterpret_cast<__gm__ S *>(memory.out.GetPhyAddr()) + (rows * columns * sizeof(T) + 63) / 64 * 64 / sizeof(S));
        DataCopyPad(behind, one, DataCopyExtParams(1, rows * sizeof(S), 0, 0, 0));
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(behind[rows], two, DataCopyExtParams(1, rows * sizeof(S), 0, 0, 0));
    }
};

constexpr uint32_t kApart = 65536; /* bytes from one result to the next in global memory */

/* `count` elements of the result number `which`. */
template <typename S>
void Put(const Arguments &x, uint32_t which, const LocalTensor<S> &local, uint32_t count) {
    GlobalTensor<S> to;
    to.SetGlobalBuffer(reinterpret_cast<__gm__ S *>(x.out + which * kApart));
    DataCopyPad(to, local, DataCopyExtParams(1, count * sizeof(S), 0, 0, 0));
}

}  // namespace rig

#endif /* PITON_ENGINE_ROWS_H */
