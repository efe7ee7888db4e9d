"""Does a record that no header makes lead to a diagnostic or to nothing, but never to a crash or a failure of the engine?"""

from __future__ import annotations

import ctypes
import random

import numpy as np
import pytest
from engine_rig import FAULT, FILE, UNBOUNDED, Operand, Record, Rig

OPCODES = (*range(1, 19), *range(32, 40), *range(64, 75), 96, 97, *range(128, 149), 160, *range(192, 198), 208, 209, *range(224, 227), *range(256, 264))
STATE = (*range(288, 295), 304, 305, *range(320, 326), 327, 328, *range(352, 365), 9999)
ADDRESSES = (0, 32, 64, 4096, 196576, 196608, 1 << 20, 0xFFFFFFFF, 1 << 33, (1 << 64) - 32, (1 << 64) - 1, 0x200000001000, 0x200000001020, 0x2FFFFFFFFFFF)
NUMBERS = (0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 128, 255, 256, 4096, 65535, 1 << 20, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)
FAULTS = (1, 2, 8, 9, 11, 12, 99)
PROGRAMS = 300


def operand(draw: random.Random) -> Operand:
    limit, space, dtype = (
        draw.choice((UNBOUNDED, UNBOUNDED, 0, 32, 4096)),
        draw.choice((0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 200)),
        draw.choice((*range(16), 255)),
    )
    return Operand(draw.choice(ADDRESSES), limit, draw.choice((0, 1, 8, 65535)), draw.choice((0, 1, 8, 255, 65535)), space, dtype)


def forged(draw: random.Random) -> Record:
    """Any opcode with any fields; texts are the ring's business and real here."""
    pipe, flags = draw.choice((0, 1, 2, 3, 4, 5, 6, 7, 200)), draw.choice((0, 1, 2, 4, 3, 8, 16, 255))
    made = Record(opcode=draw.choice(OPCODES + STATE), pipe=pipe, flags=flags, line=1, file=FILE, scalar=draw.choice((0, 1, 0x3F800000, draw.getrandbits(64))))
    made.dst, made.src0, made.src1 = operand(draw), operand(draw), operand(draw)
    for at in range(2):
        made.mask[at] = draw.choice((0, 255, (1 << 64) - 1, draw.choice(NUMBERS) | draw.choice(NUMBERS) << 32))
    for at in range(4):
        made.p[at] = draw.choice(NUMBERS)
    if made.opcode == FAULT:
        made.p[0] = draw.choice(FAULTS)
        made.src0.addr = ctypes.cast(ctypes.c_char_p(FILE), ctypes.c_void_p).value or 0
    return made


@pytest.mark.parametrize("core_kind", [0, 1])
def test_a_forged_record_never_brings_the_engine_down(core_kind: int) -> None:
    draw = random.Random(6 + core_kind)
    reported = 0
    with Rig(cores=4) as rig:
        for _ in range(PROGRAMS):
            rig.reset()
            rig.configure(budget=10**6)
            rig.upload(np.zeros(1 << 14, np.uint8), is_mutable=True)
            report = rig.launch([forged(draw) for _ in range(3)], core_kind=core_kind)
            reported += bool(report.diagnostics)
    assert reported > PROGRAMS / 2
