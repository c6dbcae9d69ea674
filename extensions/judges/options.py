"""Describe language models as judges. Neither Django nor torch: web and workers read it."""

from extensions.judges import context, prompts
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.options import Family, Option, OptionError, Options

KEY = "judge"
QUEUE = "judges"
MOST_PASSES = 20
_ERRORS = (("minor", "minor errors"), ("major", "major"), ("critical", "critical"))
_MEASURES = {
    prompts.SPANS: _ERRORS,
    prompts.LINES: _ERRORS,
    prompts.ESA: _ERRORS,
    prompts.PAIRS: (("swayed", "verdicts that the order changes"),),
}


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a judge; raise OptionError for an unknown endpoint or template."""
    endpoint = context.find_endpoint.get()(str(options["endpoint"]))
    template = prompts.find.get()(str(options["template"]))
    if template.kind in prompts.PLAIN and options["structure"] == "schema":
        problem = message(
            "judge.no-schema",
            "The template {template} asks for {kind}, which is no JSON.",
            template=template.key,
            kind=prompts.KINDS[template.kind],
        )
        raise OptionError(problem, "structure")
    columns = [(name, label)]
    if int(options["passes"]) > 1:
        columns.append((f"{name}-spread", f"{label} spread over passes"))
    columns += [
        (f"{name}-{key}", f"{label} {word}") for key, word in _MEASURES.get(template.kind, ())
    ]
    return MetricInfo(
        name=name,
        label=label,
        measures=tuple(key for key, _ in columns),
        measure_labels=tuple(word for _, word in columns),
        shown=(name,),
        needs_source="source" in template.placeholders,
        needs_reference="reference" in template.placeholders,
        queue=QUEUE,
        description=message(
            "judge.about",
            "{model} is asked for {kind}. The texts leave this machine: they are sent to the "
            "endpoint {endpoint}.",
            model=str(options["model"]),
            kind=prompts.KINDS[template.kind],
            endpoint=endpoint.name,
        ),
        citation="Kocmi & Federmann 2023, Large language models are state-of-the-art evaluators "
        "of translation quality",
        family=KEY,
        compares_systems=template.kind in (prompts.PAIRS, prompts.LISTS),
        options=tuple(options.items()),
    )


FAMILY = Family(
    key=KEY,
    label=message("judge.family", "Language model as a judge"),
    description=message(
        "judge.family-about",
        "Asks a model on any OpenAI-compatible server (vLLM, llama.cpp, Ollama, or a paid one) for "
        "a score, for error spans, or for a comparison. The texts leave this machine: they are "
        "sent to the endpoint.",
    ),
    limits=message(
        "limits.judge",
        "Costs money or a large model for each text. Scores fall on few values (Kocmi and "
        "Federmann 2023), depend on prompt and version, and models prefer their own outputs "
        "(Panickssery et al. 2024).",
    ),
    scorer="extensions.judges.scoring.scorer:make",
    support="extensions.judges.support.SUPPORT",
    options=(
        Option(
            "endpoint",
            message("judge.endpoint", "Endpoint"),
            "endpoint",
            help=message("judge.endpoint-help", "The administrator of the site declares them."),
        ),
        Option(
            "model",
            message("judge.model", "Model"),
            "text",
            help=message("judge.model-help", "The name of the model at the endpoint."),
        ),
        Option(
            "template",
            message("judge.template", "Template"),
            "template",
            "error-spans@1",
            help=message("judge.template-help", "The prompt of the judge."),
        ),
        Option(
            "passes",
            message("judge.passes", "Passes"),
            "integer",
            1,
            minimum=1,
            maximum=MOST_PASSES,
            help=message(
                "judge.passes-help",
                "How many times each question is asked, each time with another seed.",
            ),
        ),
        Option(
            "temperature",
            message("judge.temperature", "Temperature"),
            "number",
            0.0,
            minimum=0,
            maximum=2,
            help=message(
                "judge.temperature-help",
                "At 0, a model usually gives the same answer each time. For several passes, use a "
                "higher temperature.",
            ),
            is_rare=True,
        ),
        Option("top_p", "Top p", "number", 1.0, minimum=0, maximum=1, is_rare=True),
        Option(
            "seed",
            message("option.seed", "Seed"),
            "integer",
            1,
            minimum=0,
            maximum=2**31 - 1,
            is_rare=True,
        ),
        Option(
            "sampling",
            message("judge.sampling", "Temperature, top p and seed"),
            "choice",
            "sent",
            choices=("sent", "left out"),
            help=message("judge.sampling-help", "Some hosted models refuse these parameters."),
            is_rare=True,
        ),
        Option(
            "pooling",
            message("judge.pooling", "Pooling of passes"),
            "choice",
            "trimmed mean",
            choices=("trimmed mean", "mean", "median"),
            help=message(
                "judge.pooling-help",
                "The trimmed mean excludes scores beyond two standard deviations.",
            ),
            is_rare=True,
        ),
        Option(
            "structure",
            message("judge.structure", "Structured output"),
            "choice",
            "as the server can",
            choices=("as the server can", "schema", "plain"),
            help=message(
                "judge.structure-help",
                "By default a JSON schema is used if the server supports it.",
            ),
            is_rare=True,
        ),
        Option(
            "limit",
            message("judge.limit", "Maximum tokens of a reply"),
            "integer",
            1024,
            minimum=1,
            maximum=100_000,
            help=message("judge.limit-help", "A longer reply is truncated and counts as missing."),
            is_rare=True,
        ),
        Option(
            "limit_name",
            message("judge.limit-name", "Name of the limit in requests"),
            "choice",
            "max_tokens",
            choices=("max_tokens", "max_completion_tokens"),
            is_rare=True,
        ),
    ),
    describe=describe,
)
