"""Does the trace of a golden list what eager mode would start, without data, and say why where it can't?"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from piton.anchors.eager import flops
from piton.catalog import load_suite
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.eager import EagerTrace, Launch
from piton.core.errors import EvaluatorError
from piton.core.operator import AttrValue, Operator, TensorSpec
from piton.numerics import eager_trace
from piton.numerics.eager_trace import MOST_ELEMENTS, trace_golden
from piton.numerics.golden import build_inputs
from piton.numerics.inputs import Inputs, make_inputs

SUITE = load_suite()
F16, F32 = DType.FLOAT16, DType.FLOAT32


def tensor(shape: tuple[int, ...], dtype: DType = F32, argument: str = "x", index: int | None = None) -> CaseInput:
    return CaseInput(argument=argument, shape=shape, dtype=dtype, list_index=index)


def of_suite(name: str, *inputs: CaseInput, **attributes: AttrValue) -> EagerTrace:
    """The trace of one of our goldens on a case that is not in the suite."""
    member = SUITE.member(name)
    assert member is not None
    case = Case(operator=name, id="1", inputs=inputs, attributes=attributes)
    return trace_golden(member.operator.golden_path, member.operator, case, without_data)


def of_code(root: Path, body: str, *inputs: CaseInput) -> EagerTrace:
    """The trace of a golden `op(x)` with this body."""
    path = root / "golden.py"
    path.write_text("import torch\n\n\ndef op(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    spec = TensorSpec(name="x", dtypes=tuple(DType), is_list=any(item.list_index is not None for item in inputs))
    outputs = (TensorSpec(name="y", dtypes=tuple(DType)),)
    operator = Operator(name="op", title="Op", level=1, category="", schema_text="", inputs=(spec,), outputs=outputs, golden_path=str(path))
    case = Case(operator="op", id="1", inputs=inputs)
    return trace_golden(str(path), operator, case, lambda: make_inputs("1", case, 0))


def without_data() -> Inputs:
    raise AssertionError("this golden needs no data")


def names(trace: EagerTrace) -> list[str]:
    return [launch.operation.removeprefix("aten.") for launch in trace.launches for _ in range(launch.count)]


def bytes_of(launch: Launch) -> tuple[int, int]:
    return launch.read_bytes, launch.write_bytes


def test_softmax_in_float32_starts_five_operators_with_these_bytes() -> None:
    """x [4, 8]: 32 elements, 128 bytes; maxima and sums [4, 1]: 16 bytes."""
    trace = of_suite("softmax", tensor((4, 8)), dim=-1)
    assert names(trace) == ["amax.default", "sub.Tensor", "exp_.default", "sum.dim_IntList", "div_.Tensor"]
    assert [bytes_of(launch) for launch in trace.launches] == [(128, 16), (128 + 16, 128), (128, 128), (128, 16), (128 + 16, 128)]
    assert trace.traffic_bytes == 144 + 272 + 256 + 144 + 272
    assert [launch.axes for launch in trace.launches] == [(1,), (), (), (1,), ()]
    assert [(form.shape, form.nbytes) for form in trace.outputs] == [((4, 8), 128)]


def test_softmax_in_float16_adds_a_cast_before_and_one_after() -> None:
    trace = of_suite("softmax", tensor((4, 8), F16), dim=-1)
    assert names(trace)[0] == names(trace)[-1] == "_to_copy.default"
    assert trace.count == 7
    assert bytes_of(trace.launches[0]) == (64, 128)
    assert [(form.dtype, form.nbytes) for form in trace.outputs] == [("float16", 64)]


def test_mish_starts_four_elementwise_operators_and_two_casts() -> None:
    wanted = ["exp.default", "log1p_.default", "tanh_.default", "mul_.Tensor"]
    assert names(of_suite("mish", tensor((10,)))) == wanted
    cast = "_to_copy.default"
    trace = of_suite("mish", tensor((10,), F16))
    assert names(trace) == [cast, *wanted[:3], "mul_.Tensor", cast]


def test_rms_norm_is_composed_of_these_operators() -> None:
    """x and gamma become float32; square is a power of 2; the factor is [2, 1]."""
    trace = of_suite("rms_norm", tensor((2, 6), F16), tensor((6,), F16, "gamma"), epsilon=1e-6)
    assert names(trace) == [
        *("_to_copy.default", "_to_copy.default", "pow.Tensor_Scalar", "mean.dim", "add_.Tensor", "rsqrt_.default"),
        *("mul.Tensor", "mul_.Tensor", "_to_copy.default"),
    ]
    product = next(launch for launch in trace.launches if launch.operation == "aten.mul.Tensor")
    assert bytes_of(product) == (12 * 4 + 2 * 4, 12 * 4)


def test_forty_gigabytes_are_traced_without_memory_for_them() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    trace = of_suite("softmax", tensor((10_000, 1_000_000)), dim=-1)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert trace.outputs[0].nbytes == 40_000_000_000
    assert grown_kib < 500_000


def test_views_are_free_and_copies_are_not(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "return x.transpose(0, 1)[1:].unsqueeze(0).contiguous()", tensor((4, 6)))
    assert names(trace) == ["clone.default"]
    assert trace.views == 3
    assert not trace.launches[0].reads[0].is_dense


def test_an_expanded_tensor_is_read_once_where_it_lies(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "return x[:, :1].expand(4, 6) * 2", tensor((4, 6)))
    assert [form.nbytes for form in trace.launches[-1].reads] == [4 * 4]
    assert trace.launches[-1].writes[0].nbytes == 4 * 6 * 4


def test_the_target_of_a_copy_and_of_out_is_not_read(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "y = torch.empty_like(x)\ny.copy_(x)\ntorch.mul(x, 2, out=y)\nreturn y", tensor((8,)))
    assert [bytes_of(launch) for launch in trace.launches] == [(32, 32), (32, 32)]


def test_equal_launches_are_counted_together(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "for _ in range(100):\n    x = x + 1\nreturn x", tensor((8,)))
    assert [(launch.operation, launch.count) for launch in trace.launches] == [("aten.add.Tensor", 100)]
    assert (trace.count, trace.traffic_bytes) == (100, 100 * 64)


def test_a_golden_that_asks_for_values_runs_on_the_data_of_a_small_case(tmp_path: Path) -> None:
    body = "if bool((x > 2).any()):\n    return x * 2\nreturn x.exp()"
    trace = of_code(tmp_path, body, tensor((8,)))
    assert trace.is_on_data
    assert names(trace) == ["gt.Scalar", "any.default", "exp.default"]  # values lie between -1 and 1


def test_a_golden_that_asks_for_values_of_a_large_case_is_refused_with_the_line(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "y = x.sum()\nreturn x * y.item()", tensor((MOST_ELEMENTS + 1,)))
    assert "golden.py:6" in trace.refusal
    assert str(MOST_ELEMENTS) in trace.refusal
    assert (trace.launches, trace.outputs) == ((), ())


@pytest.mark.parametrize("body", ["while True:\n    x = x + 1", "while bool((x < 2).all()):\n    x = x * 1"])
def test_an_endless_golden_is_ended_by_the_number_of_its_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    monkeypatch.setattr(eager_trace, "MOST_LAUNCHES", 50)
    assert of_code(tmp_path, body, tensor((8,))).refusal == "the golden starts more than 50 operators"


def test_a_golden_that_fails_is_refused_with_what_it_raised(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "raise KeyError('no such mode')", tensor((8,)))
    assert "KeyError" in trace.refusal
    assert "golden.py:5" in trace.refusal


ASKS = "if bool((x > 2).any()):\n    return x\n"
"""Makes the golden run on its data."""


@pytest.mark.parametrize("asks", ["", ASKS], ids=["without data", "on data"])
@pytest.mark.parametrize(
    "body",
    [
        "raise MemoryError",
        'raise RuntimeError("DefaultCPUAllocator: can\'t allocate memory: you tried to allocate 8 bytes")',
        "raise OSError('too many open files')",
        "try:\n    raise MemoryError\nexcept MemoryError:\n    raise ValueError('no')",
    ],
)
def test_a_lack_of_memory_is_no_refusal_since_those_are_kept_for_good(tmp_path: Path, asks: str, body: str) -> None:
    with pytest.raises(EvaluatorError, match="op raised"):
        of_code(tmp_path, asks + body, tensor((8,)))


@pytest.mark.parametrize("asks", ["", ASKS], ids=["without data", "on data"])
@pytest.mark.parametrize("body", ["raise ValueError('no such mode')", "return x @ x[:3]"])
def test_what_a_golden_raises_on_every_machine_is_a_refusal(tmp_path: Path, asks: str, body: str) -> None:
    assert "the golden did not run: op raised" in of_code(tmp_path, asks + body, tensor((8,))).refusal


@pytest.mark.parametrize(
    ("body", "shape", "expected"),
    [
        # 2 batches, 3 heads, 5 x 5 scores of 4 channels, twice: 2 * (2 * 2 * 3 * 5 * 5 * 4)
        ("return torch.nn.functional.scaled_dot_product_attention(x, x, x)", (2, 3, 5, 4), 2 * (2 * 2 * 3 * 5 * 5 * 4)),
        # every one of the 2 x 3 x 5 inputs goes into 4 channels at 3 places
        ("return torch.nn.functional.conv_transpose1d(x, torch.ones(3, 4, 3))", (2, 3, 5), 2 * (2 * 3 * 5) * 4 * 3),
        # 2 products of 3 x 4 by 4 x 7
        ("return torch.addbmm(torch.ones(3, 7), x, torch.ones(2, 4, 7))", (2, 3, 4), 2 * (2 * 3 * 4 * 7)),
        # told by the shapes: 3 x 4 by 4 x 7
        ("return x @ torch.ones(4, 7)", (3, 4), 2 * 3 * 4 * 7),
        ("return torch.nn.functional.conv1d(x, torch.ones(4, 3, 3))", (2, 3, 5), 2 * (2 * 4 * 3) * 3 * 3),
    ],
)
def test_products_count_their_multiply_adds(tmp_path: Path, body: str, shape: tuple[int, ...], expected: int) -> None:
    trace = of_code(tmp_path, body, tensor(shape))
    assert trace.refusal == ""
    assert sum(item.count * flops(item) for item in trace.launches) == expected


def test_a_layer_whose_products_nobody_counts_is_refused_by_name(tmp_path: Path) -> None:
    body = "layer = torch.nn.LSTM(4, 6)\nwith torch.no_grad():\n    return layer(x)[0]"
    assert of_code(tmp_path, body, tensor((5, 2, 4))).refusal == "the golden starts aten.mkldnn_rnn_layer, and nobody counts its operations"


def test_a_golden_that_returns_what_it_does_not_declare_is_refused(tmp_path: Path) -> None:
    assert "output y of the golden is int" in of_code(tmp_path, "return 5", tensor((8,))).refusal


def test_elements_of_a_list_are_arguments_of_their_own(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "return x[0] + x[1]", tensor((8,), index=0), tensor((8,), index=1))
    assert [bytes_of(launch) for launch in trace.launches] == [(64, 32)]


def test_types_that_torch_lacks_come_in_as_float32(tmp_path: Path) -> None:
    trace = of_code(tmp_path, "assert x.dtype == torch.float32\nreturn x * 2", tensor((8,), DType.HIFLOAT8))
    assert [(form.dtype, form.nbytes) for form in trace.outputs] == [("hifloat8", 8)]


@pytest.mark.parametrize(("suite", "expected"), [("piton", {"nms"}), ("cann-lowbit", set())])
def test_every_operator_of_our_suites_has_a_trace_or_a_reason(suite: str, expected: set[str]) -> None:
    """On its smallest case. Of nms that has 300 thousand boxes, which suppress one another some dozens at a time."""
    refused = {}
    for member in load_suite(suite).members:
        operator, case = member.operator, min(member.cases, key=lambda case: case.elements)
        trace = trace_golden(operator.golden_path, operator, case, lambda o=operator, c=case: build_inputs(o.golden_path, o, c, make_inputs("1", c, 0), 0))
        assert trace.refusal or trace.launches, operator.name
        assert all(launch.flops is None for launch in trace.launches), f"{operator.name}: the constants were fitted to products told by their shapes"
        if trace.refusal:
            refused[operator.name] = trace.refusal
    assert set(refused) == expected
    assert set(refused.values()) <= {f"the golden starts more than {eager_trace.MOST_LAUNCHES} operators"}
