"""The registry: consistent, lazily imported, clear about what is missing."""

import subprocess
import sys
from collections import Counter

import pytest

from metrics import registry
from metrics.base import MetricError
from metrics.registry import METRICS, get_info, load
from tests.refusals import refused

STUDY = {"bleu-star", "sentbleu", "chrf", "ter", "rouge"}
LEXICAL = [name for name, (info, _) in METRICS.items() if not info.checkpoint]


def test_keys_are_the_names_of_the_metrics():
    assert [info.name for info, _ in METRICS.values()] == list(METRICS)
    assert set(METRICS) >= STUDY


def test_measures_and_labels_are_unique_over_all_metrics():
    for field in ("measures", "measure_labels"):
        names = Counter(name for info, _ in METRICS.values() for name in getattr(info, field))
        assert [name for name, count in names.items() if count > 1] == []


def test_rouge_has_the_nine_measures_in_order():
    assert get_info("rouge").measures == tuple(
        f"rouge{kind}-{measure}" for kind in "12l" for measure in "prf"
    )


def test_of_lexical_metrics_only_ter_is_better_lower():
    assert [name for name in LEXICAL if not get_info(name).higher_is_better] == ["ter"]


@pytest.mark.parametrize("name", LEXICAL)
def test_every_metric_loads_with_its_info(name):
    metric = load(name, source_language="en", target_language="zh")
    assert metric.info is get_info(name)
    assert metric.signature().startswith(f"{name}|")
    assert len(metric.signature()) <= 400


def test_signatures_differ_between_metrics_and_tokenizers():
    signatures = [
        load(name, source_language="en", target_language=language).signature()
        for name in LEXICAL
        for language in ("en", "zh")
    ]
    # chrF, chrF++ and ROUGE over all characters do the same in every language
    assert len(set(signatures)) == 2 * len(LEXICAL) - 3


def test_importing_the_registry_imports_no_metric():
    code = (
        "import sys, metrics.registry;"
        "print(sorted({'sacrebleu', 'torch', 'django', 'regex'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_name_lists_the_known_ones():
    with refused("metric.unknown-of", kind=MetricError, metric="meteor") as caught:
        get_info("meteor")
    assert caught.value.message.parameters["known"][:2] == ["bleu-star", "bleu"]
    assert caught.value.permanent
    with refused("metric.unknown-of", kind=MetricError, metric="meteor") as caught:
        load("meteor", source_language="en", target_language="de")
    assert caught.value.message.parameters["known"][:2] == ["bleu-star", "bleu"]


def test_missing_package_is_named(monkeypatch):
    info = get_info("bleu")
    monkeypatch.setitem(registry.METRICS, "bleu", (info, "absent_package.module:Metric"))
    with refused(
        "metric.needs-package", kind=MetricError, metric="BLEU", package="absent_package"
    ) as caught:
        load("bleu", source_language="en", target_language="de")
    assert caught.value.permanent


def test_every_family_says_how_it_fails():
    assert [key for key in registry.FAMILIES if not registry.get_family(key).limits] == []
