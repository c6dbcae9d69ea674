"""Completion codes: told to those who are done, and checked here when they come back.

A link's own code is the same for all who came by it. Without one everybody has a code of their
own: a keyed hash, which nobody can guess and which needs no storing.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.entry.places import is_fixed
from annotation.models import AccessLink, Annotator, AuditEntry, Campaign

SALT = "annotation.codes"
BYTES = 10
PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc="
MAX_LINES = 5_000
TOLD = "told the completion code"
VALID, UNFINISHED, EXCLUDED, WRONG = "valid", "not finished", "excluded", "wrong"


@dataclass(frozen=True)
class Told:
    """What the page of thanks tells: a code, and where it is brought by a click."""

    code: str
    address: str


@dataclass(frozen=True)
class Verdict:
    """What is to be said of one pasted line. `label` is empty where nobody is meant."""

    line: str
    verdict: str
    label: str = ""
    sentence: str = ""


def personal_code(annotator_id: int) -> str:
    """Return an annotator's own code: 80 bits in groups of four letters and digits.

    >>> import re
    >>> bool(re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){3}", personal_code(1)))
    True
    """
    digest = salted_hmac(SALT, str(annotator_id), algorithm="sha256").digest()
    plain = base64.b32encode(digest[:BYTES]).decode()
    return "-".join(plain[start : start + 4] for start in range(0, len(plain), 4))


def tell(annotator: Annotator, *, has_more: bool) -> Told | None:
    """Return what an annotator is told who is done and came by an access link.

    `has_more` is False where the annotator just asked for the next item and there is none. Who
    was told once stays done, even if a pool has items again later.
    """
    link = annotator.access_link
    if link is None or not (is_finished(annotator) or _has_had_all(annotator, has_more)):
        return None
    # Two windows may each add an entry: that says the same, and must not stop the third.
    if not annotator.audit.filter(action=TOLD).exists():
        AuditEntry.objects.create(campaign=annotator.campaign, annotator=annotator, action=TOLD)
    if not link.completion_code:
        return Told(personal_code(annotator.pk), "")
    is_prolific = link.provider == AccessLink.Provider.PROLIFIC
    address = f"{PROLIFIC_RETURN}{link.completion_code}" if is_prolific else ""
    return Told(link.completion_code, address)


def _has_had_all(annotator: Annotator, has_more: bool) -> bool:
    """Whether a pool gives an annotator nothing more; one who is excluded just gets nothing."""
    if has_more or annotator.excluded_at is not None:
        return False
    return annotator.assignments.filter(completed_at__isnull=False).exists()


def is_finished(annotator: Annotator) -> bool:
    """Whether an annotator has done all that is theirs."""
    rows = Annotator.objects.filter(pk=annotator.pk)
    return annotator.pk in finished(annotator.campaign, rows)


def finished(campaign: Campaign, annotators: QuerySet[Annotator]) -> set[int]:
    """Return the ids of those of a campaign's annotators who have done all that is theirs.

    With fixed shares that is the share. In an open pool it is the number that the campaign sets
    for everybody, or all that the pool still has.
    """
    counted = annotators.annotate(
        done=Count("assignments__completed_at"),
        left=Count(
            "assignments",
            filter=Q(assignments__completed_at=None, assignments__released_at=None),
        ),
    )
    told = AuditEntry.objects.filter(campaign=campaign, action=TOLD, annotator__in=annotators)
    were_told = set(told.values_list("annotator_id", flat=True))
    return {
        row.pk
        for row in counted
        if row.pk in were_told or (row.done and not row.left and _is_enough(campaign, row))
    }


def _is_enough(campaign: Campaign, row: Annotator) -> bool:
    if is_fixed(campaign):
        return True
    done: int = row.done  # type: ignore[attr-defined]
    if 0 < campaign.items_per_annotator <= done:
        return True
    more = campaign.items.filter(wanted__gt=0).exclude(assignments__annotator=row)
    return not more.exists()


def check_codes(campaign: Campaign, text: str) -> list[Verdict]:
    """Judge pasted codes, one a line: a code, or the person's id with the provider and a code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = campaign.annotators.select_related("access_link").order_by("pk")
    done = finished(campaign, rows)
    by_code = {
        _folded(personal_code(row.pk)): row
        for row in rows
        if row.access_link and not row.access_link.completion_code
    }
    by_person = {row.external_id.partition(":")[2]: row for row in rows if row.external_id}
    fixed = {link.completion_code for link in campaign.access_links.exclude(completion_code="")}
    return [_judge(line, done, by_code, by_person, fixed) for line in lines[:MAX_LINES]]


def _folded(code: str) -> str:
    """People copy codes with other dashes, spaces and cases."""
    return re.sub(r"[^A-Z2-7]", "", code.upper())


def _judge(
    line: str,
    done: set[int],
    by_code: Mapping[str, Annotator],
    by_person: Mapping[str, Annotator],
    fixed: Iterable[str],
) -> Verdict:
    parts = re.split(r"[\s,;]+", line)
    if owner := by_code.get(_folded(line)):
        return _verdict(line, owner, done)
    person = by_person.get(parts[0]) if len(parts) > 1 else None
    if person is not None:
        code = line[len(parts[0]) :].strip(" \t,;")
        if _is_code_of(person, code):
            return _verdict(line, person, done)
        return Verdict(line, WRONG, person.label, "This is not the code of this person.")
    if line in fixed:
        sentence = "All who finish are told this code: put the person's id before it."
        return Verdict(line, WRONG, "", sentence)
    return Verdict(line, WRONG, "", "Nobody in this campaign was told this code.")


def _is_code_of(annotator: Annotator, code: str) -> bool:
    link = annotator.access_link
    if link is not None and link.completion_code:
        return constant_time_compare(link.completion_code, code)
    return constant_time_compare(_folded(personal_code(annotator.pk)), _folded(code))


def _verdict(line: str, annotator: Annotator, done: set[int]) -> Verdict:
    if annotator.excluded_at is not None:
        return Verdict(line, EXCLUDED, annotator.label, "The judgments count in no analysis.")
    if annotator.pk not in done:
        return Verdict(line, UNFINISHED, annotator.label, "Items are left to rate.")
    return Verdict(line, VALID, annotator.label, "All items are rated.")
