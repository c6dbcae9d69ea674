"""What can be set of a supervised head. No torch: the page reads it."""

from metrics.options import Option

OPTIONS = (
    Option("campaign", "Campaign", "text", help="Its slug: whose judgments are learned from."),
    Option(
        "encoder",
        "Encoder",
        "checkpoint",
        "xlm-roberta-base",
        help="Stays as it is; a ReFreeEval training's directory works well.",
    ),
    Option("layers", "Layers", "text", "9", help="Numbers and commas, such as 6,9."),
    Option(
        "held_out",
        "Share held out",
        "number",
        0.3,
        minimum=0.1,
        maximum=0.5,
        help="Of source texts; what is reported comes from these.",
    ),
    Option("seed", "Seed", "integer", 42, minimum=0),
)
