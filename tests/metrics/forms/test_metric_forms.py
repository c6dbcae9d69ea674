"""Forms of metric families, and the catalogue behind them."""

from pathlib import Path

import pytest

from extensions.neural.bertscore.options import bertscore_info
from metrics import catalogue, registry
from metrics.base import MetricError, MetricInfo
from metrics.forms.families import PREFIX, MetricForm
from metrics.options import Family, Option, Options
from tests.house.templates.seen import seen
from tests.metrics.fleet import empty_models, encoder, found, make_worker

pytestmark = pytest.mark.django_db


def _describe(name: str, label: str, options: Options) -> MetricInfo:
    if options["word"] == "wrong":
        raise ValueError("Word and number do not go together.")
    return bertscore_info(name, label, "", layers=1, shown=(), given=options.items())


EVERY_KIND = Family(
    key="every",
    label="Every kind",
    description="",
    scorer="",
    options=(
        Option("word", "Word", "text"),
        Option("count", "Count", "integer", 2, minimum=1, maximum=9),
        Option("weight", "Weight", "number", 0.5, minimum=0),
        Option("switch", "Switch", "boolean", True),
        Option("side", "Side", "choice", "f", choices=("p", "r", "f")),
        Option("extra", "Extra", "file", ""),
    ),
    describe=_describe,
)
NAMED = {"name": "mine", "label": "Mine", f"{PREFIX}word": "x"}


@pytest.fixture
def every(monkeypatch: pytest.MonkeyPatch) -> Family:
    monkeypatch.setattr(registry, "get_family", lambda key: EVERY_KIND)
    return EVERY_KIND


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


def errors(form: MetricForm) -> dict[str, list[str]]:
    assert not form.is_valid()
    return {name.removeprefix(PREFIX): list(found) for name, found in form.errors.items()}


def test_what_is_left_empty_has_its_default(every: Family) -> None:
    form = MetricForm(every, NAMED)
    assert form.is_valid(), form.errors
    assert form.info is not None
    assert dict(form.info.options) == {
        "word": "x", "count": 2, "weight": 0.5, "switch": True, "side": "f", "extra": "",
    }  # fmt: skip


def test_what_is_sent_is_kept(every: Family) -> None:
    sent = {"count": "3", "weight": "0.25", "switch": "no", "side": "r", "extra": "/m.npz"}
    form = MetricForm(every, NAMED | {PREFIX + key: value for key, value in sent.items()})
    assert form.is_valid(), form.errors
    assert form.info is not None
    assert dict(form.info.options) == {
        "word": "x", "count": 3, "weight": 0.25, "switch": False, "side": "r", "extra": "/m.npz",
    }  # fmt: skip


def test_every_option_has_its_own_error(every: Family) -> None:
    sent = {
        "word": "", "count": "2.5", "weight": "-1", "switch": "perhaps", "side": "x", "extra": "m",
    }  # fmt: skip
    assert errors(MetricForm(every, {PREFIX + key: value for key, value in sent.items()})) == {
        "name": ["This field is required."],
        "label": ["This field is required."],
        "word": ["Enter a value."],
        "count": ["“2.5” is not a whole number."],
        "weight": ["Enter at least 0."],
        "switch": ["“perhaps” is not yes or no."],
        "side": ["Choose one of p, r and f."],
        "extra": ["Enter an absolute path."],
    }


def test_what_does_not_fit_together_is_told(every: Family) -> None:
    form = MetricForm(every, NAMED | {f"{PREFIX}word": "wrong"})
    assert errors(form) == {"__all__": ["Word and number do not go together."]}


@pytest.mark.parametrize("name", ["Upper", "two words", "-x", "é", "a/b", "a" * 61])
def test_names_that_no_metric_can_have(every: Family, name: str) -> None:
    assert set(errors(MetricForm(every, NAMED | {"name": name}))) == {"name"}


def test_names_that_are_taken(models: Path) -> None:
    encoder(models / "acme" / "x")
    options = {"checkpoint": "acme/x", "layer": 3}
    catalogue.configure(family="bertscore", name="bs-x", label="BS X", options=options)
    catalogue.retire("bs-x")
    family = registry.get_family("bertscore")
    sent = {f"{PREFIX}checkpoint": "acme/x", f"{PREFIX}layer": "3", "label": "L"}
    for name in ("chrf", "bs-x"):
        form = MetricForm(family, sent | {"name": name})
        assert errors(form) == {"name": [f"There is already a metric named {name}."]}


def bertscore(checkpoint: str, layer: str) -> MetricForm:
    sent = {"checkpoint": checkpoint, "layer": layer}
    data = {"name": "mine", "label": "Mine", **{PREFIX + k: v for k, v in sent.items()}}
    return MetricForm(registry.get_family("bertscore"), data)


def test_the_layer_must_be_one_of_the_encoders(models: Path) -> None:
    encoder(models / "acme" / "x", layers=6)
    assert bertscore("acme/x", "6").is_valid()
    assert errors(bertscore("acme/x", "7")) == {"layer": ["acme/x has layers 0 to 6."]}


def test_a_missing_checkpoint_comes_with_the_command_that_gets_it(models: Path) -> None:
    [message] = errors(bertscore("acme/none", "1"))["checkpoint"]
    assert "hf download acme/none" in message


@pytest.mark.parametrize("checkpoint", ["/nowhere", "a b/c", "../..", "nul\0l", "x" * 5000])
def test_odd_checkpoints_are_errors_too(models: Path, checkpoint: str) -> None:
    assert set(errors(bertscore(checkpoint, "1"))) <= {"checkpoint", "layer", "__all__"}


def test_an_encoder_that_only_workers_have(models: Path) -> None:
    make_worker(checkpoints={"acme/far": found(layers=25)})
    form = bertscore("acme/far", "24")
    assert form.is_valid(), form.errors
    assert form.info is not None
    assert len(form.info.measures) == 25 * 3
    assert errors(bertscore("acme/far", "25")) == {"layer": ["acme/far has layers 0 to 24."]}
    # Only the catalogue asks the workers; a family described alone reads this machine.
    with pytest.raises(MetricError):
        registry.configure("bertscore", "mine", "Mine", {"checkpoint": "acme/far", "layer": 1})


def test_the_form_offers_what_the_options_say(every: Family) -> None:
    html = seen(MetricForm(every).as_p())
    assert '<input type="number" name="option-count" value="2" min="1" max="9" step="1"' in html
    assert '<option value="yes" selected>Yes</option>' in html
    assert '<option value="f" selected>f</option>' in html


def test_retiring_and_bringing_back(models: Path) -> None:
    encoder(models / "acme" / "x")
    options = {"checkpoint": "acme/x", "layer": 3}
    catalogue.configure(family="bertscore", name="bs-x", label="BS X", options=options)
    assert catalogue.retire("bs-x")
    assert not catalogue.retire("bs-x")
    assert "bs-x" not in catalogue.infos()
    assert "bs-x" in catalogue.infos(retired=True)
    assert catalogue.find("bs-x") is not None
    assert catalogue.restore("bs-x")
    assert not catalogue.restore("bs-x")
    assert "bs-x" in catalogue.infos()
    assert not catalogue.retire("chrf")


def test_fine_tuning_stands_behind_more_options(every: Family) -> None:
    form = MetricForm(every)
    names = [field.name.removeprefix(PREFIX) for field in form.main_fields]
    assert names == ["name", "label", "word", "count", "switch", "side"]
    assert [field.name.removeprefix(PREFIX) for field in form.more_fields] == ["weight", "extra"]
    assert not form.shows_more


@pytest.mark.parametrize("given", [{"weight": "0.7"}, {"weight": "-1"}, {"extra": "/srv/x"}])
def test_what_is_set_or_wrong_is_never_hidden(every: Family, given: dict[str, str]) -> None:
    sent = NAMED | {PREFIX + name: value for name, value in given.items()}
    assert MetricForm(every, sent).shows_more
    assert MetricForm(every, initial=given).shows_more
    assert not MetricForm(every, NAMED | {f"{PREFIX}weight": "0.5"}).shows_more


def test_every_family_shows_a_handful() -> None:
    for key in registry.FAMILIES:
        family = registry.get_family(key)
        main = [option.name for option in family.options if option.is_main]
        assert len(main) <= 5, (key, main)
        assert all(option.is_main for option in family.options if option.default is None)
