"""The tables of documented forms as C++: one function per form, one instance of it per element type and line.

The names are the 120 of public kernels for unified-buffer code that are most frequent and exist on the Ascend 910B.
"""

from __future__ import annotations

from api_form import Form
from api_forms_matmul import MATMUL
from api_forms_system import SYSTEM
from api_forms_vector import VECTOR

FORMS: tuple[Form, ...] = (*VECTOR, *SYSTEM, *MATMUL)

PRELUDE = """#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
constexpr IsResetLoad3dConfig part{true, false};
constexpr SyncAllConfig chosen{PIPE_MTE3, PIPE_MTE2};
template <typename T, typename U = T>
struct Given {
    LocalTensor<T> d, a, b, (&rows)[16];
    LocalTensor<U> x, y;
    GlobalTensor<T> &g;
    GlobalTensor<U> &h;
    T s;
    U r;
};
LocalTensor<int8_t> i8;
LocalTensor<uint8_t> u8;
LocalTensor<uint32_t> u32;
LocalTensor<int32_t> i32;
LocalTensor<uint64_t> u64;
LocalTensor<half> half_;
GlobalTensor<int32_t> gi32;
GlobalTensor<uint8_t> gu8;
GlobalTensor<uint64_t> gu64;
uint64_t m[2], kept, places[16];
uint32_t shape[2];
uint8_t memory[64];
UnaryRepeatParams unary;
BinaryRepeatParams binary;
CopyRepeatParams copied;
BrcbRepeatParams brcb;
GatherMaskParams gathered;
TransDataTo5HDParams turned;
DataCopyParams blocks;
DataCopyExtParams bytes;
DataCopyPadParams bits;
Nd2NzParams nz;
SliceInfo slice[1];
LoadData2DParams flat;
ShapeInfo shaped;
TPipe *pipe_;
TCubeTiling plan;
"""
NAMES = ("d", "a", "b", "rows", "x", "y", "g", "h", "s", "r")


def function(number: int, form: Form) -> str:
    """The form as a function template over the tensors it may use."""
    given = " ".join(f"auto &{name} = o.{name}; (void){name};" for name in NAMES)
    used = "" if "padding" not in form.statement else "DataCopyPadExtParams<T> padding;"
    return f"template <typename T, typename U> void form{number}(Given<T, U> &o) {{ {given} {used} {form.statement}; }}"


def instance(number: int, types: str) -> str:
    """An instance of it."""
    to, _, source = (types or "float").partition(",")
    source = source or to
    return f"template void form{number}<{to}, {source}>(Given<{to}, {source}> &);"


def counts() -> dict[str, int]:
    """Figures of the tables: names, forms, forms with one of their types, and types that a form refuses."""
    return {
        "names": len({form.name for form in FORMS}),
        "forms": len(FORMS),
        "accepted": sum(len(form.instances()) for form in FORMS),
        "refused": sum(len(form.refused) for form in FORMS),
    }
