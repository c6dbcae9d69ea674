"""In which precision models compute: float32 unless an admin chose otherwise, on every device."""

import contextlib
import re
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import numpy as np
import pytest
import torch
from django.core.management import call_command
from django.test import Client

from benchmarks.gpu import small
from extensions.neural import lm
from extensions.neural.checkpoints import bleurt as bleurt
from extensions.neural.checkpoints import comet_loading as comet
from extensions.neural.encoding import encoders, memory, precision, token_vectors
from extensions.neural.encoding.precision import computing
from metrics import catalogue, registry
from metrics.base import Metric, MetricError, one_measure
from metrics.options import precision_of
from tests.extensions.neural.reference_free import INPUTS as ALL
from tests.extensions.neural.reference_free import TEXTS, make
from tests.refusals import refused

INPUTS = ALL[::3]
ON_ENCODER: dict[str, dict[str, Any]] = {
    "bertscore": {"layer": 2},
    "moverscore": {},
    "xmoverscore": {"layer": 2},
    "xbertscore": {"layer": 2},
    "yisi": {"layer": 2, "compare": "source"},
    "cosine": {},
    "sentsim": {"layer": 2},
}


@pytest.fixture(autouse=True)
def _nothing_resident() -> Iterator[None]:
    token_vectors.forget()
    encoders.forget()
    yield
    token_vectors.forget()
    encoders.forget()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A checkpoint of every kind; wide weights, so that rounding shows."""
    base, sizes = tmp_path_factory.mktemp("models"), {"initializer_range": 0.2}
    encoder = small.bert(base / "bert", TEXTS, **sizes)
    xlmr = small.xlm_roberta(base / "xlmr", TEXTS * 4, **sizes)
    return {
        "encoder": str(encoder),
        "comet": str(small.comet(base / "comet", xlmr)),
        "xcomet": str(small.comet(base / "xcomet", xlmr, "xcomet_metric", word_layer=3)),
        "bleurt": str(small.bleurt(base / "bleurt", TEXTS * 4, **sizes)),
        "gpt2": str(small.gpt2_with_head(base / "gpt2", TEXTS * 4)),
    }


def metric(folders: dict[str, str], family: str, **chosen: str) -> Metric:
    if family in ON_ENCODER:
        given = ON_ENCODER[family] | {"checkpoint": folders["encoder"]}
        if family == "sentsim":
            given["encoder"] = folders["encoder"]
        return make(family, **given, **chosen)
    return make("comet" if "comet" in family else family, checkpoint=folders[family], **chosen)


def test_every_family_with_a_model_has_the_option_and_no_other() -> None:
    for key in registry.FAMILIES:
        options = {option.name: option for option in registry.get_family(key).options}
        assert ("precision" in options) == ("checkpoint" in options), key
        if "precision" in options:
            assert options["precision"].default == "float32"
            assert options["precision"].choices == ("float32", "tf32", "bfloat16", "int8")


def test_a_metric_that_was_configured_without_the_option_computes_in_float32() -> None:
    info = one_measure("old", "Old", needs_source=True, needs_reference=True)
    assert precision_of(info) == "float32"
    assert {precision_of(info) for info, _ in registry.METRICS.values()} == {"float32"}


@pytest.mark.parametrize("kind", ["encoder", "comet", "bleurt", "lm"])
def test_a_gpu_computes_in_float32_by_default(
    folders: dict[str, str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[memory.ModelSpec] = []
    monkeypatch.setattr(encoders, "best_device", lambda: "cuda")
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    monkeypatch.setattr(memory, "get", lambda spec, *_: asked.append(spec))
    load: Callable[[], Any] = {
        "encoder": lambda: encoders.get(folders["encoder"]),
        "comet": lambda: comet.get(folders["comet"]),
        "bleurt": lambda: bleurt.get(folders["bleurt"]),
        "lm": lambda: lm.get(folders["gpt2"]),
    }[kind]
    load()
    assert [(spec.device, spec.precision) for spec in asked] == [("cuda", "float32")]


@pytest.mark.parametrize("family", [*ON_ENCODER, "comet", "xcomet", "bleurt"])
@pytest.mark.parametrize("chosen", ["bfloat16", "int8"])
def test_less_is_chosen_and_in_the_signature(
    folders: dict[str, str], family: str, chosen: str
) -> None:
    exact, rounded = metric(folders, family), metric(folders, family, precision=chosen)
    assert "|precision:float32|torch:" in exact.signature()
    expected = exact.signature().replace("precision:float32", f"precision:{chosen}")
    assert re.sub(r"\|bitsandbytes:[^|]*", "", rounded.signature()) == expected
    assert ("|bitsandbytes:0.50|" in rounded.signature()) == (chosen == "int8")
    before, after = exact.score(INPUTS), rounded.score(INPUTS)
    spread = before.std(axis=0).max()
    # Eight bits in place of 24: seen in the scores, and not another score.
    assert 1e-6 * spread < np.abs(after - before).max() < spread
    # Nothing of the one is left over for the other.
    again = metric(folders, family).score(INPUTS)
    np.testing.assert_allclose(again, before, rtol=0, atol=1e-5)


def test_the_signature_names_the_releases_that_change_values(folders: dict[str, str]) -> None:
    import transformers

    signature = metric(folders, "bertscore").signature()
    for package in (torch, transformers):
        release = ".".join(package.__version__.split(".")[:2])
        assert f"|{package.__name__}:{release}|" in signature


@pytest.mark.parametrize("family", ["bertscore", "comet", "xcomet", "bleurt"])
def test_what_a_process_was_set_to_changes_no_score(folders: dict[str, str], family: str) -> None:
    """``medium`` lets torch round to bfloat16, on some processors too; what was set stays set."""
    before = metric(folders, family).score(INPUTS)
    token_vectors.forget()
    encoders.forget()
    torch.set_float32_matmul_precision("medium")
    try:
        after = metric(folders, family).score(INPUTS)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-6)


def products() -> tuple[str, str, str, bool]:
    """How torch would compute: matrices and convolutions of a GPU, matrices of a processor."""
    backends = torch.backends
    rounded = (backends.cuda.matmul.fp32_precision, backends.cudnn.conv.fp32_precision)  # type: ignore[attr-defined]
    return (*rounded, torch.get_float32_matmul_precision(), backends.cudnn.allow_tf32)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("float32", ("ieee", "none", "highest", False)),
        ("bfloat16", ("ieee", "none", "highest", False)),
        ("tf32", ("tf32", "tf32", "high", True)),
    ],
)
def test_tf32_is_off_unless_chosen_and_what_was_set_comes_back(
    chosen: str, expected: tuple[str, str, str, bool]
) -> None:
    with computing("cpu", "float32"):
        pass
    before = products()
    with computing("cpu", chosen):
        assert products() == expected
    assert products() == before
    with contextlib.suppress(ZeroDivisionError), computing("cpu", chosen):
        raise ZeroDivisionError
    assert products() == before


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("chosen", ["float32", "tf32", "bfloat16"])
def test_no_precision_takes_the_attention_that_plans_for_every_shape(
    before: bool, chosen: str
) -> None:
    initially = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(before)
    try:
        with contextlib.suppress(ZeroDivisionError), computing("cpu", chosen):
            assert not torch.backends.cuda.cudnn_sdp_enabled()
            raise ZeroDivisionError
        assert torch.backends.cuda.cudnn_sdp_enabled() is before
    finally:
        torch.backends.cuda.enable_cudnn_sdp(initially)


@pytest.mark.parametrize("family", ["bertscore", "cosine", "comet", "bleurt"])
def test_tf32_is_refused_where_there_is_no_gpu_for_it(
    folders: dict[str, str], family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoders, "best_device", lambda: "cpu")
    with refused("encoder.no-tf32", kind=MetricError) as caught:
        metric(folders, family, precision="tf32")
    assert not caught.value.permanent


def test_tf32_needs_a_gpu_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    with refused("encoder.no-tf32", kind=MetricError):
        precision.check("cuda", "tf32")
    precision.check("cuda", "bfloat16")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    precision.check("cuda", "tf32")


@pytest.mark.django_db
def test_the_page_and_the_command_offer_it(folders: dict[str, str], as_admin: Client) -> None:
    page = as_admin.get("/metrics/add/bertscore/").text
    assert 'name="option-precision"' in page
    assert '<option value="float32" selected>' in page
    assert '<option value="bfloat16">' in page
    out = StringIO()
    call_command("add_metric", "comet", stdout=out)
    assert "--option precision=…  Precision; " in out.getvalue()
    given = {"checkpoint": folders["encoder"], "layer": 2, "precision": "bfloat16"}
    row = catalogue.configure(family="bertscore", name="rounded", label="Rounded", options=given)
    loaded: Any = catalogue.load("rounded", source_language="zh", target_language="en")
    assert row.info.option("precision") == loaded.precision == "bfloat16"


def test_float32_products_keep_their_digits() -> None:
    """Against float64 of numpy, in a process that asks for less."""
    rng = np.random.default_rng(3)
    left, right = (rng.standard_normal((256, 256)).astype(np.float32) for _ in range(2))
    expected = left.astype(np.float64) @ right.astype(np.float64)
    torch.set_float32_matmul_precision("medium")
    try:
        with computing("cpu", "float32"):
            found = (torch.from_numpy(left) @ torch.from_numpy(right)).numpy()
    finally:
        torch.set_float32_matmul_precision("highest")
    # Sums of 256 products of numbers near 1, each rounded by at most 2^-24 of the sum of sizes.
    bound = 256 * 2.0**-24 * (np.abs(left).astype(np.float64) @ np.abs(right))
    assert (np.abs(found - expected) <= bound).all()
