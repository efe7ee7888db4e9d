"""From figures of an evaluation to signatures, strategies, hints, a stop and a review: each rule with a case that shows it and one that does not."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from piton.agent.analysis import (
    CaseProfile,
    Profile,
    Signature,
    StrategyClass,
    assign,
    hints_of,
    load_strategies,
    profile_of,
    review,
    signatures_of,
    stop_reason,
)
from piton.agent.analysis.review import Advised, Reviewed
from piton.agent.analysis.signatures import shown_by
from piton.agent.candidate import Tree, read_tree
from piton.core.case import SizeClass
from piton.report.bottleneck import Bottleneck, PipeShare
from piton.report.json_file import read_report

ROOT = Path(__file__).resolve().parents[2]


def case(name: str = "1", ratio: float = 2.0, limit: str = "mte2", waits: dict[str, float] | None = None, **changes: object) -> CaseProfile:
    pipes = (PipeShare(limit if limit not in ("launch", "copy") else "mte2", 0.6, waits or {}),)
    found = CaseProfile(
        case=name,
        size=SizeClass.LARGE,
        is_aligned=True,
        ratio=ratio,
        time_us=10.0 * ratio,
        roof_us=10.0,
        roof_unit="mte2",
        intensity=0.5,
        traffic=1.0,
        kernels=1,
        copies=0,
        cores=48,
        limit=Bottleneck(limit, 0.6, 10.0 * ratio, 1e12, ratio, pipes),
    )
    return replace(found, **changes)  # type: ignore[arg-type]


class TestSignatures:
    @pytest.mark.parametrize(
        ("found", "shown"),
        [
            (case(), {Signature.MEMORY_CHAIN}),
            (case(limit="v"), {Signature.VECTOR}),
            (case(limit="v", traffic=1.5), {Signature.VECTOR, Signature.MEMORY_CHAIN}),
            (case(limit="v", kernels=2), {Signature.VECTOR, Signature.MEMORY_CHAIN}),
            (case(limit="m"), {Signature.CUBE}),
            (case(limit="scalar"), {Signature.SCALAR}),
            (case(waits={"idle": 0.3}), {Signature.MEMORY_CHAIN, Signature.SCALAR}),
            (case(waits={"idle": 0.2, "tail": 0.1}), {Signature.MEMORY_CHAIN}),
            (case(waits={"tail": 0.2}), {Signature.MEMORY_CHAIN, Signature.STRAGGLER}),
            (case(limit="launch", waits={"tail": 0.2, "launch": 0.3}), {Signature.LAUNCH}),
            (replace(case(), limit=None), {Signature.MEMORY_CHAIN}),
        ],
    )
    def test_a_case_shows_what_its_figures_say(self, found: CaseProfile, shown: set[Signature]) -> None:
        assert shown_by(found) == shown

    def test_shares_are_of_the_time_that_is_lost(self) -> None:
        found = signatures_of(Profile((case("1", 1.5, "v"), case("2", 2.5), case("3", 1.0, "scalar"))))
        assert found == {Signature.MEMORY_CHAIN: pytest.approx(0.75), Signature.VECTOR: pytest.approx(0.25)}
        assert next(iter(found)) is Signature.MEMORY_CHAIN

    @pytest.mark.parametrize(
        ("other", "share"),
        [
            (case("2", 3.0, size=SizeClass.SMALL), 0.5),
            (case("2", 3.0, is_aligned=False), 0.5),
            (case("2", 2.0, size=SizeClass.SMALL), 0.0),
        ],
    )
    def test_regimes_diverge_when_one_has_much_more_headroom(self, other: CaseProfile, share: float) -> None:
        assert signatures_of(Profile((case("1", 1.5), other))).get(Signature.REGIMES, 0.0) == pytest.approx(share)

    def test_a_variant_at_its_roof_shows_nothing(self) -> None:
        assert signatures_of(Profile((case(ratio=1.0),))) == {}


class TestStrategies:
    def test_every_class_and_every_signature_has_strategies(self) -> None:
        found = load_strategies()
        assert {item.kind for item in found.values()} == set(StrategyClass)
        assert {signature for item in found.values() for signature in item.against} == set(Signature)

    def test_a_round_gets_different_strategies_against_what_is_lost(self) -> None:
        dice = random.Random(3)
        rounds = [assign({Signature.LAUNCH: 1.0}, 3, dice) for _ in range(60)]
        assert all(len({item.id for item in found}) == 3 for found in rounds)
        fitting = sum(Signature.LAUNCH in found[0].against for found in rounds)
        assert fitting >= 30, "one of many strategies is against this signature, and it comes first in most rounds"

    def test_what_was_used_on_a_parent_comes_last(self) -> None:
        dice = random.Random(3)
        used = [item.id for item in load_strategies().values() if Signature.SCALAR in item.against]
        firsts = [assign({Signature.SCALAR: 1.0}, 1, dice, used)[0].id in used for _ in range(100)]
        fresh = [assign({Signature.SCALAR: 1.0}, 1, dice)[0].id in used for _ in range(100)]
        assert sum(firsts) < sum(fresh) / 1.5

    def test_more_than_there_are_gives_all(self) -> None:
        assert len(assign({}, 1000, random.Random(1))) == len(load_strategies())

    @pytest.mark.parametrize(
        ("strategy", "text"),
        [
            ("P1", "pipe.InitBuffer(in_, 2, n * sizeof(T));"),
            ("P5", "AscendC::WholeReduceSum(a, b, 64, 8, 1, 1, 8);"),
            ("P9", "x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);"),
            ("A1", "AscendC::Cast(work, x, AscendC::RoundMode::CAST_NONE, count);"),
            ("P11", "AscendC::Mmad(c, a, b, params);"),
        ],
    )
    def test_signs_are_found_in_sources_and_not_in_prose(self, strategy: str, text: str) -> None:
        assert load_strategies()[strategy].is_in(Tree({"k.cpp": text}))
        assert not load_strategies()[strategy].is_in(Tree({"README.md": text}))

    def test_the_reference_kernels_show_what_the_plain_ones_do_not(self) -> None:
        plain, reference = (read_tree(ROOT / path / "csrc/common") for path in ("src/piton/suites/piton/baselines", "kernels/reference"))
        assert load_strategies()["P9"].is_in(reference)
        assert not load_strategies()["P9"].is_in(plain)


class TestHints:
    PLAIN = Tree({"k.cpp": "int x;"})

    def test_hints_are_at_most_three_different_ones_with_their_figures(self) -> None:
        found = hints_of(Profile((case("7", 3.0, traffic=1.4), case("8", 1.2, "v"))), self.PLAIN)
        assert len({hint.strategy for hint in found}) == len(found) == 3
        assert "case 7 takes 3.00 T_HW (30.00 us)" in found[0].evidence
        assert "moves 1.40 times the bytes that have to" in found[0].evidence
        assert [hint.strength for hint in found] == sorted((hint.strength for hint in found), reverse=True)

    def test_what_the_code_does_already_is_not_advised(self) -> None:
        profile = Profile((case("1", 3.0),))
        assert "P1" in {hint.strategy for hint in hints_of(profile, self.PLAIN, most=9)}
        tree = Tree({"k.cpp": "pipe.InitBuffer(in_, 2, bytes);"})
        assert "P1" not in {hint.strategy for hint in hints_of(profile, tree, most=9)}

    def test_nothing_lost_is_nothing_to_advise(self) -> None:
        assert hints_of(Profile((case(ratio=1.0),)), self.PLAIN) == ()


class TestStopping:
    @pytest.mark.parametrize(
        ("ratios", "said"),
        [((1.05, 1.08), "headroom is used up"), ((1.05, 1.5), ""), ((1.3, 1.3), ""), ((0.9, 1.4), "less than T_HW"), ((), "")],
    )
    def test_a_search_ends_when_mean_and_worst_case_are_near_the_roof(self, ratios: tuple[float, ...], said: str) -> None:
        reason = stop_reason(Profile(tuple(case(str(place), ratio) for place, ratio in enumerate(ratios))))
        assert said in reason
        assert bool(reason) is bool(said)

    def test_the_tolerance_is_the_callers(self) -> None:
        assert stop_reason(Profile((case(ratio=1.3),)), tolerance=0.3)


class TestReview:
    def test_a_hint_is_effective_when_it_was_followed_and_the_winner_is_faster(self) -> None:
        start, winner = Tree({"k.cpp": "x"}), Tree({"k.cpp": "pipe.InitBuffer(in_, 2, n); // SetL2"})
        advised = [Advised("P1", 1, 3.0), Advised("P9", 1, 3.0), Advised("A2", 2, 1.0)]
        assert review(advised, start, winner, 1.5, followed=("A2",)) == (
            Reviewed("P1", 1, True, True, 2.0),
            Reviewed("P9", 1, False, False, 1.0),
            Reviewed("A2", 2, True, False, 1.0 / 1.5),
        )

    def test_what_the_start_did_already_was_not_followed(self) -> None:
        tree = Tree({"k.cpp": "pipe.InitBuffer(in_, 2, n);"})
        assert not review([Advised("P1", 1, 3.0)], tree, tree, 1.0)[0].is_followed


def test_a_profile_of_a_report_has_its_passed_cases_with_their_ratios() -> None:
    report = read_report(ROOT / "examples/metrics/refined/sample-1/turn-2/report.json")
    profile = profile_of(report.operators[0])
    expected = {item.case.id: item.time.value / item.t_hw.value_us for item in report.operators[0].cases if item.time and item.t_hw}
    assert {item.case: item.ratio for item in profile.cases} == pytest.approx(expected)
    assert profile.headroom == pytest.approx(expected[profile.cases[0].case]) or len(expected) > 1
