"""Support of judges around their scorers (:mod:`metrics.support`)."""

from collections.abc import Iterator
from contextlib import contextmanager

from annotation.models import TestSet
from extensions.judges import context, endpoints, prompts, spending, templates
from extensions.judges.context import NeedsContext
from extensions.judges.replies import RunContext
from extensions.judges.spending import Estimate
from metaeval.messages import Message, message
from metrics.base import InputError, Metric, MetricInfo
from metrics.models import MetricRun
from metrics.options import Option
from metrics.support import Budget, Support, binding


class JudgeSupport(Support):
    """Judges send requests to an endpoint, which may cost money and needs a run."""

    has_budget = True

    @contextmanager
    def known(self) -> Iterator[None]:
        """Let descriptions and scorers find the endpoints and templates of this installation."""
        with binding(context.find_endpoint, endpoints.get), binding(prompts.find, templates.get):
            yield

    def choices(self, option: Option) -> list[tuple[str, Message | str]]:
        """Return the endpoints or the templates; without any the field stays empty."""
        if option.kind == "endpoint":
            return [(name, name) for name in endpoints.declared()]
        if option.kind == "template":
            found = templates.all_templates()
            return [
                (
                    key,
                    message(
                        "judge.template-choice",
                        "{template}: {kind}",
                        template=key,
                        kind=prompts.KINDS[each.kind],
                    ),
                )
                for key, each in found.items()
            ]
        return []

    def lacking(self, info: MetricInfo) -> list[Message]:
        """Return the message that the endpoint or its key is missing."""
        problem = endpoints.lacking(str(info.option("endpoint")))
        return [problem] if problem else []

    def estimate(self, info: MetricInfo, test_set: TestSet) -> Estimate | None:
        """Estimate questions, tokens and money."""
        return spending.estimate(info, test_set)

    def refusal(self, info: MetricInfo, budget: Budget) -> Message | None:
        """Return the message that endpoint, template or budget is missing."""
        return spending.refusal(info, budget)

    def started(self, run: MetricRun, info: MetricInfo, budget: Budget) -> None:
        """Open the account of a run."""
        spending.open_account(run, info, budget)

    def attach(self, metric: Metric, run: int | None) -> None:
        """Give a judge the context of its run, which stores and counts its replies."""
        if not isinstance(metric, NeedsContext):
            return
        if run is None:
            problem = message(
                "judge.needs-run",
                "{metric} sends requests to an endpoint and can be used in a run only.",
                metric=metric.info.label,
            )
            raise InputError(problem)
        metric.attach(RunContext(metric.info, run))

    def end_seconds(self, info: MetricInfo) -> float:
        """Wait for replies to requests that were sent, because they cost money."""
        return endpoints.longest_reply(info)


SUPPORT = JudgeSupport()
