"""Mutations of the files people write: of bytes, of lines, and of the structure behind them. Every one is named by its seed."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Callable
from typing import Any

import yaml

Rng = random.Random

NUMBERS: tuple[object, ...] = (0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**30, 10**400, 1e308, 1e-320, float("nan"), float("inf"), float("-inf"), 0.5)
TEXTS = (
    "",
    " ",
    "nan",
    "NaN",
    "-inf",
    "None",
    "null",
    "true",
    "0x" + "f" * 400,
    "9" * 5000,
    "1:" * 600 + "1",
    "é",
    "\u202e",
    "\U0001f9d7",
    "a\tb",
    "a\nb",
    "%s{}",
    "../x",
)
SHAPES: tuple[Any, ...] = ([], {}, [[]], [[[1]]], {"a": {"b": []}}, [None], [1, "a", None], {"name": "x"}, [[0]], [[-5]], [["3"]], [[2**40, 2**40]])
BYTES = (
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\r",
    b"\x1b[2J",
    b"\xed\xa0\x80",
    b"\x85",
    "\u2028".encode(),
    b"\t",
    b"&a ",
    b"*a",
    b"!!python/object:os.system ",
    b"---\n",
    b"...\n",
)


def mutate(text: str, rng: Rng, form: str) -> bytes:
    """One to three mutations of a file in `form` (yaml, csv or json)."""
    if rng.random() < 0.6:
        try:
            text = _STRUCTURED[form](text, rng)
        except (yaml.YAMLError, ValueError, TypeError, RecursionError):
            pass  # the seed's structure cannot be written down again; the bytes are mutated all the same
    data = text.encode("utf-8", errors="surrogatepass")
    for _ in range(rng.choice((0, 1, 1, 2))):
        data = rng.choice(_ON_BYTES)(data, rng)
    return data


def _yaml(text: str, rng: Rng) -> str:
    data = yaml.safe_load(text)
    for _ in range(rng.choice((1, 1, 2))):
        data = mutate_tree(data, rng)
    flow = rng.choice((None, True, False))
    return yaml.safe_dump(data, default_flow_style=flow, allow_unicode=rng.random() < 0.5, width=10**9, sort_keys=rng.random() < 0.3)


def _json(text: str, rng: Rng) -> str:
    return json.dumps(mutate_tree(json.loads(text), rng), ensure_ascii=rng.random() < 0.5)


def _csv(text: str, rng: Rng) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    for _ in range(rng.choice((1, 1, 2))):
        rng.choice(_ON_ROWS)(rows, rng)
    out = io.StringIO()
    csv.writer(out, lineterminator=rng.choice(("\n", "\r\n", "\r"))).writerows(rows)
    return out.getvalue()


_STRUCTURED: dict[str, Callable[[str, Rng], str]] = {"yaml": _yaml, "json": _json, "csv": _csv}


def mutate_tree(data: Any, rng: Rng) -> Any:
    """A copy of plain data with one place changed."""
    data = copy.deepcopy(data)
    places = list(_places(data))
    if not places:
        return _value(rng)
    holder, key = rng.choice(places)
    rng.choice(_ON_PLACES)(holder, key, rng, places)
    return data


def _places(data: Any) -> Any:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(items):
        yield data, key
        yield from _places(value)


def _value(rng: Rng) -> Any:
    return copy.deepcopy(rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS), rng.choice(SHAPES), None, True, _nested(rng.choice((3, 20, 33, 200))))))


def _nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def _delete(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    del holder[key]


def _replace(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    holder[key] = _value(rng)


def _swap(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    other, other_key = rng.choice(places)
    holder[key], other[other_key] = copy.deepcopy(other[other_key]), copy.deepcopy(holder[key])


def _duplicate(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    if isinstance(holder, list):
        holder.insert(key, holder[key])  # the same object: an anchor and an alias once it is written
    else:
        holder[f"{key}{rng.choice(('', '2', ' '))}x"] = holder[key]


def _rename(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    value = holder[key]
    if isinstance(holder, dict):
        del holder[key]
        holder[rng.choice((f"{key}s", str(key).upper(), "", "name", "é", 1, None, True, 0.5))] = value


def _repeat(holder: Any, key: Any, rng: Rng, places: Any) -> None:
    holder[key] = [holder[key]] * rng.choice((2, 50, 3000))


_ON_PLACES = (_delete, _replace, _replace, _swap, _duplicate, _rename, _repeat)


def _row_delete(rows: list[list[str]], rng: Rng) -> None:
    del rows[rng.randrange(len(rows))]


def _row_repeat(rows: list[list[str]], rng: Rng) -> None:
    rows.insert(rng.randrange(len(rows)), list(rng.choice(rows)))


def _row_short(rows: list[list[str]], rng: Rng) -> None:
    row = rng.choice(rows)
    row.append("x") if rng.random() < 0.5 else row.pop()


def _columns_swap(rows: list[list[str]], rng: Rng) -> None:
    row = rng.choice(rows)
    first, second = rng.randrange(len(row)), rng.randrange(len(row))
    row[first], row[second] = row[second], row[first]


def _cell_replace(rows: list[list[str]], rng: Rng) -> None:
    row = rng.choice(rows)
    if row:
        value = _value(rng)
        row[rng.randrange(len(row))] = rng.choice((repr, str))(value) if not isinstance(value, int) or abs(value) < 10**4000 else hex(value)


def _cell_tree(rows: list[list[str]], rng: Rng) -> None:
    row = rng.choice(rows)
    index = rng.randrange(len(row))
    row[index] = json.dumps(mutate_tree(json.loads(row[index]), rng))


def _cell_text(rows: list[list[str]], rng: Rng) -> None:
    row = rng.choice(rows)
    index = rng.randrange(len(row))
    row[index] = rng.choice(
        (
            "[" * 300,
            "-" * 3000 + "1",
            "(" * 90 + ")" * 90,
            "x" * 200_000,
            "[[1]",
            "1 if 1 else 2",
            "0x" + "f" * 6000,
            "1e999",
            '"\\N{x}"',
            "'\n'",
            "{1: 2}",
            "b'x'",
        )
    )


_ON_ROWS = (_row_delete, _row_repeat, _row_short, _columns_swap, _cell_replace, _cell_replace, _cell_tree, _cell_tree, _cell_text)


def _truncate(data: bytes, rng: Rng) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _insert(data: bytes, rng: Rng) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(BYTES) + data[place:]


def _flip(data: bytes, rng: Rng) -> bytes:
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _lines(data: bytes, rng: Rng) -> bytes:
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif what == 1:
        lines.insert(first, lines[second])
    elif what == 2:
        del lines[first]
    else:
        lines[first] = b" " * rng.choice((1, 2, 40)) + lines[first]
    return b"\n".join(lines)


def _crlf(data: bytes, rng: Rng) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r", b"\n\n")))


def _mark(data: bytes, rng: Rng) -> bytes:
    return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf\xef\xbb\xbf")) + data


def _recode(data: bytes, rng: Rng) -> bytes:
    return data.decode("utf-8", errors="replace").encode(rng.choice(("utf-16", "utf-32", "utf-8-sig")), errors="replace")


def _long(data: bytes, rng: Rng) -> bytes:
    return data + rng.choice((b"x", b" ", b"[", b"{", b"-", b"#", b"a: ", b"'", b'"', b",", b"1,")) * rng.choice((100, 5000, 200_000))


def _number(data: bytes, rng: Rng) -> bytes:
    places = [index for index, byte in enumerate(data) if chr(byte).isdigit()]
    if not places:
        return data
    place = rng.choice(places)
    return (
        data[:place]
        + rng.choice((b"-", b"9" * 30, b"9" * 6000, b"1e999", b".nan", b".inf", b"0x" + b"f" * 6000, b"1:" * 3000, b"_", b"0o7", b"1e-999"))
        + data[place + 1 :]
    )


def _bomb(data: bytes, rng: Rng) -> bytes:
    levels = rng.choice((3, 9, 25))
    lines = [b"bomb0: &b0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"bomb{level}: &b{level} [{', '.join([f'*b{level - 1}'] * 9)}]".encode() for level in range(1, levels)]
    return data + b"\n" + b"\n".join(lines) + b"\n"


def _empty(data: bytes, rng: Rng) -> bytes:
    return rng.choice(
        (b"", b"\n", b"#\n", b"null", b"[]", b"{}", b"a", b"- a", b"\0", b"&a [*a]", b"&a {k: *a}", b"? [a]\n: b", b"%YAML 9.9\n---\n", b",,,,", b'"')
    )


_ON_BYTES = (_truncate, _insert, _insert, _flip, _flip, _lines, _lines, _crlf, _mark, _recode, _long, _number, _number, _bomb, _empty)
