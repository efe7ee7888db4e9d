"""Which candidates are the same, and do edits of models end where they were meant, or say why not?"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piton.agent.candidate import Applied, Edit, Tree, TreeError, apply_edits, parse_edits, read_tree
from piton.agent.candidate.edits import place

KERNEL = """#include "a.h"
#define TILE 64  // elements

void Compute(int n) {
    for (int i = 0; i < n; ++i) {
        Load(i);
        Exp(y, x, TILE);
    }
    for (int i = 0; i < n; ++i) {
        Store(i);
    }
}
"""
PATH = "csrc/ops/exp/op_kernel/exp.cpp"
TREE = Tree({PATH: KERNEL, "cann_bench/__init__.py": "import torch\n", "README.md": "exp\n"})


def with_kernel(text: str) -> Tree:
    return TREE.with_files({PATH: text})


class TestDuplicates:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Load(i);", "Load( i );  // the next tile"),
            ("void Compute(int n) {", "/* in tiles */ void\nCompute(int n)\n{"),
            ("#define TILE 64  // elements", "#  define TILE 64"),
            ("#define TILE 64  // elements", "#define \\\n TILE 64"),
        ],
    )
    def test_comments_and_layout_make_no_other_candidate(self, old: str, new: str) -> None:
        assert old in KERNEL
        assert with_kernel(KERNEL.replace(old, new)).source_digest == TREE.source_digest

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("TILE 64", "TILE 128"),
            ("Load(i);", "Load(j);"),
            ("i < n", "i <n+1"),
            ("#define TILE 64  // elements\n", "#define TILE\n64\n"),
            ('"a.h"', '"a.h "'),
            ("Load(i);", "Load(i);;"),
        ],
    )
    def test_what_a_compiler_sees_makes_another_candidate(self, old: str, new: str) -> None:
        assert old in KERNEL
        assert with_kernel(KERNEL.replace(old, new)).source_digest != TREE.source_digest

    def test_prose_counts_for_nothing_and_paths_do(self) -> None:
        assert TREE.with_files({"README.md": "about exp\n"}).source_digest == TREE.source_digest
        assert TREE.with_files({PATH: None, "csrc/ops/exp/op_kernel/other.cpp": KERNEL}).source_digest != TREE.source_digest

    def test_python_is_compared_by_its_syntax_and_what_is_none_by_its_text(self) -> None:
        name = "cann_bench/__init__.py"
        assert TREE.with_files({name: "import torch  # needed\n\n"}).source_digest == TREE.source_digest
        assert TREE.with_files({name: "import ("}).source_digest != TREE.source_digest


class TestTrees:
    @pytest.mark.parametrize("path", ["/etc/passwd", "../up.cpp", "a/../../b", "", "a//b", "./a", "a\\b", "a\0b"])
    def test_a_path_outside_the_tree_is_refused(self, path: str) -> None:
        with pytest.raises(TreeError):
            Tree({path: ""})

    def test_a_folder_comes_back_as_it_was_written_and_links_are_not_followed(self, tmp_path: Path) -> None:
        TREE.write(tmp_path)
        (tmp_path / "link.cpp").symlink_to("/etc/passwd")
        (tmp_path / "build").mkdir()
        (tmp_path / "build" / "old.cpp").write_text("x")
        (tmp_path / "image.png").write_bytes(b"\x89PNG\0")
        assert read_tree(tmp_path) == TREE

    def test_a_tree_has_a_largest_size(self) -> None:
        with pytest.raises(TreeError, match="too large"):
            Tree({"a.cpp": "x" * (5 << 20)})


BLOCK = f"""I change the tile.

{PATH}
<<<<<<< SEARCH
#define TILE 64  // elements
=======
#define TILE 128
>>>>>>> REPLACE
"""


class TestParsing:
    def test_a_block_has_the_path_of_the_line_before(self) -> None:
        assert parse_edits(BLOCK) == (Edit(PATH, "#define TILE 128\n", "#define TILE 64  // elements\n"),)

    @pytest.mark.parametrize("head", [f"```cpp {PATH}", f"**{PATH}**\n```cpp", f"File: `{PATH}`:\n\n```", f"### {PATH}\n```c++"])
    def test_a_fence_with_a_path_is_a_whole_file(self, head: str) -> None:
        assert parse_edits(f"Here:\n{head}\nint x;\n```\nDone.") == (Edit(PATH, "int x;\n"),)

    def test_blocks_inside_a_fence_have_its_path(self) -> None:
        inner = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"
        assert parse_edits(f"```cpp {PATH}\n{inner}\n\n{inner}\n```") == (Edit(PATH, "b\n", "a\n"),) * 2

    def test_a_fence_without_a_path_and_a_block_that_never_ends_are_no_edits(self) -> None:
        assert parse_edits("For example:\n```cpp\nint x;\n```\n<<<<<<< SEARCH\na\n=======\nb\n") == ()

    @given(st.text(alphabet="<=>`\n SEARCHREPLACE/a.cpp", max_size=200))
    def test_any_answer_parses(self, answer: str) -> None:
        assert all(isinstance(item, Edit) for item in parse_edits(answer))


class TestApplying:
    def test_an_exact_block_changes_its_place_only(self) -> None:
        tree, (result,) = apply_edits(TREE, parse_edits(BLOCK))
        assert (result.applied, tree) == (Applied.EXACT, with_kernel(KERNEL.replace("TILE 64  // elements", "TILE 128")))

    def test_trailing_blanks_do_not_matter(self) -> None:
        new, how, _ = place("a  \nb\n", "a\nb \n", "c\n")
        assert (new, how) == ("c\n", Applied.BLANKS)

    def test_a_replacement_is_indented_as_its_place(self) -> None:
        new, how, _ = place(KERNEL, "for (int i = 0; i < n; ++i) {\n    Load(i);\n", "for (int i = 0; i < n; i += 2) {\n    Load(i);\n    Load(i + 1);\n")
        assert how is Applied.INDENT
        assert new is not None
        assert "    for (int i = 0; i < n; i += 2) {\n        Load(i);\n        Load(i + 1);\n        Exp" in new

    def test_a_word_that_was_copied_wrong_is_let_through_and_another_statement_is_not(self) -> None:
        near = "    for (int i = 0; i < n; ++i) {\n        Load(i);\n        Exp(y, x, TILES);\n    }\n"
        new, how, _ = place(KERNEL, near, "    // gone\n")
        assert (how, new) == (Applied.LIKE, KERNEL.replace(near.replace("TILES", "TILE"), "    // gone\n"))
        new, how, detail = place(KERNEL, "    Reduce(y, x);\n", "")
        assert (new, how) == (None, Applied.NOT_FOUND)
        assert "the nearest text" in detail

    def test_a_part_of_a_line_is_found_when_it_is_there_once(self) -> None:
        new, how, _ = place(KERNEL, "#define TILE 64\n", "#define TILE 32\n")
        assert (new, how) == (KERNEL.replace("TILE 64", "TILE 32"), Applied.PART)
        assert place(KERNEL, "int i = 0;\n", "int i = 1;\n")[0] is None

    def test_a_text_in_two_places_is_not_guessed(self) -> None:
        new, how, detail = place(KERNEL, "    for (int i = 0; i < n; ++i) {\n", "")
        assert (new, how) == (None, Applied.AMBIGUOUS)
        assert "lines 5, 9" in detail

    def test_a_file_without_a_last_line_end_keeps_having_none(self) -> None:
        assert place("a\nb", "b\n", "c\n")[0] == "a\nc"

    @pytest.mark.parametrize(
        ("edit", "applied"),
        [
            (Edit("new/file.h", "int x;\n"), Applied.NEW),
            (Edit("new/file.h", "int x;\n", ""), Applied.NEW),
            (Edit(PATH, "int x;\n"), Applied.WHOLE),
            (Edit(PATH, "int x;\n", "\n"), Applied.NOT_FOUND),
            (Edit("nowhere.cpp", "b\n", "a\n"), Applied.NO_FILE),
            (Edit("../up.cpp", "b\n"), Applied.BAD_PATH),
            (Edit("", "Load(j);\n", "        Load(i);\n"), Applied.EXACT),
            (Edit("", "x\n", "nowhere to be found\n"), Applied.BAD_PATH),
        ],
    )
    def test_every_edit_says_what_became_of_it(self, edit: Edit, applied: Applied) -> None:
        tree, (result,) = apply_edits(TREE, [edit])
        assert result.applied is applied
        assert (tree != TREE) is applied.is_done
        assert bool(result.detail) is not applied.is_done

    @given(st.integers(0, 11), st.integers(1, 6))
    def test_lines_copied_from_a_file_come_back_to_where_they_were(self, start: int, count: int) -> None:
        lines = KERNEL.splitlines(keepends=True)
        search = "".join(lines[start : start + count])
        new, how, _ = place(KERNEL, search, "REPLACED\n")
        if how is Applied.EXACT:
            assert new == KERNEL[: len("".join(lines[:start]))] + "REPLACED\n" + "".join(lines[start + count :])
        else:
            assert how is Applied.AMBIGUOUS
            assert KERNEL.count(search) > 1
