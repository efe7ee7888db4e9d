"""Do the 16-bit types of piton/cpu.h round as NumPy does, where the compiler has no half type of its own?"""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cpu_rig import submission_of

from piton.core.dtype import DType
from piton.core.execution import CaseCall, OutputBuffer, TensorArgument
from piton.core.operator import Operator, TensorSpec
from piton.evaluate.sandbox import make_runner
from piton.targets.cpu.target import open_cpu

SOURCE = """#undef __FLT16_MANT_DIG__
#include <piton/cpu.h>

namespace kernel {
void round16(const piton::Tensor& x, const piton::Tensor& h, const piton::Output& a, const piton::Output& b, const piton::Output& c)
{
    for (std::int64_t index = 0; index < x.elements; ++index) {
        a.data<piton::Float16>()[index] = piton::Float16(x.data<float>()[index]);
        b.data<piton::BFloat16>()[index] = piton::BFloat16(x.data<float>()[index]);
    }
    for (std::int64_t index = 0; index < h.elements; ++index) {
        c.data<float>()[index] = h.data<piton::Float16>()[index];
    }
}
}  // namespace kernel
"""
OPERATOR = Operator(
    name="round16",
    title="Round16",
    level=1,
    category="none",
    schema_text="round16(Tensor x, Tensor h) -> (Tensor a, Tensor b, Tensor c)",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)), TensorSpec(name="h", dtypes=(DType.FLOAT16,))),
    outputs=(TensorSpec(name="a", dtypes=(DType.FLOAT16,)), TensorSpec(name="b", dtypes=(DType.BFLOAT16,)), TensorSpec(name="c", dtypes=(DType.FLOAT32,))),
)


def floats() -> np.ndarray:  # type: ignore[type-arg]
    """Every half value, the middle between it and the next, and both neighbours of that; random ones of every size; what is special."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = ((halves[:-1] + halves[1:]) / 2).astype(np.float32)
    draw = np.random.default_rng(11)
    wide = (draw.uniform(1, 2, 4000) * 2.0 ** draw.integers(-149, 128, 4000)).astype(np.float32)
    special = np.array([0.0, np.inf, np.nan, 65519.99, 65520.0, 3.4e38, 2.0**-25, 2.0**-24, 1.17e-38], dtype=np.float32)
    found = np.concatenate([halves.astype(np.float32), middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(9e9)), wide, special])
    return np.concatenate([found, -found])


def check(given: tuple[memoryview, ...], outputs: tuple[OutputBuffer, ...]) -> None:
    """Compare one call bit by bit; any NaN is as good as any other."""
    x, h = np.frombuffer(given[0], np.float32), np.frombuffer(given[1], np.float16)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = (x.astype(np.float16), x.astype(ml_dtypes.bfloat16), h.astype(np.float32))
        for output, wanted in zip(outputs, expected, strict=True):
            assert output.data is not None
            np.testing.assert_array_equal(np.frombuffer(output.data, wanted.dtype).astype(np.float64), wanted.astype(np.float64))


def test_floats_become_halves_and_back_bit_by_bit(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    x, h = floats(), np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    tensors = (
        TensorArgument("x", x.shape, DType.FLOAT32, memoryview(x.tobytes())),
        TensorArgument("h", h.shape, DType.FLOAT16, memoryview(h.tobytes())),
    )
    forms = [("a", x.shape, DType.FLOAT16), ("b", x.shape, DType.BFLOAT16), ("c", h.shape, DType.FLOAT32)]
    call = CaseCall("1", tensors, ("x", "h"), {}, results=tuple(TensorArgument(*form, None) for form in forms))
    assert pytestconfig.cache is not None
    target, runner = open_cpu(str(pytestconfig.cache.mkdir("piton-cpu"))), make_runner()
    try:
        target.toolchain.prepare(runner)
        submission = submission_of(tmp_path / "sources", tmp_path / "store", "round16.cpp", SOURCE)
        build = target.toolchain.build(submission, OPERATOR, runner, str(tmp_path / "build"))
        assert build.outcome is None, build.outcome
        session = target.device.open(submission, OPERATOR, build, runner)
        execution = session.call(call)
        session.close()
    finally:
        runner.close()
    assert not execution.outcomes
    own = tuple(tensor.data for tensor in tensors if tensor.data is not None)
    check(own, execution.outputs)
    check(execution.timed[-1].inputs(), execution.timed[-1].outputs)
