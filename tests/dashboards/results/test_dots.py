"""The marks of the first page's figures: what is seen and what is heard of each."""

from dashboards.charts.dots import Dot, axis
from dashboards.templatetags.results import dot


def test_an_undefined_value_is_a_dash_to_see_and_a_word_to_hear() -> None:
    """An empty cell would look as if nobody had asked."""
    scale = axis([0.1, 0.5])
    undefined, known = dot(Dot(), scale), dot(scale.dot(0.3, 0.2, 0.4), scale)
    assert ">–</text>" in undefined
    assert "<circle" not in undefined
    assert ">undefined</span>" in undefined
    assert ">.30</text>" in known
    assert "<circle" in known
    assert ">.30, .20 to .40</span>" in known
