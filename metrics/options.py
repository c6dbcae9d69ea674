"""Describe the options of a metric family, as data for forms, checks and help.

Pure: neither Django nor torch. The module ``options.py`` of a family defines one :class:`Family`.
"""

import contextvars
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from metaeval.messages import Message, MessageError, message
from metrics.base import MetricError, MetricInfo, OptionValue
from metrics.checkpoints import places

Kind = Literal[
    "text", "integer", "number", "boolean", "choice", "checkpoint", "file", "endpoint", "template"
]
Options = Mapping[str, OptionValue]
Given = Iterable[tuple[str, OptionValue]]


class OptionError(MessageError, ValueError):
    """The value of an option is wrong, or options contradict each other.

    ``problem`` describes the error; ``option`` is the name of the option, or empty if several are
    concerned. As a string the error begins with that name.
    """

    def __init__(self, problem: Message, option: str = "") -> None:
        named = message("option.problem", "{option}: {problem}", option=option, problem=problem)
        super().__init__(named if option else problem)
        self.problem, self.option = problem, option


@dataclass(frozen=True)
class Option:
    """One setting. ``default`` None means that a value is required.

    A ``checkpoint`` is a name on the hub or a local directory, a ``file`` an absolute path or
    empty; an ``endpoint`` and a ``template`` are chosen from those that the support of the family
    lists. ``is_rare`` marks options that few people change. Labels and help are messages, or text
    that is shown as it is.
    """

    name: str
    label: Message | str
    kind: Kind
    default: OptionValue | None = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    help: Message | str = ""
    is_rare: bool = False

    @property
    def is_main(self) -> bool:
        """Return True if a form shows it at once: it is required, or identifies the metric.

        The others fine-tune; their defaults are those of the literature.
        """
        if self.is_rare:
            return False
        names_the_metric = self.kind in (
            *("checkpoint", "choice", "integer", "boolean", "template"),
        )
        return self.default is None or (names_the_metric and self.default != "")


@dataclass(frozen=True)
class Family:
    """A kind of metric that can be configured.

    ``scorer`` is the dotted path of the class. ``describe`` turns (name, label, checked options)
    into a :class:`MetricInfo` and raises :class:`OptionError` if the options contradict each other.
    ``packages`` are imported by the scorer in addition to those of every encoder. ``support`` is
    the dotted path of the family's :class:`metrics.support.Support`. ``limits`` are its size, its
    languages and how it fails, with sources.
    """

    key: str
    label: Message | str
    description: Message | str
    scorer: str
    options: tuple[Option, ...]
    describe: Callable[[str, str, Options], MetricInfo]
    packages: tuple[str, ...] = ()
    support: str = ""
    limits: Message | str = ""


# Texts that several families share.
CHECKPOINT_LABEL = message("option.checkpoint", "Checkpoint")
CHECKPOINT_HELP = message("option.checkpoint-help", "A name on the hub or a local directory.")
ENCODER_LABEL = message("option.encoder", "Encoder")
LAYER_LABEL = message("option.layer", "Layer")
LAYER_HELP = message("option.layer-help", "Layer 0 is the embedding.")
ENCODER_LIMITS = message(
    "limits.encoder",
    "Its size and languages are those of the encoder, such as 178 million weights and 104 "
    "languages of multilingual BERT. Errors in few words change the score little if the texts are "
    "alike otherwise (Hanna and Bojar 2021). Texts that share few words score low (Kaster et al. "
    "2021).",
)
ACROSS_LIMITS = message(
    "limits.across-languages",
    "Its size and languages are those of the encoder. Encoders place languages apart and prefer "
    "literal translations, so that scores may rank word-by-word translations above good ones (Zhao "
    "et al. 2020).",
)
BASELINE_LIMITS = message(
    "limits.baseline",
    "A baseline, which does not measure quality: use it to see what a metric is worth (Perrella et "
    "al. 2024).",
)
PRECISION = Option(
    "precision",
    message("option.precision", "Precision"),
    "choice",
    "float32",
    choices=("float32", "tf32", "bfloat16", "int8"),
    help=message(
        "option.precision-help",
        "The number format of the model. bfloat16 and tf32 are faster on a GPU and change scores; "
        "tf32 needs an NVIDIA GPU. int8 saves little memory (8% at base size) and is "
        "slower than float32 in half of the metric families.",
    ),
    is_rare=True,
)


def precision_of(info: MetricInfo) -> str:
    """Return the precision of a metric; ``float32`` if its family has no such option."""
    return str(dict(info.options).get(PRECISION.name, PRECISION.default))


def clean(family: Family, given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return every option with a value of its kind; raise :class:`OptionError` otherwise."""
    unknown = sorted(set(given) - {option.name for option in family.options})
    if unknown:
        known = [option.name for option in family.options]
        raise OptionError(
            message(
                "option.unknown",
                "{family} has no option {names}. Its options are {known}.",
                family=family.label,
                names=unknown,
                known=known,
            )
        )
    return clean_all(family.options, given)


def clean_all(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return every option with a value of its kind; raise :class:`OptionError` otherwise."""
    return {option.name: _clean(option, given.get(option.name)) for option in options}


def _clean(option: Option, value: Any) -> OptionValue:
    if value is None or value == "":
        if option.default is None:
            raise OptionError(message("option.needed", "Enter a value."), option.name)
        return option.default
    try:
        cleaned = _CONVERT[option.kind](value)
    except (TypeError, ValueError):
        kind = _KINDS[option.kind]
        problem = message("option.kind", "“{value}” is not {kind}.", value=str(value), kind=kind)
        raise OptionError(problem, option.name) from None
    if fault := _fault(option, cleaned):
        raise OptionError(fault, option.name)
    return cleaned


def _fault(option: Option, value: OptionValue) -> Message | None:
    if option.choices and value not in option.choices:
        return message("option.choices", "Choose one of {choices}.", choices=option.choices)
    if option.kind in ("integer", "number"):
        if option.minimum is not None and float(value) < option.minimum:
            return message("option.minimum", "Enter at least {minimum}.", minimum=option.minimum)
        if option.maximum is not None and float(value) > option.maximum:
            return message("option.maximum", "Enter at most {maximum}.", maximum=option.maximum)
    if option.kind == "file" and not Path(str(value)).is_absolute():
        return message("option.absolute-path", "Enter an absolute path.")
    return None


def _boolean(value: Any) -> bool:
    words = {"yes": True, "true": True, "on": True, "no": False, "false": False}
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError
    return int(value)


def _finite(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or number - number != 0:
        raise ValueError
    return number


_CONVERT: dict[str, Callable[[Any], OptionValue]] = {
    "text": str,
    "choice": str,
    "checkpoint": str,
    "file": str,
    "endpoint": str,
    "template": str,
    "integer": _whole,
    "number": _finite,
    "boolean": _boolean,
}
_KINDS = {
    "integer": message("option.kind-integer", "a whole number"),
    "number": message("option.kind-number", "a number"),
    "boolean": message("option.kind-boolean", "yes or no"),
}


def _no_layers(checkpoint: str) -> int | None:
    return None


# Returns the layers of an encoder that only other machines have.
layers_elsewhere: contextvars.ContextVar[Callable[[str], int | None]] = contextvars.ContextVar(
    "layers_elsewhere", default=_no_layers
)


def count_layers(checkpoint: str) -> int:
    """Return the number of hidden states of an encoder, including embeddings, from its config.json.

    If the encoder is not on this machine, :data:`layers_elsewhere` is asked.

    Raises :class:`metrics.base.MetricError` if the checkpoint is missing and :class:`OptionError`
    if its configuration does not contain the number.
    """
    try:
        path = Path(places.find(checkpoint)) / "config.json"
    except MetricError:
        layers = layers_elsewhere.get()(checkpoint)
        if layers is None:
            raise
        return layers
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = message(
            "checkpoint.config-unreadable",
            "The config.json of {checkpoint} cannot be read.",
            checkpoint=checkpoint,
        )
        raise OptionError(problem) from error
    # As transformers' configurations name it: BERT, BART, DistilBERT, GPT-2 and XLM.
    for key in ("num_hidden_layers", "encoder_layers", "n_layers", "n_layer", "num_layers"):
        if isinstance(config.get(key), int):
            return int(config[key]) + 1
    raise OptionError(
        message(
            "checkpoint.layers-unknown",
            "The config.json of {checkpoint} does not give the number of layers.",
            checkpoint=checkpoint,
        )
    )


def check_layer(checkpoint: str, layer: int) -> int:
    """Raise :class:`OptionError` if an encoder lacks this layer; return its number of layers."""
    layers = count_layers(checkpoint)
    if layer >= layers:
        problem = message(
            "checkpoint.layers",
            "{checkpoint} has layers 0 to {last}.",
            checkpoint=checkpoint,
            last=layers - 1,
        )
        raise OptionError(problem, "layer")
    return layers
