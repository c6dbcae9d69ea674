import pytest

from metrics.templatetags.run_numbers import duration, money, percent, rate


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"),
     (3600, "1 h 0 min"), (7500, "2 h 5 min"), (-3, "0 s")],
)  # fmt: skip
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("per_second", "text"), [(None, ""), (4536.4, "4,536/s"), (0.351, "0.35/s"), (9.96, "10/s")]
)
def test_rates(per_second: float | None, text: str) -> None:
    assert rate(per_second) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0.00"),
        (0.004, "0.0040"),
        (0.00042, "0.00042"),
        (3.5, "3.50"),
        (12.345, "12.35"),
        (0.056, "0.056"),
    ],
)
def test_amounts_of_money_are_never_rounded_to_nothing(amount: float, text: str) -> None:
    assert money(amount) == text


def test_percentages() -> None:
    assert (percent("0.80"), percent("1.00"), percent("0.125")) == ("80%", "100%", "12.5%")
