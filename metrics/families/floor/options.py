"""What a floor can be. Neither Django nor torch: web and workers read it."""

from metrics.base import MetricInfo, one_measure
from metrics.options import Family, Option, Options

KEY = "floor"
RANDOM = "random"
OUTPUT, SOURCE, RATIO = "output-length", "source-length", "length-ratio"
TOLD = {
    RANDOM: "A number drawn for each content: equal texts get equal numbers.",
    OUTPUT: "How many characters the output has: how far length alone goes.",
    SOURCE: "How many characters the source lacks: short sources are easy, whatever the output.",
    RATIO: "Characters of the output over those of the source.",
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a floor; none of them reads a reference."""
    kind = str(options["kind"])
    return one_measure(
        name,
        label,
        needs_source=kind in (SOURCE, RATIO, RANDOM),
        needs_reference=False,
        description=f"{TOLD[kind]} A metric that is no better has found nothing.",
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        family=KEY,
        options=tuple(options.items()),
    )


FAMILY = Family(
    key=KEY,
    label="Floor: random numbers or lengths",
    description="Rows for every table that judge no translation: what a metric has to beat.",
    scorer="metrics.families.floor.scorer:Floor",
    options=(
        Option("kind", "What it gives", "choice", choices=tuple(TOLD)),
        Option("seed", "Seed", "integer", 1, minimum=0, help="Of the random one.", is_rare=True),
    ),
    describe=describe,
)
