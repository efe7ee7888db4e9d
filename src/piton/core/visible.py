"""Foreign text on its way to a terminal.

Messages, names and paths come from submissions; a control sequence in one would clear the screen, set a title or paint a verdict of its own.
"""

from __future__ import annotations

import re

_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters but tab and line feed, separators, and marks that turn the direction of writing."""


def visible(text: str) -> str:
    """`text` with what would act on a terminal written out, such as `\\x1b`."""
    return _ACTING.sub(lambda match: ascii(match[0])[1:-1], text)
