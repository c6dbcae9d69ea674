"""Outputs that look tokenised: what sacrebleu would say of them reaches the pages."""

from io import StringIO

import pytest
import sacrebleu
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import reverse

from annotation.models import Output, PublishedScore, TestSet
from metrics import registry
from metrics.contents import find_tokenised
from metrics.models import MetricRun
from metrics.runs import scoring, starting
from metrics.scores import system_scores
from tests.metrics.commands.test_score_command import score as score_by_command
from tests.world import make_campaign, make_test_set

LOOKS = "look tokenised"


@pytest.fixture
def test_set(db: None) -> TestSet:
    """A hundred segments; the outputs of one system end as tokenised text does."""
    made = make_test_set("dockside", segments=100, systems=("spaced", "plain"))
    spaced = Output.objects.filter(system__name="spaced")
    spaced.update(text=Concat(F("text"), Value(" .")))
    return made


def score(test_set: TestSet, *metrics: str) -> list[MetricRun]:
    started = starting.start(test_set=test_set, metrics=metrics, enqueue=False).runs
    for run in started:
        scoring.drain(run.pk, worker="test")
    return started


def texts(test_set: TestSet, system: str) -> tuple[list[str], list[str]]:
    outputs = Output.objects.filter(system__test_set=test_set, system__name=system)
    rows = outputs.order_by("segment").values_list("text", "segment__references__text")
    hypotheses, references = zip(*rows, strict=True)
    return list(hypotheses), list(references)


@pytest.mark.parametrize("n_left_out", [0, 1])
@pytest.mark.parametrize("system", ["spaced", "plain"])
def test_it_warns_where_sacrebleu_does(
    test_set: TestSet, logged: StringIO, system: str, n_left_out: int
) -> None:
    left_out = test_set.segments.filter(position__lt=n_left_out)
    Output.objects.filter(segment__in=left_out).delete()
    hypotheses, references = texts(test_set, system)
    sacrebleu.corpus_bleu(hypotheses, [references])
    theirs = "forgot to detokenize" in logged.getvalue()
    found = find_tokenised(test_set.systems.filter(name=system))
    assert bool(found) == theirs == (system == "spaced" and not n_left_out)
    if found:
        assert found[0].code == "tokenised_outputs"
        assert "spaced (100 outputs)" in str(found[0].message)


def test_scores_of_bleu_carry_it_and_others_do_not(test_set: TestSet) -> None:
    score(test_set, "bleu", "bleu-star", "chrf")
    measures = system_scores(test_set).measures
    assert {key: bool(measure.warnings) for key, measure in measures.items()} == {
        "bleu": True,
        "bleu-star": True,
        "chrf": False,
    }
    only = test_set.systems.filter(name="plain")
    assert not system_scores(test_set, only).measures["bleu"].warnings


def test_words_that_are_cut_at_blanks_are_meant_to_be_tokenised() -> None:
    raw, cut = (
        registry.configure("sentbleu-wmt", "x", "X", {"tokenizer": tokenizer})
        for tokenizer in ("language", "whitespace")
    )
    assert (raw.expects_raw_text, cut.expects_raw_text) == (True, False)


def test_the_page_of_a_run_says_so(test_set: TestSet, as_researcher: Client) -> None:
    bleu, chrf = score(test_set, "bleu", "chrf")
    assert LOOKS in as_researcher.get(bleu.get_absolute_url()).text
    assert LOOKS not in as_researcher.get(chrf.get_absolute_url()).text


def test_the_command_says_so(test_set: TestSet) -> None:
    out = score_by_command("dockside", "--metric", "bleu", "--metric", "sentbleu", "--here")
    assert out.count(LOOKS) == 1


def test_the_correlations_page_says_so(test_set: TestSet, as_researcher: Client) -> None:
    campaign = make_campaign(test_set, "dockside-80", status="closed")
    outputs = Output.objects.filter(system__test_set=test_set)
    PublishedScore.objects.bulk_create(
        PublishedScore(campaign=campaign, output=output, value=output.pk % 7) for output in outputs
    )
    score(test_set, "bleu")
    page = as_researcher.get(reverse("correlations", args=[campaign.slug])).text
    assert LOOKS in page
