"""The report as Markdown: what stands in the open, what is folded, what does not fit, and whose text is it."""

import re

import pytest
from report_world import failed_case, large_report, operator_of, passed_case, small_report

from piton.core.finding import Finding, FindingKind
from piton.core.report import Report
from piton.core.verdict import Cause, Place, outcome
from piton.report.markdown import markdown_text
from piton.report.markup import MOST_BYTES, escape_markdown, fitting, folded, table_lines

HOSTILE = "</details><script>alert(1)</script> |[x](http://evil) @everyone #12 `code` https://evil.example www.evil.example\n# head"


def plain(report: Report) -> str:
    return markdown_text(report).replace("\\", "")


@pytest.fixture(scope="module")
def large() -> str:
    return markdown_text(large_report())


def test_the_headline_says_cases_and_score_and_the_slowest_cases_stand_in_the_open() -> None:
    report = small_report((operator_of("exp", passed_case(time_us=10.0), passed_case(case_id="2", time_us=30.0)),))
    text = plain(report)
    # HAP 0.75 and 15 / 40 = 0.375: 50 + 50 x 0.5625 = 78.1
    assert text.splitlines()[2] == "✅ **2 of 2 cases passed, score 78.1 of 100**"
    opened = text.partition("<details>")[0]
    assert opened.index("| exp/2 | 30.00 | 5.00 | 6.00 | 0.375 | mte2 / mte2 | MTE2 bound") < opened.index("| exp/1 | 10.00 ")
    assert "Which unit T_HW comes from, of 2 cases: MTE 100 % (2)." in opened
    assert "<details><summary>exp: 2 of 2 cases passed, score 78.1 of 100</summary>" in text


def test_failures_are_in_the_open_and_findings_folded() -> None:
    found = outcome(Cause.MAX_ERROR, "too far off", place=Place(file="a.cpp", line=3), beyond=7)
    finding = Finding(kind=FindingKind.RELAXED_PASS, message="a looser threshold")
    report = small_report((operator_of("exp", failed_case(found), passed_case().model_copy(update={"findings": (finding,)})),))
    text = plain(report)
    assert text.splitlines()[2].startswith("❌ **1 of 2 cases passed")
    assert "- **exp** case 2: wrong_value: max_error; a.cpp:3; too far off; beyond 7; case 2 y[3, 0]: got 0.25" in text.partition("<details>")[0]


def test_levels_categories_operators_and_the_fair_record_are_folded(large: str) -> None:
    folds = re.findall(r"<details><summary>(.*?)</summary>", large)
    assert folds[:3] == ["Levels and categories", "Operators (53)", "Findings (52)"]
    assert folds[3].startswith("Fair-reporting record: ")
    assert large.count("<details>") == large.count("</details>")


def test_a_whole_suite_fits_into_a_comment_and_says_what_is_left_out(large: str) -> None:
    assert len(large.encode()) < MOST_BYTES
    shown = len(re.findall(r"<summary>operator_number_\d+: ", large))
    assert 0 < shown < 53
    assert f"Not here, for want of room: {53 - shown} operators' cases. They are in report.html." in large


def test_endless_messages_leave_room_for_the_digest() -> None:
    found = outcome(Cause.DEADLOCK, "x" * 1_000_000)
    report = small_report(tuple(operator_of(f"op{number}", failed_case(found, "1", f"op{number}")) for number in range(100)))
    text = markdown_text(report)
    assert len(text.encode()) < MOST_BYTES
    assert f"Result digest `{report.result_digest}`." in text
    assert "- and 80 more in report.html" in text


def test_no_text_of_a_submission_becomes_markup_a_link_a_mention_or_a_table_cell() -> None:
    finding = Finding(kind=FindingKind.OTHER, message=HOSTILE)
    bad = failed_case(outcome(Cause.DEADLOCK, HOSTILE, place=Place(file=HOSTILE, line=1)), HOSTILE, HOSTILE)
    good = passed_case(HOSTILE, "1").model_copy(update={"findings": (finding,)})
    text = markdown_text(small_report((operator_of(HOSTILE, good, bad).model_copy(update={"category": HOSTILE}),), name=HOSTILE))
    for part in ("<script>", "[x](http://", "://", "www.evil", "@everyone", "#12"):
        assert part not in text, part
    assert text.count("</details>") == text.count("<details>")
    assert not re.search(r"^# head", text, flags=re.M)


def test_escaped_text_reads_as_it_was() -> None:
    escaped = escape_markdown("a_b *c* [d] <e> |f| #g `h` ~i~ \\j & k@l")
    assert escaped == r"a\_b \*c\* \[d\] \<e\> \|f\| \#" + "\u200b" + r"g \`h\` \~i\~ \\j \& k@" + "\u200bl"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (":white_check_mark:", ":\u200bwhite\\_check\\_mark:"),
        (":+1::100:", ":\u200b+1::\u200b100:"),
        ("a.cpp:3: no", "a.cpp:\u200b3: no"),
        ("case 3: a; case 4: b", "case 3: a; case 4: b"),
        ("costs $x$ or $$y$$", "costs \\$\u200bx\\$\u200b or \\$\u200b\\$\u200by\\$\u200b\\$\u200b"),
        ("GH-12, gh-7 and HIGH-12 or GH-a", "GH\u200b-12, gh\u200b-7 and HIGH-12 or GH-a"),
    ],
)
def test_no_text_becomes_an_emoji_a_formula_or_a_reference(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped
    assert next(iter(folded(text, []))) == f"<details><summary>{escaped.replace(chr(92), '')}</summary>"


def test_nothing_of_the_head_or_the_end_of_a_report_becomes_markup() -> None:
    report = small_report((operator_of("exp", passed_case()),)).model_copy(
        update={"target": "<b>a</b>", "precision_profile": "[x](y)", "result_digest": "1`<i>`\n# no", "seed": 1}
    )
    text = markdown_text(report)
    assert " on \\<b\\>a\\</b\\>" in text.splitlines()[0]
    assert r"precision profile \[x\](y), seed 1" in text
    assert text.endswith("\nResult digest `1'<i>' #\u200b no`.\n")


def test_tables_and_folds_have_their_form() -> None:
    assert table_lines(("a", "b|c"), [("1", "2")]) == ["| a | b\\|c |", "|---|---|", "| 1 | 2 |"]
    assert list(folded("a <b> & c", ["x"])) == ["<details><summary>a &lt;b&gt; &amp; c</summary>", "", "x", "", "</details>", ""]


def test_sections_are_kept_in_order_until_one_does_not_fit() -> None:
    assert fitting([["1234"], ["12345678"], ["1"]], 8) == (["1234"], 2)
    assert fitting([["1234"], ["ä"]], 8) == (["1234", "ä"], 0), "ä takes two bytes and each line its end: 5 + 3"
