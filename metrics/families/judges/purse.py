"""A budget that is spent on many questions at once: nothing is asked that could exceed it."""

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
        self._prompts = self._characters = self._counted = 0.0

    def fill(self, tokens: float | None, money: float | None) -> None:
        """Say what is left by the rows, where what was settled counts already."""
        self._tokens, self._money = tokens, money

    @property
    def is_untouched(self) -> bool:
        """Whether nothing is reserved: what cannot be paid now never can."""
        return not self._reserved

    def reserve(self, question: Question) -> bool:
        """Reserve what a question may take; whether there is as much."""
        prompt = question.n_characters * self._rate
        if is_payable := self._fits(self._prompts + prompt):
            self._reserved[question.key] = prompt
            self._prompts += prompt
        return is_payable

    @property
    def _rate(self) -> float:
        return self._counted / self._characters if self._characters else TOKENS_A_CHARACTER

    def _fits(self, prompts: float) -> bool:
        replies = self._limit * (1 + len(self._reserved))
        if self._tokens is not None and prompts + replies > self._tokens:
            return False
        return self._money is None or self._endpoint.cost(prompts, replies) <= self._money

    def settle(self, question: Question, prompt_tokens: int) -> None:
        """A question is answered, counted and stored, or will not be; 0 where nothing was said."""
        self._prompts -= self._reserved.pop(question.key, 0.0)
        if prompt_tokens:
            self._counted += prompt_tokens
            self._characters += question.n_characters
