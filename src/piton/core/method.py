"""How a submission came about: the survey's taxonomy as closed tags, and what only the submitter can tell of a fair-reporting record.

Source: the survey "Automatic Kernel Generation with Large Language Models: Taxonomies, Evaluations, and Cross-Platform Challenges", sections 3.2 and 3.3
(categories, decision tree), tables 4 to 7 (learning, input, output, platform) and the text of section 3 (feedback signals). The survey's tags can be extended:
what is not listed here is `other` with words of one's own.
"""

from __future__ import annotations

from enum import Enum
from typing import Generic, Literal, TypeVar

from pydantic import Field, model_validator

from piton.core.operator import Frozen


class ControlLoop(str, Enum):
    """The four categories of generation-time control loop, the survey's primary criterion; in order, so that the first is number 1."""

    DIRECT_GENERATION = "direct_generation"
    """One forward or pipeline pass; no attempt is refined on the ground of earlier ones."""
    STRUCTURED_FEEDBACK = "structured_feedback"
    """Refinement in several turns by fixed rules, on the ground of what compilers, tests or profilers say."""
    SEARCH_BASED = "search_based"
    """A search state (population, tree, islands, the best so far) is kept, and what comes next is selected from it."""
    ADAPTIVE_ORCHESTRATION = "adaptive_orchestration"
    """Tools and agents are chosen dynamically, by the state of the work and the result of the step before."""

    @property
    def number(self) -> int:
        """1 to 4, as in the survey."""
        return list(ControlLoop).index(self) + 1

    @property
    def label(self) -> str:
        """The survey's name."""
        return _LABELS[self]


_LABELS = {
    ControlLoop.DIRECT_GENERATION: "Direct Generation",
    ControlLoop.STRUCTURED_FEEDBACK: "Refinement via Structured Feedback",
    ControlLoop.SEARCH_BASED: "Search-Based Generation",
    ControlLoop.ADAPTIVE_ORCHESTRATION: "Adaptive Tool-Orchestrating Agents",
}


class Learning(str, Enum):
    """How the model was trained for the task."""

    NONE = "none"
    PRETRAINING = "pretraining"
    SFT = "sft"
    """Supervised fine-tuning."""
    RFT = "rft"
    """Rejection fine-tuning."""
    DPO = "dpo"
    """Direct preference optimisation."""
    RL = "rl"
    ICL = "icl"
    """In-context learning."""
    OTHER = "other"


class InputForm(str, Enum):
    """What the method is given."""

    NATURAL_LANGUAGE = "natural_language"
    TASK_SPECIFICATION = "task_specification"
    OPERATOR_SIGNATURE = "operator_signature"
    ALGORITHM_SPECIFICATION = "algorithm_specification"
    PYTORCH = "pytorch"
    MINDSPORE = "mindspore"
    NUMPY = "numpy"
    CPP = "cpp"
    ASCENDC = "ascendc"
    """A kernel to be improved; so are the languages below."""
    TRITON = "triton"
    TILELANG = "tilelang"
    CUDA = "cuda"
    CUTE = "cute"
    HIP = "hip"
    OTHER = "other"


class OutputForm(str, Enum):
    """What the method writes."""

    ASCENDC = "ascendc"
    TRITON = "triton"
    TILELANG = "tilelang"
    CUDA = "cuda"
    CUTE = "cute"
    HIP = "hip"
    SYCL = "sycl"
    METAL = "metal"
    HLSL = "hlsl"
    MACA = "maca"
    CPP = "cpp"
    C = "c"
    ASSEMBLY = "assembly"
    PYTORCH = "pytorch"
    """Calls of the framework beside kernels; Piton does not accept these as the kernel's work."""
    OTHER = "other"


class Platform(str, Enum):
    """What it writes for."""

    ASCEND_NPU = "ascend_npu"
    NVIDIA_GPU = "nvidia_gpu"
    AMD_GPU = "amd_gpu"
    INTEL_GPU = "intel_gpu"
    METAX_GPU = "metax_gpu"
    META_MTIA = "meta_mtia"
    CPU = "cpu"
    OTHER = "other"


class Feedback(str, Enum):
    """What it is told of its attempts."""

    NONE = "none"
    COMPILATION = "compilation"
    EXECUTION = "execution"
    CORRECTNESS = "correctness"
    TIMING = "timing"
    PROFILING = "profiling"
    LLM_JUDGE = "llm_judge"
    OTHER = "other"


AxisT = TypeVar("AxisT", Learning, InputForm, OutputForm, Platform, Feedback)


class Tag(Frozen, Generic[AxisT]):
    """One tag of one axis, such as `rl` or `rl: multi-turn`."""

    tag: AxisT
    """One of the closed list, or `other`."""
    detail: str = Field(default="", max_length=200)
    """Words of one's own; `other` needs them."""

    @model_validator(mode="after")
    def _says_what_other_is(self) -> Tag[AxisT]:
        if self.tag.value == "other" and not self.detail:
            raise ValueError("`other` says nothing: write `other: what it is`")
        return self

    def __str__(self) -> str:
        return f"{self.tag.value}: {self.detail}" if self.detail else self.tag.value


class Questions(Frozen):
    """The survey's decision tree (section 3.3): three yes/no questions, in this order; None where one was not answered."""

    keeps_search_state: bool | None = None
    """Is a search state kept that the next candidate is selected from?"""
    chooses_dynamically: bool | None = None
    """If not: does the state of the work decide which tool or agent acts next?"""
    revises_in_a_loop: bool | None = None
    """If not: is an attempt revised on the ground of feedback, by fixed steps?"""

    def category(self) -> ControlLoop | None:
        """Where the answers lead; None when the one that would decide is missing."""
        leaves = (ControlLoop.SEARCH_BASED, ControlLoop.ADAPTIVE_ORCHESTRATION, ControlLoop.STRUCTURED_FEEDBACK)
        for answer, leaf in zip((self.keeps_search_state, self.chooses_dynamically, self.revises_in_a_loop), leaves, strict=True):
            if answer is None:
                return None
            if answer:
                return leaf
        return ControlLoop.DIRECT_GENERATION


class Method(Frozen):
    """What made the submission, as its submission.toml says; nothing of it has a say in a verdict, a time or a score."""

    name: str = Field(default="", max_length=200)
    """What its results are grouped by; empty: the submission's name."""
    written_by: Literal["model", "person", "both"] | None = None
    """A person, a model, or both."""
    models: tuple[str, ...] = ()
    """Models that it used, with their versions."""
    control_loop: ControlLoop | None = None
    """How the method goes about it."""
    learning: tuple[Tag[Learning], ...] = ()
    """How its models learn the task."""
    input: tuple[Tag[InputForm], ...] = ()
    """What the method is given."""
    output: tuple[Tag[OutputForm], ...] = ()
    """What it writes."""
    platform: tuple[Tag[Platform], ...] = ()
    """What it writes for."""
    feedback: tuple[Tag[Feedback], ...] = ()
    """What it is told of its attempts."""

    def axes(self) -> dict[str, tuple[str, ...]]:
        """Tags by axis, as text, the empty axes left out."""
        tags = {"learning": self.learning, "input": self.input, "output": self.output, "platform": self.platform, "feedback": self.feedback}
        return {name: tuple(map(str, found)) for name, found in tags.items() if found}


class SelectionScheme(str, Enum):
    """Which kernel of a trajectory is the one that counts (survey, section 4.5, "Last, Average, or Best")."""

    LAST = "last"
    AVERAGE = "average"
    BEST = "best"
    CUSTOM = "custom"


class Reporting(Frozen):
    """What only the submitter knows of the survey's fair-reporting record (section 4.6); None and empty mean "not stated", never zero."""

    llm_calls: int | None = Field(default=None, ge=0)
    """Calls of language models."""
    tokens: int | None = Field(default=None, ge=0)
    """Input and output tokens of all calls."""
    wall_clock_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Seconds that the generation took."""
    samples: int | None = Field(default=None, ge=1)
    """Independent samples that this one was drawn or chosen from, itself included."""
    selection: SelectionScheme | None = None
    """Which turn of a trajectory this is."""
    selection_detail: str = Field(default="", max_length=400)
    """What a custom scheme is."""
    dataset_modifications: str = Field(default="", max_length=2000)
    """Changes to the benchmark's tasks or prompts; "none" is an answer."""
    baseline: str = Field(default="", max_length=2000)
    """What the report cannot know about a baseline that was measured elsewhere: eager or compiled, mixed precision."""
    libraries: dict[str, str] = Field(default_factory=dict)
    """Versions of what the generation used beside the harness, such as CANN or Triton-Ascend."""

    @model_validator(mode="after")
    def _says_what_custom_is(self) -> Reporting:
        if self.selection is SelectionScheme.CUSTOM and not self.selection_detail:
            raise ValueError("selection `custom` says nothing: write `custom: what it is`")
        return self
