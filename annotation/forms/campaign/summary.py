"""How the fields of the campaign form are set, in a line each."""

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from annotation import protocols
from annotation.models import Campaign, Output
from annotation.presets import ratio_label
from annotation.quality.reach import Reach
from core import languages
from core.text import pluralize, whole

MODES = {"static": "fixed shares", "pool": "an open pool", "active": "most where undecided",
         "dynamic": "better systems more often"}  # fmt: skip
SPEEDS = {
    Campaign.SpeedRule.SLOW: "those too fast to have read are slowed down",
    Campaign.SpeedRule.STOP: "those too fast to have read are stopped",
}
TESTS = {
    Reach.ENOUGH: "enough to tell careless work",
    Reach.PASSES: "enough to tell careful work only",
    Reach.FEW: "too few for a verdict",
}


def sentence(form: Any, group: str) -> str:
    """Say how the fields of a group are set, as far as they can be read."""
    return SENTENCES[group](form, lambda n: form[n].value() if n in form.fields else None)


Value = Callable[[str], Any]


def _name(form: Any, value: Value) -> str:
    study = value("study")
    return f"{value('name') or '–'}" + (f", study {study}" if study else "")


def _texts(form: Any, value: Value) -> str:
    systems = pluralize(len(value("systems") or ()), "system")
    segments = pluralize(form.test_set.segments.count(), "segment")
    return f"{systems} at {_length(value)}, {segments}"


def _length(value: Value) -> str:
    try:
        return ratio_label(Decimal(str(value("length_ratio"))))
    except InvalidOperation:
        return "no length"


def _protocol(form: Any, value: Value) -> str:
    name = value("protocol")
    return str(protocols.get(name).label) if name in protocols.PROTOCOLS else "–"


def _answers(form: Any, value: Value) -> str:
    rows = form.composed
    scales = ", ".join(row.get("name", "") for row in rows.scales)
    errors = rows.severities or rows.categories
    grid = dict((*rows.segment_words[1:], *rows.system_words[1:]))
    parts = {
        grid.get(rows.segments, ""): rows.segments,
        f"{'several systems' if rows.systems == 'several' else 'one system'}": rows.systems,
        f"scales: {scales}": scales,
        "errors of your own": errors,
        "post-editing": rows.text not in ("", "no"),
        "a choice": rows.choices,
    }
    return "; ".join(said for said, is_so in parts.items() if is_so) or "as the protocol has them"


def _compared(form: Any, value: Value) -> str:
    test_set = form.test_set
    shows_source = value("shown_text") == Campaign.ShownText.SOURCE
    code = test_set.source_language if shows_source else test_set.target_language
    what = "source" if shows_source else "reference"
    own = "a question of your own" if value("question") else "the usual question"
    return f"the {languages.display_name(code)} {what}; {own}"


def _ratings(form: Any, value: Value) -> str:
    outputs = Output.objects.filter(
        system__test_set=form.test_set,
        system__name__in=value("systems") or (),
        system__length_ratio=_ratio(value),
    ).count()
    each = _number(value("annotators_per_item"))
    people = pluralize(each, "person", "people")
    mode = MODES.get(value("assignment_mode"), "–")
    total = f"{each * outputs:,} in all"
    return f"{people} for each of {pluralize(outputs, 'output')}, {total}; {mode}"


def _ratio(value: Value) -> Decimal:
    try:
        return Decimal(str(value("length_ratio")))
    except InvalidOperation:
        return Decimal(1)


def _checks(form: Any, value: Value) -> str:
    traps, bad, repeats, references = (
        _number(value(f"{kind}_per_annotator"))
        for kind in ("traps", "bad_references", "repeats", "references")
    )
    counts = {
        pluralize(traps, "trap"): traps,
        pluralize(bad, "bad reference"): bad,
        pluralize(repeats, "repeat"): repeats,
        f"{references:,} references as outputs": references,
    }
    if checks := _number(value("rotated_checks")):
        counts[f"{checks:,} with moved words"] = checks
    planted = [said for said, n in counts.items() if n]
    if not planted:
        return "none: careless work goes unnoticed"
    reach, _ = form.reach()
    each, tests = ", ".join(planted), TESTS.get(reach, "these test nobody")
    return f"{each} for each annotator: {tests}"


def _told(form: Any, value: Value) -> str:
    text = "a text of your own" if value("instructions") else "standard text in five languages"
    practice = ["two practice items"] if value("practice") else []
    return ", ".join([text, *practice, "with consent" if value("consent") else "without consent"])


def _qualification(form: Any, value: Value) -> str:
    tested = "a comprehension test first" if value("comprehension") else "no test first"
    after = _number(value("stop_after"))
    stops = f"stopped after failed checks: {after:,}" if after else "nobody is stopped"
    fast = SPEEDS.get(value("speed_rule"))
    return f"{tested}, {stops}" + (f", {fast}" if fast else "")


def _pay(form: Any, value: Value) -> str:
    rate, currency = value("hourly_rate"), value("currency")
    limit = f"{_number(value('time_cap_seconds')):,}"
    if rate:
        return f"{rate} {currency} an hour, at most {limit} seconds a screen"
    return f"at most {limit} seconds a screen"


def _rest(form: Any, value: Value) -> str:
    return "revising, privacy, notices, seed and z-scores"


def _number(value: Any) -> int:
    return whole(str(value)) or 0


SENTENCES: dict[str, Callable[[Any, Value], str]] = {
    "name": _name,
    "texts": _texts,
    "protocol": _protocol,
    "answers": _answers,
    "compared": _compared,
    "ratings": _ratings,
    "checks": _checks,
    "told": _told,
    "qualification": _qualification,
    "pay": _pay,
    "rest": _rest,
}
