"""Convert Pearmut's validation rules to ranges and rules of gold and practice items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.imports.drafts import ItemDraft
from annotation.imports.judgments.spans import RawSpan, SpanReader, known_severity
from annotation.models import Item
from annotation.protocols import Protocol
from annotation.protocols.base import TARGET, Scale
from annotation.uploads.normalising import normalise
from annotation.uploads.offsets import Convention
from annotation.uploads.problems import Place
from extensions.formats.pearmut.findings import Findings, no_output
from extensions.formats.pearmut.info import plain
from extensions.formats.pearmut.offsets import (
    NEW,
    OLD,
    SKIPPED,
    Stated,
    are_counted,
    are_included,
    read_spans,
)
from metaeval.messages import message, plural

Rules = Mapping[str, Sequence[Mapping[str, Any]]]
ENDS = ("start_i", "end_i")
OFF_SCREEN = plural(
    "pearmut.rule-off-screen",
    "{n} rule compares outputs that are not on one screen. It is kept in the stored file and "
    "exported again, but has no effect.",
    "{n} rules compare outputs that are not on one screen. They are kept in the stored file and "
    "exported again, but have no effect.",
    n=1,
)
UNKNOWN = plural(
    "pearmut.rule-severity",
    "{n} rule is about an unknown severity. It is kept in the stored file and exported again, but "
    "has no effect.",
    "{n} rules are about unknown severities. They are kept in the stored file and exported again, "
    "but have no effect.",
    n=1,
)
OTHER_SLIDERS = plural(
    "pearmut.rule-sliders",
    "{n} rule is about another slider than the first. It is kept in the stored file and exported "
    "again, but has no effect.",
    "{n} rules are about other sliders than the first. They are kept in the stored file and "
    "exported again, but have no effect.",
    n=1,
)


@dataclass(frozen=True)
class Check:
    """The correct answer for one output.

    It has a range of scores, errors as in the file, the model that must have a lower score
    (`above`), and the feedback that annotators then see.
    """

    low: int | None = None
    high: int | None = None
    feedback: str = ""
    errors: Sequence[Mapping[str, tuple[int, int] | str]] = field(default_factory=tuple)
    above: str = ""


def read_rules(
    findings: Findings, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> Rules:
    """Return rules by model from an object by model, or a list in the order of the outputs."""
    rules = value.get("validation")
    if rules is None:
        return {}
    path = f"{path}.validation"
    if isinstance(rules, list):
        if len(rules) != len(targets):
            findings.error(
                path,
                message(
                    "pearmut.number-of-rules",
                    "The number of rules is {n}, but there are {outputs} outputs.",
                    n=len(rules),
                    outputs=len(targets),
                ),
            )
            return {}
        rules = dict(zip(targets, rules, strict=True))
    if not findings.is_a(path, rules, dict):
        return {}
    found = {}
    for model, rule in rules.items():
        if model not in targets:
            findings.error(f"{path}.{model}", no_output(model))
        each = rule if isinstance(rule, list) else [rule]
        found[model] = [r for r in each if findings.is_a(f"{path}.{model}", r, dict)]
    return found


def kind_of(value: Mapping[str, Any], rules: Rules) -> Item.Kind:
    """Return the kind of an item: with rules it is gold, or practice if it may be skipped."""
    if "validation" not in value:
        return Item.Kind.TARGET
    every = [rule for own in rules.values() for rule in own]
    can_skip = value.get("skippable") or any(rule.get("allow_skip") for rule in every)
    return Item.Kind.TUTORIAL if can_skip else Item.Kind.GOLD


def read_check(
    findings: Findings,
    rules: Sequence[Mapping[str, Any]],
    path: str,
    scales: Sequence[Scale],
    targets: Mapping[str, str],
) -> Check:
    """Return the correct answer according to the rules of one output.

    With own sliders the range is that of the first, by which control items are judged.
    """
    low = high = None
    feedback = above = ""
    errors: list[Mapping[str, tuple[int, int] | str]] = []
    for rule in rules:
        feedback = feedback or plain(str(rule.get("warning", "")))
        first = scales[0] if scales else Scale("score")
        if first.key in rule:
            low, high = _scores(findings, rule[first.key], first, f"{path}.{first.key}")
        further = (*(scale.key for scale in scales[1:]), "score") if scales else ()
        if others := [name for name in further if name in rule]:
            findings.counts[OTHER_SLIDERS] += len(others)
        if "error_spans" in rule:
            errors += _errors(findings, rule["error_spans"], f"{path}.error_spans")
        above = _above(findings, rule, path, targets) or above
    return Check(low, high, feedback, errors, above)


def _scores(
    findings: Findings, value: Any, scale: Scale, path: str
) -> tuple[int | None, int | None]:
    found = _pair(value, scale.low) if isinstance(value, list) else None
    if found and found[1] <= scale.high:
        return found
    findings.error(
        path,
        message(
            "pearmut.score-range",
            "The value must be two whole numbers from {low} to {high}, in order.",
            low=scale.low,
            high=scale.high,
        ),
    )
    return None, None


def _pair(value: Any, low: int = 0) -> tuple[int, int] | None:
    """Return two whole numbers, at least `low` and in order, or None; a single one counts twice."""
    both = [value, value] if type(value) is int else value
    if isinstance(both, list) and [type(each) for each in both] == [int, int]:
        return (both[0], both[1]) if low <= both[0] <= both[1] else None
    return None


def _errors(
    findings: Findings, values: Any, path: str
) -> list[Mapping[str, tuple[int, int] | str]]:
    found: list[Mapping[str, tuple[int, int] | str]] = []
    for value, inner in findings.entries(path, values):
        if not findings.is_a(inner, value, dict):
            continue
        own: dict[str, tuple[int, int] | str] = {"severity": str(value.get("severity") or "")}
        for name in ENDS:
            pair = _pair(value[name]) if value.get(name) is not None else None
            if pair:
                own[name] = pair
            elif value.get(name) is not None:
                findings.error(
                    f"{inner}.{name}",
                    message(
                        "pearmut.rule-offset",
                        "The value must be a whole number, or a list of two in order.",
                    ),
                )
        found.append(own)
    return found


def _above(
    findings: Findings, rule: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> str:
    other = rule.get("score_greaterthan")
    if other is None:
        return ""
    if isinstance(other, str) and other in targets:
        return other
    findings.error(f"{path}.score_greaterthan", no_output(str(other)))
    return ""


def as_raw(check: Check, text: str) -> list[RawSpan]:
    """Return the positions of a check as marked errors: they may show what offsets count."""
    pairs = [(each.get("start_i"), each.get("end_i")) for each in check.errors]
    return [
        RawSpan({"start_i": start[0], "end_i": max(start[0], end[1])}, Place(), {TARGET: text})
        for start, end in pairs
        if isinstance(start, tuple) and isinstance(end, tuple)
    ]


def as_stored(
    findings: Findings,
    check: Check,
    text: str,
    places: Mapping[str, int | None],
    protocol: Protocol,
    convention: Convention,
) -> dict[str, Any] | None:
    """Return the rules of an item (:mod:`annotation.judging.rules`), None without any.

    `places` are those on its screen by model, or None for items that are alone on a screen.
    """
    found: dict[str, Any] = {}
    if errors := [
        bounds
        for each in check.errors
        if (bounds := _bounds(findings, each, text, protocol, convention))
    ]:
        found["errors"] = errors
    if check.above and places.get(check.above) is not None:
        found["above"] = places[check.above]
    elif check.above:
        findings.counts[OFF_SCREEN] += 1
    return found or None


def _bounds(
    findings: Findings,
    rule: Mapping[str, Any],
    text: str,
    protocol: Protocol,
    convention: Convention,
) -> list[Any]:
    scheme = protocol.spans
    severity = known_severity(scheme.severity_keys, rule["severity"]) if scheme else ""
    if scheme is None or (rule["severity"] and not severity):
        findings.counts[UNKNOWN] += 1
        return []
    stored = normalise(text)
    last = len(stored.text) + len(scheme.tokens)

    def place(index: int) -> int:
        return min(stored.place(convention.point(text, index)), last)

    start = [place(each) for each in rule["start_i"]] if "start_i" in rule else [0, last]
    end = [place(each) + 1 for each in rule["end_i"]] if "end_i" in rule else [0, last]
    return [*start, *end, severity]


# Positions in outputs of a Pearmut campaign: suggestions, and rules of control items.


@dataclass
class Marks:
    """Errors marked beforehand, and rules other than ranges, by the index of their item.

    Each check has the text of its output, and the places on its screen by model.
    """

    errors: dict[int, list[RawSpan]] = field(default_factory=dict)
    checks: dict[int, tuple[Check, str, Mapping[str, int | None]]] = field(default_factory=dict)

    def settle(
        self,
        findings: Findings,
        items: list[ItemDraft],
        protocol: Protocol,
        stated: Stated,
        answered: Sequence[RawSpan],
    ) -> Convention:
        """Put suggestions and rules into the items; return how offsets are read.

        `answered` are the errors of the log, which also show what offsets count.
        """
        marked = [raw for own in self.errors.values() for raw in own]
        ruled = [raw for check, text, _ in self.checks.values() for raw in as_raw(check, text)]
        n_tokens = max(1, len(protocol.spans.tokens)) if protocol.spans else 1
        counts = are_counted(findings, [*marked, *ruled, *answered], stated.breaks, n_tokens)
        own = NEW if counts else OLD
        included = are_included(findings, marked, stated.ends, own)
        convention = replace(own, ends_included=included)
        reader = SpanReader(protocol, False, findings.report, can_skip=True)
        for number, raws in self.errors.items():
            spans = read_spans(reader, raws, convention)
            items[number] = replace(items[number], suggestions=spans)
        if n := reader.counts["skipped"]:
            findings.counts[SKIPPED] += n
        for number, (check, text, places) in self.checks.items():
            rules = as_stored(findings, check, text, places, protocol, own)
            items[number] = replace(items[number], rules=rules)
        return convention
