"""Estimate and count the costs of a judge's run."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Output, Reference, System, TestSet
from extensions.judges import endpoints, prompts, templates
from extensions.judges.context import Endpoint
from extensions.judges.options import KEY
from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.models import JudgeSpending, MetricRun
from metrics.options import OptionError
from metrics.support import Budget

# Until a model has answered here: tokens for a character of a prompt, and tokens of a reply.
TOKENS_A_CHARACTER = 0.3
TOKENS_A_REPLY = {
    **{prompts.SCORE: 12, prompts.SPANS: 160, prompts.PAIRS: 10, prompts.LISTS: 60},
    **{prompts.STARS: 5, prompts.CLASSES: 10, prompts.LINES: 80, prompts.ESA: 90},
}


@dataclass(frozen=True)
class Estimate:
    """The costs of scoring all texts again; `is_seen` if they are based on replies of the model."""

    calls: int
    prompt_tokens: float
    completion_tokens: float
    endpoint: Endpoint
    is_seen: bool

    @property
    def tokens(self) -> int:
        """All tokens."""
        return round(self.prompt_tokens + self.completion_tokens)

    @property
    def money(self) -> float:
        """What they cost, in the endpoint's currency."""
        return self.endpoint.cost(self.prompt_tokens, self.completion_tokens)


def open_account(run: MetricRun, info: MetricInfo, budget: Budget) -> None:
    """Create the row that counts the costs of a judge's run; none for other metrics."""
    if info.family != KEY:
        return
    endpoint = endpoints.get(str(info.option("endpoint")))
    JudgeSpending.objects.create(
        run=run,
        endpoint=endpoint.name,
        model=str(info.option("model")),
        currency=endpoint.currency,
        prompt_price=endpoint.prompt_price,
        completion_price=endpoint.completion_price,
        priced_on=endpoint.priced_on,
        budget_money=budget.money if endpoint.is_paid else None,
        budget_tokens=budget.tokens,
    )


def refusal(info: MetricInfo, budget: Budget) -> Message | None:
    """Return why a judge cannot start; None where it can, and for other metrics."""
    if info.family != KEY:
        return None
    try:
        endpoint = endpoints.get(str(info.option("endpoint")))
        templates.get(str(info.option("template")))
    except OptionError as error:
        return message(
            "judge.refused", "{metric}: {problem}", metric=info.label, problem=error.problem
        )
    if endpoint.is_paid and budget.is_empty:
        return message(
            "judge.no-budget", "{metric} costs money. Enter a budget for it.", metric=info.label
        )
    return None


def estimate(
    info: MetricInfo, test_set: TestSet, systems: Sequence[System] | None = None
) -> Estimate | None:
    """Estimate what a judge costs over a test set; None for other metrics and lost endpoints.

    Lengths are counted by the database; tokens for a character and tokens of a reply are what this
    model took here so far, else rough.
    """
    if info.family != KEY or refusal(info, Budget(tokens=1)):
        return None
    template = templates.get(str(info.option("template")))
    outputs = Output.objects.filter(segment__test_set=test_set).order_by()
    if systems is not None:
        outputs = outputs.filter(system__in=systems)
    calls, characters = _volume(template, outputs, test_set)
    passes = int(info.option("passes"))
    a_character, a_reply, is_seen = _rates(info, template.kind)
    return Estimate(
        calls * passes,
        characters * passes * a_character,
        calls * passes * a_reply,
        endpoints.get(str(info.option("endpoint"))),
        is_seen,
    )


def _volume(
    template: prompts.Template, outputs: QuerySet[Output], test_set: TestSet
) -> tuple[int, float]:
    """Return how many questions a pass has, and the characters of all their prompts."""
    # The two questions of ESA share the characters of their texts.
    frame = template.n_characters / (2 if template.kind == prompts.ESA else 1)
    reference = _mean_reference(test_set) if "reference" in template.placeholders else 0.0
    per_segment = outputs.values("segment").annotate(
        n=Count("content_key", distinct=True),
        length=Sum(Length("text")),
        n_rows=Count("pk"),
        source=Length("segment__source"),
    )
    calls, characters = 0, 0.0
    for row in per_segment.iterator():
        n, mean = row["n"], row["length"] / row["n_rows"]
        asked, shown = _asked(template.kind, n)
        calls += asked
        characters += asked * (frame + row["source"] + reference + shown * mean)
    return calls, characters


def _asked(kind: str, n: int) -> tuple[int, int]:
    """Return how many questions a segment of n outputs has, and the outputs that each shows."""
    if kind == prompts.PAIRS:
        return n * (n - 1), 2
    if kind == prompts.ESA:
        return 2 * n, 1
    return (int(n > 1), n) if kind == prompts.LISTS else (n, 1)


def _mean_reference(test_set: TestSet) -> float:
    rows = Reference.objects.filter(segment__test_set=test_set)
    found = rows.aggregate(n=Count("pk"), length=Sum(Length("text")))
    return found["length"] / found["n"] if found["n"] else 0.0


def _rates(info: MetricInfo, kind: str) -> tuple[float, float, bool]:
    """Return tokens a character, tokens a reply, and whether they were seen."""
    rows = JudgeSpending.objects.filter(run__metric=info.name, calls__gt=0)
    seen = rows.aggregate(
        *(Sum(name) for name in ("calls", "characters", "prompt_tokens", "completion_tokens"))
    )
    if not seen["calls__sum"] or not seen["characters__sum"]:
        return TOKENS_A_CHARACTER, TOKENS_A_REPLY[kind], False
    a_character = seen["prompt_tokens__sum"] / seen["characters__sum"]
    return a_character, seen["completion_tokens__sum"] / seen["calls__sum"], True


def projected(run: MetricRun) -> float | None:
    """Return the tokens that a run will have taken at its end, by those of its answered texts."""
    spending = JudgeSpending.objects.filter(run=run).first()
    scored = run.done - run.reused
    if spending is None or not scored or not spending.calls:
        return None
    return spending.tokens * (1 + run.left / scored)
