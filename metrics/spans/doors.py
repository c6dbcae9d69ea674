"""Imports of scores and error spans: files that wait for confirmation, and the work of workers.

The files may have rows of several language pairs: each test set of their sender imports its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.access import may_change_test_set, visible_test_sets
from annotation.imports import background
from annotation.models import FileImport, TestSet, listed
from annotation.uploads import InputFile, OutdatedError
from annotation.uploads.tables.skipping import SKIP, kinds_of
from annotation.uploads.waiting import Sent
from core import languages
from core.messages import as_json
from metaeval.messages import Message, message, plural
from metrics.imported.checking import Look, bring_in, check
from metrics.imported.files import Choices
from metrics.imported.storing import Outcome, summary
from metrics.spans import importing

NO_WORDS: Mapping[str, Any] = MappingProxyType({})
# Answers about the ends of spans, and whether an end is the last character.
ENDS_INCLUDED = {"included": True, "excluded": False}


def sent_files(door: str, files: Sequence[InputFile], words: Mapping[str, Any] = NO_WORDS) -> Sent:
    """Return files with scores or spans as sent, with choices."""
    return Sent.of(door, [("tables", file) for file in files], words)


def other_sets(test_set: TestSet, pairs: Iterable[tuple[str, str]], user: Any) -> list[TestSet]:
    """Return the other test sets that may take rows of the files: those of their other pairs."""
    wanted = {_bare(pair) for pair in pairs} - {
        _bare((test_set.source_language, test_set.target_language))
    }
    return [each for each in own_sets(user) if wanted
            and _bare((each.source_language, each.target_language)) in wanted]  # fmt: skip


def test_sets_named(slugs: Iterable[str], user: Any) -> list[TestSet]:
    """Return test sets by their slugs."""
    return [each for each in own_sets(user) if each.slug in set(slugs)]


def own_sets(user: Any) -> list[TestSet]:
    """Return the test sets with systems to which a user may add scores."""
    rows = listed(visible_test_sets(user).filter(systems__isnull=False)).distinct()
    return [each for each in rows.order_by("name") if may_change_test_set(user, each)]


def _bare(pair: tuple[str, str]) -> tuple[str, ...]:
    return tuple(languages.bare(code) if code else "" for code in pair)


METRIC_SCORES, SPANS = "metric-scores", "spans"
GONE = message("scores.test-set-gone", "The test set no longer exists.")


def test_set_of(row: FileImport) -> TestSet:
    """Return the test set that gets scores or spans. Raises ValidationError."""
    found = TestSet.objects.filter(slug=row.choices["test_set"]).first()
    if found is None:
        raise ValidationError([GONE])
    return found


def to_values(test_set: TestSet, choices: Choices, **more: Any) -> dict[str, Any]:
    """Return choices as a row keeps them."""
    return {"test_set": test_set.slug, **to_words(choices), **more}


def to_words(choices: Choices) -> dict[str, Any]:
    """Return choices as they wait with files."""
    values = msgspec.json.encode(choices, order="deterministic")
    return {"choices": msgspec.json.decode(values)}


def choices_of(words: Mapping[str, Any]) -> Choices:
    """Return the choices that wait with files or in a row."""
    return msgspec.convert(words.get("choices", {}), Choices)


class MetricScoresDoor(background.Door):
    """Scores of metrics."""

    look = Look

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Read the files as their page does."""
        files = list(sent.files.values())
        checked = check(test_set_of(row), files, choices_of(row.choices), row.created_by)
        return background.Found(checked.report, background.look_of(checked, Look), checked)

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store the scores, if that does what the preview said."""
        expected, note = row.choices.get("expected"), row.choices.get("note", "")
        try:
            outcomes = bring_in(
                found.drafts, user=row.created_by, expected=expected, provenance=note
            )
        except OutdatedError as error:
            raise ValidationError([background.OUTDATED]) from error
        return {
            "sentences": [as_json(summary(outcomes))],
            "imports": [each.row.pk for each in outcomes if each.row is not None],
        }

    def page(self, row: FileImport) -> str:
        """Return the page of imported scores of the test set."""
        return reverse("metric-scores", args=[row.choices["test_set"]])


class SpansDoor(background.Door):
    """Error spans."""

    look = importing.Look

    def check(self, row: FileImport, sent: Sent) -> background.Found:
        """Read the files as their page does."""
        checked = check_spans(test_set_of(row), sent, row.choices, row.created_by)
        look = background.look_of(checked, importing.Look)
        return background.Found(checked.report, look, checked)

    def store(self, row: FileImport, found: background.Found) -> dict[str, Any]:
        """Store the spans."""
        outcome = importing.store(found.drafts, row.created_by)
        return {"sentences": [as_json(stored_sentence(found.drafts, outcome))]}

    def page(self, row: FileImport) -> str:
        """Return the page of imported spans of the test set."""
        return reverse("metric-spans", args=[row.choices["test_set"]])


def spans_values(test_set: TestSet, words: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the choices for spans as a row keeps them: those of the form, columns and rows."""
    chosen = {name: words.get(name, "") for name in ("name", "ends", SKIP)}
    return {"test_set": test_set.slug, "columns": words.get("columns", {}), **chosen, **more}


def check_spans(
    test_set: TestSet, sent: Sent, values: Mapping[str, Any], user: Any
) -> importing.Checked:
    """Check files with spans."""
    return importing.check(
        test_set,
        list(sent.files.values()),
        values["name"],
        ENDS_INCLUDED.get(values["ends"]),
        user,
        Choices(columns=values["columns"], skip=kinds_of(values[SKIP])),
    )


def stored_sentence(checked: importing.Checked, outcome: Outcome) -> Message:
    """Return what an import of spans did."""
    if outcome.row is None:
        return message("spans.nothing-changed", "Nothing changed: these spans are already stored.")
    return plural(
        "spans.imported",
        "Imported {n} span. Checked outputs: {outputs}.",
        "Imported {n} spans. Checked outputs: {outputs}.",
        n=checked.n_spans,
        outputs=checked.n_checked,
    )


metric_scores, spans = MetricScoresDoor(), SpansDoor()
