"""Is a compiler's output read rightly, whatever it says?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.core.errors import EvaluatorError
from piton.core.verdict import Cause
from piton.targets.vnpu.diagnostics import judge_compile, judge_link, parse_compiler, undefined_symbols
from piton.targets.vnpu.store import Store

FOREIGN = """\
In file included from csrc/k.cpp:1:
/piton/ascendc/cast.h: In instantiation of 'void AscendC::Exp(...) [with T = bfloat16_t]':
csrc/k.cpp:40:21:   required from 'void K<T>::Compute() [with T = bfloat16_t]'
csrc/k.cpp:55:14:   required from here
/piton/ascendc/cast.h:12:15: error: static assertion failed: Exp does not support bfloat16_t
csrc/k.cpp:60:5: warning: unused variable 'a'
"""


def is_user_file(path: str) -> bool:
    return path.startswith("csrc/")


def test_an_error_in_a_header_of_ours_gets_the_innermost_line_of_the_user() -> None:
    error, warning = parse_compiler(FOREIGN, is_user_file)
    assert (error.diagnostic.file, error.diagnostic.line, error.diagnostic.severity, error.is_own) == ("csrc/k.cpp", 40, "error", False)
    assert (warning.diagnostic.line, warning.diagnostic.severity, warning.is_own) == (60, "warning", True)


def test_a_place_that_asked_for_one_message_is_not_given_to_the_next() -> None:
    messages = parse_compiler(FOREIGN + "/usr/include/x.h:3:1: error: other\n", is_user_file)
    assert (messages[-1].diagnostic.file, messages[-1].diagnostic.line) == ("/usr/include/x.h", 3)


INLINED = """\
In constructor 'piton::Narrow<T>::Narrow(Number) [with Number = int]',
    inlined from 'void AscendC::Helper()' at /piton/ascendc/x.h:9:2,
    inlined from 'void k(AscendC::LocalTensor<float>)' at csrc/k.cpp:4:8:
/piton/ascendc/record.h:125:28: warning: call to 'piton::CutTo8Bits' declared with attribute warning: a value above 255 [-Wattribute-warning]
"""


def test_a_warning_in_an_inlined_function_gets_the_user_s_line_and_its_own_words() -> None:
    (warning,) = parse_compiler(INLINED, is_user_file)
    assert (warning.diagnostic.file, warning.diagnostic.line, warning.diagnostic.severity) == ("csrc/k.cpp", 4, "warning")
    assert warning.diagnostic.message == "a value above 255 [-Wattribute-warning]"


def judged(line: str, column: int, known: frozenset[str] = frozenset()) -> Cause:
    messages = parse_compiler(f"csrc/k.cpp:7:{column}: error: whatever\n", is_user_file)
    return judge_compile(messages, lambda _file, number: line if number == 7 else "", known, "").cause


@pytest.mark.parametrize(
    ("line", "column", "cause"),
    [
        ("    AscendC::ReduceSum(a, b, c, n);", 14, Cause.UNSUPPORTED_API),
        ("    AscendC :: NewApi(a);", 16, Cause.UNSUPPORTED_API),
        ("    ReduceSum(a, b, c, n);", 5, Cause.UNSUPPORTED_API),
        ("    ReduceSum<float>(a, b, c, n);", 5, Cause.UNSUPPORTED_API),
        ("    Add(a, b);", 5, Cause.COMPILE_ERROR),
        ("    helper(ReduceSum, oops);", 23, Cause.COMPILE_ERROR),
        ("    my_helper(a);", 5, Cause.COMPILE_ERROR),
        ('#include "lib/matmul_intf.h"', 10, Cause.UNSUPPORTED_API),
        ('#include "mine.h"', 10, Cause.COMPILE_ERROR),
        ("", 1, Cause.COMPILE_ERROR),
    ],
)
def test_the_token_at_the_error_s_place_decides(line: str, column: int, cause: Cause) -> None:
    assert judged(line, column, frozenset({"Add"})) is cause


def test_a_name_that_our_headers_have_is_never_missing() -> None:
    assert judged("    AscendC::Exp(a, b);", 14, frozenset({"Exp"})) is Cause.COMPILE_ERROR


def test_a_compiler_that_dies_silently_is_a_compile_error_with_its_last_words() -> None:
    outcome = judge_compile([], lambda _file, _line: "", frozenset(), "g++: internal compiler error: Killed")
    assert (outcome.cause, "Killed" in outcome.message) == (Cause.COMPILE_ERROR, True)


def test_undefined_symbols_are_listed_once_in_order() -> None:
    text = "x.o: undefined reference to `b'\nx.o:(.text+0x1): warning: undefined reference to `a(int)'\nundefined reference to `b'\n"
    assert undefined_symbols(text) == ["b", "a(int)"]
    assert judge_link(["b", "a(int)"], text).numbers == {"symbol": "b", "symbols": 2}


def test_the_store_refuses_what_is_not_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "made").symlink_to("/etc/passwd")
    with pytest.raises(EvaluatorError, match="not a plain file"):
        Store(tmp_path / "store").keep(tmp_path / "made", "steps/key/name")
    assert Store(tmp_path / "store").find("steps/key/name") is None


def test_the_store_leaves_nothing_half_written_behind(tmp_path: Path) -> None:
    (tmp_path / "made").write_bytes(b"content")
    kept = Store(tmp_path / "store").keep(tmp_path / "made", "steps/key/name")
    assert kept.read_bytes() == b"content"
    assert [path.name for path in kept.parent.iterdir()] == ["name"]


def test_the_engine_and_the_host_library_use_no_header_of_ours_beyond_the_seams_and_the_shims() -> None:
    """Their build keys hold the seams only, so that a change in the device headers does not rebuild them."""
    root = Path(__file__).parents[2] / "src" / "piton" / "vnpu_cpp"
    sources = [path for folder in ("engine", "code", "host") for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp")]
    assert sources
    others = [path.name for path in (root / "include").iterdir() if path.name not in ("vnpu", "host")]
    texts = {path: path.read_text("utf-8") for path in sources}
    assert [str(path) for path, text in texts.items() for name in others if f'#include "{name}' in text or f"include/{name}" in text] == []


INCLUDED = """\
In file included from /torch/include/c10/util.h:3,
                 from csrc/bind.h:7,
                 from csrc/k.cpp:2:
/torch/include/c10/macros.h:9:1: error: #error "no such platform"
csrc/k.cpp:12:3: error: 'x' was not declared in this scope
/torch/include/c10/macros.h:10:1: error: other
"""


def test_an_error_in_a_header_that_nobody_instantiates_gets_the_innermost_include_of_the_user() -> None:
    first, own, _ = parse_compiler(INCLUDED, is_user_file)
    assert (first.diagnostic.file, first.diagnostic.line, first.is_own) == ("csrc/bind.h", 7, False)
    assert (own.diagnostic.line, own.is_own) == (12, True)


def test_includes_that_led_to_one_message_are_not_given_to_one_after_an_own_message() -> None:
    assert parse_compiler(INCLUDED, is_user_file)[-1].diagnostic.file == "/torch/include/c10/macros.h"


def test_a_macro_of_ours_in_a_macro_of_the_user_is_placed_at_the_outermost_use() -> None:
    text = (
        "/piton/macros.h:4:2: error: static assertion failed: no\n"
        "csrc/k.h:3:9: note: in expansion of macro 'TASK'\n"
        "csrc/k.cpp:20:5: note: in expansion of macro 'MINE'\n"
    )
    (message,) = parse_compiler(text, is_user_file)
    assert (message.diagnostic.file, message.diagnostic.line) == ("csrc/k.cpp", 20)
    assert message.diagnostic.message == "static assertion failed: no (in macro TASK)"


def test_a_header_that_is_missing_is_told_with_the_places_that_were_searched() -> None:
    (message,) = parse_compiler("csrc/k.cpp:2:10: fatal error: nope.h: No such file or directory\n", is_user_file)
    assert message.diagnostic.message.startswith("nope.h was not found: looked for it beside the file")


@pytest.mark.parametrize(
    ("symbol", "advice"),
    [
        ("at::no_such(at::Tensor const&)", "the installed torch"),
        ("at::Tensor at::_ops::gone::call(at::Tensor)", "the installed torch"),
        ("aclrtNoSuch", "host runtime"),
        ("ns::mine(int)", "define it under op_kernel/"),
    ],
)
def test_an_undefined_symbol_comes_with_what_to_do(symbol: str, advice: str) -> None:
    assert advice in judge_link([symbol], f"x.o: undefined reference to `{symbol}'\n").message


def test_the_linker_s_place_is_the_path_inside_the_submission() -> None:
    folder = "./work/" + "a" * 64
    text = f"/usr/bin/ld: {folder}/./src/csrc/k.cpp:31: warning: undefined reference to `f(int)'\n"
    place = judge_link(["f(int)"], text, is_user_file).place
    assert (place.file, place.line) == ("csrc/k.cpp", 31)


REFUSED = "error: static assertion failed: Exp does not support bfloat16_t on the Ascend 910B; supported: half, float. Cast to float first.\n"


def test_a_type_that_our_headers_refuse_is_told_from_the_submission_s_own_assertions() -> None:
    ours = parse_compiler(f"csrc/k.cpp:40:21:   required from here\n/piton/ascendc/cast.h:12:15: {REFUSED}", is_user_file)
    theirs = parse_compiler(f"csrc/k.cpp:12:15: {REFUSED}", is_user_file)
    causes = [judge_compile(messages, lambda _file, _line: "", frozenset(), "").cause for messages in (ours, theirs)]
    assert causes == [Cause.UNSUPPORTED_DTYPE, Cause.COMPILE_ERROR]
