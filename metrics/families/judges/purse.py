"""A budget that several threads spend: nothing is asked that could exceed it."""

from threading import Condition

from metrics.families.judges.desk import Endpoint, Question

# Tokens for a character before the server has counted any: too many rather than too few.
TOKENS_A_CHARACTER = 0.5


class Purse:
    """What may still be spent, in tokens, in money, or without limit (None).

    A question is reserved at its worst, a reply of the longest kind, and settled at what it took.
    """

    def __init__(self, endpoint: Endpoint, limit: int) -> None:
        self._endpoint, self._limit = endpoint, limit
        self._tokens: float | None = None
        self._money: float | None = None
        self._reserved: dict[str, float] = {}
        self._characters = self._counted = 0.0
        self._is_closed = False
        self._changed = Condition()

    def fill(self, tokens: float | None, money: float | None) -> None:
        """Say what is left by the rows, where what was settled counts already."""
        with self._changed:
            self._tokens, self._money = tokens, money
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any more: nothing else is asked."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def reserve(self, question: Question) -> bool:
        """Wait until a question can be paid; False where it cannot, or the purse is closed."""
        prompt = question.n_characters * self._rate
        with self._changed:
            while not self._is_closed:
                if self._fits(prompt):
                    self._reserved[question.key] = prompt
                    return True
                if not self._reserved:
                    return False
                self._changed.wait()
        return False

    @property
    def _rate(self) -> float:
        return self._counted / self._characters if self._characters else TOKENS_A_CHARACTER

    def _fits(self, prompt: float) -> bool:
        prompts = prompt + sum(self._reserved.values())
        replies = self._limit * (1 + len(self._reserved))
        if self._tokens is not None and prompts + replies > self._tokens:
            return False
        return self._money is None or self._endpoint.cost(prompts, replies) <= self._money

    def settle(self, question: Question, prompt_tokens: int) -> None:
        """A question is answered, counted and stored, or will not be; 0 where nothing was said."""
        with self._changed:
            self._reserved.pop(question.key, None)
            if prompt_tokens:
                self._counted += prompt_tokens
                self._characters += question.n_characters
            self._changed.notify_all()
