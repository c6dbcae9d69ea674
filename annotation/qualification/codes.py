"""Completion codes: show them to annotators who finish, and check submitted codes.

Imported codes of a campaign, one for annotators who pass the checks and one for the others, take
precedence over a link's code, which all annotators of the link share. Without either, annotators
have individual codes: keyed hashes, which cannot be guessed and need not be stored.
"""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.entry.places import is_fixed
from annotation.models import AccessLink, Annotator, AuditEntry, Campaign
from annotation.models.assignment import count_by_annotator
from annotation.qualification.stopping import passes
from core.messages import as_json
from metaeval.messages import Message, message

SALT = "annotation.codes"
BYTES = 10
PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc="
MAX_LINES = 5_000
TOLD = "told the completion code"
VALID, UNFINISHED, EXCLUDED, WRONG = "valid", "not finished", "excluded", "wrong"
FAILED = "failed checks"
PASSED_CODE, FAILED_CODE = "passed", "failed"


@dataclass(frozen=True)
class Completion:
    """The code on the last page, and the address at the provider that submits it."""

    code: str
    address: str


@dataclass(frozen=True)
class Verdict:
    """The result for one pasted line; `label` is empty if the line belongs to no annotator."""

    line: str
    verdict: str
    label: str
    message: Message

    def as_json(self) -> dict[str, Any]:
        """Return the result for programs."""
        return vars(self) | {"sentence": self.message.text, "message": as_json(self.message)}

    @property
    def verdict_label(self) -> Message:
        """The verdict in words."""
        return VERDICTS[self.verdict]


VERDICTS = {
    VALID: message("code.valid", "valid"),
    UNFINISHED: message("code.unfinished", "not finished"),
    EXCLUDED: message("code.excluded", "excluded"),
    WRONG: message("code.wrong", "wrong"),
    FAILED: message("code.failed", "failed control items"),
}
OTHERS_CODE = message("code.others", "This is not the code of this annotator.")
SHARED_CODE = message(
    "code.shared",
    "All annotators who finish get this code. Write the annotator’s id before the code.",
)
UNKNOWN_CODE = message("code.unknown", "No annotator of this campaign has this code.")
NOT_COUNTED = message("code.not-counted", "No analysis uses the judgments of this annotator.")
ITEMS_LEFT = message("code.items-left", "The annotator has not rated all items yet.")
CODE_OF_FAILED = message(
    "code.of-failed", "This is the code for annotators who failed control items."
)
ALL_RATED = message("code.all-rated", "The annotator has rated all items.")


def personal_code(annotator_id: int) -> str:
    """Return an annotator's own code: 80 bits in groups of four letters and digits.

    >>> import re
    >>> bool(re.fullmatch(r"[A-Z2-7]{4}(-[A-Z2-7]{4}){3}", personal_code(1)))
    True
    """
    digest = salted_hmac(SALT, str(annotator_id), algorithm="sha256").digest()
    plain = base64.b32encode(digest[:BYTES]).decode()
    return "-".join(plain[start : start + 4] for start in range(0, len(plain), 4))


def completion_of(annotator: Annotator, *, has_more: bool) -> Completion | None:
    """Return the code of an annotator who has finished and has a code or came by an access link.

    `has_more` is False if the annotator just asked for the next item and there is none. Annotators
    who were shown a code stay finished and are shown the same code again, even if a pool has items
    again later.
    """
    link, own = annotator.access_link, annotator.codes
    if link is None and own is None:
        return None
    if not (is_finished(annotator) or _has_had_all(annotator, has_more)):
        return None
    # Two windows may each add an entry; the first one counts.
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
    return Completion(code, f"{PROLIFIC_RETURN}{code}" if is_given and is_prolific else "")


def _code_of(annotator: Annotator, entry: AuditEntry) -> str:
    """Return the code that an annotator was shown, by the audit entry."""
    if own := annotator.codes:
        return str(own[entry.details.get("checks", PASSED_CODE)])
    link = annotator.access_link
    return (link and link.completion_code) or personal_code(annotator.pk)


def shown_codes(campaign: Campaign) -> dict[int, str]:
    """Return the codes that were shown, by annotators' ids."""
    entries = AuditEntry.objects.filter(campaign=campaign, action=TOLD).order_by("-pk")
    found = entries.select_related("annotator__access_link")
    people = ((entry.annotator, entry) for entry in found)
    return {person.pk: _code_of(person, entry) for person, entry in people if person}


def goodbye(annotator: Annotator, completion: Completion | None) -> str:
    """Return a campaign's text after the last item, with the code and the annotator's label."""
    code = completion.code if completion else ""
    words = annotator.campaign.goodbye.replace("${TOKEN}", code)
    return words.replace("${USER_ID}", annotator.label)


def _has_had_all(annotator: Annotator, has_more: bool) -> bool:
    """Return whether a pool has no more items for an annotator who is not excluded."""
    if has_more or annotator.excluded_at is not None:
        return False
    return annotator.assignments.filter(completed_at__isnull=False).exists()


def is_finished(annotator: Annotator) -> bool:
    """Return whether an annotator has finished."""
    rows = Annotator.objects.filter(pk=annotator.pk)
    return annotator.pk in finished(annotator.campaign, rows)


def finished(campaign: Campaign, annotators: QuerySet[Annotator]) -> set[int]:
    """Return the ids of the annotators who have finished.

    With fixed assignment they have rated all assigned items. In an open pool they have rated the
    campaign's maximum, or there are no more items for them.
    """
    counted = count_by_annotator(annotators, with_open=True)
    shown = AuditEntry.objects.filter(campaign=campaign, action=TOLD, annotator__in=annotators)
    have_code = set(shown.values_list("annotator_id", flat=True))
    return {
        pk
        for pk, (_, counts) in counted.items()
        if pk in have_code
        or (counts.answered and not counts.open and _is_enough(campaign, pk, counts.answered))
    }


def _is_enough(campaign: Campaign, annotator: int, done: int) -> bool:
    if is_fixed(campaign) or 0 < campaign.items_per_annotator <= done:
        return True
    more = campaign.items.filter(wanted__gt=0).exclude(assignments__annotator=annotator)
    return not more.exists()


def check_codes(campaign: Campaign, text: str) -> list[Verdict]:
    """Check pasted codes, one per line: a code, or an annotator's provider id and a code."""
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
    """Return the imported codes: for annotators who pass the checks, and who fail them."""
    return [annotator.codes[PASSED_CODE], annotator.codes[FAILED_CODE]] if annotator.codes else []


def _folded(code: str) -> str:
    """Return a code without dashes and blanks in upper case, because people copy it differently."""
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
        return Verdict(line, WRONG, person.label, OTHERS_CODE)
    if line in fixed:
        return Verdict(line, WRONG, "", SHARED_CODE)
    return Verdict(line, WRONG, "", UNKNOWN_CODE)


def _is_code_of(annotator: Annotator, code: str) -> bool:
    link = annotator.access_link
    if annotator.codes:
        return _folded(code) in map(_folded, own_codes(annotator))
    if link is not None and link.completion_code:
        return constant_time_compare(link.completion_code, code)
    return constant_time_compare(_folded(personal_code(annotator.pk)), _folded(code))


def _verdict(line: str, annotator: Annotator, done: set[int], code: str) -> Verdict:
    if annotator.excluded_at is not None:
        return Verdict(line, EXCLUDED, annotator.label, NOT_COUNTED)
    if annotator.pk not in done:
        return Verdict(line, UNFINISHED, annotator.label, ITEMS_LEFT)
    if annotator.codes and _folded(code) != _folded(annotator.codes[PASSED_CODE]):
        return Verdict(line, FAILED, annotator.label, CODE_OF_FAILED)
    return Verdict(line, VALID, annotator.label, ALL_RATED)
