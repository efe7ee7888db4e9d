"""Whatever is in a file: it loads, or there is one clear error that says where. No traceback, no hang, bounded memory."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from file_mutations import mutate

import piton
from piton.anchors import t_hw
from piton.catalog import load_metadata, load_suite, read_submission
from piton.catalog.baseline_file import read_baselines
from piton.catalog.cases import read_cases
from piton.catalog.hardware import HARDWARE_DIR, flat_table, load_hardware
from piton.catalog.proto import read_proto
from piton.catalog.samples import read_samples
from piton.core.canonical import canonical_json
from piton.core.errors import PitonError
from piton.evaluate.telling import telling_cases

SUITE = Path(piton.__file__).parent / "suites" / "piton"
STORED_BASELINES = Path(__file__).resolve().parents[1] / "data" / "baselines_schema_1.json"
LONGEST_S = 20
"""No file takes this long to read, however slow the machine is (the slowest here: 0.5 s). A guard against hangs, not a measurement."""
GROWTH_BYTES = 600 << 20
"""What reading all of them may add to this process's memory."""
SLICE, WHOLE = 300, 10_000

PROTO = """
operator:
  name: Pick
  category: Index
  difficulty: L2
  attrs:
  - {name: k, type: int64_t, default: 3}
  - {name: dims, type: "List[int]", default: [0, 1]}
  - {name: mode, type: str, default: "none", description: how}
  - {name: scales, type: "float[]", default: [1.0, 1e-8]}
  inputs:
  - {name: x, dtype: [float32, float16, bfloat16], description: values}
  - {name: parts, dtype: [float32, float16], is_list: true}
  - {name: mask, dtype: [bool], optional: true}
  outputs:
  - {name: y, dtype: [float32, float16, bfloat16]}
  - {name: at, dtype: [int64], index_gather: {input: x, dim_attr: k}}
  schema: pick(Tensor x, Tensor[] parts, Tensor? mask=None, int k=3, int[] dims=[0, 1], *, str mode="none", float[] scales=[1.0, 1e-8]) -> (Tensor y, Tensor at)
  precision_thresholds: {float32: 1.0e-3, bfloat16: 0.01}
  degenerate:
  - {case: "1", impostors: [zeros], sibling: "2", reason: because}
"""
CASES = """operator,case_id,input_shape,dtype,attrs,value_range,note,seed
Pick,1,"[[8, 4], [[3], [4, 5]], null]","[""float32"", [""float32"", ""float16""], null]","{""k"": 1, ""dims"": [1, 2]}","[[-1, 1], [0, 2], null]",a | b,7
Pick,2,"[[1009], [[3]], [5]]","[""float16"", ""float16"", ""bool""]","{""mode"": ""tanh"", ""scales"": [0.5]}","[""-inf"", ""inf""]",,
Pick,x-3,"[[0], [], None]","['bfloat16', 'float32', None]",{},"[nan, nan]",note,0
"""
LISTING = """
cases:
- {operator: Pick, case_id: 1, input_shape: [[8, 4], [[3]], null], dtype: [float32, [float32], null], attrs: {k: 1},
   value_range: [[-1, 1], [0, .inf], null], note: a}
- operator: Pick
  case_id: "2"
  input_shape: &shape [[1009], [[3]], [5]]
  dtype: [float16, float16, bool]
  value_range: [-1.0e-8, 1]
- {operator: Pick, case_id: 3, input_shape: *shape, dtype: [float16, float16, bool], seed: 12}
"""
MANIFEST = "name: first try\ntrack: ascendc\npackage: cann_bench\nauto_sync: true\n"
SUBMISSION = """
[method]
name = "ours"
control_loop = 2
learning = ["sft", "rl: multi-turn"]
feedback = "timing"
[method.questions]
keeps_search_state = false
[reporting]
llm_calls = 3
selection = "custom: the first"
libraries = {CANN = "8.5"}
"""
SAMPLES = """
format = 1
[[method]]
name = "ours"
runs = ["r*"]
[[method.sample]]
turns = ["runs/a", "runs/b"]
task = "exp"
"""
METADATA = '{"_about": "x", "level1": {"exp": {"1": {"baseline_perf_us": 6.5, "t_hw_us": 1.3}, "2": {"baseline_perf_us": 0, "t_hw_us": null}}}}'


@dataclass(frozen=True)
class Kind:
    """One kind of file: what is mutated, where it lies, how it is read."""

    name: str
    originals: tuple[str, ...]
    form: str
    place: str
    read: Callable[[Path], object]


def read_operator(root: Path) -> object:
    operator = read_proto(root, is_strict=True).operator
    return canonical_json(operator)


def read_pick_cases(root: Path) -> object:
    operator = read_proto(root).operator
    cases = read_cases(root, operator)
    return [telling_cases(cases), [case.digest() for case in cases], f"{sum(case.elements for case in cases)}"]


def read_chip(root: Path) -> object:
    hardware = load_hardware(root / "chip.yaml")
    member = EXP
    return [flat_table(hardware), hardware.digest(), [t_hw(member.operator, case, hardware, "silicon") for case in member.cases[:3]]]


EXP = load_suite("piton").members[0]
OWN_PROTOS = tuple((SUITE / "level1" / name / "proto.yaml").read_text() for name in ("exp", "gelu"))
CHIPS = tuple((HARDWARE_DIR / f"{name}.yaml").read_text().replace(f"name: {name}\n", "name: chip\n") for name in ("ascend910b2", "ascend910b1"))
KINDS = (
    Kind("proto.yaml", (PROTO, *OWN_PROTOS), "yaml", "proto.yaml", read_operator),
    Kind("cases.csv", (CASES,), "csv", "cases.csv", read_pick_cases),
    Kind("cases.yaml", (LISTING,), "yaml", "cases.yaml", read_pick_cases),
    Kind("piton.yaml", (MANIFEST,), "yaml", "submission/piton.yaml", lambda root: read_submission(root / "submission", root / "store").digest()),
    Kind("hardware", CHIPS, "yaml", "chip.yaml", read_chip),
    Kind("suite.yaml", ((SUITE / "suite.yaml").read_text(),), "yaml", "suite/suite.yaml", lambda root: load_suite(root / "suite").digest()),
    Kind("submission.toml", (SUBMISSION,), "yaml", "submission/submission.toml", lambda root: read_submission(root / "submission", root / "store").digest()),
    Kind("samples.toml", (SAMPLES,), "yaml", "samples.toml", read_samples),
    Kind("metadata", (METADATA,), "json", "metadata/chip.json", lambda root: load_metadata(root, "chip")),
    Kind("baselines", (STORED_BASELINES.read_text(),), "json", "set.json", lambda root: read_baselines(root / "set.json").title),
)


@contextmanager
def no_hang(what: str) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise AssertionError(f"{what} was still being read after {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def prepare(root: Path, kind: Kind) -> None:
    """Everything that the mutated file needs around it."""
    (root / "golden.py").write_text("def pick():\n    pass\n")
    if kind.read is read_pick_cases:
        (root / "proto.yaml").write_text(PROTO)
    (root / "metadata").mkdir()
    (root / "submission").mkdir()
    (root / "submission" / "kernel.cpp").write_text("")
    for run in ("a", "b"):
        (root / "runs" / run).mkdir(parents=True)
    shutil.copytree(SUITE / "level1" / "exp", root / "suite" / "level1" / "exp")


def check_message(error: PitonError, place: Path, root: Path, what: str) -> None:
    """One clear message: it says where, is short, and can be printed."""
    assert error.where.startswith((str(place), str(root))), f"{what}: the error does not say where: {error}"
    assert len(str(error)) < 4000, f"{what}: an error of {len(str(error))} characters"
    assert str(error).encode("utf-8"), what


def outcome_of(kind: Kind, seed: int, root: Path) -> str:
    """`loaded` or `refused`; anything else is an assertion that names the seed."""
    rng = random.Random(f"{kind.name} {seed}")
    data = mutate(rng.choice(kind.originals), rng, kind.form)
    place = root / kind.place
    place.write_bytes(data)
    what = f"{kind.name} of seed {seed}"
    try:
        with no_hang(what):
            kind.read(root)
    except PitonError as error:
        check_message(error, place, root, what)
        return "refused"
    except AssertionError:
        raise
    except BaseException as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {str(error)[:300]}") from error
    return "loaded"


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def fuzz(kind: Kind, count: int, root: Path) -> Counter[str]:
    prepare(root, kind)
    before = peak_bytes()
    found = Counter(outcome_of(kind, seed, root) for seed in range(count))
    assert peak_bytes() - before < GROWTH_BYTES, f"{kind.name}: memory grew by {(peak_bytes() - before) >> 20} MiB"
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_mutated_file_loads_or_is_one_clear_error(kind: Kind, tmp_path: Path) -> None:
    found = fuzz(kind, SLICE // len(KINDS), tmp_path)
    assert found["refused"] > found.total() // 4, f"{found}: the mutations hardly break anything"


LARGE = {
    "a million columns": ("cases.csv", b"operator,case_id,input_shape,dtype" + b"".join(b",c%d" % number for number in range(1_000_000)) + b"\n"),
    "two million commas": ("cases.csv", b"operator,case_id,input_shape,dtype" + b"," * 2_000_000 + b"\n"),
    "a hundred thousand rows": ("cases.csv", b"operator,case_id,input_shape,dtype\n" + b'Pick,1,"[[8, 4], [[3]]]","[\'float32\']"\n' * 100_000),
    "a long schema": ("proto.yaml", PROTO.replace("pick(Tensor x", "pick(" + "Tensor a, " * 200_000 + "Tensor x").encode()),
    "a number of a million digits": ("cases.yaml", LISTING.replace("case_id: 1,", f"case_id: {'1:' * 500_000}1,").encode()),
    "a level of ten thousand digits": ("proto.yaml", PROTO.replace("L2", "L" + "9" * 10_000).encode()),
    "a dimension of 600 digits": ("cases.csv", CASES.replace("1009", "1" * 600).encode()),
    "a dimension of six thousand hexadecimal digits": ("cases.csv", CASES.replace("1009", "0x" + "f" * 6000).encode()),
    "the same in yaml": ("cases.yaml", LISTING.replace("1009", "0x" + "f" * 6000).encode()),
    "an attribute beyond int64": ("cases.csv", CASES.replace('""k"": 1', '""k"": 9223372036854775808').encode()),
    "a bomb of aliases in a figure": ("hardware", CHIPS[0].replace("clock_hz: {", "clock_hz: [&a [1], &b [*a, *a], &c [*b, *b]], was: {").encode()),
    "more than may be read": ("metadata", b" " * (17 << 20)),
}
"""Files for which a careless reader takes minutes, much memory, or fails in the middle of its own message."""


@pytest.mark.parametrize("name", LARGE)
def test_a_file_made_to_be_expensive_is_refused_in_no_time(name: str, tmp_path: Path) -> None:
    kind = next(kind for kind in KINDS if kind.name == LARGE[name][0])
    prepare(tmp_path, kind)
    (tmp_path / kind.place).write_bytes(LARGE[name][1])
    with no_hang(name), pytest.raises(PitonError) as caught:
        kind.read(tmp_path)
    check_message(caught.value, tmp_path / kind.place, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_ten_thousand_mutated_files_load_or_are_one_clear_error(kind: Kind, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = fuzz(kind, int(os.environ.get("PITON_FUZZ_FILES", WHOLE // len(KINDS) + 1)), tmp_path)
    with capsys.disabled():
        sys.stderr.write(f"\n{kind.name}: {found.total()} files, {found['loaded']} loaded, {found['refused']} refused")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_file_itself_loads(kind: Kind, tmp_path: Path) -> None:
    prepare(tmp_path, kind)
    for original in kind.originals:
        (tmp_path / kind.place).write_text(original)
        if kind.name == "proto.yaml" and original != PROTO:
            continue  # read in the suite's own tests; here they are only mutated
        kind.read(tmp_path)
