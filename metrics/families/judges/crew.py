"""Threads that ask, one connection each, while the caller stores what they bring."""

import time
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread

from metrics.families.judges.client import Client, StoppedError
from metrics.families.judges.desk import Question, Reply
from metrics.families.judges.purse import Purse

# As many answers are stored at once as are there; the first is waited for so long, and while many
# questions are open others for a moment, so that storing takes nothing from the asking.
WAIT_SECONDS, GATHER_SECONDS, MOST_AT_ONCE = 1.0, 0.02, 256
# So many seconds of questions are kept ready, so that nobody waits while others are prepared.
AHEAD_SECONDS = 2.0
Answered = tuple[Question, Reply | Exception]


class Crew:
    """`n` threads over one list of questions, which may grow while they work."""

    def __init__(self, client: Client, purse: Purse, questions: Iterable[Question], n: int) -> None:
        self._client, self._purse = client, purse
        self._waiting: SimpleQueue[Question | None] = SimpleQueue()
        self._answers: SimpleQueue[Answered] = SimpleQueue()
        self._n_open = 0
        self.extend(questions)
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(n)]
        self._began, self._n_answered = time.monotonic(), 0

    @property
    def n_wanted(self) -> int:
        """How many questions more should wait; 0 while half of what should is there."""
        rate = self._n_answered / max(time.monotonic() - self._began, 1e-3)
        ahead = max(2 * len(self._threads), int(AHEAD_SECONDS * rate))
        waiting = self._n_open - len(self._threads)
        return ahead - max(waiting, 0) if waiting < ahead / 2 else 0

    def extend(self, questions: Iterable[Question]) -> None:
        """Ask these, too."""
        for question in questions:
            self.add(question)

    def add(self, question: Question) -> None:
        """Ask this, too."""
        self._n_open += 1
        self._waiting.put(question)

    def answers(self, beat: Callable[[], None]) -> Iterator[list[Answered]]:
        """Yield answers as they come, until nothing is open; `beat` is called in between.

        At first, and after a second without any, there are none.
        """
        self._client.stopping.clear()
        for thread in self._threads:
            thread.start()
        try:
            yield []
            while self._n_open:
                beat()
                found = self._gather()
                self._n_open -= len(found)
                self._n_answered += len(found)
                yield found
        finally:
            self.stop()
            for _ in self._threads:
                self._waiting.put(None)

    def stop(self) -> None:
        """Ask nothing more: what is on its way is waited for, the rest answered by StoppedError."""
        self._purse.close()
        self._client.stopping.set()

    def _gather(self) -> list[Answered]:
        found: list[Answered] = []
        try:
            found.append(self._answers.get(timeout=WAIT_SECONDS))
            if self._n_open > len(self._threads):
                time.sleep(GATHER_SECONDS)
            while len(found) < MOST_AT_ONCE:
                found.append(self._answers.get_nowait())
        except Empty:
            pass
        return found

    def _work(self) -> None:
        while (question := self._waiting.get()) is not None:
            if not self._purse.reserve(question):
                self._answers.put((question, StoppedError()))
                continue
            try:
                answer: Reply | Exception = self._client.ask(question.body)
            except Exception as error:  # a thread that dies would be waited for in vain
                answer = error
            self._answers.put((question, answer))
