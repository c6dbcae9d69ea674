"""The outputs of one item of Pearmut, and the rules that its answers are checked by."""

from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from annotation.imports.pearmut.findings import Findings
from annotation.models import Item

ONLY_MODEL = "output"
Rules = Mapping[str, Sequence[Mapping[str, Any]]]


def read_targets(findings: Findings, value: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return model -> output; one text alone is the output of a model without a name."""
    path = f"{path}.tgt"
    if "tgt" not in value:
        findings.error(path, "the key “tgt” is missing")
        return {}
    targets = value["tgt"]
    if isinstance(targets, str):
        return {ONLY_MODEL: targets}
    if not findings.is_a(path, targets, "an object"):
        return {}
    if not targets:
        findings.error(path, "there is no output")
    return {
        model: text
        for model, text in targets.items()
        if findings.is_a(f"{path}.{model}", text, "text")
    }


def read_rules(
    findings: Findings, value: Mapping[str, Any], path: str, targets: Mapping[str, str]
) -> Rules:
    """Validation by model: an object by model, or a list in the order of the outputs."""
    rules = value.get("validation")
    if rules is None:
        return {}
    path = f"{path}.validation"
    if isinstance(rules, list):
        if len(rules) != len(targets):
            findings.error(path, f"{len(rules)} rules for {len(targets)} outputs")
            return {}
        rules = dict(zip(targets, rules, strict=True))
    if not findings.is_a(path, rules, "an object"):
        return {}
    found = {}
    for model, rule in rules.items():
        if model not in targets:
            findings.error(f"{path}.{model}", "there is no output of this name")
        each = rule if isinstance(rule, list) else [rule]
        found[model] = [r for r in each if findings.is_a(f"{path}.{model}", r, "an object")]
    return found


def kind_of(value: Mapping[str, Any], rules: Rules) -> Item.Kind:
    """Items with rules are gold, or practice where they may be skipped."""
    if "validation" not in value:
        return Item.Kind.TARGET
    every = [rule for own in rules.values() for rule in own]
    can_skip = value.get("skippable") or any(rule.get("allow_skip") for rule in every)
    return Item.Kind.TUTORIAL if can_skip else Item.Kind.GOLD


def read_range(
    findings: Findings,
    rules: Sequence[Mapping[str, Any]],
    path: str,
    sliders: Sequence[str] = (),
) -> tuple[int | None, int | None, str]:
    """Return the range of right scores, and what is said afterwards.

    With own sliders the range is that of the first, on which controls rest.
    """
    low = high = None
    feedback = ""
    for rule in rules:
        feedback = feedback or plain(str(rule.get("warning", "")))
        first = sliders[0] if sliders else "score"
        if first in rule:
            low, high = _scores(findings, rule[first], f"{path}.{first}")
        further = (*sliders[1:], "score") if sliders else ()
        if others := [name for name in further if name in rule]:
            findings.left_out["rules about further sliders"] += len(others)
        if "error_spans" in rule:
            findings.left_out["rules about error spans"] += 1
    return low, high, feedback


def read_order(findings: Findings, rules: Rules, shown: Sequence[str], path: str) -> dict[str, int]:
    """Return model -> place, in `shown`, of the one that must be scored strictly lower.

    Rules between outputs that are not beside each other are left out.
    """
    lower = {}
    for model, own in rules.items():
        for rule in own:
            other = rule.get("score_greaterthan")
            if other is None:
                continue
            if not findings.is_a(f"{path}.{model}.score_greaterthan", other, "text"):
                continue
            if model in shown and other in shown and other != model and model not in lower:
                lower[model] = list(shown).index(other)
            else:
                findings.left_out["rules that compare outputs"] += 1
    return lower


def plain(html: str) -> str:
    """Return the text of a piece of HTML."""
    return unescape(strip_tags(html))


def _scores(findings: Findings, value: Any, path: str) -> tuple[int | None, int | None]:
    if isinstance(value, list) and [type(each) for each in value] == [int, int]:
        low, high = value
        if 0 <= low <= high <= 100:
            return low, high
    findings.error(path, "two whole numbers from 0 to 100, in order, are expected")
    return None, None
