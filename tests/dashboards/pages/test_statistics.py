"""Questions in addresses: what is understood, what is refused, and that keys fit their column."""

import pytest
from django.http import QueryDict

from annotation.filters import FilterError
from dashboards.comparisons.statistics import STATISTICS, Question, from_query, parse
from dashboards.documents.kinds import KINDS
from dashboards.models import Analysis
from tests.refusals import refused


def test_keys_come_back_and_fit_the_column() -> None:
    length = Analysis._meta.get_field("kind").max_length
    for statistic in STATISTICS.values():
        for grouping in statistic.groupings:
            for test in statistic.tests:
                question = Question(statistic, grouping, test)
                assert parse(question.key) == question
                for kind in KINDS:
                    assert len(f"{kind}:{question.key}") <= length


def test_missing_parts_are_defaults() -> None:
    assert parse("tau-b").key == "tau-b/none/segments"
    assert parse("acc-eq").grouping == "item"
    assert parse("hybrids").test == "zou"


@pytest.mark.parametrize(
    ("key", "part"),
    [("tau-d", "statistic"), ("tau-b/day", "grouping"), ("spa/none/zou", "test")],
)
def test_unknown_parts_are_refused(key: str, part: str) -> None:
    with refused(f"question.unknown-{part}", kind=FilterError):
        parse(key)


def test_a_form_may_send_what_no_longer_fits() -> None:
    asked = from_query(QueryDict("statistic=spa&grouping=item&test=zou"), "tau-b")
    assert asked.key == "spa/none/perm"
    assert from_query(QueryDict(""), "tau-b").key == "tau-b/none/segments"
    with refused("question.unknown-statistic", kind=FilterError, value="x"):
        from_query(QueryDict("statistic=x"), "tau-b")
    for name in ("grouping", "test"):
        with refused("choice.not-one-of", kind=FilterError, parameter=name, value="x"):
            from_query(QueryDict(f"{name}=x"), "tau-b")
