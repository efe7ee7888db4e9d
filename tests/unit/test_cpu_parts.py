"""Are values perturbed, arguments sent, functions declared and tracks recognised as docs/cpu.md says?"""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from piton.catalog import read_submission
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError, UsageError
from piton.core.execution import CaseCall, OutputBuffer, TensorArgument, TimedCall
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.evaluate.cache import StoredTensor
from piton.evaluate.golden_service import CaseData, TensorData
from piton.evaluate.measured import Checked, timed_failures, varied
from piton.evaluate.policy import EvaluationRequest
from piton.numerics.tensors import GoldenOutput
from piton.targets.cpu import words
from piton.targets.cpu.arena import layout_of
from piton.targets.cpu.host import host_hardware, nominal_hz
from piton.targets.cpu.perturb import fresh_inputs, is_fresh
from piton.targets.cpu.python_kernel import Part, Reader
from piton.targets.cpu.signature import declaration, python_declaration

TYPES = [(DType.FLOAT32, np.float32), (DType.FLOAT16, np.float16), (DType.FLOAT64, np.float64), (DType.BFLOAT16, ml_dtypes.bfloat16)]


def tensor(values: np.ndarray, dtype: DType) -> TensorArgument:  # type: ignore[type-arg]
    return TensorArgument("x", values.shape, dtype, memoryview(values.tobytes()))


@pytest.mark.parametrize(("dtype", "kind"), TYPES)
def test_every_broken_number_moves_by_at_most_a_sixteenth_and_whole_ones_stay(dtype: DType, kind: type) -> None:
    given = np.concatenate([np.random.default_rng(1).uniform(0.1, 0.9, 500), [0.0, 3.0, -7.0, np.inf, -np.inf, np.nan]]).astype(kind)
    (moved,) = (np.frombuffer(part, dtype=kind) for part in fresh_inputs([tensor(given, dtype)], seed=5))
    ratio = moved[:500].astype(np.float64) / given[:500].astype(np.float64)
    assert np.all(np.abs(ratio - 1.0) <= 1 / 16 + 2.0**-8)
    assert np.mean(moved[:500] != given[:500]) > 0.8
    assert moved[500:].tobytes() == given[500:].tobytes()


def test_values_follow_from_the_seed_and_differ_between_seeds_and_tensors() -> None:
    given = tensor(np.linspace(0.1, 0.9, 64).astype(np.float32), DType.FLOAT32)
    first, second = fresh_inputs([given, given], 1)
    assert bytes(first) == bytes(fresh_inputs([given], 1)[0])
    assert bytes(first) != bytes(second)
    assert bytes(first) != bytes(fresh_inputs([given], 2)[0])


def test_integers_and_whole_numbers_are_not_fresh() -> None:
    integers = tensor(np.arange(5, dtype=np.int32), DType.INT32)
    assert bytes(fresh_inputs([integers], 3)[0]) == integers.data
    assert not is_fresh([integers, tensor(np.arange(5, dtype=np.float32), DType.FLOAT32)])
    assert is_fresh([integers, tensor(np.full(5, 0.5, dtype=np.float32), DType.FLOAT32)])


def test_a_case_reads_back_as_it_was_sent() -> None:
    sent = [
        *words.tensor_words(64, DType.BFLOAT16, (3, 5)), words.ABSENT, *words.attribute_words("float", -0.1), *words.attribute_words("str", "half – 1"),
        *words.attribute_words("int_list", (1, -2)), *words.attribute_words("float_list", None), *words.attribute_words("bool", True),
        *words.attribute_words("float_list", ("inf", 0.5)), *words.attribute_words("str", ""),
    ]  # fmt: skip
    reader = Reader(sent)
    assert reader.part() == Part(64, np.dtype(ml_dtypes.bfloat16), (3, 5))
    assert reader.part() is None
    assert (reader.real(), reader.text(), reader.integers(), reader.real_list(), reader.integer()) == (-0.1, "half – 1", [1, -2], None, 1)
    assert (reader.real_list(), reader.text(), reader.at) == ([float("inf"), 0.5], "", len(sent))
    assert words.pack([7, -1]) == struct.pack("<3q", 2, 7, -1)


def operator(**changes: object) -> Operator:
    """One with every kind of argument, its attributes between its tensors."""
    return Operator(
        name="mix",
        title="Mix",
        level=1,
        category="x",
        schema_text='mix(Tensor x, int dim=1, Tensor? bias=None, Tensor[] parts, str mode="dim", float[]? scale=None) -> (Tensor y, Tensor[] z)',
        inputs=(
            TensorSpec(name="x", dtypes=(DType.FLOAT32,)),
            TensorSpec(name="bias", dtypes=(), is_optional=True),
            TensorSpec(name="parts", dtypes=(), is_list=True),
        ),
        outputs=(TensorSpec(name="y", dtypes=()), TensorSpec(name="z", dtypes=(), is_list=True)),
        attributes=(AttrSpec(name="dim", type="int"), AttrSpec(name="mode", type="str"), AttrSpec(name="scale", type="float_list")),
    ).model_copy(update=changes)


def test_the_function_has_the_parameters_of_the_schema_in_its_order_then_the_outputs() -> None:
    assert declaration(operator()) == (
        "void mix(const piton::Tensor& x, std::int64_t dim, const piton::Tensor& bias, const piton::Tensors& parts, const std::string& mode, "
        "const piton::Reals& scale, const piton::Output& y, const piton::Outputs& z)"
    )
    assert python_declaration(operator()) == "def mix(x, dim, bias, parts, mode, scale, y, z)"


def test_operators_without_a_form_are_refused_by_name() -> None:
    changed = operator(inputs=(TensorSpec(name="x", dtypes=(), is_mutable=True),))
    with pytest.raises(UsageError, match="mix updates x in place"):
        declaration(changed)
    with pytest.raises(UsageError, match="attribute dim of type str_list"):
        declaration(operator(attributes=(AttrSpec(name="dim", type="str_list"),)))


def test_slots_do_not_overlap_and_begin_at_cache_lines() -> None:
    layout = layout_of([tensor(np.zeros(3, np.float32), DType.FLOAT32), tensor(np.zeros(17, np.float16), DType.FLOAT16)], [])
    assert (layout.input_offsets, layout.input_stride, layout.output_stride) == ((0, 64), 128, 64)
    assert layout.slots == 32


@pytest.mark.parametrize(
    ("files", "track", "operators"),
    [
        ({"twice.cpp": "#include <piton/cpu.h>\n"}, "cpp", ["twice"]),
        ({"twice.cpp": '  #  include "piton/cpu.h"\n'}, "cpp", ["twice"]),
        ({"twice.cpp": "// #include <piton/cpu.h> is what it lacks\n"}, "ascendc", ["twice"]),
        ({"twice.cpp": "", "piton.yaml": "track: cpp\n"}, "cpp", ["twice"]),
        ({"twice.py": "", "deep/other.py": "", "grow.cpp": "", "piton.yaml": "track: python\n"}, "python", ["twice"]),
    ],
)
def test_the_track_is_declared_or_seen_by_the_header(tmp_path: Path, files: dict[str, str], track: str, operators: list[str]) -> None:
    for name, text in files.items():
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = read_submission(tmp_path / "given", tmp_path / "store")
    assert found.manifest.track == track
    assert [item.operator for item in found.operators] == operators


@pytest.mark.parametrize(("name", "khz"), [("base_frequency", "2500000\n"), ("cpuinfo_max_freq", "2549999\n")])
def test_a_clock_that_wanders_does_not_make_another_machine(tmp_path: Path, name: str, khz: str) -> None:
    (tmp_path / name).write_text(khz)
    assert [nominal_hz(f"cpu MHz\t\t: {now}\n", tmp_path) for now in ("799.9", "3391.2")] == [2.5e9, 2.5e9]
    assert [nominal_hz(text, tmp_path / "absent") for text in ("cpu MHz\t\t: 2596.130\n", "")] == [2.6e9, 1.0]


def test_the_record_of_this_machine_is_the_same_each_time_and_names_no_peak_that_is_used() -> None:
    found = host_hardware()
    assert found.digest() == host_hardware().digest()
    assert found.cores_aiv >= 1
    assert DType.FLOAT8_E4M3 in found.absent_types
    assert not found.silicon.cube_flops


class Goldens:
    """Answers with outputs of the forms given, one per call, or with an error."""

    def __init__(self, *forms: tuple[int, ...]) -> None:
        self.forms = forms
        self.asked: list[int] = []

    def given(self, _operator: Operator, _case: object, calls: list[object], _precision: str) -> tuple[GoldenOutput, ...]:
        """As the golden service."""
        self.asked.append(len(calls))
        if not self.forms:
            raise EvaluatorError("the golden could not be run", found="IndexError")
        made = [self.forms[number % len(self.forms)] for number in range(len(calls))]
        return tuple(GoldenOutput("y", DType.FLOAT32, form, memoryview(np.ones(form, np.float32).tobytes())) for form in made)


X = tensor(np.linspace(0.1, 0.9, 8).astype(np.float32), DType.FLOAT32)
CALL = CaseCall("1", (X,), ("x",), {}, results=(TensorArgument("y", (8,), DType.FLOAT32, None),))


def checked(goldens: Goldens) -> Checked:
    """A case whose own golden is eight ones."""
    twice = Operator(name="t", title="T", level=1, category="x", schema_text="t(Tensor x) -> Tensor y", inputs=(), outputs=())
    case = Case(operator="t", id="1", inputs=(CaseInput(argument="x", shape=(8,), dtype=DType.FLOAT32),))
    own = (GoldenOutput("y", DType.FLOAT32, (8,), memoryview(np.ones(8, np.float32).tobytes())),)
    assert X.data is not None
    data = CaseData((TensorData(StoredTensor(name="x", dtype=DType.FLOAT32, shape=(8,), offset=0, nbytes=32), X.data),), own)
    return Checked(twice, case, data, goldens, EvaluationRequest(submission="", run_dir="", cache_dir=""))  # type: ignore[arg-type]


@pytest.mark.parametrize(("forms", "is_varied"), [([(8,)], True), ([(8,), (7,)], False), ([], False)])
def test_values_vary_only_where_the_golden_takes_them_and_its_outputs_keep_their_form(forms: list[tuple[int, ...]], is_varied: bool) -> None:
    assert varied(CALL, checked(Goldens(*forms))).is_varied is is_varied


def test_a_case_of_whole_numbers_is_not_tried_on_the_golden() -> None:
    goldens = Goldens()
    whole = replace(CALL, tensors=(tensor(np.arange(8, dtype=np.float32), DType.FLOAT32),))
    assert not varied(whole, checked(goldens)).is_varied
    assert goldens.asked == []


def timed(values: float, *, is_own: bool = False) -> TimedCall:
    """A call that left this value everywhere."""
    data = memoryview(np.full(8, values, np.float32).tobytes())
    output = OutputBuffer("y", (8,), "float32", (1,), is_on_device=True, data=data)
    return TimedCall(lambda: fresh_inputs([X], 1), (output,), b"\xa5", is_own)


def test_every_timed_call_is_compared_and_the_first_wrong_one_is_named() -> None:
    goldens = Goldens((8,))
    calls = [*[timed(1.0)] * 119, timed(1.5)]
    assert timed_failures(calls[:-1], checked(goldens)) == []
    (found,) = timed_failures(calls, checked(goldens))
    assert found.numbers["timed_call"] == 120
    assert max(goldens.asked) == 50
    assert sum(goldens.asked) >= 119 + 120


def test_calls_with_the_cases_own_values_need_no_golden_and_forms_that_were_not_handed_over_are_passed_over() -> None:
    goldens = Goldens((7,))
    assert len(timed_failures([timed(1.0, is_own=True), timed(1.5, is_own=True)], checked(goldens))) == 1
    assert goldens.asked == []
    assert timed_failures([timed(1.5)], checked(goldens)) == []
