"""Which value does a call get for an attribute that neither the case nor the signature gives one?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog import load_suite
from piton.catalog.golden_source import declared_default
from piton.core.operator import AttrValue
from piton.evaluate.arguments import all_attributes

GOLDEN = """
SIZE = 4
def strided(x, begin, mask=0, steps=[1, 2], name="edge", size=SIZE, *, scale=-1.5):
    return x
"""


@pytest.fixture
def golden(tmp_path: Path) -> str:
    path = tmp_path / "golden.py"
    path.write_text(GOLDEN)
    return str(path)


@pytest.mark.parametrize(
    ("name", "value"), [("mask", 0), ("steps", (1, 2)), ("name", "edge"), ("scale", -1.5), ("begin", None), ("size", None), ("unknown", None)]
)
def test_the_default_that_a_golden_declares_is_read_without_running_it(golden: str, name: str, value: AttrValue) -> None:
    assert declared_default(golden, "strided", name) == value


def test_a_golden_without_the_function_or_that_is_not_python_declares_nothing(golden: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def strided(:")
    assert declared_default(golden, "other", "mask") is None
    assert declared_default(str(broken), "strided", "mask") is None
    assert declared_default(str(tmp_path / "nothing.py"), "strided", "mask") is None


def test_a_call_gets_the_golden_s_default_where_case_and_signature_have_none(golden: str) -> None:
    member = load_suite("piton").member("softmax")
    assert member
    (spec,) = member.operator.attributes
    open_spec = spec.model_copy(update={"name": "mask", "default": None})
    operator = member.operator.model_copy(update={"name": "strided", "golden_path": golden, "attributes": (open_spec,)})
    case = member.cases[0]
    assert all_attributes(operator, case) == {"mask": 0}
    assert all_attributes(operator, case.model_copy(update={"attributes": {"mask": 3}})) == {"mask": 3}
    fixed = operator.model_copy(update={"attributes": (open_spec.model_copy(update={"default": 7}),)})
    assert all_attributes(fixed, case) == {"mask": 7}
