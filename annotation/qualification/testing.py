"""The comprehension test: taking it, and what is to be said of the last attempt."""

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
    """A question as its annotator sees it: which choice is right is not here.

    `explanation` is told once the question was answered wrongly, which `is_wrong` says. `language`
    is empty where the question is not in the annotator's.
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
    """The test before an annotator. `number` is that of the attempt that comes now, from 1.

    `n_left` counts the attempts from now on, None where there is no limit.
    """

    number: int
    n_left: int | None
    n_needed: int
    questions: Sequence[Asked]
    last: TestAttempt | None


def needed(campaign: Campaign) -> int:
    """How many right answers pass."""
    n_asked = len(campaign.comprehension or ())
    return min(campaign.pass_mark or n_asked, n_asked)


def sitting(annotator: Annotator) -> Sitting:
    """Return the test as it stands (one query)."""
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
    """Store an attempt, and what follows from it; None where that attempt was stored before.

    `given` are the places of the chosen answers, one for each question. Who fails the last attempt
    is stopped.
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
