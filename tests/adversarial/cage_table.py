"""The table of docs/processes.md: which level of isolation refuses which attack. `python tests/adversarial/cage_table.py` tries them and writes it again."""

from __future__ import annotations

from pathlib import Path

from cage_attacks import ALL, ATTACKS
from cage_rig import World, cage, mechanisms_at, world

PAGE = Path(__file__).resolve().parents[2] / "docs" / "processes.md"
BEGIN, END = "<!-- attacks: written by tests/adversarial/cage_table.py -->", "<!-- end of attacks -->"

Through = dict[str, set[str]]
"""Roles that got through, by the name of the attack."""


def try_all(level: int, surroundings: World) -> Through:
    """Every attack by every role at one level."""
    through: Through = {attack.name: set() for attack in ATTACKS}
    with cage(mechanisms_at(level), surroundings) as held:
        for role in ALL:
            tried = [attack for attack in ATTACKS if role in attack.roles]
            names = held.batch([attack for attack in tried if not attack.runs_alone], role)
            names |= {attack.name for attack in tried if attack.runs_alone and held.gets_through(attack, role)}
            for name in names:
                through[name].add(role)
        assert held.left_behind() == []
    return through


def table_text(levels: list[Through]) -> str:
    """The table, with its marks."""
    lines = ["| attack, by | level 0 | level 1 | level 2 | level 3 and above |", "|---|---|---|---|---|"]
    for attack in ATTACKS:
        cells = ["refused" if not through[attack.name] else _open(through[attack.name], attack.roles) for through in levels]
        lines.append(f"| {attack.name} ({', '.join(attack.roles)}) | {' | '.join(cells)} |")
    return "\n".join([BEGIN, *lines, END])


def _open(through: set[str], roles: tuple[str, ...]) -> str:
    return "open" if through == set(roles) else f"open ({', '.join(role for role in roles if role in through)})"


def written_table() -> str:
    """What the page says."""
    text = PAGE.read_text()
    return text[text.index(BEGIN) : text.index(END) + len(END)]


def main() -> None:
    """Write it again."""
    with world() as surroundings:
        text = table_text([try_all(level, surroundings) for level in range(4)])
    PAGE.write_text(PAGE.read_text().replace(written_table(), text))


if __name__ == "__main__":
    main()
