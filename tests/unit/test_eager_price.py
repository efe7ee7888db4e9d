"""Is the price of a trace what its constants say, term by term?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.anchors.eager import flops, kind, modelled_baseline, price_us, quantities, terms
from piton.catalog import load_suite
from piton.catalog.eager_constants import CONSTANTS_PATH, eager_constants_yaml, load_eager_constants
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.eager import EagerConstants, EagerTrace, Launch, TensorForm
from piton.core.errors import FormatError
from piton.core.interval import Interval, IntervalKind
from piton.core.measurement import AnchorKind, Provenance
from piton.core.operator import Operator

CHIP = load_hardware("ascend910b2")
"""Convention: 1.92e12 bytes/s, 192e6 bytes of L2, 6e12 float32 lanes/s, 354e12 FLOP/s in float16, 86e12 in float32, 708e12 in int8."""
CONSTANTS = EagerConstants(
    version="7",
    platform="910b2",
    chips=("ascend910b2",),
    source="test",
    launch_us=3.0,
    tensor_us=0.5,
    resident=2.0,
    streamed=3.0,
    cube=1.5,
    vector=4.0,
    instruction=1.25,
    copied=0.25,
    cases=10,
    operators=5,
    median_error=0.2,
    low=0.5,
    high=2.5,
)
OPERATOR = Operator(name="op", title="Op", level=1, category="", schema_text="", inputs=(), outputs=())
F16, F32 = DType.FLOAT16, DType.FLOAT32


def form(*shape: int, bits: int = 32) -> TensorForm:
    distinct = 1
    for size in shape:
        distinct *= size
    return TensorForm(shape=shape, element_bits=bits, dtype="float32", distinct=distinct)


def launch(name: str, reads: list[TensorForm], writes: list[TensorForm], count: int = 1) -> Launch:
    return Launch(operation=f"aten.{name}.default", reads=tuple(reads), writes=tuple(writes), count=count)


def case_of(*shapes: tuple[int, ...], dtype: DType = F32, operator: str = "op") -> Case:
    return Case(operator=operator, id="1", inputs=tuple(CaseInput(argument=f"x{place}", shape=shape, dtype=dtype) for place, shape in enumerate(shapes)))


def of_trace(trace: EagerTrace, case: Case) -> dict[str, float]:
    found = quantities(OPERATOR, case, trace, CHIP)
    assert found is not None
    assert found.origin == "trace"
    return price_us(found, CONSTANTS, CHIP)


def test_an_elementwise_chain_costs_launch_tensors_traffic_and_steps() -> None:
    """x and y have 1.92 million elements of 4 bytes: 15.36 MB in and out; two elementwise steps, one of them started three times: 4 x 1.92e6 elements."""
    wide = form(1_920_000)
    trace = EagerTrace(launches=(launch("exp", [wide], [wide]), launch("mul", [wide, wide], [wide], count=3)), outputs=(wide,))
    found = of_trace(trace, case_of((1_920_000,)))
    assert found["launch"] == 3.0
    assert found["tensors"] == 2 * 0.5
    assert found["traffic inside L2"] == pytest.approx(2.0 * 15.36e6 / 1.92e12 * 1e6)  # 16 us
    assert found["traffic beyond L2"] == 0
    assert found["elementwise"] == pytest.approx(4.0 * 4 * 1.92e6 / 6e12 * 1e6)  # 5.12 us
    assert (found["products"], found["moves"]) == (0, 0)
    assert sum(found.values()) == pytest.approx(3 + 1 + 16 + 5.12)


def test_traffic_beyond_l2_has_its_own_rate() -> None:
    """Two tensors of 192 MB: 192e6 bytes fit into L2, as many do not; each takes 100 us at 1.92e12 bytes/s."""
    large = form(48_000_000)
    found = of_trace(EagerTrace(outputs=(large,)), case_of((48_000_000,)))
    assert found["traffic inside L2"] == pytest.approx(2.0 * 100)
    assert found["traffic beyond L2"] == pytest.approx(3.0 * 100)


@pytest.mark.parametrize(("dtype", "rate"), [(F16, 354e12), (DType.BFLOAT16, 354e12), (F32, 86e12), (DType.INT8, 708e12), (DType.INT64, 354e12)])
def test_products_take_the_rate_of_the_first_input_whatever_type_the_golden_multiplies_in(dtype: DType, rate: float) -> None:
    """[64, 32] x [32, 16]: 2 * 64 * 16 * 32 operations. A type that the cube does not take goes by float16."""
    trace = EagerTrace(launches=(launch("mm", [form(64, 32), form(32, 16)], [form(64, 16)]),), outputs=(form(64, 16),))
    assert of_trace(trace, case_of((64, 32), dtype=dtype))["products"] == pytest.approx(1.5 * 65536 / rate * 1e6)


def test_only_operators_that_move_data_cost_extra_traffic() -> None:
    """A clone of 1000 float32 elements reads and writes 4000 bytes each; casts, reductions, gathers and fills count nothing."""
    flat = form(1000)
    moved = launch("clone", [flat], [flat], count=2)
    others = [launch(name, [flat], [flat]) for name in ("_to_copy", "sum", "index_select", "topk")]
    trace = EagerTrace(launches=(moved, *others, launch("zeros", [], [flat])), outputs=(flat,))
    found = of_trace(trace, case_of((1000,)))
    assert found["moves"] == pytest.approx(0.25 * 2 * 8000 / 1.92e12 * 1e6)
    assert found["elementwise"] == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("mm", "product"), ("baddbmm_", "product"), ("convolution", "product"), ("copy_", "move"), ("im2col", "move"), ("arange", "fill")),
        *(("amax", "reduction"), ("_softmax", "reduction"), ("scatter_add_", "indexed"), ("grid_sampler_3d", "indexed"), ("cummin", "ordered")),
        *(("_to_copy", "cast"), ("tanh_", "elementwise"), ("never_heard_of", "elementwise")),
    ],
)
def test_operators_are_told_apart_by_their_names(name: str, expected: str) -> None:
    assert kind(launch(name, [], [])) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (launch("mm", [form(4, 5), form(5, 6)], [form(4, 6)]), 2 * 4 * 6 * 5),
        (launch("bmm", [form(3, 4, 5), form(3, 5, 6)], [form(3, 4, 6)]), 2 * 3 * 4 * 6 * 5),
        (launch("addmm", [form(6), form(4, 5), form(5, 6)], [form(4, 6)]), 2 * 4 * 6 * 5),
        (launch("baddbmm_", [form(3, 4, 6), form(3, 4, 5), form(3, 5, 6)], [form(3, 4, 6)]), 2 * 3 * 4 * 6 * 5),
        # 8 output channels of 2 x 2 for one image, each a sum over 3 input channels and 5 x 7 taps
        (launch("convolution", [form(1, 3, 9, 9), form(8, 3, 5, 7)], [form(1, 8, 2, 2)]), 2 * 8 * 2 * 2 * 3 * 5 * 7),
        (launch("mul", [form(4, 5)], [form(4, 5)]), 0),
    ],
)
def test_operations_of_products_are_counted_by_their_sizes(made: Launch, expected: int) -> None:
    assert flops(made) == expected


def test_a_refused_trace_is_priced_from_the_work_formula() -> None:
    """sigmoid of 960 thousand float32 elements, convention: 10 instructions in bfloat16, 8 in the others; 3.84 MB each way."""
    member = load_suite().member("sigmoid")
    assert member is not None
    case = Case(operator="sigmoid", id="1", inputs=(CaseInput(argument="x", shape=(960_000,), dtype=F32),))
    found = quantities(member.operator, case, EagerTrace(refusal="no data"), CHIP)
    assert found is not None
    assert (found.origin, found.tensors, found.moved_bytes) == ("work formula", 2, 0)
    assert terms(found, CHIP)["traffic inside L2"] == pytest.approx(2 * 3.84e6 / 1.92e12 * 1e6)
    assert terms(found, CHIP)["elementwise"] == 0
    assert price_us(found, CONSTANTS, CHIP)["instructions"] == pytest.approx(1.25 * 8 * 0.96e6 / 6e12 * 1e6)
    anchor = modelled_baseline(member.operator, case, EagerTrace(refusal="no data"), CONSTANTS, CHIP)
    assert anchor is not None
    assert "work formula, since no data" in anchor.method


def test_an_operator_with_neither_trace_nor_formula_has_no_baseline() -> None:
    assert modelled_baseline(OPERATOR, case_of((8,)), EagerTrace(refusal="no data"), CONSTANTS, CHIP) is None


def test_the_baseline_says_that_it_is_modelled_by_which_constants_and_how_far_it_may_be_off() -> None:
    flat = form(1_920_000)
    anchor = modelled_baseline(OPERATOR, case_of((1_920_000,)), EagerTrace(launches=(launch("exp", [flat], [flat]),), outputs=(flat,)), CONSTANTS, CHIP)
    assert anchor is not None
    value = 3.0 + 2 * 0.5 + 2.0 * 8 + 4.0 * 0.32
    assert (anchor.kind, anchor.provenance, anchor.value_us) == (AnchorKind.T_BASELINE, Provenance.MODELLED, pytest.approx(value))
    assert anchor.version == "eager model 7 of the 910b2"
    assert anchor.interval == Interval(low=anchor.value_us * 0.5, high=anchor.value_us * 2.5, kind=IntervalKind.MODEL_ERROR, confidence=0.9)
    for part in ("golden of 1 launches", "15.4 MB in and out", "median error 20%", "5 operators"):
        assert part in anchor.method


@pytest.mark.parametrize(("chip", "platform"), [("ascend910b1", "910b2"), ("ascend910b2", "910b2"), ("ascend950pr", "950pr")])
def test_every_chip_of_ours_has_constants_that_were_judged_on_operators_left_out(chip: str, platform: str) -> None:
    found = load_eager_constants(chip)
    assert found is not None
    assert found.platform == platform
    assert found.median_error <= 0.25
    assert found.low < 1 < found.high


def test_a_chip_that_nobody_measured_has_none() -> None:
    assert load_eager_constants("null") is None


def test_the_constants_file_is_what_its_writer_writes() -> None:
    found = [load_eager_constants(chip) for chip in ("ascend910b2", "ascend950pr")]
    assert eager_constants_yaml([item for item in found if item]) == CONSTANTS_PATH.read_text()


@pytest.mark.parametrize(
    ("text", "problem"),
    [("- 1\n", "not a mapping"), ("x: {version: '1'}\n", "field `platform` is wrong"), ("x: 5\n", "is wrong")],
)
def test_a_broken_constants_file_is_refused_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "constants.yaml"
    path.write_text(text)
    with pytest.raises(FormatError, match=problem):
        load_eager_constants("ascend910b2", path)
