"""Starting an analysis: all of it or nothing, once, with sentences for what does not fit."""

import pytest
from django.core.exceptions import ValidationError

from annotation.models import Reference, TestSet
from tests.training.doing import refused
from tests.world import make_test_set
from training.models import PreferenceFile, TrainingJob
from training.perturbations.files import GivenFile
from training.preferences import starting

TEXTS = GivenFile("texts.txt", b"f e d c b a\na b c d\n\na b c\n")


def start(test_set: TestSet, **changes: object) -> tuple[TrainingJob, bool]:
    wanted = {"metrics": ["ordered"], "conditions": ["reorder", "texts"], "files": {"texts": TEXTS}}
    return starting.start(test_set=test_set, enqueue=False, **(wanted | changes))


def test_what_is_started_is_stored_with_its_files(harbour: TestSet) -> None:
    job, is_new = start(harbour, seed=7)
    assert is_new
    assert job.options == {
        "test_set": "harbour", "metrics": "ordered", "conditions": "reorder,texts", "seed": 7,
        "queue": "cpu",
    }  # fmt: skip
    assert job.queue == "cpu"
    assert starting.files_of(job.pk) == {"texts": TEXTS}
    assert starting.under_way(harbour) == [job]


def test_the_same_is_not_started_twice_at_once(harbour: TestSet) -> None:
    job, _ = start(harbour)
    assert start(harbour) == (job, False)
    assert start(harbour, seed=1)[1]
    assert start(harbour, files={"texts": GivenFile("other", b"f\na b\n\na b c\n")})[1]
    TrainingJob.objects.update(status="done")
    assert start(harbour)[1]


def test_a_file_of_a_condition_that_was_not_chosen_is_not_stored(harbour: TestSet) -> None:
    start(harbour, conditions=["reorder"])
    assert not PreferenceFile.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"metrics": []}, "metrics", "no-metric-chosen"),
        ({"metrics": ["meteor"]}, "metrics", "no-metric"),
        ({"metrics": ["compared"]}, "metrics", "one-reference"),
        ({"conditions": []}, "conditions", "no-condition-chosen"),
        ({"files": {}}, "texts", "needs-file"),
        ({"files": {"texts": GivenFile("t", b"one\n")}}, "texts", "file-length"),
        (
            {"conditions": ["word-by-word"], "files": {"word-by-word": GivenFile("w", b"a\t\n")}},
            "word-by-word",
            "translation-empty",
        ),
        (
            {"conditions": ["source-order"],
             "files": {"source-order": GivenFile("l", b"0-0\n0-9\n\n\n")}},
            "source-order",
            "link",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_starts_nothing(
    harbour: TestSet, changes: dict, field: str, code: str
) -> None:
    with pytest.raises(ValidationError) as found:
        start(harbour, **changes)
    codes = [each.message.code for each in found.value.error_dict[field]]
    assert [each.partition(".")[2] for each in codes] == [code]
    assert not TrainingJob.objects.exists()
    assert not PreferenceFile.objects.exists()


def test_a_second_reference_lets_metrics_compare(harbour: TestSet) -> None:
    Reference.objects.create(segment=harbour.segments.first(), name="B", text="b")
    assert start(harbour, metrics=["compared"])[1]


@pytest.mark.django_db
def test_without_references_there_is_nothing_to_alter() -> None:
    with refused("preferences.no-references", ValidationError):
        start(make_test_set(references=False))
