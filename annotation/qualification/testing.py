"""Take the comprehension test, and report the last attempt."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language

from annotation.models import Annotator, Campaign, Stop, TestAttempt
from annotation.qualification.comprehension import Question, in_language
from annotation.qualification.stopping import stop


@dataclass(frozen=True)
class Asked:
    """A question as annotators see it, without the right choice.

    `explanation` is shown after a wrong answer, which `is_wrong` marks. `language` is empty if the
    question is not in the annotator's language.
    """

    name: str
    question: str
    choices: Sequence[tuple[str, str]]
    is_wrong: bool = False
    explanation: str = ""
    given: str = ""
    language: str = ""


@dataclass(frozen=True)
class Sitting:
    """The test of an annotator; `number` is the number of the next attempt, from 1.

    `n_left` counts the remaining attempts; None without a limit.
    """

    number: int
    n_left: int | None
    n_needed: int
    questions: Sequence[Asked]
    last: TestAttempt | None


def needed(campaign: Campaign) -> int:
    """Return how many right answers are needed to pass."""
    n_asked = len(campaign.comprehension or ())
    return min(campaign.pass_mark or n_asked, n_asked)


def sitting(annotator: Annotator) -> Sitting:
    """Return the current state of an annotator's test (one query)."""
    campaign = annotator.campaign
    last = annotator.test_attempts.order_by("-number").first()
    number = last.number + 1 if last else 1
    most = campaign.test_attempts
    return Sitting(
        number=number,
        n_left=max(0, most - number + 1) if most else None,
        n_needed=needed(campaign),
        questions=[
            _asked(place, each, last) for place, each in enumerate(campaign.comprehension or ())
        ],
        last=last,
    )


def _asked(place: int, question: Question, last: TestAttempt | None) -> Asked:
    is_wrong = last is not None and last.given[place] != question["right"]
    language = get_language() or ""
    words = in_language(question, language)
    return Asked(
        name=f"q{place}",
        question=words["question"],
        choices=[(str(n), choice) for n, choice in enumerate(words["choices"])],
        is_wrong=is_wrong,
        explanation=words.get("explanation", "") if is_wrong else "",
        language=language if language in question.get("translations", {}) else "",
    )


@transaction.atomic
def take(*, annotator: Annotator, number: int, given: Sequence[int]) -> TestAttempt | None:
    """Store an attempt and its consequences; return None if it was already stored.

    `given` are the indices of the chosen answers, one for each question. An annotator who fails the
    last attempt is stopped.
    """
    person = Annotator.objects.select_for_update().get(pk=annotator.pk)
    campaign = annotator.campaign
    n_before = person.test_attempts.count()
    if person.qualified_at or person.stopped_at or number != n_before + 1:
        return None
    questions = campaign.comprehension or []
    n_right = sum(each["right"] == chosen for each, chosen in zip(questions, given, strict=True))
    attempt = TestAttempt.objects.create(
        annotator=person,
        number=number,
        given=list(given),
        n_right=n_right,
        n_asked=len(questions),
        is_passed=n_right >= needed(campaign),
    )
    if attempt.is_passed:
        person.qualified_at = timezone.now()
        person.save(update_fields=["qualified_at"])
    elif campaign.test_attempts and number >= campaign.test_attempts:
        stop(person, Stop.Reason.TEST, n_failed=len(questions) - n_right)
    return attempt
