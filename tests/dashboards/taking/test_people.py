"""Annotators in a report: few one by one, many in groups."""

from dashboards.report.parts import MANY, Person, Range, groups_of


def person(label: str, **changed: object) -> Person:
    about = {
        "is_excluded": False, "n": 10, "mean": 50.0, "sd": 5.0, "seconds": 20.0, "r": 0.5,
        "r_with": 0.6,
    }  # fmt: skip
    return Person(label, **about | changed)  # type: ignore[arg-type]


def test_few_are_listed_one_by_one() -> None:
    assert groups_of([person(str(n)) for n in range(MANY)]) == []


def test_each_of_many_is_in_the_first_group_that_fits() -> None:
    people = [
        person("out", is_excluded=True, r=None),
        person("lone", r=None, mean=80.0),
        person("idle", n=0, r=None, mean=None, seconds=None),
        person("odd", r=-0.1),
        *(person(f"S{n}", mean=40.0 + n, r=0.1 * (n + 1)) for n in range(9)),
    ]
    found = {group.label.code: group for group in groups_of(people)}
    assert [group.names[0] for group in found.values()] == ["out", "S0", "odd", "lone", "idle"]
    agreeing = found["group.agrees"]
    assert (agreeing.n, agreeing.judgments) == (9, 90)
    assert agreeing.scores == Range(44.0, 40.0, 48.0)
    assert agreeing.names == [f"S{n}" for n in range(9)]
    assert found["group.no-judgments"].scores == Range()
