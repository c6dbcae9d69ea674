"""What judges do around their scorers: endpoints, accounts, desks (:mod:`metrics.support`)."""

from collections.abc import Iterator
from contextlib import contextmanager

from annotation.models import TestSet
from extensions.judges import desk, endpoints, prompts, spending, templates
from extensions.judges.desk import NeedsDesk
from extensions.judges.replies import RunDesk
from extensions.judges.spending import Estimate
from metrics.base import InputError, Metric, MetricInfo
from metrics.models import MetricRun
from metrics.options import Option
from metrics.support import Budget, Support, binding


class JudgeSupport(Support):
    """Judges ask an endpoint, which may cost something, and only a run may ask."""

    has_budget = True

    @contextmanager
    def known(self) -> Iterator[None]:
        """Let descriptions and scorers find the endpoints and templates of this installation."""
        with binding(desk.find_endpoint, endpoints.get), binding(prompts.find, templates.get):
            yield

    def choices(self, option: Option) -> list[tuple[str, str]]:
        """Return the endpoints or the templates; without any the field stays empty."""
        if option.kind == "endpoint":
            return [(name, name) for name in endpoints.declared()]
        if option.kind == "template":
            found = templates.all_templates()
            return [(key, f"{key}: {prompts.KINDS[each.kind]}") for key, each in found.items()]
        return []

    def lacking(self, info: MetricInfo) -> list[str]:
        """Say where the endpoint or its key is missing."""
        sentence = endpoints.lacking(str(info.option("endpoint")))
        return [sentence] if sentence else []

    def estimate(self, info: MetricInfo, test_set: TestSet) -> Estimate | None:
        """Estimate questions, tokens and money."""
        return spending.estimate(info, test_set)

    def refusal(self, info: MetricInfo, budget: Budget) -> str:
        """Say where endpoint, template or budget are missing."""
        return spending.refusal(info, budget)

    def started(self, run: MetricRun, info: MetricInfo, budget: Budget) -> None:
        """Open the account of a run."""
        spending.open_account(run, info, budget)

    def attach(self, metric: Metric, run: int | None) -> None:
        """Give a judge the desk of its run, where its replies are stored and counted."""
        if not isinstance(metric, NeedsDesk):
            return
        if run is None:
            raise InputError(f"{metric.info.label} asks an endpoint, which only a run may do.")
        metric.sit(RunDesk(metric.info, run))

    def end_seconds(self, info: MetricInfo) -> float:
        """Wait for the replies that are on their way: they are paid for."""
        return endpoints.longest_reply(info)


SUPPORT = JudgeSupport()
