"""What an admin can set of a metric family, as data: forms, checks and help follow from it.

Pure: neither Django nor torch. A family's module ``options.py`` holds one :class:`Family`.
"""

import contextvars
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from metaeval.messages import Message
from metrics.base import MetricError, MetricInfo, OptionValue
from metrics.checkpoints import places

Kind = Literal[
    "text", "integer", "number", "boolean", "choice", "checkpoint", "file", "endpoint", "template"
]
Options = Mapping[str, OptionValue]
Given = Iterable[tuple[str, OptionValue]]


@dataclass(frozen=True)
class Option:
    """One setting. ``default`` None means that a value must be given.

    A ``checkpoint`` is a hub's name or a local directory, a ``file`` an absolute path or empty; an
    ``endpoint`` and a ``template`` are chosen from what the family's support knows.
    What few people change, whatever its kind, ``is_rare``.
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
        """Whether a form shows it at once: it has to be given, or says what the metric is.

        The others fine-tune, as those that ``is_rare`` marks; their defaults are what the
        literature uses.
        """
        if self.is_rare:
            return False
        names_the_metric = self.kind in (
            *("checkpoint", "choice", "integer", "boolean", "template"),
        )
        is_telling = names_the_metric and self.default != "" and not self.is_rare
        return self.default is None or is_telling


@dataclass(frozen=True)
class Family:
    """A kind of metric that can be configured.

    ``scorer`` is the dotted path of the class, ``describe`` turns (name, label, checked options)
    into a :class:`MetricInfo` and raises ValueError with a sentence where they do not fit together.
    ``packages`` are imported by the scorer besides those of every encoder. ``support`` is the
    dotted path of what the family does around its scorer (:class:`metrics.support.Support`).
    """

    key: str
    label: str
    description: Message | str
    scorer: str
    options: tuple[Option, ...]
    describe: Callable[[str, str, Options], MetricInfo]
    packages: tuple[str, ...] = ()
    support: str = ""


PRECISION = Option(
    "precision",
    "Precision",
    "choice",
    "float32",
    choices=("float32", "tf32", "bfloat16", "int8"),
    help="In which the model computes. bfloat16 and tf32 are faster on a GPU and change scores; "
    "tf32 needs an NVIDIA GPU. With int8, large models take a quarter of the memory.",
    is_rare=True,
)


def precision_of(info: MetricInfo) -> str:
    """Return the precision that was chosen for a metric; ``float32`` where nobody was asked."""
    return str(dict(info.options).get(PRECISION.name, PRECISION.default))


def clean(family: Family, given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return every option with a value of its kind; ValueError names the option at fault."""
    unknown = sorted(set(given) - {option.name for option in family.options})
    if unknown:
        raise ValueError(f"{family.label} has no option {', '.join(unknown)}.")
    return clean_all(family.options, given)


def clean_all(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, OptionValue]:
    """Return every option with a value of its kind; ValueError names the option at fault."""
    return {option.name: _clean(option, given.get(option.name)) for option in options}


def _clean(option: Option, value: Any) -> OptionValue:
    if value is None or value == "":
        if option.default is None:
            raise ValueError(f"{option.label}: a value is needed.")
        return option.default
    try:
        cleaned = _CONVERT[option.kind](value)
    except (TypeError, ValueError):
        raise ValueError(f"{option.label}: {value!r} is not {_MEANT[option.kind]}.") from None
    _check(option, cleaned)
    return cleaned


def _check(option: Option, value: OptionValue) -> None:
    if option.choices and value not in option.choices:
        raise ValueError(f"{option.label}: choose one of {', '.join(option.choices)}.")
    if option.kind in ("integer", "number"):
        if option.minimum is not None and float(value) < option.minimum:
            raise ValueError(f"{option.label}: at least {option.minimum:g}.")
        if option.maximum is not None and float(value) > option.maximum:
            raise ValueError(f"{option.label}: at most {option.maximum:g}.")
    if option.kind == "file" and not Path(str(value)).is_absolute():
        raise ValueError(f"{option.label}: give an absolute path.")


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
_MEANT = {"integer": "a whole number", "number": "a number", "boolean": "yes or no"}


def _nobody_knows(checkpoint: str) -> int | None:
    return None


# Who is asked for the layers of an encoder that only other machines have.
layers_elsewhere: contextvars.ContextVar[Callable[[str], int | None]] = contextvars.ContextVar(
    "layers_elsewhere", default=_nobody_knows
)


def count_layers(checkpoint: str) -> int:
    """Return how many hidden states an encoder has, embeddings included, from its config.json.

    Where it is not on this machine, :data:`layers_elsewhere` is asked.

    Raises :class:`metrics.base.MetricError` where the checkpoint is missing and ValueError where
    its configuration does not say.
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
        raise ValueError(f"The config.json of {checkpoint} cannot be read.") from error
    # As transformers' configurations name it: BERT, BART, DistilBERT, GPT-2 and XLM.
    for key in ("num_hidden_layers", "encoder_layers", "n_layers", "n_layer", "num_layers"):
        if isinstance(config.get(key), int):
            return int(config[key]) + 1
    raise ValueError(f"The config.json of {checkpoint} does not say how many layers it has.")


def check_layer(checkpoint: str, layer: int) -> None:
    """Raise ValueError where an encoder has no such layer; errors as :func:`count_layers`."""
    layers = count_layers(checkpoint)
    if layer >= layers:
        raise ValueError(f"Layer: {checkpoint} has layers 0 to {layers - 1}.")
