"""Completion codes: told to those who are done, and checked here when they come back.

Codes that came with a campaign, one for those who pass the checks and one for the others, go before
a link's own code, which is the same for all who came by it. Without either everybody has a code of
their own: a keyed hash, which nobody can guess and which needs no storing.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.entry.places import is_fixed
from annotation.models import AccessLink, Annotator, AuditEntry, Campaign
from annotation.qualification.stopping import passes

SALT = "annotation.codes"
BYTES = 10
PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc="
MAX_LINES = 5_000
TOLD = "told the completion code"
VALID, UNFINISHED, EXCLUDED, WRONG = "valid", "not finished", "excluded", "wrong"
FAILED = "failed checks"
PASSED_CODE, FAILED_CODE = "passed", "failed"


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
    """Return what an annotator is told who is done and has a code, or came by an access link.

    `has_more` is False where the annotator just asked for the next item and there is none. Who
    was told once stays done, even if a pool has items again later, and is told the same again.
    """
    link, own = annotator.access_link, annotator.codes
    if link is None and own is None:
        return None
    if not (is_finished(annotator) or _has_had_all(annotator, has_more)):
        return None
    # Two windows may each add an entry: the first counts.
    entry = annotator.audit.filter(action=TOLD).order_by("pk").first()
    if entry is None:
        which = PASSED_CODE if own is None or passes(annotator, own["most"]) else FAILED_CODE
        entry = AuditEntry.objects.create(
            campaign=annotator.campaign,
            annotator=annotator,
            action=TOLD,
            details={"checks": which} if own else {},
        )
    code = _code_of(annotator, entry)
    is_prolific = link is not None and link.provider == AccessLink.Provider.PROLIFIC
    is_given = own or (link and link.completion_code)
    return Told(code, f"{PROLIFIC_RETURN}{code}" if is_given and is_prolific else "")


def _code_of(annotator: Annotator, entry: AuditEntry) -> str:
    """The code that somebody was told, as it is noted."""
    if own := annotator.codes:
        return str(own[entry.details.get("checks", PASSED_CODE)])
    link = annotator.access_link
    return (link and link.completion_code) or personal_code(annotator.pk)


def told_codes(campaign: Campaign) -> dict[int, str]:
    """Return the codes that were told, by annotators' ids."""
    entries = AuditEntry.objects.filter(campaign=campaign, action=TOLD).order_by("-pk")
    found = entries.select_related("annotator__access_link")
    people = ((entry.annotator, entry) for entry in found)
    return {person.pk: _code_of(person, entry) for person, entry in people if person}


def goodbye(annotator: Annotator, told: Told | None) -> str:
    """Return a campaign's words after the last item; the code and the person's label go in."""
    words = annotator.campaign.goodbye.replace("${TOKEN}", told.code if told else "")
    return words.replace("${USER_ID}", annotator.label)


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
        if row.access_link and not row.access_link.completion_code and not row.codes
    }
    own = Counter(_folded(code) for row in rows for code in own_codes(row))
    by_code |= {
        folded: row for row in rows for code in own_codes(row) if own[folded := _folded(code)] == 1
    }
    by_person = {row.external_id.partition(":")[2]: row for row in rows if row.external_id}
    fixed = {link.completion_code for link in campaign.access_links.exclude(completion_code="")}
    fixed |= {code for row in rows for code in own_codes(row) if own[_folded(code)] > 1}
    return [_judge(line, done, by_code, by_person, fixed) for line in lines[:MAX_LINES]]


def own_codes(annotator: Annotator) -> list[str]:
    """Return the codes that came with the campaign: for those who pass, and for those who fail."""
    return [annotator.codes[PASSED_CODE], annotator.codes[FAILED_CODE]] if annotator.codes else []


def _folded(code: str) -> str:
    """People copy codes with other dashes, spaces and cases."""
    return re.sub(r"[^A-Z0-9]", "", code.upper()) or code


def _judge(
    line: str,
    done: set[int],
    by_code: Mapping[str, Annotator],
    by_person: Mapping[str, Annotator],
    fixed: Iterable[str],
) -> Verdict:
    parts = re.split(r"[\s,;]+", line)
    if owner := by_code.get(_folded(line)):
        return _verdict(line, owner, done, line)
    person = by_person.get(parts[0]) if len(parts) > 1 else None
    if person is not None:
        code = line[len(parts[0]) :].strip(" \t,;")
        if _is_code_of(person, code):
            return _verdict(line, person, done, code)
        return Verdict(line, WRONG, person.label, "This is not the code of this person.")
    if line in fixed:
        sentence = "All who finish are told this code: put the person's id before it."
        return Verdict(line, WRONG, "", sentence)
    return Verdict(line, WRONG, "", "Nobody in this campaign was told this code.")


def _is_code_of(annotator: Annotator, code: str) -> bool:
    link = annotator.access_link
    if annotator.codes:
        return _folded(code) in map(_folded, own_codes(annotator))
    if link is not None and link.completion_code:
        return constant_time_compare(link.completion_code, code)
    return constant_time_compare(_folded(personal_code(annotator.pk)), _folded(code))


def _verdict(line: str, annotator: Annotator, done: set[int], code: str) -> Verdict:
    if annotator.excluded_at is not None:
        return Verdict(line, EXCLUDED, annotator.label, "The judgments count in no analysis.")
    if annotator.pk not in done:
        return Verdict(line, UNFINISHED, annotator.label, "Items are left to rate.")
    if annotator.codes and _folded(code) != _folded(annotator.codes[PASSED_CODE]):
        return Verdict(line, FAILED, annotator.label, "The code for those who failed checks.")
    return Verdict(line, VALID, annotator.label, "All items are rated.")
