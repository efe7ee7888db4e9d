"""Does T_HW (silicon) ever exceed what a kernel takes on the simulator? It must not: it is what the hardware allows at best.

Cases are drawn from the operators' own rules, as hidden ones are, and small odd ones by hypothesis; kernels are the reference kernels, the plain v0 ones
of the suite, and what `piton new` writes. Calls are for their time only, as baselines are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piton.anchors import t_hw
from piton.catalog import load_suite, read_submission
from piton.catalog.scaffold.plan import Layout
from piton.catalog.scaffold.write import write_scaffold
from piton.cli.evaluation import cache_dir
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.operator import Operator
from piton.core.suite import SuiteOperator
from piton.curate.generate import generate_cases
from piton.evaluate.arguments import all_attributes
from piton.evaluate.baselines import SimulatedBaselines
from piton.evaluate.build import Workplace
from piton.evaluate.cache import ValueStore
from piton.evaluate.pipeline import named_target
from piton.evaluate.progress import ignore
from piton.evaluate.sandbox import make_runner

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = {"reference": ROOT / "kernels/reference", "v0": ROOT / "src/piton/suites/piton/baselines"}
WRITTEN = ("mish", "sigmoid")
"""Operators whose plain kernel `piton new` writes whole."""
KERNELS = [(name, operator) for name in SUBMISSIONS for operator in ("exp", "gelu", "rms_norm", "softmax")]
NEW = [pytest.param("new", operator, marks=pytest.mark.slow) for operator in WRITTEN]  # they have to be compiled first
every_kernel = pytest.mark.parametrize(("source", "name"), [*KERNELS, *NEW])
SUITE = load_suite()
TARGET = "ascend910b2-sim"
FLOATS = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
SMALL_ELEMENTS = 4_000_000
SEEDS = range(100, 104)
"""Of the slow version: 20 cases each for every kernel."""


class Simulated:
    """Times of one submission on the simulator beside the limit of each case."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.target = named_target(TARGET, str(cache_dir().absolute()), lambda _text: None)
        self.runner = make_runner()
        self.target.toolchain.prepare(self.runner)
        submission = read_submission(source, folder / "submission")
        place = Workplace(target=self.target, runner=self.runner, run_dir=folder, events=ignore)
        self.times = SimulatedBaselines(place, submission, ValueStore(folder / "values"))

    def close(self) -> None:
        self.times.close()
        self.runner.close()

    def ratio(self, operator: Operator, case: Case) -> float:
        """Simulated time over T_HW (silicon)."""
        simulated = self.times.anchor(operator, case)
        limit = t_hw(operator, case.model_copy(update={"attributes": all_attributes(operator, case)}), self.target.hardware)
        assert simulated is not None
        assert limit is not None
        return simulated.value_us / limit.value_us


class Opened:
    """Submissions by name, each opened when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: dict[str, Simulated] = {}

    def of(self, source: str, name: str) -> Simulated:
        key = source if source in SUBMISSIONS else f"{source}-{name}"
        if key not in self._open:
            place = SUBMISSIONS.get(source) or Path(
                write_scaffold(member(name).operator, str(self._root / f"new-{name}"), "cann_bench", "", Layout.FOLDERS).folder
            )
            self._open[key] = Simulated(self._root / key, place)
        return self._open[key]

    def close(self) -> None:
        for item in self._open.values():
            item.close()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    made = Opened(tmp_path_factory.mktemp("simulated"))
    yield made
    made.close()


def member(name: str) -> SuiteOperator:
    found = SUITE.member(name)
    assert found is not None
    return found


def drawn(name: str, seed: int, most_elements: int) -> list[Case]:
    """Cases of the operator's rules."""
    return [case for case in generate_cases(SUITE, member(name), seed)[0] if case.elements <= most_elements]


def smallest(simulated: Simulated, name: str, cases: list[Case]) -> tuple[float, Case]:
    """The least ratio and its case."""
    ratios = [(simulated.ratio(member(name).operator, case), number) for number, case in enumerate(cases)]
    ratio, number = min(ratios)
    return ratio, cases[number]


@every_kernel
def test_no_drawn_case_is_faster_than_the_silicon_allows(opened: Opened, source: str, name: str) -> None:
    ratio, case = smallest(opened.of(source, name), name, drawn(name, 7, SMALL_ELEMENTS))
    assert ratio >= 1.0, (ratio, case)


@pytest.mark.slow
@every_kernel
def test_none_of_hundreds_of_drawn_cases_is_faster_than_the_silicon_allows(
    opened: Opened, source: str, name: str, record_property: Callable[[str, object], None]
) -> None:
    cases = [case for seed in SEEDS for case in drawn(name, seed, 1 << 40)]
    assert len(cases) == 20 * len(SEEDS)
    ratio, case = smallest(opened.of(source, name), name, cases)
    record_property("smallest T_sim / T_HW", f"{ratio:.3f}: {case.note}, {case.inputs[0].shape}")  # in the report of --junitxml
    assert ratio >= 1.0, (ratio, case)


SHAPES = st.lists(st.integers(1, 257), min_size=1, max_size=3).map(tuple)


@every_kernel
def test_no_small_odd_case_is_faster_than_the_silicon_allows(opened: Opened, source: str, name: str) -> None:
    operator = member(name).operator

    @settings(derandomize=True, max_examples=8, deadline=None, database=None)
    @given(shape=SHAPES, dtype=st.sampled_from(FLOATS), model=st.sampled_from(member(name).cases))
    def check(shape: tuple[int, ...], dtype: DType, model: Case) -> None:
        inputs = tuple(CaseInput(argument=spec.name, shape=shape if spec is operator.inputs[0] else shape[-1:], dtype=dtype) for spec in operator.inputs)
        attributes = {**model.attributes, **({"dim": -1} if name == "softmax" else {})}
        assert opened.of(source, name).ratio(operator, Case(operator=name, id="odd", inputs=inputs, attributes=attributes)) >= 1.0

    check()


@every_kernel
def test_no_case_that_streams_is_faster_than_the_silicon_allows_nor_far_from_it(opened: Opened, source: str, name: str) -> None:
    """16 M halfs in rows of 4096: what a kernel of rows does best, and so the nearest that a simulated time comes."""
    operator = member(name).operator
    inputs = tuple(
        CaseInput(argument=spec.name, shape=(4096, 4096) if number == 0 else (4096,), dtype=DType.FLOAT16) for number, spec in enumerate(operator.inputs)
    )
    case = member(name).cases[0].model_copy(update={"id": "stream", "inputs": inputs})
    case = case.model_copy(update={"attributes": {**case.attributes, **({"dim": -1} if name == "softmax" else {})}})
    assert 1.0 <= opened.of(source, name).ratio(operator, case) <= 20.0
