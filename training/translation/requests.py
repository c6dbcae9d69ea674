"""Requests for translations: method, length and search. Imports no torch."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from metaeval.messages import Message, message
from training.translation.lengths import PIECES, UNITS

CONTROL, PLAIN, EXACT, SOFT, N_BEST, EXTRACT = (
    "control", "plain", "exact", "soft", "n-best", "extract",
)  # fmt: skip
METHODS = {
    CONTROL: message("method.control", "the length control that the model was trained with"),
    PLAIN: message("method.plain", "no length control"),
    EXACT: message("method.exact", "the output ends exactly at the target length"),
    SOFT: message("method.soft", "a length reward, tuned for each sentence"),
    N_BEST: message(
        "method.n-best", "several length rewards, then the best output near the target length"
    ),
    EXTRACT: message(
        "method.extract",
        "a plain translation, then a selection of its words (Translate-then-Summarize)",
    ),
}
SOURCE, REFERENCE, TRANSLATION = "source", "reference", "plain"
OF = {
    REFERENCE: message(
        "length-of.reference", "the reference (an oracle: not available when translating)"
    ),
    SOURCE: message("length-of.source", "the source"),
    TRANSLATION: message("length-of.plain", "a plain translation by the same model"),
}
ORACLE = message(
    "translation.oracle",
    "The target lengths are ratios of the reference length. This is an oracle: references are not "
    "available when translating.",
)
MOST_BEAMS = 64


@dataclass(frozen=True)
class Request:
    """How to translate.

    `share` is the target length divided by the length of what `of` names, in `unit`. `metric`
    ranks n-best lists within `tolerance` of the target length; `language_model` scores the fluency
    of extracts.
    """

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
        """Return True if outputs have a target length."""
        return self.method != PLAIN

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"share": str(self.share)}

    def errors(self) -> dict[str, Message]:
        """Return the error of each field that has one."""
        found = {}
        for field, known in (("method", METHODS), ("of", OF), ("unit", UNITS)):
            if getattr(self, field) not in known:
                found[field] = message(
                    "request.choice", "Choose one of: {choices}.", choices=list(known)
                )
        if not Decimal("0.05") <= self.share <= 5:
            found["share"] = message(
                "request.ratio-out-of-range",
                "The length ratio must be from 0.05 to 5, not {ratio}.",
                ratio=str(self.share),
            )
        if self.method == PLAIN and self.share != 1:
            found["share"] = message(
                "request.plain-ratio",
                "A plain translation has no target length. Its length ratio must be 1.",
            )
        if not 1 <= self.beam <= MOST_BEAMS:
            found["beam"] = message(
                "request.beams", "The number of beams must be from 1 to {most}.", most=MOST_BEAMS
            )
        if self.method == CONTROL and self.unit != PIECES:
            found["unit"] = message(
                "request.control-unit", "A trained length control counts pieces. Choose pieces."
            )
        if self.method == EXTRACT and not self.language_model:
            found["language_model"] = message(
                "request.no-language-model", "Extracts need a causal language model."
            )
        if self.metric and self.method != N_BEST:
            found["metric"] = message(
                "request.metric-without-list", "A metric can only rank n-best lists."
            )
        if not 0 <= self.tolerance < 1:
            found["tolerance"] = message(
                "request.tolerance", "The tolerance must be at least 0 and below 1."
            )
        return found


def from_json(values: dict[str, Any]) -> Request:
    """Return the request that `as_json` wrote."""
    return Request(**values | {"share": Decimal(values["share"])})


def no_control(model: str) -> Message:
    """Return the message that a model was trained without a length control."""
    return message(
        "translation.no-control",
        "{model} was not trained with a length control. Choose another method.",
        model=model,
    )


def needs_length(model: str) -> Message:
    """Return the message that a model with a length control needs a target length."""
    return message(
        "translation.needs-length",
        "{model} was trained with a length control and needs a target length.",
        model=model,
    )


def no_decoder(model: str) -> Message:
    """Return the message that a checkpoint cannot translate."""
    return message(
        "translation.no-decoder", "{model} has no decoder and cannot translate.", model=model
    )


def not_loaded(model: str, reason: Message | str) -> Message:
    """Return the message that a checkpoint cannot be loaded."""
    return message(
        "translation.not-loaded", "{model} cannot be loaded: {reason}", model=model, reason=reason
    )
