/* What the kernels of the test rig share: their arguments, a kernel by queues around a step, and rows of names. */
#ifndef PITON_ENGINE_KERNELS_H
#define PITON_ENGINE_KERNELS_H

#include <cstring>

#include "kernel_operator.h"

namespace rig {

using namespace AscendC;

struct Arguments {
    uint8_t *in;
    uint8_t *out;
    uint32_t a;  // elements, rows or what else the kernel says
    uint32_t b;
};

template <typename T>
struct Tensors {
    GlobalTensor<T> in, out;
    explicit Tensors(const Arguments &arguments) {
        in.SetGlobalBuffer(reinterpret_cast<T *>(arguments.in));
        out.SetGlobalBuffer(reinterpret_cast<T *>(arguments.out));
    }
};

/* in[0:n] -> `step(dst, src)` -> out[0:m], by queues; 4 KiB of the unified buffer are left. */
template <typename T, typename Step>
void Between(const Arguments &arguments, uint32_t n, uint32_t m, const Step &step) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> inputs;
    TQue<TPosition::VECOUT, 1> outputs;
    TBuf<> rest;
    const uint32_t inBytes = (n * sizeof(T) + 31) / 32 * 32, outBytes = (m * sizeof(T) + 31) / 32 * 32;
    pipe.InitBuffer(inputs, 1, inBytes);
    pipe.InitBuffer(outputs, 1, outBytes);
    pipe.InitBuffer(rest, 196608 - 4096 - inBytes - outBytes);
    const Tensors<T> memory(arguments);
    auto src = inputs.AllocTensor<T>();
    DataCopyPad(src, memory.in, DataCopyExtParams(1, n * sizeof(T), 0, 0, 0), DataCopyPadExtParams<T>());
    inputs.EnQue(src);
    src = inputs.DeQue<T>();
    auto dst = outputs.AllocTensor<T>();
    step(dst, src);
    outputs.EnQue(dst);
    inputs.FreeTensor(src);
    dst = outputs.DeQue<T>();
    DataCopyPad(memory.out, dst, DataCopyExtParams(1, m * sizeof(T), 0, 0, 0));
    outputs.FreeTensor(dst);
}

struct Row {
    const char *name;
    void (*kernel)(const Arguments &);
};

using Entry = void (*)(const void *);

/* Null where no row has the name. */
template <std::size_t n>
Entry Find(const Row (&rows)[n], const char *name) {
    static thread_local void (*chosen)(const Arguments &);
    for (const Row &row : rows) {
        if (std::strcmp(row.name, name) == 0) {
            chosen = row.kernel;
            return [](const void *arguments) {
                Arguments given;
                std::memcpy(&given, arguments, sizeof given);
                chosen(given);
            };
        }
    }
    return nullptr;
}

/* Of the other files of kernels. */
Entry FindApiKernel(const char *name);
Entry FindRowKernel(const char *name);
Entry FindFunctionKernel(const char *name);
Entry FindSortKernel(const char *name);
Entry FindNormKernel(const char *name);
Entry FindLayerNormKernel(const char *name);
Entry FindFlashKernel(const char *name);
Entry FindMoreNormKernel(const char *name);
Entry FindRowFormKernel(const char *name);
Entry FindRestKernel(const char *name);
Entry FindShapeKernel(const char *name);
Entry FindFormKernel(const char *name);
Entry FindCallKernel(const char *name);
Entry FindNamedMatmulKernel(const char *name);
Entry FindMatmulKernel(const char *name);
Entry FindMixedMatmulKernel(const char *name);
Entry FindProbe(const char *name);
Entry FindComposedProbe(const char *name);
Entry FindCubeProbe(const char *name);
Entry FindMatmulFormKernel(const char *name);
Entry FindAskedMatmulKernel(const char *name);

}  // namespace rig

#endif /* PITON_ENGINE_KERNELS_H */
