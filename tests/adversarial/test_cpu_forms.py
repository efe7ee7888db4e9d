"""Do all kinds of arguments arrive in C++ and in Python as docs/cpu.md says: lists, what is left out, texts, outputs in lists?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cpu_rig import submission_of

from piton.core.dtype import DType
from piton.core.execution import CaseCall, TensorArgument
from piton.core.operator import AttrSpec, AttrValue, Operator, TensorSpec
from piton.core.protocols import Runner
from piton.evaluate.sandbox import make_runner
from piton.targets.cpu.target import open_cpu

FLOAT = (DType.FLOAT32,)
OPERATOR = Operator(
    name="mix",
    title="Mix",
    level=1,
    category="none",
    schema_text='mix(Tensor x, int[] steps, Tensor? bias=None, Tensor[] parts, str mode="add", float[]? scale=None, bool flag=False) -> (Tensor y, Tensor[] z)',
    inputs=(
        TensorSpec(name="x", dtypes=FLOAT),
        TensorSpec(name="bias", dtypes=FLOAT, is_optional=True),
        TensorSpec(name="parts", dtypes=FLOAT, is_list=True),
    ),
    outputs=(TensorSpec(name="y", dtypes=FLOAT), TensorSpec(name="z", dtypes=FLOAT, is_list=True)),
    attributes=(
        AttrSpec(name="steps", type="int_list"),
        AttrSpec(name="mode", type="str"),
        AttrSpec(name="scale", type="float_list"),
        AttrSpec(name="flag", type="bool"),
    ),
)
CPP = """#include <piton/cpu.h>

namespace kernel {
void mix(const piton::Tensor& x, const piton::Ints& steps, const piton::Tensor& bias, const piton::Tensors& parts, const std::string& mode,
         const piton::Reals& scale, bool flag, const piton::Output& y, const piton::Outputs& z)
{
    const float step = static_cast<float>(steps[steps.size() - 1]);
    for (std::int64_t i = 0; i < x.elements; ++i) {
        y.data<float>()[i] = x.data<float>()[i] * step + (bias ? bias.data<float>()[i % bias.inner()] : 0.0f) + (flag ? 1.0f : 0.0f);
    }
    const float factor = (scale.is_given ? static_cast<float>(scale[0]) : 2.0f) * (mode == "negate" ? -1.0f : 1.0f);
    for (std::size_t part = 0; part < parts.size(); ++part) {
        for (std::int64_t i = 0; i < parts[part].elements; ++i) {
            z[part].data<float>()[i] = parts[part].data<float>()[i] * factor;
        }
    }
}
}  // namespace kernel
"""
PYTHON = """import numpy as np


def mix(x, steps, bias, parts, mode, scale, flag, y, z):
    y[...] = x * np.float32(steps[-1]) + (0 if bias is None else bias) + (1 if flag else 0)
    factor = np.float32(2.0 if scale is None else scale[0]) * np.float32(-1 if mode == "negate" else 1)
    for part, output in zip(parts, z):
        output[...] = part * factor
"""
DRAW = np.random.default_rng(2)
X, BIAS = (DRAW.uniform(0.1, 0.9, shape).astype(np.float32) for shape in ((6, 5), (5,)))
PARTS = [DRAW.uniform(0.1, 0.9, shape).astype(np.float32) for shape in ((7,), (2, 3), ())]


def tensor(name: str, values: np.ndarray, index: int | None = None) -> TensorArgument:  # type: ignore[type-arg]
    return TensorArgument(name, values.shape, DType.FLOAT32, memoryview(values.tobytes()), list_index=index)


def call(attributes: dict[str, AttrValue], *, has_bias: bool) -> CaseCall:
    """A case with three parts."""
    parts = tuple(tensor("parts", values, index) for index, values in enumerate(PARTS))
    results = [TensorArgument("y", X.shape, DType.FLOAT32, None)]
    results += [TensorArgument(f"z[{index}]", values.shape, DType.FLOAT32, None) for index, values in enumerate(PARTS)]
    tensors = (tensor("x", X), *((tensor("bias", BIAS),) if has_bias else ()), *parts)
    return CaseCall("1", tensors, (), attributes, omitted=() if has_bias else ("bias",), results=tuple(results))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = make_runner()
    yield made
    made.close()


@pytest.mark.parametrize(("name", "source", "manifest"), [("mix.cpp", CPP, ""), ("mix.py", PYTHON, "track: python\n")])
def test_every_kind_of_argument_arrives(tmp_path: Path, pytestconfig: pytest.Config, runner: Runner, name: str, source: str, manifest: str) -> None:
    assert pytestconfig.cache is not None
    target = open_cpu(str(pytestconfig.cache.mkdir("piton-cpu")))
    target.toolchain.prepare(runner)
    submission = submission_of(tmp_path / "sources", tmp_path / "store", name, source, manifest)
    build = target.toolchain.build(submission, OPERATOR, runner, str(tmp_path / "build"))
    assert build.outcome is None, build.outcome
    session = target.device.open(submission, OPERATOR, build, runner)
    try:
        plain = session.call(call({"steps": (1, 3), "mode": "add", "scale": None, "flag": False}, has_bias=False))
        full = session.call(call({"steps": (-2,), "mode": "negate", "scale": (0.5, 9.0), "flag": True}, has_bias=True))
    finally:
        session.close()
    for execution, y, factor in ((plain, X * 3, 2.0), (full, X * -2 + BIAS + 1, -0.5)):
        assert not execution.outcomes
        found = [np.frombuffer(item.data or b"", np.float32) for item in execution.outputs]
        assert [item.name for item in execution.outputs] == ["y", "z[0]", "z[1]", "z[2]"]
        for got, expected in zip(found, (y, *(part * np.float32(factor) for part in PARTS)), strict=True):
            np.testing.assert_allclose(got, np.ravel(expected), rtol=1e-6)
