"""Launch syntax becomes ordinary C++, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piton.targets.vnpu.rewrite import find_launches, rewrite

LINE = '#line 1 "k.cpp"\n'


def rewritten(text: str) -> str:
    result = rewrite(text, "k.cpp")
    assert result.startswith(LINE)
    return result[len(LINE) :]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("k<<<n, nullptr, s>>>(a, b);", "PITON_LAUNCH(k)(n, nullptr, s)(a, b);"),
        ("k<float><<<n, nullptr, s>>>(a);", "PITON_LAUNCH(k<float>)(n, nullptr, s)(a);"),
        ("k<A<B<int>>, 3><<<n, 0, s>>>(a);", "PITON_LAUNCH(k<A<B<int>>, 3>)(n, 0, s)(a);"),
        ("k<(3 > 2)><<<n, 0, s>>>(a);", "PITON_LAUNCH(k<(3 > 2)>)(n, 0, s)(a);"),
        ("k<1 << 4><<<n, 0, s>>>(a);", "PITON_LAUNCH(k<1 << 4>)(n, 0, s)(a);"),
        ("k<(m <= 4), A<1<<2>><<<n, 0, s>>>(a);", "PITON_LAUNCH(k<(m <= 4), A<1<<2>>)(n, 0, s)(a);"),
        ("k<m <= 4><<<n, 0, s>>>(a);", "PITON_LAUNCH(k<m <= 4>)(n, 0, s)(a);"),
        ("ns::inner::k<T><<<n, 0, s>>>(a);", "PITON_LAUNCH(ns::inner::k<T>)(n, 0, s)(a);"),
        ("::k<<<n, 0, s>>>(a);", "PITON_LAUNCH(::k)(n, 0, s)(a);"),
        ("Box<T>::template k<U><<<n, 0, s>>>(a);", "PITON_LAUNCH(Box<T>::template k<U>)(n, 0, s)(a);"),
        ("k<<<n, 0, 0, s>>>(a);", "PITON_LAUNCH(k)(n, 0, 0, s)(a);"),
        ("k<<<f(x, {1, 2}), v[0], s>>>(a);", "PITON_LAUNCH(k)(f(x, {1, 2}), v[0], s)(a);"),
        ("k<<<A<int>::n, nullptr, s>>>(a);", "PITON_LAUNCH(k)(A<int>::n, nullptr, s)(a);"),
        ("if (x < y) k<<<n, 0, s>>>(a);", "if (x < y) PITON_LAUNCH(k)(n, 0, s)(a);"),
        ("return k <<<n, 0, s>>> (a);", "return PITON_LAUNCH(k )(n, 0, s) (a);"),
        ("k<<<1, 0, s>>>(a); j<<<2, 0, s>>>(b);", "PITON_LAUNCH(k)(1, 0, s)(a); PITON_LAUNCH(j)(2, 0, s)(b);"),
        ("#define GO(T) \\\n  k_##T<<<n, 0, s>>>(a)\n", "#define GO(T) \\\n  PITON_LAUNCH(k_##T)(n, 0, s)(a)\n"),
        ("k<<<1'000, 0, s>>>(a);", "PITON_LAUNCH(k)(1'000, 0, s)(a);"),
        ("größe::кернел<плитка><<<n, 0, s>>>(a);", "PITON_LAUNCH(größe::кернел<плитка>)(n, 0, s)(a);"),
        ("\ufeffk<<<n, 0, s>>>(a);", "PITON_LAUNCH(k)(n, 0, s)(a);"),
        ("k /* which */ <<<n, // blocks >>>\n 0, s>>>(a);", "PITON_LAUNCH(k /* which */ )(n, // blocks >>>\n 0, s)(a);"),
    ],
)
def test_a_launch_becomes_a_call(source: str, expected: str) -> None:
    assert rewritten(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "// k<<<n, 0, s>>>(a);\n",
        "// continued \\\n k<<<n, 0, s>>>(a);\n",
        "/* k<<<n, 0, s>>>(a); */",
        'auto text = "k<<<n, 0, s>>>(a);";',
        'auto text = "\\"k<<<n, 0, s>>>(a);";',
        'auto text = R"(k<<<n, 0, s>>>(a);)";',
        'auto text = u8R"x(" k<<<n, 0, s>>>(a); )x";',
        "char c = '\"'; int x = a << b; y = c >> d;",
        "#error don't\n",
        "k<<<n, 0, s;",
        "<<<n, 0, s>>>(a);",
        "k<<<n, 0, s>>>;",
        "std::vector<std::vector<std::vector<int>>> v(3);",
    ],
)
def test_what_is_no_launch_stays(source: str) -> None:
    assert rewritten(source) == source


def test_every_line_keeps_its_number() -> None:
    source = "int a;\nvoid f() {\n  k<\n    float\n  ><<<\n    n,\n    nullptr,\n    s\n  >>>(\n    a);\n}\nint last;\n"
    result = rewritten(source)
    assert "PITON_LAUNCH" in result
    assert result.count("\n") == source.count("\n")
    assert result.splitlines()[11] == "int last;"


def test_a_string_after_an_apostrophe_in_a_number_is_still_a_string() -> None:
    assert len(find_launches('int n = 1\'000; auto t = "k<<<1, 0, s>>>(a)"; k<<<n, 0, s>>>(a);')) == 1


def test_the_line_directive_escapes_the_path() -> None:
    assert rewrite("", 'a"b\\c.cpp') == '#line 1 "a\\"b\\\\c.cpp"\n'


@given(st.text(alphabet="k<>(){};,:'\"/*\\#\n R1_", max_size=60))
def test_no_text_breaks_the_rewriter(text: str) -> None:
    assert rewritten(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("piece", ["a<<<", "a<<<(", "a<b>>><<<", 'R"(', '\\"', "a<<<1>>>(x);((", "'"])
def test_the_time_a_hostile_file_takes_grows_with_its_size_only(piece: str) -> None:
    text = piece * 30_000  # minutes where each piece looks for its end in the whole rest of the file
    assert rewrite(text, "x.cpp").count("PITON_LAUNCH") == text.count(">>>(x)")
