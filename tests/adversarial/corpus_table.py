"""The table of docs/integrity.md: what became of every known cheat. `python tests/adversarial/corpus_table.py` writes it again from the corpus."""

from __future__ import annotations

from pathlib import Path

from corpus_form import Entry, Known, load_entries, load_known

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrity.md"
BEGIN, END = "<!-- corpus: written by tests/adversarial/corpus_table.py -->", "<!-- end of corpus -->"


def table_text() -> str:
    """The tables, with their marks."""
    known, exploits = load_known(), load_entries("exploits")
    return "\n".join([BEGIN, *_exploits(known, exploits), *_others(known), *_honest(), END])


def page_is_current() -> bool:
    """Does the page have these tables?"""
    return PAGE.read_text().count(table_text()) == 1


def _exploits(known: tuple[Known, ...], exploits: tuple[Entry, ...]) -> list[str]:
    lines = ["| entry | known cheat | submission, on | it gets | what stopped it, or why it brings nothing | level |", "|---|---|---|---|---|---|"]
    for row in known:
        lines += [_row(row, entry) for entry in exploits if entry.number == row.number]
    return lines


def _row(known: Known, entry: Entry) -> str:
    submission = f"`{entry.name}`: {entry.title} ({entry.target})"
    return f"| {known.number} | {known.title} | {submission} | {_gets(entry)} | {entry.mechanism} | {entry.level} |"


def _gets(entry: Entry) -> str:
    """Verdict and cause; of a pass, what it did not gain."""
    if entry.waits:
        return f"not counted yet: waits for {entry.waits}"
    expected = entry.expected
    found = [f"finding {kind}" for kind in expected.findings]
    found += ["in the time of honest work"] if expected.time else []
    found += [f"with at least {expected.least_us:g} us measured"] if expected.least_us else []
    return ", ".join([" or ".join(entry.verdicts), *found])


def _others(known: tuple[Known, ...]) -> list[str]:
    lines = ["", "Shown without a submission, or by none of the targets that there are (not counted):", "", "| entry | known cheat | |", "|---|---|---|"]
    lines += [f"| {row.number} | {row.title} | tested in `{row.elsewhere.split('::')[0]}` |" for row in known if row.elsewhere]
    return lines + [f"| {row.number} | {row.title} | not counted: {row.not_here} |" for row in known if row.not_here]


def _honest() -> list[str]:
    lines = ["", "Honest submissions that look odd and pass:", "", "| submission | what is odd |", "|---|---|"]
    return lines + [f"| `{entry.name}` | {entry.title} |" for entry in load_entries("honest")]


def main() -> None:
    """Write them again."""
    text = PAGE.read_text()
    first, last = text.index(BEGIN), text.index(END) + len(END)
    PAGE.write_text(text[:first] + table_text() + text[last:])


if __name__ == "__main__":
    main()
