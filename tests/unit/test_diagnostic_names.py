"""Does a report on any instruction call it by its vendor's name, not by a number?"""

from __future__ import annotations

import re
from pathlib import Path

VNPU = Path(__file__).resolve().parents[2] / "src" / "piton" / "vnpu_cpp"


def test_every_opcode_has_a_name_for_messages() -> None:
    opcodes = set(re.findall(r"^    (VNPU_OP_\w+) =", (VNPU / "include" / "vnpu" / "abi.h").read_text(), re.MULTILINE))
    named = set(re.findall(r"\{(VNPU_OP_\w+), \"", (VNPU / "engine" / "diagnostics.cpp").read_text()))
    assert len(opcodes) > 100
    assert opcodes - named == {"VNPU_OP_NONE", "VNPU_OP_FAULT"}
