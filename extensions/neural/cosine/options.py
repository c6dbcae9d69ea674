"""Describe COSINE of any sentence encoder. Imports neither Django nor torch."""

from extensions.neural.xbertscore.options import COMPARE, COMPARED, REFERENCES
from extensions.neural.xmoverscore.options import LANGUAGE_MODEL, LM_WEIGHT, MAPPING_LABEL
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.options import PRECISION, Option, OptionError, Options, clean_all
from metrics.plugins import Plugin


def make_info(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the cosine and, with a language model, the coupled score and the model's term."""
    compare, checkpoint = str(options["compare"]), str(options["checkpoint"])
    has_lm = bool(options["language-model"])
    return MetricInfo(
        name=name,
        label=label,
        measures=(name, f"{name}-lm", f"{name}-term") if has_lm else (name,),
        measure_labels=(label, f"{label} + LM", f"{label} LM") if has_lm else (label,),
        needs_source=compare == "source",
        needs_reference=compare == "reference",
        queue="gpu",
        description=message(
            "cosine.about",
            "Cosine of the sentence vectors of output and {compared} under {checkpoint}.",
            compared=COMPARED[compare],
            checkpoint=checkpoint,
        ),
        citation="Zhao et al. 2020, On the limitations of cross-lingual encoders as exposed by "
        "reference-free machine translation evaluation",
        shown=(f"{name}-lm",) if has_lm else (),
        checkpoint=checkpoint,
        family="cosine",
        options=tuple(options.items()),
    )


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a configured metric.

    Raises OptionError for a mapping if outputs are compared with references.
    """
    if options["mapping"] and options["compare"] != "source":
        problem = message(
            "cosine.mapping-of-sources",
            "A mapping applies to sources, but this metric compares outputs with references.",
        )
        raise OptionError(problem, "mapping")
    return make_info(name, label, options)


SENTENCE_ENCODER = message("option.sentence-encoder", "Sentence encoder")
SENTENCE_ENCODER_HELP = message(
    "option.sentence-encoder-help",
    "Any model of sentence-transformers, or an encoder whose token vectors are averaged.",
)
PLUGIN = Plugin(
    label=message("family.cosine", "Cosine"),
    description=message(
        "cosine.family", "Cosine of two sentence vectors: output and source or reference."
    ),
    scorer="extensions.neural.cosine.scorer:Cosine",
    options=(
        Option(
            "checkpoint",
            SENTENCE_ENCODER,
            "checkpoint",
            help=SENTENCE_ENCODER_HELP,
        ),
        COMPARE,
        REFERENCES,
        Option(
            "mapping",
            MAPPING_LABEL,
            "file",
            "",
            help=message(
                "cosine.mapping-help",
                "The folder of a mapping that was fitted on sentence vectors; blank for none.",
            ),
        ),
        LANGUAGE_MODEL,
        Option(
            "weight", message("cosine.weight", "Weight of the cosine"), "number", 1.0, minimum=0
        ),
        LM_WEIGHT,
        PRECISION,
    ),
    describe=describe,
)
_LABSE = clean_all(PLUGIN.options, {"checkpoint": "sentence-transformers/LaBSE"})
KNOWN = (make_info("cosine-labse", "Cosine LaBSE", _LABSE),)
