"""From questions to verdicts: what is stored is read, the rest is asked, once more at most."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metrics.base import MetricError
from metrics.families.judges import reading
from metrics.families.judges.client import Client, StoppedError
from metrics.families.judges.crew import Answered, Crew
from metrics.families.judges.desk import Desk, Question, Reply
from metrics.families.judges.purse import Purse
from metrics.families.judges.reading import UnusableError, Verdict

# A question is asked so often in a run before its reply counts as missing.
ATTEMPTS = 2
NO_BUDGET = "Stopped at the budget. What was answered is kept: a new run goes on from there."
Read = Callable[[Question, Reply], Verdict]


@dataclass
class Answers:
    """Verdicts by the keys of their questions; why others have none; what ended the asking."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    error: MetricError | None = None

    @property
    def n_known(self) -> int:
        """Questions that are done with."""
        return len(self.verdicts) + len(self.unusable)


def read_reply(kind: str) -> Read:
    """Return the reading of the replies to a kind of template."""

    def read(question: Question, reply: Reply) -> Verdict:
        text = reading.content_of(reply.status, reply.body)
        return reading.read(kind, text, question.labels)

    return read


class Asking:
    """One round of questions at a desk."""

    def __init__(self, desk: Desk, client: Client, read: Read, limit: int) -> None:
        self.desk, self.client, self.read = desk, client, read
        self.limit = limit
        self.found = Answers()
        self._n_asked: dict[str, int] = {}

    def answers(self, questions: Iterable[Question]) -> Answers:
        """Return what is known of every question, each asked where that is needed."""
        unique = {question.key: question for question in questions}
        if open_ := self._stored(unique):
            with self.desk.connections() as n:
                self._ask(open_, n)
        return self.found

    def _stored(self, questions: Mapping[str, Question]) -> list[Question]:
        """Read what is stored; return what has to be asked."""
        stored = self.desk.stored(list(questions))
        open_ = [q for key, q in questions.items() if not self._settled(q, stored.get(key, ()))]
        if n_read := self.found.n_known:
            self.desk.note(reread=n_read)
        return open_

    def _settled(self, question: Question, replies: Sequence[Reply]) -> bool:
        """Take the first usable reply; whether there is one, or this run has asked enough."""
        for reply in replies:
            if self._take(question, reply):
                return True
        self._n_asked[question.key] = sum(reply.is_new for reply in replies)
        return self._n_asked[question.key] >= ATTEMPTS

    def _take(self, question: Question, reply: Reply) -> bool:
        try:
            self.found.verdicts[question.key] = self.read(question, reply)
        except UnusableError as error:
            self.found.unusable[question.key] = str(error)
            return False
        self.found.unusable.pop(question.key, None)
        return True

    def _ask(self, questions: Sequence[Question], n: int) -> None:
        for question in questions:
            self.found.unusable.pop(question.key, None)
        purse = Purse(self.desk.endpoint, self.limit)
        purse.fill(*self.desk.left())
        crew = Crew(self.client, purse, questions, min(n, len(questions)))
        lost = self.client.lost
        try:
            for answered in crew.answers(self.desk.keep_connections):
                self._store(answered, purse)
                for question, answer in answered:
                    self._hear(question, answer, crew)
        finally:
            self.desk.note(lost=self.client.lost - lost)

    def _store(self, answered: Sequence[Answered], purse: Purse) -> None:
        """Keep what came before anything else is done with it."""
        replies = [(q, answer) for q, answer in answered if isinstance(answer, Reply)]
        if replies:
            tokens = self.desk.store(replies)
            purse.fill(*self.desk.left())
        counted = iter(tokens if replies else ())
        for question, answer in answered:
            purse.settle(question, next(counted) if isinstance(answer, Reply) else 0)

    def _hear(self, question: Question, answer: Reply | Exception, crew: Crew) -> None:
        if isinstance(answer, Reply):
            self._n_asked[question.key] = self._n_asked.get(question.key, 0) + 1
            if not self._take(question, answer) and self._n_asked[question.key] < ATTEMPTS:
                self.found.unusable.pop(question.key)
                crew.add(question)
            return
        crew.stop()
        if isinstance(answer, StoppedError):
            self.found.error = self.found.error or MetricError(NO_BUDGET, permanent=True)
        elif isinstance(answer, MetricError):
            self.found.error = answer
        else:
            raise answer
