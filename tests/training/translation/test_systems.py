"""Translations as work: asked for, taken up again, stored as systems or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from transformers import GPT2Config, GPT2LMHeadModel

from annotation.access import ADMIN, CAMPAIGN_ADMIN
from annotation.models import Output, System, TestSet
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft, store
from benchmarks.gpu import small
from core.work import sending, working
from tests.shared import SharedRows
from tests.training.doing import refused
from tests.training.translation.copying import SMALL, pairs, untrained
from tests.world import make_user
from training.models import TrainingJob, TranslatedText, Translation
from training.parallel import corpora
from training.parallel.reading import Row
from training.translation.decoding import checkpoints
from training.translation.lengths import wanted
from training.translation.requests import ORACLE
from training.translation.systems import starting, translating
from training.translation.systems.work import translations

pytestmark = pytest.mark.django_db
TEXTS = pairs(40, seed=4)[:6]


@dataclass(frozen=True)
class Site:
    test_set: TestSet
    job: TrainingJob
    models: dict[str, str]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "send", lambda *_: True)


@pytest.fixture(scope="module")
def site(shared_rows: SharedRows[Site], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("models")
    models = {name: untrained(folder / name, name) for name in ("plain", "target-embedding")}
    small.gpt2(folder / "gpt2", [side for pair in TEXTS for side in pair])
    config = GPT2Config.from_pretrained(folder / "gpt2", n_positions=256)
    GPT2LMHeadModel(config).save_pretrained(folder / "gpt2")
    models["gpt2"] = str(folder / "gpt2")
    small.bert(folder / "bert", ["ka to"])
    models["bert"] = str(folder / "bert")

    def make() -> Site:
        segments = [SegmentDraft(f"s{n}", source, references={"A": target})
                    for n, (source, target) in enumerate(TEXTS)]  # fmt: skip
        draft = TestSetDraft("port", "Port", "en", "de", segments=segments)
        job = TrainingJob.objects.create(
            kind="mt", name="le", status="done", options={"control": "target-embedding"},
            result={"model": models["target-embedding"]},
        )  # fmt: skip
        return Site(store(draft).test_set, job, models)

    with shared_rows(make) as made:
        yield made


def manage(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("translate", *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def begin(
    site: Site, model: str = "plain", shares: tuple[str, ...] = ("0.5",), **given: Any
) -> Any:
    plan = starting.plan(
        test_set=site.test_set,
        name="le",
        model=site.models.get(model, model),
        shares=[Decimal(share) for share in shares],
        given=given,
    )
    return starting.start(plan)[0]


def run_job(row: Translation) -> Translation:
    working.do_one(translations, Translation.objects.filter(pk=row.pk))
    return Translation.objects.get(pk=row.pk)


def test_the_command_makes_systems_of_a_training(site: Site) -> None:
    shown = manage("port", "--system", "le", "--model", str(site.job.pk), "--ratio", "0.8",
                   "--ratio", "50%", "--here")  # fmt: skip
    assert "le@0.8: 6 segments" in shown
    assert f"warning: {ORACLE}" in shown
    assert "le@0.5 in port" in shown
    systems = System.objects.filter(test_set=site.test_set, name="le")
    assert sorted(systems.values_list("length_ratio", flat=True)) == [
        Decimal("0.5"),
        Decimal("0.8"),
    ]
    assert Output.objects.filter(system__in=systems).count() == 12
    row = Translation.objects.get(system__length_ratio=Decimal("0.5"))
    assert (row.job, row.result["control"], row.result["beam"]) == (site.job, "target-embedding", 4)
    assert row.result["model_hash"] == checkpoints.load(row.model, "en", "de", "cpu").weights
    tokenizer = checkpoints.load(row.model, "en", "de", "cpu")
    for text in row.texts.select_related("segment"):
        reference = text.segment.references.get().text
        assert text.wanted == wanted(0.5, len(tokenizer.pieces(reference)))
        assert text.text == Output.objects.get(system=row.system, segment=text.segment).text


def test_a_dry_run_stores_nothing(site: Site) -> None:
    shown = manage("port", "--system", "le", "--model", site.models["plain"], "--dry-run")
    assert "le: 6 segments, plain" in shown
    assert not Translation.objects.exists()


@pytest.mark.parametrize("of", ["reference", "source", "plain"])
@pytest.mark.parametrize("unit", ["pieces", "characters"])
def test_exact_outputs_have_the_share_that_was_asked_for(site: Site, of: str, unit: str) -> None:
    row = run_job(begin(site, of=of, unit=unit, method="exact", beam=1))
    assert (row.status, row.message) == ("done", "")
    assert row.result["lengths"] == {
        "mean_deviation": 0.0, "exactly_as_wanted": 1.0, "within_a_tenth": 1.0, "bias": 0.0,
    }  # fmt: skip
    if of == "source":
        asked = dict(row.texts.values_list("segment__key", "wanted"))
        text = TEXTS[0][0]
        n = len(text.replace(" ", "")) if unit == "characters" else len(text.split())
        assert asked["s0"] == wanted(0.5, n)
    codes = [each["code"] for each in row.result["warnings"]]
    assert codes == ([ORACLE.code] if of == "reference" else [])


def test_a_killed_worker_loses_a_part_and_stores_nothing_half(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translating, "PART", 4)
    whole = run_job(begin(site, method="exact"))
    expected = list(whole.texts.order_by("segment").values_list("text", "wanted", "pieces"))
    System.objects.all().delete()
    row, plain, calls = begin(site, method="exact"), translating.decode, []

    def die(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise SystemExit
        return plain(*given)

    monkeypatch.setattr(translating, "decode", die)
    with pytest.raises(SystemExit):
        run_job(row)
    row.refresh_from_db()
    assert (row.status, row.texts.count()) == ("queued", 4)
    assert not System.objects.filter(name="le").exists()
    row = run_job(row)
    assert row.status == "done"
    assert [len(given[1]) for given in calls] == [4, 2, 2]
    assert list(row.texts.order_by("segment").values_list("text", "wanted", "pieces")) == expected


def test_a_cancelled_translation_stores_no_system_and_can_go_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translating, "PART", 4)
    row, plain = begin(site, method="exact"), translating.decode

    def cancel(*given: Any) -> Any:
        starting.cancel(row)
        return plain(*given)

    monkeypatch.setattr(translating, "decode", cancel)
    row = run_job(row)
    assert (row.status, row.texts.count()) == ("cancelled", 0)
    assert not System.objects.filter(name="le").exists()
    monkeypatch.setattr(translating, "decode", plain)
    starting.resume(row)
    assert run_job(row).status == "done"
    with refused("translation.done", ValidationError):
        starting.resume(row)


def test_a_system_that_was_stored_meanwhile_stays(site: Site) -> None:
    row = begin(site, method="exact")
    other = {"s0": "mine"}
    draft = TestSetDraft("port", "Port", "en", "de", systems=[SystemDraft("le", "0.5", other)])
    store(draft)
    row = run_job(row)
    assert row.status == "failed"
    assert "s0" in str(row.message)
    assert Output.objects.get(system__name="le", segment__key="s0").text == "mine"
    assert Output.objects.filter(system__name="le").count() == 1


def test_extracts_of_plain_translations(site: Site) -> None:
    row = begin(
        site, method="extract", language_model=site.models["gpt2"], unit="words", of="plain"
    )
    row = run_job(row)
    assert (row.status, row.message) == ("done", "")
    plain = run_job(begin(site, shares=("1",), method="plain"))
    full = dict(plain.texts.values_list("segment", "text"))
    for text in row.texts.all():
        words = iter(full[text.segment_id].split())
        assert all(word in words for word in text.text.split()), "words of it in its order"
    assert row.result["lengths"]["mean_deviation"] < 0.25
    assert row.result["language_model"] == site.models["gpt2"]


def test_a_metric_of_this_installation_ranks(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from metrics import catalogue

    info = next(i for i in catalogue.infos().values() if i.table_measures)

    class Longest:
        """More characters are better."""

        def __init__(self) -> None:
            self.info = info

        def score(self, segments: Any) -> Any:
            sign = 1 if info.higher_is_better else -1
            one = [sign * len(each.hypothesis) for each in segments]
            return np.array([one] * len(info.measures)).T

    monkeypatch.setattr(translating.catalogue, "load", lambda *args, **kwargs: Longest())
    request = starting.Request("n-best", Decimal("0.5"), metric=info.name)
    rank = translating._rank(request, ("en", "de"))
    assert list(rank([("a", "xx"), ("a", "xxx")])) == [2.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "field", "code"),
    [
        ({"model": ""}, "model", "translation.no-model"),
        ({"model": "999999"}, "model", "translation.no-training"),
        ({"model": "bert"}, "model", "translation.no-decoder"),
        ({"shares": ("0",)}, "share", "request.ratio-out-of-range"),
        ({"shares": ()}, "share", "translation.no-ratio"),
        ({"method": "control"}, "method", "translation.no-control"),
        ({"model": "target-embedding", "method": "plain", "shares": ("1",)}, "method",
         "translation.needs-length"),
        ({"model": "target-embedding", "of": "plain"}, "of", "translation.no-plain-length"),
        ({"model": "nobody/knows"}, "method", "translation.choose-method"),
        ({"method": "extract"}, "language_model", "request.no-language-model"),
        ({"method": "exact", "metric": "chrf"}, "metric", "translation.no-such-metric"),
        ({"beam": 0}, "beam", "request.beams"),
        ({"unit": "bytes"}, "unit", "request.choice"),
    ],
)  # fmt: skip
def test_refusals_are_by_field(site: Site, changed: dict[str, Any], field: str, code: str) -> None:
    with pytest.raises(ValidationError) as caught:
        begin(site, **changed)
    assert code in [each.message.code for each in caught.value.error_dict[field]]
    assert not Translation.objects.exists()


def test_names_that_are_there_or_on_their_way(site: Site) -> None:
    begin(site, method="exact")
    with refused("translation.system-running", ValidationError, system="le@0.5"):
        begin(site, method="exact")
    systems = [SystemDraft("le", "0.8", {"s0": "x"})]
    store(TestSetDraft("port", "Port", "en", "de", systems=systems))
    with refused("translation.system-exists", ValidationError):
        begin(site, shares=("0.8",), method="exact")


def test_texts_that_are_not_there(site: Site) -> None:
    segments = [SegmentDraft("a", "ka to"), SegmentDraft("b", "[source not published]")]
    store(TestSetDraft("bare", "Bare", "en", "de", segments=segments))
    with refused("translation.no-sources", kind=CommandError):
        manage("bare", "--system", "x", "--model", site.models["plain"], "--ratio", "0.5")
    with refused("translation.no-reference", CommandError):
        manage("bare", "--system", "x", "--model", site.models["plain"], "--ratio", "0.5",
               "--of", "reference")  # fmt: skip
    with refused("command.no-test-set", CommandError, slug="nowhere"):
        manage("nowhere", "--system", "x", "--model", "1")
    with refused("ratio.syntax", kind=CommandError):
        manage("bare", "--system", "x", "--model", "1", "--ratio", "half")


def test_only_who_may_add_to_a_test_set_translates_it(site: Site) -> None:
    user = make_user("stranger", CAMPAIGN_ADMIN)
    with refused("test-set.no-owner", ValidationError):
        starting.plan(test_set=site.test_set, name="x", model=site.models["plain"],
                      shares=[Decimal(1)], given={}, user=user)  # fmt: skip


def test_a_pair_that_the_model_does_not_know_ends_the_work(site: Site) -> None:
    TestSet.objects.filter(pk=site.test_set.pk).update(target_language="fr")
    french = replace(site, test_set=TestSet.objects.get(pk=site.test_set.pk))
    row = run_job(begin(french, method="exact"))
    assert row.status == "failed"
    assert row.message.code == "translation.unknown-pair"
    assert not TranslatedText.objects.exists()


def test_a_host_without_the_checkpoint_leaves_it_to_others_and_says_so(site: Site) -> None:
    row = begin(site, "nobody/knows", method="exact")
    assert working.take(translations, translations.fit(Translation.objects.all())) is None
    row.refresh_from_db()
    (lacks,) = row.lacking.values()
    assert lacks[0].code == "host.missing-checkpoint"
    assert lacks[0].parameters["checkpoint"] == "nobody/knows"


def test_longer_than_a_model_knows(site: Site, tmp_path: Path) -> None:
    model = untrained(tmp_path / "le", "length-token")
    row = run_job(begin(site, model, shares=("5",), of="source"))
    assert row.status == "failed"
    assert row.message.code == "translation.length-too-long"
    assert row.message.parameters["longest"] == 20


def test_the_page_checks_first_and_then_asks(site: Site, client: Client) -> None:
    client.force_login(make_user("site-admin", ADMIN))
    address = "/training/translations/start/"
    form = client.get(address, {"model": site.job.pk, "name": "le"}).content.decode()
    assert f'value="{site.job.pk}"' in form
    sent = {"test_set": "port", "model": site.job.pk, "name": "le", "ratios": "80%, 0.5",
            "method": "auto", "unit": "pieces", "beam": "2", "queue": "cpu"}  # fmt: skip
    plan = client.post(address, sent | {"check": "yes"}).context["plan"]
    assert (plan.n_segments, plan.labels) == (6, ["le@0.8", "le@0.5"])
    assert [each.code for each in plan.warnings] == [ORACLE.code, "start.no-worker"]
    assert not Translation.objects.exists()
    assert client.post(address, sent | {"start": "yes"})["Location"] == "/training/translations/"
    rows = list(Translation.objects.order_by("pk"))
    assert [(row.label, row.queue, row.job) for row in rows] == [
        ("le@0.8", "cpu", site.job), ("le@0.5", "cpu", site.job),
    ]  # fmt: skip
    refused = client.post(address, sent | {"start": "yes", "ratios": "much"})
    assert refused.status_code == 422
    assert "“much”" in refused.content.decode()
    again = client.post(address, sent | {"start": "yes"})
    errors = again.context["form"].errors.as_data()["name"]
    assert {each.message.code for each in errors} == {"translation.system-running"}
    shown = client.get(run_job(rows[0]).get_absolute_url()).content.decode()
    assert "le@0.8" in shown
    assert "mean deviation" in shown
    client.post(f"{rows[1].get_absolute_url()}cancel/")
    client.post(f"{rows[1].get_absolute_url()}resume/")
    rows[1].refresh_from_db()
    assert rows[1].status == "queued"
    assert "le@0.5" in client.get("/training/translations/").content.decode()


def test_a_finished_training_offers_to_translate(site: Site, client: Client) -> None:
    client.force_login(make_user("site-admin", ADMIN))
    page = client.get(site.job.get_absolute_url()).content.decode()
    assert f"/training/translations/start/?model={site.job.pk}&amp;name=le" in page


def test_from_parallel_text_to_systems(site: Site, tmp_path: Path, settings: Any) -> None:
    """The walk-through of the documentation, with a training of a few updates."""
    settings.TRAINED_DIR = tmp_path
    rows = [Row(str(n), *pair) for n, pair in enumerate(pairs(120))]
    corpora.add(name="news", source_language="en", target_language="de", rows=rows)
    chosen = SMALL | {"steps": 4, "evaluate_every": 2, "held_out": 8, "control": "length-token"}
    out = StringIO()
    given = [f"--option={name}={value}" for name, value in chosen.items()]
    call_command("train", "mt", "--name", "le", "--corpus", "news", *given, "--here", stdout=out)
    assert "le is done." in out.getvalue()
    job = TrainingJob.objects.latest("pk")
    assert job.result["languages"] == "en-de"
    shown = manage("port", "--system", "le", "--model", str(job.pk), "--ratio", "0.8", "--here")
    assert "le@0.8 in port" in shown
    row = Translation.objects.get(job=job)
    assert (row.result["control"], row.result["model_hash"]) == (
        "length-token", job.result["model_hash"],
    )  # fmt: skip


def test_programs_ask_watch_and_cancel(site: Site, client: Client) -> None:
    client.force_login(make_user("site-admin", ADMIN))

    def post(address: str, **body: Any) -> Any:
        return client.post(f"/api/translations/{address}", body, content_type="application/json")

    asked = {"test_set": "port", "model": str(site.job.pk), "name": "le", "ratios": "80%, 0.5",
             "method": "exact"}  # fmt: skip
    plan = post("", **asked, dry_run=True)
    assert (plan.status_code, plan.json()["systems"]) == (200, ["le@0.8", "le@0.5"])
    assert not Translation.objects.exists()
    made = post("", **asked)
    rows = made.json()["translations"]
    assert (made.status_code, [row["share"] for row in rows]) == (201, ["0.800", "0.500"])
    first, second = (row["id"] for row in rows)
    run_job(Translation.objects.get(pk=first))
    assert client.get(f"/api/translations/{first}/").json()["system"] == "le@0.8"
    assert post(f"{first}/cancel/").status_code == 409
    assert post(f"{second}/cancel/").json()["status"] == "cancelled"
    assert post(f"{second}/resume/").json()["status"] == "queued"
    assert client.get("/api/translations/?test_set=port").json()["count"] == 2
    assert client.get("/api/translations/?test_set=harbour").status_code == 400
    for field, wrong in (("ratios", "much"), ("test_set", "harbour"), ("method", "flying")):
        refused = post("", **asked | {field: wrong})
        assert refused.status_code == 400
        assert [error["field"] for error in refused.json()["errors"]] == [field]
