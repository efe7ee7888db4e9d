"""Does docs/ascendc-api.md say what the headers say: every public name, its types, and nothing that is not there?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from piton.targets.vnpu.api_names import API_NAMES

ROOT = Path(__file__).parents[2]
HEADERS = sorted((ROOT / "src" / "piton" / "vnpu_cpp" / "include" / "ascendc").rglob("*.h"))
TABLE = ROOT / "docs" / "ascendc-api.md"
DEFINERS = "BINARY|LOGIC|SCALAR|UNARY|FUSED|COMPARE_SCALAR|WHOLE_REDUCE|GROUP_REDUCE|TYPED_REDUCE|REDUCE_EXTREME|ATOMIC|FILL|BROADCAST|COMPOSED_[A-Z]+|CLAMP"
FUNCTION = re.compile(r"PITON_API (?:constexpr )?[\w:<>&\* ]+?[ \*&](\w+)\(")
TYPE = re.compile(r"(?:class|struct|enum class) (\w+)(?: : \w+)? \{")
DEFINED = re.compile(rf"PITON_(?:{DEFINERS})\((\w+)")
TYPES = re.compile(r'PITON_REQUIRE_TYPE\((?:#?"?(\w+)"?), .*?, "([^"]*)"\)')
OF_MACRO = re.compile(r'PITON_(?:BINARY|SCALAR|UNARY)\((\w+), .*, "([^"]*)"\)')


def declared() -> set[str]:
    """Functions, types and enumerations that a kernel can use: those of namespace AscendC, by name."""
    names: set[str] = set()
    for header in HEADERS:
        spaces: list[str] = []
        for line in header.read_text("utf-8").splitlines():
            opened = re.match(r"namespace (\w*) ?\{$", line)
            if opened:
                spaces.append(opened[1])
            elif re.match(r"\}\s+// namespace", line):
                spaces.pop()
            found = DEFINED.match(line) or (spaces[:1] == ["AscendC"] and (FUNCTION.match(line) or TYPE.match(line)))
            if found:
                names.add(found[1])
    return names - {"Name"}


def rows() -> dict[str, dict[str, str]]:
    """Rows of all tables of the page, by name."""
    found: dict[str, dict[str, str]] = {}
    for line in TABLE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].startswith("`"):
            name = cells[0].strip("`")
            assert name not in found, f"{name} is in the table twice"
            found[name] = dict(zip(("forms", "dtypes", "status", "source"), cells[1:], strict=True))
    return found


def test_every_declared_name_is_in_the_table() -> None:
    assert declared() - set(rows()) == set()


def test_the_table_lists_no_supported_name_that_is_missing() -> None:
    text = "\n".join(header.read_text("utf-8") for header in HEADERS)
    words = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)))
    assert {name for name, row in rows().items() if row["status"] != "unsupported" and name.lstrip(".") not in words} == set()


def words_of_tests() -> set[str]:
    """Words of the conformance tests; the table of forms names everything and shows no behaviour, so that it does not count."""
    places = (ROOT / "tests" / "sim", ROOT / "tests" / "submissions" / "programs")  # whole programs, whose results a test in e2e compares
    found = [path for place in places for path in place.rglob("*")]
    sources = [path for path in found if path.suffix in (".py", ".cpp", ".h", ".asc") and not path.name.startswith("api_form")]
    return set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in sources)))


def test_every_supported_call_is_named_in_a_conformance_test() -> None:
    calls = {name for name, row in rows().items() if row["status"] != "unsupported" and not row["forms"].startswith(("structure", "enumeration", "type"))}
    words = words_of_tests()
    assert sorted(name for name in calls if name.lstrip(".") not in words) == []


def test_unsupported_names_are_recognised_and_not_declared() -> None:
    unsupported = {name.lstrip(".") for name, row in rows().items() if row["status"] == "unsupported"}
    assert unsupported & declared() == set()
    assert {name for name in unsupported if name not in API_NAMES} == set()


def header_types() -> dict[str, str]:
    """Element types that a header states for an instruction."""
    text = "\n".join(re.sub(r"\\\n\s*", "", header.read_text("utf-8")) for header in HEADERS)
    found = {match[1]: match[2] for match in TYPES.finditer(text) if match[1] not in ("api", "Name")}
    found.update({match[1]: match[2] for match in OF_MACRO.finditer(text)})
    del found["Compare"]  # found is the form into the register, which has fewer
    return found


def test_the_extraction_of_types_finds_the_families() -> None:
    types = header_types()
    assert {"Add", "Exp", "Muls", "Sort32", "Duplicate", "Gather", "Select"} <= set(types)


@pytest.mark.parametrize("name", sorted(header_types()))
def test_the_types_are_those_of_the_header(name: str) -> None:
    assert rows()[name]["dtypes"] == header_types()[name]


def test_every_row_has_forms_a_known_status_and_a_source() -> None:
    for name, row in rows().items():
        assert row["status"] in ("supported", "supported in part", "unsupported"), name
        assert row["source"], name
        assert row["forms"], name
