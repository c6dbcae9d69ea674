"""Summarise how the fields of each group of the campaign form are set, as short phrases."""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.models import Campaign, Output
from annotation.presets import ratio_label
from annotation.quality.reach import Reach
from core import languages
from core.messages import translated
from core.text import whole

Texts = dict[Any, str | Promise]
Phrases = Sequence[str | Promise]
NOTHING = "–"
MODES: Texts = {
    "static": _("fixed assignment"),
    "pool": _("open pool"),
    "active": _("active assignment"),
    "dynamic": _("dynamic assignment"),
}
SPEEDS: Texts = {
    Campaign.SpeedRule.SLOW: _("annotators who answer too fast are slowed down"),
    Campaign.SpeedRule.STOP: _("annotators who answer too fast are stopped"),
}
TESTS: Texts = {
    Reach.ENOUGH: _("enough to detect careless work"),
    Reach.PASSES: _("enough to confirm careful work only"),
    Reach.FEW: _("too few to assess annotators"),
    Reach.NONE: _("not enough to assess annotators"),
}


def summary(form: Any, group: str) -> Phrases:
    """Return how the fields of a group are set, as far as they can be read."""
    return SUMMARIES[group](form, lambda n: form[n].value() if n in form.fields else None)


Value = Callable[[str], Any]


def _judged(form: Any, value: Value) -> Phrases:
    n_systems, n_segments = len(value("systems") or ()), form.test_set.segments.count()
    return [
        ngettext("%(n)s system", "%(n)s systems", n_systems) % {"n": n_systems},
        _length(value),
        ngettext("%(n)s segment", "%(n)s segments", n_segments) % {"n": f"{n_segments:,}"},
        *_protocol(value),
        *_answers(form),
        *_compared(form, value),
    ]


def _length(value: Value) -> str:
    try:
        return translated(ratio_label(Decimal(str(value("length_ratio")))))
    except InvalidOperation:
        return gettext("no length")


def _protocol(value: Value) -> Phrases:
    name = value("protocol")
    return [protocols.get(name).label if name in protocols.PROTOCOLS else NOTHING]


def _answers(form: Any) -> Phrases:
    rows = form.composed
    scales = ", ".join(row.get("name", "") for row in rows.scales)
    labels = dict((*rows.segment_words[1:], *rows.system_words[1:]))
    phrases = (
        (rows.segments, labels.get(rows.segments, "")),
        (rows.systems, labels.get(rows.systems, "")),
        (scales, gettext("scales: %(names)s") % {"names": scales}),
        (rows.severities or rows.categories, _("custom errors")),
        (rows.text not in ("", "no"), _("post-editing")),
        (rows.choices, _("choices")),
    )
    return [phrase for is_set, phrase in phrases if is_set]


def _compared(form: Any, value: Value) -> Phrases:
    shows_source = value("shown_text") == Campaign.ShownText.SOURCE
    test_set = form.test_set
    code = test_set.source_language if shows_source else test_set.target_language
    shown = (
        gettext("source (%(language)s)") if shows_source else gettext("reference (%(language)s)")
    )
    question = [_("custom question")] if value("question") else []
    return [shown % {"language": languages.display_name(code)}, *question]


def _checked(form: Any, value: Value) -> Phrases:
    return [*_ratings(form, value), *_controls(form, value), *_qualification(value)]


def _ratings(form: Any, value: Value) -> Phrases:
    n = Output.objects.filter(
        system__test_set=form.test_set,
        system__name__in=value("systems") or (),
        system__length_ratio=_ratio(value),
    ).count()
    per_output = _number(value("annotators_per_item"))
    return [
        ngettext("%(n)s output", "%(n)s outputs", n) % {"n": f"{n:,}"},
        ngettext("%(n)s annotator per item", "%(n)s annotators per item", per_output)
        % {"n": per_output},
        MODES.get(value("assignment_mode"), NOTHING),
    ]


def _ratio(value: Value) -> Decimal:
    try:
        return Decimal(str(value("length_ratio")))
    except InvalidOperation:
        return Decimal(1)


def _controls(form: Any, value: Value) -> Phrases:
    traps, bad, repeats, references = (
        _number(value(f"{kind}_per_annotator"))
        for kind in ("traps", "bad_references", "repeats", "references")
    )
    checks = _number(value("rotated_checks"))
    phrases = (
        (traps, ngettext("%(n)s trap", "%(n)s traps", traps)),
        (bad, ngettext("%(n)s bad reference", "%(n)s bad references", bad)),
        (repeats, ngettext("%(n)s repeat", "%(n)s repeats", repeats)),
        (
            references,
            ngettext("%(n)s reference as output", "%(n)s references as outputs", references),
        ),
        (checks, ngettext("%(n)s check with moved words", "%(n)s checks with moved words", checks)),
    )
    planted = [phrase % {"n": f"{n:,}"} for n, phrase in phrases if n]
    if not planted:
        return [_("no control items")]
    reach, _has_score = form.reach()
    return [*planted, TESTS[reach]]


def _qualification(value: Value) -> Phrases:
    n = _number(value("stop_after"))
    stops = ngettext(
        "stopped after %(n)s failed control item", "stopped after %(n)s failed control items", n
    ) % {"n": f"{n:,}"}
    phrases = (
        (value("comprehension"), _("comprehension test")),
        (n, stops),
        (fast := SPEEDS.get(value("speed_rule")), fast or ""),
    )
    return [phrase for is_set, phrase in phrases if is_set]


def _rules(form: Any, value: Value) -> Phrases:
    own = _("custom instructions") if value("instructions") else _("standard instructions")
    consent = [_("with consent")] if value("consent") else []
    rate = value("hourly_rate")
    pay = gettext("%(rate)s %(currency)s per hour") % {"rate": rate, "currency": value("currency")}
    return [own, *consent, pay if rate else _("no pay")]


def _number(value: Any) -> int:
    return whole(str(value)) or 0


SUMMARIES: dict[str, Callable[[Any, Value], Phrases]] = {
    "judged": _judged,
    "checked": _checked,
    "rules": _rules,
}
