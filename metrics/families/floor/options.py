"""Describe baselines. Imports neither Django nor torch: web and workers read it."""

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.options import Family, Option, Options

KEY = "floor"
RANDOM = "random"
OUTPUT, SOURCE, RATIO = "output-length", "source-length", "length-ratio"
DESCRIPTIONS = {
    RANDOM: message(
        "baseline.random-about",
        "A random number per content; equal texts get equal numbers. A metric that is not better "
        "than this baseline does not measure quality.",
    ),
    OUTPUT: message(
        "baseline.output-length-about",
        "The number of characters of the output. A metric that is not better than this baseline "
        "does not measure quality.",
    ),
    SOURCE: message(
        "baseline.source-length-about",
        "Minus the number of characters of the source, because short sources are easy to "
        "translate. A metric that is not better than this baseline does not measure quality.",
    ),
    RATIO: message(
        "baseline.length-ratio-about",
        "Characters of the output divided by characters of the source. A metric that is not better "
        "than this baseline does not measure quality.",
    ),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a baseline; none of them reads a reference."""
    kind = str(options["kind"])
    return one_measure(
        name,
        label,
        needs_source=kind in (SOURCE, RATIO, RANDOM),
        needs_reference=False,
        description=DESCRIPTIONS[kind],
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        family=KEY,
        options=tuple(options.items()),
    )


FAMILY = Family(
    key=KEY,
    label=message("baseline.family", "Baseline: random numbers or lengths"),
    description=message(
        "baseline.family-about",
        "Scores that do not depend on the quality of a translation. A useful metric must be better "
        "than each of them.",
    ),
    scorer="metrics.families.floor.scorer:Floor",
    options=(
        Option(
            "kind",
            message("baseline.kind", "Kind of baseline"),
            "choice",
            choices=tuple(DESCRIPTIONS),
        ),
        Option(
            "seed",
            message("option.seed", "Seed"),
            "integer",
            1,
            minimum=0,
            help=message("baseline.seed-help", "The seed of random numbers."),
            is_rare=True,
        ),
    ),
    describe=describe,
)
