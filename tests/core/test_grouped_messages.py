"""Pages show warnings that differ in a name as one about all of these names."""

import re

from metaeval.messages import grouped, message
from tests.house.test_messages import calls

# What pages list as warnings is written here.
FOLDERS = (
    "metaeval/correlation/", "metaeval/judgments/", "metaeval/replication/", "metaeval/systems/",
    "dashboards/correlations/", "dashboards/panel/",
)  # fmt: skip
SINGULAR = re.compile(r"\{(metric|annotator|system)\}”? (was|is|has|does|needs|lacks)\b|\bits?\b")
NAMED = re.compile(r"\{(metric|annotator|system)\}")


def test_warnings_on_one_name_suit_several() -> None:
    wrong = [
        f"{call.place}: {pattern}"
        for call in calls()
        if call.place.startswith(FOLDERS)
        for pattern in call.patterns
        if NAMED.search(pattern) and SINGULAR.search(pattern)
    ]
    assert wrong == [], "\n".join(wrong)


def test_another_cause_does_not_keep_the_others_apart() -> None:
    few = message("m.few", "There are only {n} segments.", n=8)
    odd = message("m.odd", "Undefined.")
    known = [
        message("m.of", "{metric}: {warning}", metric=name, warning=odd if name == "c" else few)
        for name in "abcde"
    ]
    assert [each.parameters["metric"] for each in grouped(known)] == [["a", "b", "d", "e"], "c"]


def test_lists_of_names_stay_apart() -> None:
    known = [message("m.list", "{metrics}.", metrics=[name, "x"]) for name in "abc"]
    assert grouped(known) == known
