"""Do the goldens of suite cann-lowbit say what their formats say, and do its cases use every format that they may?"""

from __future__ import annotations

import numpy as np
import pytest

from piton.catalog import load_suite
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.suite import SuiteOperator
from piton.numerics.dtypes import decode, encode
from piton.numerics.golden import Precision, run_golden
from piton.numerics.inputs import Inputs
from piton.numerics.mx import quantise
from piton.numerics.tensors import GoldenOutput

SUITE = load_suite("cann-lowbit")
CHOOSING = tuple(member for member in SUITE.members if any(spec.type == "dtype" for spec in member.operator.attributes))
"""Operators with an attribute that chooses the type of an output."""
by_operator = pytest.mark.parametrize("member", SUITE.members, ids=lambda member: member.operator.name)


def test_a_memory_ceiling_is_stated() -> None:
    assert SUITE.memory_ceiling_bytes == 12 << 30


@pytest.mark.parametrize("member", CHOOSING, ids=lambda member: member.operator.name)
def test_every_type_that_an_attribute_can_choose_occurs(member: SuiteOperator) -> None:
    (name,) = (spec.name for spec in member.operator.attributes if spec.type == "dtype")
    chosen = {DType(str(case.attributes[name])) for case in member.cases}
    assert chosen == set(member.operator.outputs[0].dtypes)


@by_operator
def test_every_layout_of_optional_inputs_occurs(member: SuiteOperator) -> None:
    optional = {spec.name for spec in member.operator.inputs if spec.is_optional}
    assert {name for case in member.cases for name in case.omitted} == optional
    assert {item.argument for case in member.cases for item in case.inputs} == {spec.name for spec in member.operator.inputs}


# Goldens against the codecs


def run(name: str, inputs: Inputs, case: Case, precision: Precision) -> tuple[GoldenOutput, ...]:
    member = next(member for member in SUITE.members if member.operator.name == name)
    return run_golden(member.operator.golden_path, member.operator, case, inputs, precision, threads=1)


EXTREME = np.concatenate(
    [
        np.float32(
            [0.0, -0.0, 1.0, np.nextafter(np.float32(2), np.float32(0)), 2.0, 3.4e38, 1.2e-38, 1e-45, 2.0**-127, 449.0, 464.0, 7.0, 1.9999999 * 2.0**-120]
        ),
        np.random.default_rng(0).standard_normal(1011).astype(np.float32) * np.exp2(np.random.default_rng(1).integers(-60, 60, 1011)).astype(np.float32),
    ]
)


@pytest.mark.parametrize("precision", ["float64", "native"])
@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.FLOAT4_E2M1], ids=lambda dtype: dtype.value)
def test_mx_quant_is_the_conversion_of_the_specification(dtype: DType, precision: Precision) -> None:
    for x in (
        EXTREME.reshape(32, 32),
        EXTREME[: 33 * 30].reshape(30, 33)[:, : 32 if dtype is DType.FLOAT4_E2M1 else 33],
        np.repeat(EXTREME[:, None], 2, axis=1),
    ):
        case = Case(operator="mx_quant", id="1", inputs=(CaseInput(argument="x", shape=x.shape, dtype=DType.FLOAT32),), attributes={"dst_type": dtype.value})
        elements, scales = run("mx_quant", {"x": x}, case, precision)
        expected = quantise(x.astype(np.float64), dtype)
        np.testing.assert_array_equal(elements.values(), decode(expected.elements, dtype))
        np.testing.assert_array_equal(scales.array().view(np.uint8), expected.scales.reshape(-1).view(np.uint8))


@pytest.mark.parametrize("dtype", [DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.HIFLOAT8], ids=lambda dtype: dtype.value)
def test_fp8_quant_is_the_saturating_conversion_of_the_quotient(dtype: DType) -> None:
    scale = np.float32([0.5])
    form = tuple(CaseInput(argument=name, shape=array.shape, dtype=DType.FLOAT32) for name, array in (("x", EXTREME), ("scale", scale)))
    case = Case(operator="fp8_quant", id="1", inputs=form, attributes={"dst_type": dtype.value})
    (got,) = run("fp8_quant", {"x": EXTREME, "scale": scale}, case, "float64")
    expected = encode(EXTREME.astype(np.float64) / 0.5, dtype, saturates=True)
    np.testing.assert_array_equal(got.values(), decode(expected, dtype))


def test_mx_dequant_undoes_mx_quant() -> None:
    made = quantise(EXTREME[1:].reshape(-1, 31).astype(np.float64), DType.FLOAT8_E4M3)
    form = tuple(
        CaseInput(argument=name, shape=array.shape, dtype=dtype, low=1.0)
        for name, array, dtype in (("x", made.elements, DType.FLOAT8_E4M3), ("scale", made.scales, DType.FLOAT8_E8M0))
    )
    case = Case(operator="mx_dequant", id="1", inputs=form, attributes={"dst_type": "float32"})
    (got,) = run("mx_dequant", {"x": made.elements, "scale": made.scales}, case, "float64")
    np.testing.assert_array_equal(got.values(), made.values().astype(np.float32).astype(np.float64))
