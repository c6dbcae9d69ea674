"""The table of the WMT metrics tasks: averages as in mt-metrics-eval, computed by hand."""

from dashboards.papers.wmt import Place, Task, wmt_table
from metaeval.messages import Message


def task(name: str, statistic: str, **values: tuple[float | None, int | None]) -> Task:
    places = {key: Place(key.upper(), value, rank) for key, (value, rank) in values.items()}
    return Task(name, statistic, "X of x", "x", places)


def grid(tasks: list[Task]) -> list[list[str]]:
    return [[cell.text for cell in row] for row in wmt_table(tasks, "t").body]


def test_correlations_are_rescaled_and_accuracies_are_not() -> None:
    first = task("en-de", "systems", a=(0.8, 1), b=(0.9, 1), c=(0.2, 3))
    second = task("zh-en", "acc-eq", a=(0.6, 1), b=(0.5, 2), d=(0.4, None))
    # a: (0.9 + 0.6) / 2, b: (0.95 + 0.5) / 2.
    assert grid([first, second]) == [
        ["A", "1.0", "0.750", "1", "0.800", "1", "0.600"],
        ["B", "1.5", "0.725", "1", "0.900", "2", "0.500"],
    ]
    found = wmt_table([first, second], "t")
    assert [str(each) for each in found.below] == ["Not in all campaigns: C and D."]
    assert [cell.span for cell in found.head[0]] == [1, 2, 2, 2]


def test_one_task_has_no_average_and_no_rank_that_is_not_supported() -> None:
    assert grid([task("en-de", "pa", a=(0.5, None), b=(0.7, None), c=(None, None))]) == [
        ["B", "–", "0.700"],
        ["A", "–", "0.500"],
    ]


def test_what_has_no_value_is_named_and_methods_go_with_the_table() -> None:
    found = wmt_table([task("en-de", "pa", a=(0.5, None), b=(None, None))], "t", ["How."])
    ((without,), (first, *methods)) = found.below, found.caption
    assert (without.code, without.parameters["metrics"]) == ("wmt.undefined", ["B"])
    assert isinstance(first, Message)
    assert (first.parameters["statistics"], methods) == (["X of x"], ["How."])
