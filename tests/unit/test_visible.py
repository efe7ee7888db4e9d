from rich.console import Console

from piton.core.visible import visible


def test_nothing_acts_on_the_terminal_and_the_rest_stays() -> None:
    assert visible("\x1b[2J\x07a\tb\nc \u202eé\x9b") == "\\x1b[2J\\x07a\tb\nc \\u202eé\\x9b"


def test_a_console_prints_it_as_it_is() -> None:
    console = Console(width=80)
    with console.capture() as capture:
        console.print(visible("\x1b]0;title\x07"), markup=False, highlight=False)
    assert capture.get() == "\\x1b]0;title\\x07\n"
