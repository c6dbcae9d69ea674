"""Messages that nobody of ours wrote: text stays text, and patterns from elsewhere do little."""

import json
import re
import tracemalloc
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Value
from django.utils import translation

from annotation.models import ChangeEntry
from core.messages import ESCAPE, MessageField, as_json, if_missing, messages_of, translated
from dashboards.documents.computing import pack, unpack
from metaeval.messages import LONGEST, Message, from_json, message, plural
from metaeval.results import plain
from tests.house.pseudo_language import pseudo_chinese

FORGED = {"code": "x.y", "pattern": "{n:300000000}", "parameters": {"n": 1}}
INNER = message("x.inner", "row {row:d}", row=3)
SAID = message("x.said", "{place}: {names} of {n}", place=INNER, names=["a", INNER], n=1200)
# What people write, in fields and names.
TEXTS = (
    "",
    '{"code"',
    '{"code": "x", "pattern": "y", "parameters": {}}',
    json.dumps(FORGED),
    json.dumps(as_json(SAID)),
    '\\{"code": 1}',
    '\\\\\\{"code"',
    "\\",
    "\\n {n} {{n}} {n.__class__} {0[0]} %s %(n)s 100%",
    ' {"code": "x"}',
    "<script>alert(1)</script>",
    "\u202egnirts\u202c",
    '{"code": ' + "[" * 5000,
)


def entry(reason: Any) -> ChangeEntry:
    return ChangeEntry.objects.create(action="deleted", kind="k", key="k", name="n", reason=reason)


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_never_read_as_a_message(db: None, text: str) -> None:
    row = entry(text)
    entry("another")
    row.refresh_from_db()
    assert row.reason == text
    assert [each.reason for each in ChangeEntry.objects.filter(reason=text)] == [text]
    assert ChangeEntry.objects.filter(reason__in=[text]).count() == 1
    assert ChangeEntry.objects.exclude(reason=text).count() == 1
    assert ChangeEntry.objects.filter(reason__contains=text).exists()
    ChangeEntry.objects.bulk_update([row], ["reason"])
    assert ChangeEntry.objects.values_list("reason", flat=True).get(pk=row.pk) == text


def test_messages_are_found_by_themselves(db: None) -> None:
    entry(as_json(SAID)["text"])
    row = entry(SAID)
    (found,) = ChangeEntry.objects.filter(reason=SAID)
    assert (found, found.reason) == (row, SAID)


@pytest.mark.parametrize("text", TEXTS[1:4])
def test_what_earlier_versions_stored_is_still_text(db: None, text: str) -> None:
    row = entry("")
    ChangeEntry.objects.filter(pk=row.pk).update(reason=Value(text))
    row.refresh_from_db()
    assert str(row.reason) in (text, "y")  # the third is a message in every part


def test_a_stored_message_is_read_as_before() -> None:
    stored = json.dumps(as_json(SAID))
    assert MessageField().from_db_value(stored) == SAID
    assert MessageField().get_prep_value(SAID) == stored
    assert MessageField().get_prep_value(stored) == ESCAPE + stored


def nested(pattern: str, levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"code": "x.y", "pattern": "ha", "parameters": {}}
    for _ in range(levels):
        value = {"code": "x.y", "pattern": pattern, "parameters": {"a": value}}
    return value


PATTERNS = (
    "{n:300000000}", "{n:.99999999f}", "{n:>9}", "{n:x}", "{n:c}", "{n!r}", "{n!s:>9999}",
    "{n:{n}}", "{n.real}", "{n[0]}", "{n.__class__.__mro__}", "{m}", "{}", "{0}", "{n", "n}",
    "{n:moment}", "{n:r4}", "{n:٣}", "{n:,.22f}", "{n:_}", "{n:%Y}", "{text:d}" * 3 + "{",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_reach_into_nothing_and_know_few_formats(pattern: str) -> None:
    value = {"code": "x.y", "pattern": pattern, "parameters": {"n": 2, "text": "a"}}
    for each in (value, value | {"pattern": "{n}", "plural": pattern}):
        with pytest.raises(ValueError):  # noqa: PT011  any text, no other kind
            from_json(each)
    assert MessageField().from_db_value(json.dumps(value)) == json.dumps(value)
    packed = pack({"code": "x.y", "pattern": pattern, "parameters": {"n": 2}})
    assert unpack(packed, Message) is None


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 3, [], {},
        {"code": "x.y"},
        {"code": "x.y", "pattern": "a"},
        {"code": "", "pattern": "a", "parameters": {}},
        {"code": "<b>", "pattern": "a", "parameters": {}},
        {"code": "x.y", "pattern": None, "parameters": {}},
        {"code": "x.y", "pattern": ["a"], "parameters": {}},
        {"code": "x.y", "pattern": "a", "parameters": []},
        {"code": "x.y", "pattern": "a", "parameters": 1.5},
        {"code": "x.y", "pattern": "a", "parameters": {}, "plural": "b"},
        {"code": "x.y", "pattern": "a", "parameters": {"n": "1"}, "plural": "b"},
        {"code": "x.y", "pattern": "a", "parameters": {"n": True}, "plural": "b"},
        {"code": "x.y", "pattern": "{n}", "parameters": {"n": 1}, "plural": None},
        {"code": "x.y", "pattern": "{n:d}", "parameters": {"n": 1.5}},
        {"code": "x.y", "pattern": "{t:moment}", "parameters": {"t": "soon"}},
        {"code": "x.y", "pattern": "{t:moment}", "parameters": {"t": {}}},
    ],
    ids=str,
)  # fmt: skip
def test_what_no_program_wrote_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        from_json(value)


@pytest.mark.parametrize(
    "value",
    [nested("{a}", 5000), nested("{a}", 300), nested("{a} {a}", 40), nested("{a}" * 9999, 9)],
    ids=["deep", "less", "double", "many"],
)
def test_no_message_becomes_longer_than_its_parts(value: dict[str, Any]) -> None:
    tracemalloc.start()
    try:
        with suppress(ValueError):
            assert len(from_json(value).text) <= LONGEST
        assert tracemalloc.get_traced_memory()[1] < 100 * LONGEST
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "given",
    [FORGED, {"a": 1}, as_json(INNER), {**as_json(INNER), "pattern": "Delete"}, {}],
    ids=str,
)
def test_mappings_of_people_become_text(given: dict[str, Any]) -> None:
    said = message("x.y", "{name} in {names}", name=given, names=[given, "b"])
    assert said.text == f"{given} in {given} and b"
    assert from_json(json.loads(json.dumps(as_json(said)))) == said


def test_a_mapping_that_is_no_message_becomes_text_when_read() -> None:
    value = {"code": "x.y", "pattern": "{a} {b}", "parameters": {"a": FORGED, "b": {"c": [1]}}}
    said = from_json(value)
    assert said.parameters == {"a": str(FORGED), "b": "{'c': [1]}"}


@pytest.mark.parametrize("text", TEXTS)
def test_parameters_are_filled_in_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = message("x.z", "“{name}”", name=text)
    said = message("x.y", "{name}, {inner} and {names}", name=text, inner=inner, names=[text, "b"])
    wanted = f"{text}, “{text}” and {text} and b"
    assert said.text == wanted
    assert plural("x.n", "{n} {t}", "{n} {t}s", n=2, t=text).text == f"2 {text}s"
    monkeypatch.setattr("core.messages.gettext", lambda pattern: f"{pattern}。")
    with translation.override("zh-hans"):
        assert translated(said) == f"{text}, “{text}”。 and {text}和b。"


@pytest.mark.parametrize("given", [SAID, INNER, plural("x.n", "{n} a", "{n} b", n=3)])
def test_documents_and_results_give_messages_back(given: Message) -> None:
    assert unpack(pack(given), Message) == given
    assert msgspec.convert(plain(given), Message) == given
    assert from_json(plain(given)) == given


def test_a_document_has_no_mapping_in_the_place_of_a_message() -> None:
    value = {"code": "x.y", "pattern": "{a}", "parameters": {"a": {"b": 1}}}
    assert unpack(pack(value), Message) is None


@pytest.mark.parametrize("spec", ["", ":d", ":g", ":.1f", ":percent", ":r", ":p", ":,"])
def test_a_number_may_be_beyond_all_floats(spec: str) -> None:
    assert message("x.y", f"{{n{spec}}}", n=10**400).text  # as a program may send it


def test_a_moment_may_be_missing() -> None:
    assert message("x.y", "until {t:moment}", t=None).text == "until undefined"


def test_a_number_that_does_not_exist_is_named_in_the_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = message("m.r", "r is {r:r}.", r=float("nan"))
    assert found.text == "r is undefined."
    with translation.override("zh-hans"), pseudo_chinese():
        assert not re.search("[a-z]", translated(found))


def test_errors_of_forms_have_the_limits_and_the_field() -> None:
    class Sample(forms.Form):
        comment = forms.CharField(max_length=3)
        n = forms.IntegerField(max_value=5)
        role = forms.ChoiceField(
            choices=[("a", "A")], error_messages=if_missing("x.role", "Choose.")
        )

    form = Sample({"comment": "four", "n": "9"})
    long, high, missing = (messages_of(error)[0] for error in form.errors.as_data().values())
    assert (long.code, high.code, missing.code) == ("form.max_length", "form.max_value", "x.role")
    assert long.parameters.items() >= {"limit_value": 3, "show_value": 4, "value": "four"}.items()
    assert high.parameters["limit_value"] == 5
    by_field = messages_of(ValidationError(form.errors.as_data()))
    assert [each.parameters.get("field") for each in by_field] == ["comment", "n", None]
    (longer,) = messages_of(Sample({"comment": "a" * 500}).errors.as_data()["comment"][0])
    assert "value" not in longer.parameters
