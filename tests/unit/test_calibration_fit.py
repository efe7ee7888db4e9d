"""Calibration: known constants are found again, kernels are held out by rule, the new hardware file says where its figures come from."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from piton.catalog.calibration_map import CalibrationMap, KernelEntry, MatchedKernel, constants_of, read_mapping
from piton.catalog.hardware import load_hardware
from piton.catalog.profile_csv import read_profile
from piton.core.calibration import Constant, Observation, group_errors, rank_correlation, split_by_key
from piton.core.errors import FormatError, UsageError
from piton.core.hardware import Hardware
from piton.evaluate.calibration.fit import Fit
from piton.evaluate.calibration.programs import Journal, tree_digest
from piton.evaluate.calibration.run import Calibration, CalibrationRequest
from piton.report.calibration import calibration_json

BASE, BLOCK, CAP = "launch.base_us", "launch.per_block_us", "hbm.total_cap_bytes_per_s"
TRUTH = {BASE: 1.3, BLOCK: 0.06, CAP: 1.1e12}
SIZES = [(blocks, bytes_) for blocks in (1, 8, 24, 40) for bytes_ in (1e3, 1e6, 3e7, 2e8)]


def model_us(base: float, per_block: float, cap: float, size: tuple[int, float]) -> float:
    """A chip of three constants, in whole cycles as a simulator has them."""
    return math.ceil(1850 * (base + per_block * size[0] + size[1] / cap * 1e6)) / 1850


def bounds() -> list[Constant]:
    return [Constant(BASE, 0.2, 3.0, 0.75), Constant(BLOCK, 0.02, 0.4, 0.115), Constant(CAP, 0.7e12, 1.6e12, 1.54e12)]


def observed(noise: Sequence[float] = (1.0,)) -> list[Observation]:
    return [
        Observation(f"k{number}", "small" if size[1] < 1e6 else "large", model_us(*TRUTH.values(), size) * noise[number % len(noise)])
        for number, size in enumerate(SIZES)
    ]


def fitted(observations: list[Observation], constants: list[Constant]) -> tuple[float, ...]:
    return Fit(constants, observations, lambda values: [model_us(*values, size) for size in SIZES], lambda _text: None).run()


def test_constants_that_made_the_times_are_found_again() -> None:
    assert fitted(observed(), bounds()) == pytest.approx(tuple(TRUTH.values()), rel=0.03)


def test_noise_of_five_per_cent_and_a_wild_row_move_the_constants_little() -> None:
    rows = observed((1.05, 0.95, 1.0))
    rows[5] = Observation(rows[5].key, rows[5].group, 4 * rows[5].measured_us)
    assert fitted(rows, bounds()) == pytest.approx(tuple(TRUTH.values()), rel=0.12)


def test_a_constant_without_influence_stays_and_is_said_to_have_none() -> None:
    idle = Constant("mte3.latency_us", 0.05, 1.0, 0.109)
    fit = Fit([*bounds(), idle], observed(), lambda values: [model_us(*values[:3], size) for size in SIZES], lambda _text: None)
    assert fit.run()[3] == pytest.approx(idle.start, rel=1e-3)
    assert fit.influence[3] == 0
    assert min(fit.influence[:3]) > 0.02


def test_bounds_are_kept() -> None:
    low = [Constant(BASE, 0.2, 0.9, 0.75), *bounds()[1:]]
    assert 0.2 <= fitted(observed(), low)[0] <= 0.9


def test_cycles_are_whole_numbers() -> None:
    constant = Constant("vector.fixed_cycles", 12, 60, 23)
    assert constant.at(constant.place_of(23)) == 23.0
    assert all(constant.at(place / 50) == int(constant.at(place / 50)) for place in range(51))


def test_what_is_held_out_depends_on_the_key_alone() -> None:
    keys = [f"kernel {number}" for number in range(400)]
    first, again = split_by_key(keys, 30), split_by_key(reversed(keys), 30)
    assert first == again
    assert 0.2 < sum(first.values()) / len(first) < 0.4
    assert not any(split_by_key(keys, 0).values())


def test_rank_correlation_takes_ties_at_their_mean_rank() -> None:
    assert rank_correlation([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [40, 30, 20, 10]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_errors_are_told_per_group_and_together() -> None:
    rows = [Observation("a", "x", 10), Observation("b", "x", 20), Observation("c", "y", 10)]
    found = group_errors(rows, [11, 20, 5])
    assert [(item.group, item.count) for item in found] == [("x", 2), ("y", 1), ("all", 3)]
    assert found[0].median_error == pytest.approx(0.05)
    assert (found[2].low, found[2].high) == (0.5, pytest.approx(1.1))


PROFILE = "Op Name,OP Type,Task Duration(us),Block Dim\n" + "".join(f"k{number},T,{row.measured_us},1\n" for number, row in enumerate(observed()))


def mapped(tmp_path: Path, text: str, profile: str = PROFILE) -> CalibrationMap:
    (tmp_path / "p.csv").write_text(profile)
    (tmp_path / "map.toml").write_text(text)
    return read_mapping(tmp_path / "map.toml", read_profile(tmp_path / "p.csv"), 30)


def entry(cells: str) -> str:
    return f'[[kernel]]\nprogram = "p.asc"\nrows = {{ {cells} }}\n'


def test_equal_rows_make_one_observation_with_their_median(tmp_path: Path) -> None:
    profile = "Op Name,Task Duration(us)\na,1\na,5\na,2\nb,7\n"
    found = mapped(tmp_path, entry('"op name" = "a"'), profile)
    assert [(item.observation.measured_us, item.observation.rows) for item in found.kernels] == [(2, 3)]
    assert found.unmatched_rows == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (entry('"op name" = "z*"'), "no row of the profile fits"),
        (entry('"colour" = "red"'), "names a column that is not there"),
        (entry('"op name" = "k1"') + entry('"op name" = "k*"'), "stands for two kernels"),
        ('[[kernel]]\nprogramme = "x"\n', "programme"),
        ("", "kernel"),
    ],
)
def test_a_wrong_mapping_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(FormatError, match=expected):
        mapped(tmp_path, text)


@pytest.mark.parametrize(
    "constants",
    [
        '"mte9.speed" = [1, 2]',
        '"nothing.*" = [0.5, 2]',
        f'"{BASE}" = [2, 1]',
        f'"{BASE}" = [0.2, inf]',
        f'"{BASE}" = [nan, 2]',
        f'"{CAP}" = [2e12, 3e12]',
        f'"{CAP}" = [0, 1e12]',
        '"hbm.read_rate_bytes_per_s.*" = [0, 2]',
        f'"{BASE}" = [0.2, 3]\n"launch.*" = [0.5, 2]',
        '"launch.minimum_us" = [0.2, 0.9]',
    ],
)
def test_constants_that_are_not_there_or_have_no_room_are_refused(tmp_path: Path, constants: str) -> None:
    found = mapped(tmp_path, f"[constants]\n{constants}\n" + entry('"op name" = "k1"'))
    with pytest.raises(UsageError):
        constants_of(found, load_hardware("ascend910b1"))


@pytest.mark.parametrize("name", ["hbm.*", "l2.*", "mte1.*", "fix.*", "mte2_l1.*"])
def test_a_factor_takes_no_figure_of_its_family_above_silicon(tmp_path: Path, name: str) -> None:
    chip = load_hardware("ascend910b1")
    mapping = mapped(tmp_path, f'[constants]\n"{name}" = [0.5, 100.0]\n' + entry('"op name" = "k1"'))
    (constant,) = constants_of(mapping, chip)
    job = Calibration(CalibrationRequest("p.csv", "map.toml", "ascend910b1", "my.yaml", ""), chip, read_profile(tmp_path / "p.csv"), mapping, (constant,))
    rates, peaks = job.chip([constant.at(1.0)]).simulation, chip.silicon
    assert peaks.cube_path is not None
    assert 1 <= constant.high < 7
    assert rates["hbm.total_cap_bytes_per_s"].value <= peaks.hbm_write_bytes_per_s.value
    assert rates["hbm.read_cap_bytes_per_s"].value <= peaks.hbm_read_bytes_per_s.value
    assert rates["l2.read_cap_bytes_per_s"].value <= peaks.cube_path.l2_read_bytes_per_s.value
    assert rates["mte2_l1.l2_rate_bytes_per_s"].value * chip.cores_aic <= peaks.cube_path.l2_read_bytes_per_s.value
    assert rates["mte1.l0a_rate_bytes_per_s"].value * chip.cores_aic <= peaks.cube_path.l0a_bytes_per_s.value
    assert rates["fix.l0c_rate_bytes_per_s"].value * chip.cores_aic <= 4 * peaks.cube_path.fixp_elements_per_s.value


def test_no_launch_is_fitted_below_the_shortest_one(tmp_path: Path) -> None:
    chip = load_hardware("ascend910b1")
    alone, family = (
        constants_of(mapped(tmp_path, f'[constants]\n"{name}" = [0.2, 3.0]\n' + entry('"op name" = "k1"')), chip)[0]
        for name in ("launch.minimum_us", "launch.*")
    )
    assert alone.low == chip.silicon.floor_us.value
    assert family.low == chip.silicon.floor_us.value / chip.simulation["launch.minimum_us"].value


@dataclass
class FakeSimulator:
    """Times of the model above from a chip's figures, in the place of programs."""

    asked: int = 0

    def times(self, hardware: Hardware, kernels: Sequence[MatchedKernel]) -> list[float]:
        self.asked += 1
        figures = [hardware.simulation[name].value for name in (BASE, BLOCK, CAP)]
        return [model_us(*figures, SIZES[int(str(kernel.entry.rows["op name"])[1:])]) for kernel in kernels]


def test_a_calibration_writes_a_hardware_file_that_says_where_its_figures_come_from(tmp_path: Path) -> None:
    limits = f'[constants]\n"{BASE}" = [0.2, 3.0]\n"{BLOCK}" = [0.02, 0.4]\n"{CAP}" = [0.7e12, 1.6e12]\n'
    mapping = mapped(tmp_path, limits + "".join(entry(f'"op name" = "k{number}"') for number in range(len(SIZES))))
    chip = load_hardware("ascend910b1")
    request = CalibrationRequest("p.csv", "map.toml", "ascend910b1", str(tmp_path / "mychip.yaml"), "")
    job = Calibration(request, chip, read_profile(tmp_path / "p.csv"), mapping, constants_of(mapping, chip))
    report = job.run(FakeSimulator(), lambda _text: None)  # type: ignore[arg-type]
    written = load_hardware(tmp_path / "mychip.yaml")
    assert [written.simulation[name].value for name in TRUTH] == pytest.approx(list(TRUTH.values()), rel=0.03)
    assert all("p.csv" in written.simulation[name].source and "was" in written.simulation[name].source for name in TRUTH)
    untouched = set(chip.simulation) - set(TRUTH)
    assert all(written.simulation[name] == chip.simulation[name] for name in untouched)
    assert (written.name, written.fidelity) == ("mychip", {})
    assert report.held_out_after[-1].median_error < 0.02 < report.held_out_before[-1].median_error
    assert json.loads(calibration_json(report))["unmatched_rows"] == 0


def test_a_factor_scales_every_figure_of_its_family(tmp_path: Path) -> None:
    mapping = mapped(tmp_path, '[constants]\n"hbm.read_rate_bytes_per_s.*" = [0.5, 2.0]\n' + entry('"op name" = "k1"'))
    chip = load_hardware("ascend910b1")
    request = CalibrationRequest("p.csv", "map.toml", "ascend910b1", "mychip.yaml", "")
    job = Calibration(request, chip, read_profile(tmp_path / "p.csv"), mapping, constants_of(mapping, chip))
    half = job.chip([0.5])
    changed = {name for name in chip.simulation if half.simulation[name] != chip.simulation[name]}
    assert changed == {name for name in chip.simulation if name.startswith("hbm.read_rate_bytes_per_s.")}
    assert half.simulation["hbm.read_rate_bytes_per_s.cores_1"].value == pytest.approx(chip.simulation["hbm.read_rate_bytes_per_s.cores_1"].value / 2)


def test_too_few_kernels_are_refused(tmp_path: Path) -> None:
    mapping = mapped(tmp_path, entry('"op name" = "k1"'))
    chip = load_hardware("ascend910b1")
    job = Calibration(
        CalibrationRequest("p.csv", "m", "ascend910b1", "x.yaml", ""), chip, read_profile(tmp_path / "p.csv"), mapping, constants_of(mapping, chip)
    )
    with pytest.raises(UsageError, match="too few kernels"):
        job.run(FakeSimulator(), lambda _text: None)  # type: ignore[arg-type]


def test_what_was_simulated_before_a_stop_is_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.put("one", [("add", 1.5), ("add", 1.25)])
    with (tmp_path / "j.jsonl").open("a") as stream:
        stream.write('{"line":3,"crc32":"')
    with Journal(tmp_path / "j.jsonl") as again:
        assert again.get("one") == [("add", 1.5), ("add", 1.25)]
        assert again.get("two") is None
        again.put("two", [("add", 2.5)])
    with Journal(tmp_path / "j.jsonl") as third:
        assert [third.get(key) for key in ("one", "two")] == [[("add", 1.5), ("add", 1.25)], [("add", 2.5)]]


def test_a_damaged_journal_of_a_calibration_says_what_to_remove(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_text('["one", [["add", 2]]]\n')
    with pytest.raises(FormatError, match="remove this file and give the same command again"):
        Journal(tmp_path / "j.jsonl")


def test_what_a_calibration_writes_beside_the_program_changes_no_identity(tmp_path: Path) -> None:
    (tmp_path / "p.asc").write_text("int main() {}")
    (tmp_path / "map.toml").write_text("")
    own = (tmp_path / "map.toml", tmp_path / "mine.yaml")
    before = tree_digest(tmp_path, own)
    for name in ("mine.yaml", "mine.calibration.jsonl", "map.calibration.jsonl"):
        (tmp_path / name).write_text("new")
    assert tree_digest(tmp_path, own) == before
    (tmp_path / "data.bin").write_text("new")
    assert tree_digest(tmp_path, own) != before


def test_entries_of_one_program_run_share_it() -> None:
    from piton.evaluate.calibration.programs import job_of

    one, other = (KernelEntry(program="p.asc", rows={"op name": name}, index=index) for name, index in (("a", 1), ("b", 2)))
    assert job_of(one) == job_of(other)
    assert job_of(one) != job_of(KernelEntry(program="p.asc", rows={"op name": "a"}, arguments=("3",)))
