"""Replies as models write them: the checks of the specification, and what must not be believed."""

import json

import pytest

from extensions.judges import prompts
from extensions.judges.prompts import Template
from extensions.judges.scoring import reading
from extensions.judges.scoring.answering import seed_of
from extensions.judges.scoring.reading import Error, UnusableError
from metrics.error_spans import FoundSpan
from tests.metaeval.published import DATA

CHECKS = json.loads((DATA.parent / "specs/spans-checks.json").read_text(encoding="utf-8"))["checks"]
GEMBA = {each["id"]: each for each in CHECKS if each["measure"] == "gemba-mqm-answer"}
# Where the published parser is wrong: it cuts after five errors, or takes for perfect what is none.
OURS = {"g03": -6.0, "g05": None, "g06": None}


@pytest.mark.parametrize("name", GEMBA)
def test_the_answers_of_the_specification(name: str) -> None:
    check = GEMBA[name]
    wanted = OURS.get(name, check["expected"])
    if wanted is None:
        with pytest.raises(UnusableError):
            reading.read(prompts.SPANS, check["answer"])
    else:
        assert reading.read(prompts.SPANS, check["answer"]).score == wanted


@pytest.mark.parametrize(
    ("text", "score"),
    [("85", 85), ("85.5", 85.5), ("85 out of 100", 85), ("85/100", 85), ("Score: 85.", 85),
     ("**85**", 85), ('{"score": 0}', 0), ('```json\n{"score": 100}\n```', 100),
     ('Sure! {"score": 7} is my verdict.', 7), ('{"score": "85"}', 85), ('{"score": "85/100"}', 85),
     ('<think>maybe {"score": 3}</think>{"score": 9}', 9)],
)  # fmt: skip
def test_numbers(text: str, score: float) -> None:
    assert reading.read(prompts.SCORE, text).score == score


@pytest.mark.parametrize(
    "text",
    ["-5", "101", "80 or 90", "around 80", "得分：八十", "{}", '{"score": "good"}',
     '{"score": true}', '{"score": NaN}', '{"score": 1}{"score": 2}',
     '{"score": 12', "I cannot help with that."],
)  # fmt: skip
def test_what_is_no_score(text: str) -> None:
    with pytest.raises(UnusableError):
        reading.read(prompts.SCORE, text)


def errors(*severities: str, **fields: object) -> str:
    return json.dumps({"errors": [{"span": "x", "severity": s} | fields for s in severities]})


@pytest.mark.parametrize(
    ("text", "score"),
    [(errors(), 0), (errors("minor", "MAJOR"), -6), (errors("critical", "minor"), -25),
     (errors(*["major"] * 6), -25),
     ("Critical:\nno-error\nMajor:\nno-error\nMinor:\nno-error", 0)],
)  # fmt: skip
def test_penalties(text: str, score: float) -> None:
    found = reading.read(prompts.SPANS, text)
    assert (found.score, str(found.score)[0] == "-") == (score, score < 0)


@pytest.mark.parametrize(
    "text",
    [errors("schwer"), errors("minor", side="left"), errors("minor", span=3), '{"errors": "none"}',
     '{"errors": [1]}', "no errors", "Major:\nno-error", "", '{"fehler": []}', "null"],
)  # fmt: skip
def test_what_is_no_list_of_errors(text: str) -> None:
    with pytest.raises(UnusableError):
        reading.read(prompts.SPANS, text)


def test_pairs_and_lists() -> None:
    assert dict(reading.read(prompts.PAIRS, '{"better": "B"}').ranks) == {"A": 2, "B": 1}
    assert dict(reading.read(prompts.PAIRS, "tie").ranks) == {"A": 1, "B": 1}
    ranks = reading.read(prompts.LISTS, '{"ranks": {"B": 1, "A": 2}}', "AB").ranks
    assert ranks == (("A", 2), ("B", 1))
    for wrong in ('{"ranks": {"A": 1}}', '{"ranks": {"A": 1, "B": 3}}', "B, A"):
        with pytest.raises(UnusableError):
            reading.read(prompts.LISTS, wrong, "AB")
    with pytest.raises(UnusableError):
        reading.read(prompts.PAIRS, "both")


def place(text: str, *quotes: tuple[str, str], source: str = "") -> list[tuple[int, int]]:
    named = [Error("minor", "", span, context) for span, context in quotes]
    return [(span.start, span.end) for span in reading.place(named, source, text)]


def test_quotes_are_found_where_they_stand() -> None:
    text = "the cat saw the dog"
    assert place(text, ("dog", "")) == [(16, 19)]
    assert place(text, ("the", "saw the dog")) == [(12, 15)]
    # The same quote twice: two places, then the first again.
    assert place(text, ("the", ""), ("the", ""), ("the", "")) == [(0, 3), (12, 15), (0, 3)]
    assert place(text, ("THE DOG", "")) == [(12, 19)]
    assert place(text, ("bird", ""), ("", "")) == [(0, 0), (0, 0)]


def test_places_are_those_of_the_text_as_it_is_stored() -> None:
    decomposed = "un cafe\u0301 noir"
    assert place(decomposed, ("caf\u00e9", "")) == [(3, 8)]
    assert place("Die Straße 😀 Ende", ("STRASSE", ""), ("ende", "")) == [(4, 10), (13, 17)]


def test_an_omission_is_placed_in_the_source() -> None:
    [found] = reading.place(
        [Error("major", "accuracy/omission", "two", side="missing")], "one two", "x"
    )
    assert found == FoundSpan("missing", 4, 7, "major", "accuracy/omission")


def test_passes_are_pooled() -> None:
    # Mean 18, standard deviation 24.0 (ddof 0): 90 is 72 away from it, more than twice that.
    assert reading.pool([10] * 9 + [90], "trimmed mean") == 10
    assert reading.pool([10] * 9 + [90], "mean") == 18
    assert reading.pool([1, 2, 9], "median") == 2
    assert reading.spread([1, 3]) == pytest.approx(2**0.5)
    assert reading.spread([4]) == 0


def test_spans_of_half_the_passes_are_kept() -> None:
    a, b = FoundSpan("target", 0, 3, "major", "style"), FoundSpan("target", 4, 5, "minor")
    other = FoundSpan("target", 0, 3, "major", "grammar")
    kept = reading.agreed([[a, b], [a], [other], [a]])
    assert kept == [FoundSpan("target", 0, 3, "major", "style", 1.0)]
    assert reading.agreed([[a, b]]) == [a, b]


def test_placeholders_are_filled_once() -> None:
    template = Template("t", 1, prompts.SCORE, "", 'Rate {output}. {source} {"score": 1} {2}')
    template.check()
    [message] = template.messages({"output": "{source}", "source": "S"})
    assert message["content"] == 'Rate {source}. S {"score": 1} {2}'


def test_built_in_templates_are_sound() -> None:
    for template in prompts.BUILT_IN.values():
        template.check()


def test_passes_have_seeds_of_their_own() -> None:
    seeds = [seed_of(1, number) for number in range(20)]
    assert seeds[0] == 1
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)
