"""The table of docs/processes.md: which level of isolation refuses which attack. `python tests/adversarial/cage_table.py` tries them and writes it again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cage_attacks import ALL, Attack
from cage_code import through_from_code
from cage_list import ATTACKS
from cage_rig import NOTHING, Cage, World, cage, mechanisms_at, world
from processes_rig import Programs, cached_programs

from piton.evaluate.sandbox.levels import HIGHEST, HIGHEST_IN_PROCESS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "processes.md"
BEGIN, END = "<!-- attacks: written by tests/adversarial/cage_table.py -->", "<!-- end of attacks -->"

Through = dict[str, set[str]]
"""Roles that got through, by the name of the attack."""


def try_all(level: int, surroundings: World) -> Through:
    """Every attack by every role at one level up to the highest in process."""
    with cage(mechanisms_at(level), surroundings) as held:
        return _tried(held)


def try_without_a_cage(surroundings: World) -> Through:
    """Every attack where nothing is refused."""
    with cage(mechanisms_at(0), surroundings, NOTHING) as held:
        return _tried(held)


def _tried(held: Cage) -> Through:
    through: Through = {attack.name: set() for attack in ATTACKS}
    for role in ALL:
        tried = [attack for attack in ATTACKS if role in attack.roles]
        names = held.batch([attack for attack in tried if not attack.runs_alone], role)
        names |= {attack.name for attack in tried if attack.runs_alone and held.gets_through(attack, role)}
        for name in names:
            through[name].add(role)
    return through


def try_with_the_engine_apart(programs: Programs, surroundings: World, in_process: Through) -> Through:
    """Level 4: jobs of the host and of builds are those of the level below; device code is in a process of its own."""
    with cage(mechanisms_at(HIGHEST), surroundings) as held:
        names = through_from_code(held, programs)
    return {name: (roles - {"device"}) | ({"device"} if name in names else set()) for name, roles in in_process.items()}


def table_text(levels: list[Through]) -> str:
    """The table, with its marks."""
    lines = ["| attack, by | level 0 | level 1 | level 2 | level 3 | level 4 |", "|---|---|---|---|---|---|"]
    for attack in ATTACKS:
        cells = ["refused" if not through[attack.name] else _open(through[attack.name], attack.roles) for through in levels]
        lines.append(f"| {attack.name} ({', '.join(attack.roles)}) | {' | '.join(cells)} |")
    counts = [str(sum(not through[attack.name] for attack in ATTACKS)) for through in levels]
    lines.append(f"| **refused, of {len(ATTACKS)}** | {' | '.join(counts)} |")
    return "\n".join([BEGIN, *lines, END])


def _open(through: set[str], roles: tuple[str, ...]) -> str:
    return "open" if through == set(roles) else f"open ({', '.join(role for role in roles if role in through)})"


def written_table() -> str:
    """What the page says."""
    text = PAGE.read_text()
    return text[text.index(BEGIN) : text.index(END) + len(END)]


def written_as_open(attack: Attack, level: int) -> set[str]:
    """Roles that get through at a level, as the page has it."""
    row = next(line for line in written_table().splitlines() if line.startswith(f"| {attack.name} ("))
    cell = row.split(" | ")[1 + level].strip(" |")
    if cell in ("open", "refused"):
        return set(attack.roles) if cell == "open" else set()
    return set(cell.removeprefix("open (").removesuffix(")").split(", "))


def levels_tried(programs: Programs, surroundings: World) -> list[Through]:
    """What gets through at every level."""
    tried = [try_all(level, surroundings) for level in range(HIGHEST_IN_PROCESS + 1)]
    return [*tried, try_with_the_engine_apart(programs, surroundings, tried[-1])]


def main() -> None:
    """Write it again."""
    with world() as surroundings, tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        text = table_text(levels_tried(cached_programs(Path(folder)), surroundings))
    PAGE.write_text(PAGE.read_text().replace(written_table(), text))


if __name__ == "__main__":
    main()
