"""The integrity policy for readers: as Markdown, as a table in a terminal's rows, and what a run says about it in a line."""

from __future__ import annotations

from collections.abc import Iterable

from piton.core.integrity import Dimension, Integrity, Policy, Rule

DIMENSIONS = {
    Dimension.FALLBACK: "Fallback: the work is done by a kernel of the submission",
    Dimension.GENERALISATION: "Generalisation: it works for other shapes, other values, and the next time",
    Dimension.NUMERICAL: "Numerical validity: right everywhere, by right and not by luck",
    Dimension.MEASUREMENT: "Measurement validity: the time is the time of the work",
}
_HEAD = (
    "| rule | demands | where, when | static check | behavioural check | what makes it hold | leads to | level | cost |\n|---|---|---|---|---|---|---|---|---|"
)


def policy_markdown(policy: Policy) -> str:
    """One table per dimension."""
    return (
        "\n\n".join(f"### {title}\n\n{_table(rule for rule in policy.rules if rule.dimension is dimension)}" for dimension, title in DIMENSIONS.items()) + "\n"
    )


def of_track(policy: Policy, track: str) -> Policy:
    """The rules that a kernel language is judged by; all of them for an empty name."""
    return Policy(rules=tuple(rule for rule in policy.rules if not track or not rule.tracks or track in rule.tracks))


def scope_text(rule: Rule) -> str:
    """Tracks, worlds and condition: `ascendc; simulated; full`."""
    return "; ".join(part for part in (", ".join(rule.tracks), ", ".join(world.value for world in rule.worlds), rule.condition.value) if part)


def consequences(rule: Rule) -> str:
    """Causes, and findings after them."""
    names = [f"`{cause.value}`" for cause in rule.causes] + [f"finding `{kind.value}`" for kind in rule.findings]
    return ", ".join(names) or "-"


def summary(found: Integrity) -> str:
    """`integrity standard: 22 of 27 rules checked`; only the mode for a report that does not say."""
    if not found.rules:
        return f"integrity {found.mode}"
    checked = sum(item.state == "checked" for item in found.rules)
    open_ = sum(item.state == "not_checked" for item in found.rules)
    return f"integrity {found.mode}: {checked} rules checked, {open_} not in this run, {len(found.rules) - checked - open_} not applicable"


def _table(rules: Iterable[Rule]) -> str:
    return "\n".join([_HEAD, *map(_row, rules)])


def _row(rule: Rule) -> str:
    cells = [f"`{rule.id}`", rule.text, scope_text(rule), rule.static or "-", rule.behavioural or "-", rule.mechanism, consequences(rule), str(rule.level)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (*cells, rule.cost or "-")) + " |"
