"""Documents with the values that a test names, and neutral others."""

from collections.abc import Sequence
from typing import Any

from dashboards.comparisons.document import Comparison, Metric
from dashboards.documents.reasons import CampaignTrust, Verdict, fields_of
from dashboards.systems.columns import Column, Row
from dashboards.systems.document import Systems
from dashboards.systems.outside import Lengths
from metaeval.messages import message
from metaeval.replication.questions.statistics import SEGMENT

HEAD = {
    "campaign": "c",
    "name": "Campaign",
    "direction": "en-zh",
    "length_ratio": "1.00",
    "origin": "collected",
    "human_scores": message("human.z-scores", "z-scores"),
}
ASKED = HEAD | {
    "statistic": "tau-b",
    "statistic_label": message("statistic.tau-b", "Kendall τ-b"),
    "level": SEGMENT,
    "grouping": "none",
    "test": "perm",
    "is_of_draws": False,
    "n_outputs": 500,
    "n_judged": 500,
    "seed": 1,
}


def metric(key: str, value: float | None = 0.5, **given: Any) -> Metric:
    about = {"label": key.upper(), "metric": key, "signature": key, "origin": "computed"}
    return Metric(**{"key": key, "value": value, "is_turned": False} | about | given)


def comparison(**given: Any) -> Comparison:
    return Comparison(**ASKED | given)


def trusted(verdict: Verdict = Verdict.NO_LIMITS, **given: Any) -> CampaignTrust:
    amount = {"n_systems": 10, "n_segments": 200, "n_informative": 200}
    about = {"campaign": "c", "name": "Campaign"}
    return CampaignTrust(**fields_of(verdict, []) | about | amount | given)


def row(measure: str, system: str, place: int, **given: Any) -> Row:
    about = {"measure": measure, "system": system, "score": 1.0, "rank": place + 1, "n": 10}
    return Row(**about | given)


def column(rows: Sequence[Row], **given: Any) -> Column:
    about = {"key": "m", "label": "M", "signature": "m", "origin": "computed", "is_turned": False}
    kind = {"is_given": False, "is_corpus": False, "is_even": True, "span": "", "compared_span": ""}
    numbers = {"tau": 1.0, "accuracy": 1.0, "accuracy_ends": None, "n_systems": len(rows), "n": 10}
    return Column(rows=rows, compared=(), **about | kind | numbers | given)


def systems(**given: Any) -> Systems:
    about = {"has_published_systems": False, "versus": "next", "test": "rank-sum", "seed": 1}
    empty = dict.fromkeys(("basis", "systems", "human", "columns", "agreement", "rows"), ())
    return Systems(**HEAD | about | empty | {"lengths": Lengths("words", "reference")} | given)
