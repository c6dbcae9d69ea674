"""What is asked of a translation: which method, which length, how to search. No torch."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from training.translation.lengths import PIECES, UNITS

CONTROL, PLAIN, EXACT, SOFT, N_BEST, EXTRACT = (
    "control", "plain", "exact", "soft", "n-best", "extract",
)  # fmt: skip
METHODS = {
    CONTROL: "as the model was trained to be told",
    PLAIN: "no length control",
    EXACT: "no end before the wanted length, the end at it",
    SOFT: "a reward for length, found for each sentence",
    N_BEST: "several rewards, then the best output near the wanted length",
    EXTRACT: "a plain translation, then words of it (Translate-then-Summarize)",
}
SOURCE, REFERENCE, TRANSLATION = "source", "reference", "plain"
OF = {
    REFERENCE: "the reference (an oracle: nobody has it when translating)",
    SOURCE: "the source",
    TRANSLATION: "a plain translation by the same model",
}
ORACLE = (
    "The wanted lengths are shares of the reference, which nobody has when translating: an oracle."
)
MOST_BEAMS = 64


@dataclass(frozen=True)
class Request:
    """How to translate. `share` is the wanted length as a share of the length of what `of` says, in
    `unit`. `metric` ranks n-best lists, within `tolerance` of the wanted length; `language_model`
    judges how fluent extracts are."""

    method: str
    share: Decimal
    of: str = REFERENCE
    unit: str = PIECES
    beam: int = 4
    tolerance: float = 0.1
    metric: str = ""
    language_model: str = ""
    seed: int = 0

    @property
    def asks_for_length(self) -> bool:
        """Whether outputs have a wanted length."""
        return self.method != PLAIN

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"share": str(self.share)}

    def wrong(self) -> dict[str, str]:
        """Return what cannot be asked, by field."""
        found = {}
        for field, known in (("method", METHODS), ("of", OF), ("unit", UNITS)):
            if getattr(self, field) not in known:
                found[field] = f"choose one of {', '.join(known)}."
        if not Decimal("0.05") <= self.share <= 5:
            found["share"] = f"a share of 0.05 to 5 can be asked for, not {self.share}."
        if self.method == PLAIN and self.share != 1:
            found["share"] = "a plain translation has no wanted length: its share is 1."
        if not 1 <= self.beam <= MOST_BEAMS:
            found["beam"] = f"1 to {MOST_BEAMS} beams."
        if self.method == CONTROL and self.unit != PIECES:
            found["unit"] = "a trained control counts pieces."
        if self.method == EXTRACT and not self.language_model:
            found["language_model"] = "extracts need a causal language model."
        if self.metric and self.method != N_BEST:
            found["metric"] = "a metric ranks n-best lists only."
        if not 0 <= self.tolerance < 1:
            found["tolerance"] = "a share below 1."
        return found


def from_json(values: dict[str, Any]) -> Request:
    """The inverse of `as_json`."""
    return Request(**values | {"share": Decimal(values["share"])})
