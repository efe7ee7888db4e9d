import math
from pathlib import PurePosixPath

import pytest

from piton.core.canonical import canonical_json, digest
from piton.core.case import Case, CaseInput, SizeClass, size_class
from piton.core.dtype import DType
from piton.core.submission import Manifest, Submission, SubmissionFile
from piton.core.verdict import Verdict

CASE = Case(
    operator="exp",
    id="1",
    inputs=(CaseInput(argument="x", shape=(3, 5), dtype=DType.FLOAT16, low=-1.0, high=2.0),),
    attributes={"base": -1.0},
    omitted=("mask",),
    seed=7,
)
CASE_CHANGES = {
    "operator": "gelu",
    "id": "2",
    "inputs": (CaseInput(argument="x", shape=(5, 3), dtype=DType.FLOAT16, low=-1.0, high=2.0),),
    "attributes": {"base": 2.0},
    "omitted": (),
    "seed": 8,
}
INPUT_CHANGES = {"argument": "y", "shape": (3, 6), "dtype": DType.BFLOAT16, "low": -2.0, "high": 3.0, "list_index": 0}
MANIFEST_CHANGES = {"name": "other", "track": "triton", "package": "mine", "auto_sync": False}


@pytest.mark.parametrize("field", sorted(set(Case.model_fields) - {"note"}))
def test_every_field_of_a_case_but_the_note_is_in_its_digest(field: str) -> None:
    assert CASE.model_copy(update={field: CASE_CHANGES[field]}).digest() != CASE.digest()


def test_the_note_of_a_case_is_not_in_its_digest() -> None:
    assert CASE.model_copy(update={"note": "for people"}).digest() == CASE.digest()


@pytest.mark.parametrize("field", sorted(CaseInput.model_fields))
def test_every_field_of_an_input_is_in_the_case_digest(field: str) -> None:
    changed = CASE.inputs[0].model_copy(update={field: INPUT_CHANGES[field]})
    assert CASE.model_copy(update={"inputs": (changed,)}).digest() != CASE.digest()


def _submission(**manifest: object) -> Submission:
    return Submission(root="/a", manifest=Manifest.model_validate(manifest), files=(SubmissionFile(path="a.cpp", sha256="00", size_bytes=1),))


@pytest.mark.parametrize("field", sorted(Manifest.model_fields))
def test_every_field_of_a_manifest_is_in_the_submission_digest(field: str) -> None:
    assert _submission(**{field: MANIFEST_CHANGES[field]}).digest() != _submission().digest()


def test_files_name_a_submission_and_its_folder_does_not() -> None:
    base = _submission()
    assert base.model_copy(update={"root": "/b"}).digest() == base.digest()
    other = (SubmissionFile(path="a.cpp", sha256="01", size_bytes=1),)
    assert base.model_copy(update={"files": other}).digest() != base.digest()


def test_equal_data_has_equal_bytes_whatever_the_key_order() -> None:
    assert canonical_json({"b": 1, "a": (1.5, None)}) == canonical_json({"a": [1.5, None], "b": 1}) == '{"a":[1.5,null],"b":1}'


def test_special_numbers_enums_and_paths_have_one_form() -> None:
    assert canonical_json([math.inf, -math.inf, math.nan, Verdict.PASSED, PurePosixPath("a/b")]) == '["inf","-inf","nan","passed","a/b"]'


def test_sets_do_not_depend_on_iteration_order() -> None:
    assert digest({"x", "y", "z"}) == digest({"z", "y", "x"})


def test_an_object_without_a_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_json(object())


@pytest.mark.parametrize(
    ("elements", "expected"),
    [(9_999_999, SizeClass.SMALL), (10_000_000, SizeClass.MEDIUM), (89_999_999, SizeClass.MEDIUM), (90_000_000, SizeClass.LARGE)],
)
def test_size_classes_change_at_their_bounds(elements: int, expected: SizeClass) -> None:
    case = CASE.model_copy(update={"inputs": (CaseInput(argument="x", shape=(elements,), dtype=DType.FLOAT32),)})
    assert size_class(case) is expected


def test_four_bit_elements_round_up_to_whole_bytes() -> None:
    assert (DType.INT4.bytes_of(3), DType.FLOAT32.bytes_of(3), DType.BFLOAT16.bytes_of(0)) == (2, 12, 0)
