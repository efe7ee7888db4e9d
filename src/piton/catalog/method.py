"""submission.toml: how a submission came about ([method]) and what only its maker can add to the fair-reporting record ([reporting])."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from piton.catalog.toml_file import TomlForm, one_of, read_toml
from piton.core.method import (
    ControlLoop,
    Feedback,
    InputForm,
    Learning,
    Method,
    OutputForm,
    Platform,
    Questions,
    Reporting,
    SelectionScheme,
    Tag,
)

FILE_NAME = "submission.toml"
_MOST_TAGS = 20

EnumT = TypeVar("EnumT", bound=Enum)


def _word(text: str) -> str:
    """`Multi-Turn RL` as `multi_turn_rl`."""
    return "_".join(text.strip().lower().replace("-", " ").split())


def _member(kind: type[EnumT], text: str) -> EnumT:
    """The member of that name. Raises ValueError with all names and the nearest."""
    names: list[str] = [member.value for member in kind]
    word = _word(text)
    if word not in names:
        raise ValueError(one_of(names, word))
    return kind(word)


def _split(value: Any) -> tuple[str, str]:
    """`rl: multi-turn` as (`rl`, `multi-turn`)."""
    if not isinstance(value, str):
        raise ValueError("a text such as `rl`, or `rl: multi-turn` with words of your own")
    name, _, detail = value.partition(":")
    return name, " ".join(detail.split())


def _tags(kind: type[EnumT]) -> Any:
    """Reads one tag or a list of them, as the plain form of `Tag`."""

    def read(value: Any) -> Any:
        pairs = [_split(item) for item in (value if isinstance(value, list) else [value])]
        if any(_word(name) == "other" and not detail for name, detail in pairs):
            raise ValueError("`other: what it is`; `other` alone says nothing")
        found = [{"tag": _member(kind, name), "detail": detail} for name, detail in pairs]
        names = [str(item["tag"].value) for item in found if isinstance(item["tag"], Enum)]
        if len(names) > 1 and "none" in names:
            raise ValueError("`none` alone, or what there is")
        return found

    return BeforeValidator(read)


def _control_loop(value: Any) -> Any:
    """A category by the survey's number or by name."""
    numbers = [loop.number for loop in ControlLoop]
    if isinstance(value, int) and not isinstance(value, bool):
        if value not in numbers:
            raise ValueError("a number from 1 to 4, or a name: " + ", ".join(loop.value for loop in ControlLoop))
        return list(ControlLoop)[value - 1]
    if not isinstance(value, str):
        raise ValueError("a number from 1 to 4, or a name: " + ", ".join(loop.value for loop in ControlLoop))
    return _member(ControlLoop, value)


class QuestionsTable(TomlForm):
    """[method.questions], the survey's decision tree."""

    keeps_search_state: bool | None = None
    chooses_dynamically: bool | None = None
    revises_in_a_loop: bool | None = None

    def category(self) -> ControlLoop | None:
        """Where the answers lead, as far as they go."""
        return Questions(**self.model_dump()).category()


class MethodTable(TomlForm):
    """[method]"""

    name: str = Field(default="", max_length=200)
    written_by: Literal["model", "person", "both"] | None = None
    models: tuple[str, ...] = Field(default=(), max_length=_MOST_TAGS)
    control_loop: Annotated[ControlLoop | None, BeforeValidator(_control_loop)] = None
    learning: Annotated[tuple[Tag[Learning], ...], _tags(Learning)] = Field(default=(), max_length=_MOST_TAGS)
    input: Annotated[tuple[Tag[InputForm], ...], _tags(InputForm)] = Field(default=(), max_length=_MOST_TAGS)
    output: Annotated[tuple[Tag[OutputForm], ...], _tags(OutputForm)] = Field(default=(), max_length=_MOST_TAGS)
    platform: Annotated[tuple[Tag[Platform], ...], _tags(Platform)] = Field(default=(), max_length=_MOST_TAGS)
    feedback: Annotated[tuple[Tag[Feedback], ...], _tags(Feedback)] = Field(default=(), max_length=_MOST_TAGS)
    questions: QuestionsTable = QuestionsTable()

    @model_validator(mode="after")
    def _answers_fit(self) -> MethodTable:
        leads_to = self.questions.category()
        if leads_to and self.control_loop and leads_to is not self.control_loop:
            raise ValueError(f"control_loop {self.control_loop.value} and [method.questions] to agree; the answers lead to {leads_to.value}")
        return self

    def method(self) -> Method:
        """As the vocabulary has it; a category that was not named is taken from the answers."""
        said = {name: getattr(self, name) for name in Method.model_fields}
        leads_to = self.questions.category()
        return Method(**{**said, "control_loop": self.control_loop or leads_to})


def _scheme(value: Any) -> Any:
    name, detail = _split(value)
    return _member(SelectionScheme, name), detail


class ReportingTable(TomlForm):
    """[reporting]"""

    llm_calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    wall_clock_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    samples: int | None = Field(default=None, ge=1)
    selection: Annotated[tuple[SelectionScheme, str] | None, BeforeValidator(_scheme)] = None
    dataset_modifications: str = Field(default="", max_length=2000)
    baseline: str = Field(default="", max_length=2000)
    libraries: dict[str, str] = Field(default_factory=dict, max_length=50)

    @model_validator(mode="after")
    def _says_what_custom_is(self) -> ReportingTable:
        if self.selection == (SelectionScheme.CUSTOM, ""):
            raise ValueError("selection as `custom: what it is`; `custom` alone says nothing")
        return self

    def reporting(self) -> Reporting:
        """As the vocabulary has it."""
        scheme, detail = self.selection or (None, "")
        said = {name: getattr(self, name) for name in ReportingTable.model_fields if name != "selection"}
        return Reporting(**said, selection=scheme, selection_detail=detail)


class SubmissionToml(TomlForm):
    """submission.toml"""

    method: MethodTable | None = None
    reporting: ReportingTable | None = None


def read_submission_toml(path: Path, name: str = "") -> tuple[Method | None, Reporting | None]:
    """What the file says; None for a table that is not there. Raises FormatError with the nearest tag for one that does not exist."""
    form = read_toml(path, SubmissionToml, name)
    return (form.method.method() if form.method else None), (form.reporting.reporting() if form.reporting else None)
