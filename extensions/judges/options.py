"""Any language model as a judge. Neither Django nor torch nor a client: web and workers read it."""

from extensions.judges import desk, prompts
from metrics.base import MetricInfo
from metrics.options import Family, Option, Options

KEY = "judge"
QUEUE = "judges"
MOST_PASSES = 20
_MEASURES = {
    prompts.SCORE: (),
    prompts.SPANS: (("minor", "minor errors"), ("major", "major"), ("critical", "critical")),
    prompts.PAIRS: (("swayed", "verdicts that the order changes"),),
    prompts.LISTS: (),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a judge; ValueError for an endpoint or a template that is not there."""
    endpoint = desk.find_endpoint.get()(str(options["endpoint"]))
    template = prompts.find.get()(str(options["template"]))
    columns = [(name, label)]
    if int(options["passes"]) > 1:
        columns.append((f"{name}-spread", f"{label} spread over passes"))
    columns += [(f"{name}-{key}", f"{label} {word}") for key, word in _MEASURES[template.kind]]
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(key for key, _ in columns),
        measure_labels=tuple(word for _, word in columns),
        shown=(name,),
        needs_source="source" in template.placeholders,
        needs_reference="reference" in template.placeholders,
        queue=QUEUE,
        description=f"{options['model']} is asked for {prompts.KINDS[template.kind]}. The texts "
        f"leave this machine: they are sent to the endpoint {endpoint.name}.",
        citation="Kocmi & Federmann 2023, Large language models are state-of-the-art evaluators "
        "of translation quality",
        family=KEY,
        compares_systems=template.kind in (prompts.PAIRS, prompts.LISTS),
        options=tuple(options.items()),
    )


FAMILY = Family(
    key=KEY,
    label="Language model as a judge",
    description="Asks a model on any OpenAI-compatible server (vLLM, llama.cpp, Ollama, or a paid "
    "one) for a score, for error spans, or for a comparison. The texts leave this machine: they "
    "are sent to the endpoint.",
    scorer="extensions.judges.scoring.scorer:make",
    support="extensions.judges.support.SUPPORT",
    options=(
        Option("endpoint", "Endpoint", "endpoint", help="The site's admin declares endpoints."),
        Option("model", "Model", "text", help="As the endpoint calls it."),
        Option("template", "Template", "template", "error-spans@1", help="What it is asked."),
        Option(
            "passes", "Passes", "integer", 1, minimum=1, maximum=MOST_PASSES,
            help="How often each question is asked, each time with another seed.",
        ),
        Option(
            "temperature", "Temperature", "number", 0.0, minimum=0, maximum=2,
            help="At 0 a model mostly gives the same answer; several passes want more.",
            is_rare=True,
        ),
        Option("top_p", "Top p", "number", 1.0, minimum=0, maximum=1, is_rare=True),
        Option("seed", "Seed", "integer", 1, minimum=0, maximum=2**31 - 1, is_rare=True),
        Option(
            "sampling", "Temperature, top p and seed", "choice", "sent",
            choices=("sent", "left out"), help="Some hosted models refuse them.", is_rare=True,
        ),
        Option(
            "pooling", "Passes are pooled by", "choice", "trimmed mean",
            choices=("trimmed mean", "mean", "median"),
            help="Trimmed: without those beyond two standard deviations.", is_rare=True,
        ),
        Option(
            "structure", "Structured output", "choice", "as the server can",
            choices=("as the server can", "schema", "plain"),
            help="A JSON schema where the server has it.", is_rare=True,
        ),
        Option(
            "limit", "Tokens of a reply", "integer", 1024, minimum=1, maximum=100_000,
            help="At most; what is longer is cut and counts as missing.", is_rare=True,
        ),
        Option(
            "limit_name", "The limit is sent as", "choice", "max_tokens",
            choices=("max_tokens", "max_completion_tokens"), is_rare=True,
        ),
    ),
    describe=describe,
)  # fmt: skip
