"""Does a case that a person types become the case meant, and does a slip get a message that says where?"""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from piton.catalog import load_suite
from piton.catalog.form_fit import sizes_go_together
from piton.catalog.typed_case import CASE_ID, typed_case
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import UsageError
from piton.core.suite import SuiteOperator

SUITE = load_suite()


def member(name: str) -> SuiteOperator:
    found = SUITE.member(name)
    assert found is not None
    return found


def typed(name: str, shapes: str, *attributes: str, base: str = "") -> Case:
    found = member(name)
    start = next((case for case in found.cases if case.id == base), None)
    return typed_case(found.operator, shapes, attributes, found.cases, start)


def tensors(case: Case) -> list[tuple[str, tuple[int, ...], str]]:
    return [(item.argument, item.shape, item.dtype.value) for item in case.inputs]


def test_named_shapes_give_tensors_with_the_dtype_of_the_first() -> None:
    case = typed("rms_norm", "gamma=33, x=4x33:bfloat16")
    assert tensors(case) == [("x", (4, 33), "bfloat16"), ("gamma", (33,), "bfloat16")]
    assert (case.id, case.attributes) == (CASE_ID, {"epsilon": 1e-6})


def test_shapes_without_names_are_in_the_order_of_the_schema() -> None:
    assert tensors(typed("rms_norm", "4x33:bf16,33:fp32")) == [("x", (4, 33), "bfloat16"), ("gamma", (33,), "float32")]


def test_a_dtype_that_the_next_tensor_cannot_have_is_not_taken_over() -> None:
    assert [item.dtype for item in typed("gather", "8x10:float16,8x3").inputs] == [DType.FLOAT16, member("gather").operator.inputs[1].dtypes[0]]


def test_tensors_of_a_list_are_joined_by_plus() -> None:
    case = typed("foreach_norm", "x=4x5+7:float32", "scalar=2")
    assert [(item.shape, item.list_index) for item in case.inputs] == [((4, 5), 0), ((7,), 1)]
    assert case.attributes == {"scalar": 2.0}


def test_an_optional_tensor_is_left_out_by_none_or_by_silence() -> None:
    for shapes in ("32x64:float16,none", "32x64:float16"):
        assert typed("moe_gating_top_k_softmax", shapes, "k=4").omitted == ("finished",)


def test_a_value_range_reaches_the_case() -> None:
    first, second = typed("gcd", "x1=8:int32:-100..1e3,x2=8").inputs
    assert (first.low, first.high, second.low, second.high) == (-100.0, 1000.0, -1.0, 1.0)


def test_a_case_of_the_suite_is_changed_where_it_is_told() -> None:
    base = next(case for case in member("exp").cases if case.id == "2")
    changed = typed("exp", "", "scale=7", base="2")
    assert changed.inputs == base.inputs
    assert changed.attributes == {**base.attributes, "scale": 7.0}
    assert (changed.id, changed.seed) == ("2, changed", base.seed)
    assert typed("exp", "x=5x5:float16", base="2").inputs[0].shape == (5, 5)


def test_text_and_lists_are_attributes_too() -> None:
    assert typed("gelu", "4x5", "approximate=tanh").attributes["approximate"] == "tanh"
    assert typed("transpose", "4x5", "perm=[1, 0]").attributes["perm"] == (1, 0)


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes", "message"),
    [
        ("rms_norm", "4x33,33,33", (), r"more shapes than tensors[\s\S]*rms_norm takes x, gamma"),
        ("rms_norm", "4x33,z=33", (), "no tensor 'z'"),
        ("rms_norm", "x=4x33,x=4x33", (), "tensor 'x' twice"),
        ("rms_norm", "4x33", (), "input 'gamma' is not given"),
        ("rms_norm", "4y33,33", (), r"shape of 'x' can't be read[\s\S]*1024x33"),
        ("rms_norm", "4x33+5,33", (), "shape of 'x' can't be read"),
        ("rms_norm", "scalar,33", (), r"'x' has 0 axes[\s\S]*\[\.\.\., N\]"),
        ("conv_2d", "1x3x8,8x3x3x3,8", ("strides=[1,1]",), r"'x' has 3 axes[\s\S]*\[N, C, H, W\]"),
        ("gelu", "4x5:int8", (), r"dtype of 'x' is not in the signature[\s\S]*float32, float16, bfloat16"),
        ("gelu", "4x5:float99", (), "dtype of 'x'"),
        ("gcd", "4:int32:5,4", (), "value range of 'x1' can't be read"),
        ("gelu", "4x5", ("approximate",), "an attribute without a value"),
        ("gelu", "4x5", ("size=3",), r"no attribute 'size'[\s\S]*approximate \(str\)"),
        ("exp", "4x5", ("scale=high",), "attribute 'scale'"),
        ("group_norm", "4x5x8x8,5,5", ("epsilon=1e-5",), r"attribute 'num_groups' has no default[\s\S]*type int, such as \d+"),
    ],
)
def test_a_slip_is_one_message_that_says_where(operator: str, shapes: str, attributes: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        typed(operator, shapes, *attributes)


def test_without_rules_the_ranks_of_known_cases_count() -> None:
    found = member("exp")
    operator = found.operator.model_copy(update={"golden_path": ""})
    ranks = {len(case.inputs[0].shape) for case in found.cases}
    assert 2 in ranks
    assert typed_case(operator, "4x5", (), found.cases).inputs[0].shape == (4, 5)
    with pytest.raises(UsageError, match=rf"'x' has 7 axes[\s\S]*{', '.join(map(str, sorted(ranks)))} axes"):
        typed_case(operator, "1x2x3x4x5x6x7", (), found.cases)
    assert typed_case(operator, "1x2x3x4x5x6x7", (), ()).inputs[0].shape == (1, 2, 3, 4, 5, 6, 7), "where nothing is known, nothing is refused"


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes", "is_fine"),
    [
        ("rms_norm", "4x33,33", (), True),
        ("rms_norm", "4x33,32", (), False),
        ("apply_adam_w", "2x3x4,2x3x4,2x3x4,2x3x4", ("lr=1", "beta1=0", "beta2=0", "weight_decay=0"), True),
        ("apply_adam_w", "2x3x4,2x3x4,3x4,2x3x4", ("lr=1", "beta1=0", "beta2=0", "weight_decay=0"), False),
        ("swi_glu", "4x8", (), True),  # [..., 2 * H]: an H of 4
        ("foreach_addcdiv_scalar", "4x5+7,4x5+7,4x5+8", ("scalar=1",), False),  # the second of each list
        ("foreach_addcdiv_scalar", "4x5+7,4x5+7,4x5+7", ("scalar=1",), True),
    ],
)
def test_sizes_that_do_not_go_together_are_found(operator: str, shapes: str, attributes: tuple[str, ...], is_fine: bool) -> None:
    assert sizes_go_together(member(operator).operator, typed(operator, shapes, *attributes)) is is_fine


def test_sizes_of_the_cases_of_our_suites_go_together() -> None:
    """Of a fifth of them: each reads its operator's rules."""
    for suite in (SUITE, load_suite("cann-lowbit")):
        odd = [(item.operator.name, case.id) for item in suite.members for case in item.cases[::5] if not sizes_go_together(item.operator, case)]
        assert odd == []


PIECES = st.sampled_from(
    ["x", "gamma", "=", ",", ":", "..", "x=4x33", "4x33", "scalar", "none", "float16", "+", "-1", "nan", "1e9", "9" * 5000, " ", "²", "x*"]
)


@settings(derandomize=True, max_examples=150, deadline=None, database=None)
@given(
    shapes=st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=20),
    attribute=st.text(max_size=12) | st.sampled_from(["epsilon=nan", "epsilon=((", "epsilon="]),
)
@example(shapes="9" * 5000, attribute="epsilon=1")
@example(shapes="4x²", attribute="epsilon=" + "[" * 3000)
def test_whatever_is_typed_is_a_case_or_one_message(shapes: str, attribute: str) -> None:
    with contextlib.suppress(UsageError):
        assert typed("rms_norm", shapes, attribute).operator == "rms_norm"


@settings(derandomize=True, max_examples=100, deadline=None, database=None)
@given(attribute=st.text(max_size=12) | st.sampled_from(["dim=nan", "dim=((", "dim=", "dim=1e400", "dim=" + "9" * 5000, "dim=[1]"]))
def test_whatever_is_typed_as_an_attribute_is_a_case_or_one_message(attribute: str) -> None:
    with contextlib.suppress(UsageError):
        assert typed("softmax", "4x33", attribute).operator == "softmax"
