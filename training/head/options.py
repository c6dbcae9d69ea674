"""Settings of supervised heads and sentinels. Imports no torch: pages read this module."""

from collections.abc import Mapping
from typing import Any

from extensions.neural.trained.options import LENGTHS, OUTPUT, READS
from metaeval.messages import Message, message
from metrics.options import Option
from training.contract import SEED, no_campaign

OPTIONS = (
    Option(
        "campaign",
        message("head.campaign", "Campaign"),
        "text",
        help=message(
            "head.campaign-help",
            "The short name of the campaign whose judgments are used for training.",
        ),
    ),
    Option(
        "encoder",
        message("head.encoder", "Encoder"),
        "checkpoint",
        "xlm-roberta-base",
        help=message(
            "head.encoder-help",
            "The encoder itself is not trained. The folder of a ReFreeEval training works well.",
        ),
    ),
    Option(
        "layers",
        message("head.layers", "Layers"),
        "text",
        "9",
        help=message("head.layers-help", "Numbers separated by commas, such as 6,9."),
    ),
    Option(
        "held_out",
        message("head.held-out", "Held-out share"),
        "number",
        0.3,
        minimum=0.1,
        maximum=0.5,
        help=message(
            "head.held-out-help",
            "Share of source texts that are held out. Results are reported on these.",
        ),
    ),
    Option("seed", SEED, "integer", 42, minimum=0),
)

SENTINEL = (
    Option(
        "campaign",
        message("head.campaign", "Campaign"),
        "text",
        help=message(
            "head.campaign-help",
            "The short name of the campaign whose judgments are used for training.",
        ),
    ),
    Option(
        "reads",
        message("head.reads", "Reads"),
        "choice",
        OUTPUT,
        choices=READS,
        help=message("head.reads-help", "The only texts that the sentinel reads."),
    ),
    Option(
        "encoder",
        message("head.encoder", "Encoder"),
        "checkpoint",
        "xlm-roberta-base",
        help=message(
            "head.encoder-help-2",
            "The encoder itself is not trained; texts are read as sentence vectors. Not used for "
            "lengths.",
        ),
    ),
    Option("seed", SEED, "integer", 42, minimum=0),
)


def sentinel_checkpoints(chosen: Mapping[str, Any]) -> list[str]:
    """Return the encoder that a sentinel needs; empty if it reads lengths only."""
    return [] if chosen["reads"] == LENGTHS else [str(chosen["encoder"])]


def conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the errors of the layers and of the campaign, by the name of their setting."""
    parts = [part.strip() for part in str(chosen["layers"]).split(",")]
    wrong = {} if all(map(str.isdecimal, parts)) else {"layers": layers_error(chosen["layers"])}
    return wrong | campaign_conflicts(chosen)


def campaign_conflicts(chosen: Mapping[str, Any]) -> dict[str, Message]:
    """Return the message that the campaign does not exist, by the name of its setting."""
    from annotation.models import Campaign

    slug = str(chosen["campaign"])
    return {} if Campaign.objects.filter(slug=slug).exists() else {"campaign": no_campaign(slug)}


def layers_error(given: object) -> Message:
    """Return the error of layers that are not numbers separated by commas."""
    return message(
        "head.layers-invalid",
        "Enter layers as numbers separated by commas, such as 6,9, not “{given}”.",
        given=str(given),
    )
