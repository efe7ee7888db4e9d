"""Scores of a report.json from its times, anchors and verdicts alone: plain JSON and arithmetic, nothing of Piton. Usage: independent_rescore.py report.json"""

import json
import math
import statistics
import sys


def hap(case):
    cand, hw, base = (case[name] for name in ("time", "t_hw", "t_baseline"))
    if case["is_sealed"]:
        return case["hap"]["ranked"] if case["hap"] else 0.0
    if None in (cand, hw, base) or (t := statistics.median(cand["samples"])) <= 0:
        return 0.0
    headroom = max(base["value_us"], 1.05 * hw["value_us"]) - hw["value_us"]
    return 1.0 if t < hw["value_us"] else headroom / (t - hw["value_us"] + headroom)


def operator_score(item, profile):
    verdicts = [case["outcome"]["verdict"] for case in item["cases"]]
    if any(case["void"] or case["outcome"]["cause"] in ("filtered_out", "too_large", "interrupted") for case in item["cases"]):
        return None
    if not item["compiled"] or "rejected" in verdicts or "tampered" in verdicts:
        return 0.0
    earned = [0.3 + 0.5 * hap(case) for case, verdict in zip(item["cases"], verdicts, strict=True) if verdict == "passed"]
    earned += [0.3] * (verdicts.count("unattributed") if profile == "cann-bench" else 0)
    return 100 * (0.2 + math.fsum(earned) / len(verdicts))


def scores(report):
    """By operator, by level, and the total; None where something has no score."""
    found = {item["operator"]: (item["level"], operator_score(item, report["score_profile"])) for item in report["operators"]}
    if any(case["outcome"]["verdict"] == "tampered" for item in report["operators"] for case in item["cases"]):
        found = {name: (level, 0.0) for name, (level, _) in found.items()}
    everything = [*found.values(), *((level, 0.0) for level in report["missing_operators"].values())]
    levels = {str(level): add(score for at, score in everything if at == level) for level, _ in everything}
    return {name: score for name, (_, score) in found.items()}, levels, add(score for _, score in found.values())


def add(parts):
    found = list(parts)
    return None if None in found else math.fsum(found)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(*scores(json.load(file)), sep="\n")  # noqa: T201
