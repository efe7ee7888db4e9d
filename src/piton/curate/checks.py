"""The list of all checks: name, severity and rule of each. docs/lint.md shows the same list; a test compares them."""

from __future__ import annotations

from piton.curate import checks_cases as cases
from piton.curate import checks_files as files
from piton.curate.violation import Check, NumericCheck, Origin, Severity

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_PUBLIC: tuple[Origin, ...] = ("public", "generated")

READABLE = NumericCheck("readable", _ERROR, "Every file can be read; proto.yaml, its schema line, cases.csv and rules.yaml agree.")

STRUCTURAL: tuple[Check, ...] = (
    Check("artifacts", _ERROR, "desc.md, proto.yaml, cases.csv and golden.py are there.", files.artifacts, origins=("public",)),
    Check("golden-signature", _ERROR, "The golden function has the schema's arguments, in its order, with its defaults.", files.golden_signature),
    Check("input-builder", _ERROR, "get_input needs only arguments of the schema, and the seed.", files.input_builder),
    Check("fixed-seed", _ERROR, "No seed is written down in golden.py: structured inputs follow the seed of the run.", files.fixed_seeds),
    Check("index-rule", _ERROR, "An index output names an input it points into, and a whole-number attribute as its axis.", files.index_rules),
    Check("thresholds", _ERROR, "A threshold above ten times the standard's has a reason in desc.md.", files.thresholds),
    Check("desc-sections", _ERROR, "desc.md has its seven sections in order.", files.desc_sections, is_own_only=True),
    Check("desc-schema", _ERROR, "desc.md shows the schema line.", files.desc_schema, is_own_only=True),
    Check("desc-names", _WARNING, "desc.md names every argument.", files.desc_names),
    Check("desc-code", _ERROR, "Python blocks of desc.md are Python and call the operator with its own argument names.", files.desc_code),
    Check(
        "degenerate-list",
        _ERROR,
        "Degenerate cases exist, with a sibling of their dtype, at most two per impostor.",
        files.degenerate_list,
        origins=("public",),
    ),
    Check("case-ids", _ERROR, "An operator has twenty public cases with ids from 1 on.", cases.case_ids, origins=_PUBLIC),
    Check("allowed-dtypes", _ERROR, "Every case uses dtypes of the signature.", cases.allowed_dtypes),
    Check("unique-elements", _ERROR, "No two cases of an operator have the same number of elements.", cases.unique_elements),
    Check("unique-attributes", _ERROR, "No two cases have the same attributes, where these can take any number of values.", cases.unique_attributes),
    Check("unique-range", _ERROR, "No two cases have the same value ranges.", cases.unique_ranges),
    Check("unique-case", _ERROR, "No two cases agree in element count, attributes and value ranges together.", cases.unique_cases),
    Check("element-range", _ERROR, "A case has 1e6 to 3e8 elements, all inputs together.", cases.element_range),
    Check("size-classes", _ERROR, "Small, medium and large cases occur.", cases.size_classes),
    Check("non-aligned", _ERROR, "At least half of the cases are non-aligned.", cases.non_aligned_share),
    Check("prime-bias", _WARNING, "More than half of the non-aligned cases have a prime axis.", cases.prime_bias),
    Check("side-tensor", _WARNING, "A tiny side tensor alone does not make a case non-aligned.", cases.side_tensors),
    Check("ranks", _ERROR, "Ranks 1 to 5 occur as far as the operator's rules allow them.", cases.ranks),
    Check("symmetric-small", _ERROR, "A case has a small symmetric value range.", cases.symmetric_small),
    Check("boundary", _ERROR, "A case reaches the boundary of its dtype.", cases.boundary),
    Check("special-values", _ERROR, "A case has infinities or NaN among its inputs.", cases.special_values),
    Check("range-variety", _WARNING, "Asymmetric and large value ranges occur.", cases.range_variety),
    Check("dtype-coverage", _ERROR, "Every dtype of the first input occurs.", cases.dtype_coverage),
    Check("dtype-edges", _WARNING, "Every dtype of the first input has a case at its boundary or with special values.", cases.dtype_edges),
    Check("note", _ERROR, "The note says size, dtype, alignment and range family of the case.", cases.notes, is_own_only=True),
    Check("memory-ceiling", _ERROR, "The golden run of every case fits the suite's memory ceiling.", cases.memory_ceiling),
    Check("no-overlap", _ERROR, "A hidden case repeats no public one.", cases.no_overlap, origins=("hidden",)),
)

GOLDEN_RUNS = NumericCheck("golden-runs", _ERROR, "The golden runs in float64 and in the case's own dtypes.")
SPECIAL_POSITIONS = NumericCheck("special-positions", _ERROR, "float64 and same-dtype run agree where results are NaN or infinite.")
SAME_DTYPE_PASS = NumericCheck("same-dtype-pass", _ERROR, "The same-dtype run passes as a candidate, profile strict.")
IMPOSTORS = NumericCheck("impostors", _ERROR, "A case rejects every impostor that it is not listed as degenerate for.")
DEGENERATE_TRUE = NumericCheck("degenerate-true", _ERROR, "A case that is listed as degenerate for an impostor does accept it.")
SIBLING_REJECTS = NumericCheck("sibling-rejects", _ERROR, "The sibling of a degenerate case rejects its impostors.")
OUTPUT_VALIDATED = NumericCheck("output-validated", _ERROR, "Every output is compared, and some case refuses zeros, a constant or a stale one in it.")
SEED_FOLLOWED = NumericCheck("seed-followed", _ERROR, "Another seed gives other inputs, in every input whose range has more than one value.")
BOOL_TRUE = NumericCheck("bool-true", _ERROR, "A bool input is not all false.")
INPUT_RANGE = NumericCheck("input-range", _WARNING, "An input's finite values reach over its value range and do not leave it.")
STRUCTURE = NumericCheck("structure", _ERROR, "Structured inputs keep what `invariants` in rules.yaml promises.")
DESC_CODE_RUNS = NumericCheck("desc-code-runs", _ERROR, "The Python blocks of desc.md run, with the golden in the operator's place.")

NUMERIC: tuple[NumericCheck, ...] = (
    GOLDEN_RUNS,
    SPECIAL_POSITIONS,
    SAME_DTYPE_PASS,
    IMPOSTORS,
    DEGENERATE_TRUE,
    SIBLING_REJECTS,
    OUTPUT_VALIDATED,
    SEED_FOLLOWED,
    BOOL_TRUE,
    INPUT_RANGE,
    STRUCTURE,
    DESC_CODE_RUNS,
)
