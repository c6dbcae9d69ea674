"""Compute how well metrics find the error spans of annotators, with baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign, Output
from dashboards.documents.head import CampaignDocument, Ends, about, ends, units_of
from dashboards.panel.choice import Choice
from dashboards.spans.found import (
    Detector,
    Found,
    Gold,
    Missed,
    agreed_gold,
    found_rows,
    missed_rows,
    read_detectors,
    read_gold,
)
from metaeval.arrays import FloatArray, IntArray
from metaeval.messages import Message, message, plural
from metaeval.results import Result
from metaeval.significance.corrections import adjust_pvalues
from metaeval.spans import (
    CHARACTERS,
    MPP,
    SpanMeasure,
    SpanTable,
    ceiling,
    compare_detectors,
    compare_spans,
    detect,
    error_free_detection,
    everything,
    is_error_free,
    nothing,
)
from metaeval.spans.error_free import mcc_interval

VERSION = 4
N_RESAMPLES = 1000
FEWEST = 10
ALPHA = 0.05
SIDES = {"target": ("target",), "both": ("target", "source")}
HUMAN_SPANS = message("spans.human", "error spans that annotators marked")
NO_SPANS = message(
    "spans.none",
    "No judgment under these filters has error spans, because its protocol does not ask for them.",
)
NO_METRIC = message(
    "spans.no-metric",
    "No metric has marked spans on these outputs yet. xCOMET marks spans, and spans of other "
    "metrics can be imported with their scores.",
)
DIFFERENT_OUTPUTS = message(
    "spans.different-outputs",
    "Metrics have spans on different outputs. Compare only rows with the same number of judgments.",
)
SILENT = message("spans.marks-nothing", "Marks nothing")
WHOLE = message("spans.marks-everything", "Marks every output as a whole")
NO_CEILING = message(
    "spans.no-ceiling",
    "There is no human ceiling, because no two annotators judged {least} or more of the same "
    "outputs.",
    least=FEWEST,
)
KINDS = {
    "metric": message("spans.metric", "metric"),
    "floor": message("spans.baseline", "baseline"),
    "ceiling": message("spans.ceiling", "human ceiling"),
}


@dataclass(frozen=True)
class SpansChoice(Choice):
    """`agreed`: the number of annotators who must agree, or empty for each annotator's own spans.

    `side` is the output only, or source and output.
    """

    agreed: str = ""
    side: str = "target"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("agreed", "", "2", "3")
        self.one_of("side", *SIDES)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A detector against annotators. `kind` is a key of `KINDS`.

    Precision, recall and F1 use matched spans (MPP, micro) and characters (WMT25), with the `ends`
    of the F1's intervals; `macro_f1` is the mean over judgments. `free_precision`,
    `free_recall` and `mcc` with its `mcc_ends` measure how well outputs without a span match
    outputs without an error. `p` tests the difference in F1 from the best
    metric, after Holm, and `p_floor` tests whether F1 is better than marking every output as a
    whole. For the human ceiling, `ends` are the range over pairs of annotators.
    """

    key: str
    label: Message | str
    kind: str
    signature: str = ""
    is_imported: bool = False
    n: int
    n_spans: int | None = None
    clean: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    ends: Ends | None = None
    character_precision: float | None = None
    character_recall: float | None = None
    character_f1: float | None = None
    character_ends: Ends | None = None
    macro_f1: float | None = None
    free_precision: float | None = None
    free_recall: float | None = None
    mcc: float | None = None
    mcc_ends: Ends | None = None
    p: float | None = None
    p_floor: float | None = None

    @property
    def f1_low(self) -> float | None:
        """The lower end of the interval."""
        return self.ends[0] if self.ends else None

    @property
    def f1_high(self) -> float | None:
        """The upper end of the interval."""
        return self.ends[1] if self.ends else None

    @property
    def mcc_low(self) -> float | None:
        """The lower end of the interval of Matthews' correlation."""
        return self.mcc_ends[0] if self.mcc_ends else None

    @property
    def mcc_high(self) -> float | None:
        """The upper end of the interval."""
        return self.mcc_ends[1] if self.mcc_ends else None

    @property
    def is_at_floor(self) -> bool:
        """Whether a metric is not above the baselines."""
        return self.kind == "metric" and not (self.p_floor is not None and self.p_floor < ALPHA)

    @property
    def kind_label(self) -> Message:
        """The name of the kind."""
        return KINDS[self.kind]


@dataclass(frozen=True, kw_only=True)
class Spans(CampaignDocument):
    """The document; `rows` has one row per detector, baseline and human ceiling."""

    n_judgments: int = 0
    n_outputs: int = 0
    n_spans: int = 0
    n_missing: int = 0
    agreed: str
    side: str
    seed: int
    measures: Sequence[str] = ()
    n_resamples: int = N_RESAMPLES
    rows: Sequence[Line] = ()
    found: Sequence[Found] = ()
    missed: Sequence[Missed] = ()


FILTERS = SpansChoice
DOCUMENT = Spans


def compute(campaign: Campaign, filters: Filters) -> Spans:
    """Return the document; without spans of annotators only warnings."""
    if not isinstance(filters, SpansChoice):
        filters = SpansChoice(**vars(filters))
    people, notes = read_gold(campaign, filters)
    known: dict[str, Any] = about(campaign) | {
        "human_scores": HUMAN_SPANS, **units_of(people.clusters),
        "agreed": filters.agreed, "side": filters.side, "seed": campaign.seed,
    }  # fmt: skip
    if campaign.judging.spans is None or not len(people):
        return Spans(**known, warnings=[*notes, NO_SPANS])
    gold = agreed_gold(people, int(filters.agreed)) if filters.agreed else people
    if not len(gold):
        few = message(
            "spans.few-annotators",
            "No output was judged by {least} or more annotators.",
            least=int(filters.agreed),
        )
        return Spans(**known, warnings=[*notes, few])
    measures = [SpanMeasure(each.name, sides=SIDES[filters.side]) for each in (MPP, CHARACTERS)]
    work = _Work(campaign, gold, measures)
    detectors = read_detectors(campaign)
    lines = [*work.metrics(detectors), *work.floors(), *work.ceilings(people)]
    usable = gold.table.usable(measures[0].sides)
    return Spans(
        **known,
        n_judgments=len(gold),
        n_outputs=len(np.unique(gold.output)),
        n_spans=int(usable.sum()),
        n_missing=int((~usable).sum()),
        measures=[measure.label for measure in measures],
        rows=lines,
        found=found_rows(campaign, gold, detectors, measures[0].sides),
        missed=missed_rows(campaign, gold, detectors),
        warnings=list(dict.fromkeys([*notes, *work.notes, *[NO_METRIC] * (not detectors)])),
    )


class _Work:
    """Computes the lines of one document, and collects their warnings."""

    def __init__(self, campaign: Campaign, gold: Gold, measures: Sequence[SpanMeasure]) -> None:
        self.campaign, self.gold, self.measures = campaign, gold, measures
        self.notes: list[Message] = []

    def metrics(self, detectors: Sequence[Detector]) -> Iterator[Line]:
        """Yield a line per metric, the best first, with tests against it on common judgments."""
        results = []
        for each in detectors:
            items, table, _ = each.on(self.gold)
            if len(items):
                line, values = self._line(each.label, "metric", items, table)
                results.append((each, line, items, values))
        results.sort(key=lambda entry: -(entry[1]["f1"] or 0.0))
        if len({len(items) for _, _, items, _ in results}) > 1:
            self.notes.append(DIFFERENT_OUTPUTS)
        tested = [self._test(results[0], other) for other in results[1:]]
        adjusted = adjust_pvalues(tested).pvalues.tolist() if tested else []
        for (each, line, items, values), p in zip(
            results, [None, *adjusted][: len(results)], strict=True
        ):
            yield Line(
                key=each.key, signature=each.signature, is_imported=each.is_imported,
                p=_plain(p), p_floor=_plain(self._floor(items, values)), **line,
            )  # fmt: skip

    def _test(self, best: Any, other: Any) -> float:
        _, at_best, at_other = np.intersect1d(best[2], other[2], return_indices=True)
        if not len(at_best):
            return float("nan")
        both = self.gold.taken(other[2][at_other])
        values = best[3][at_best], other[3][at_other]
        found = compare_detectors(
            *values, **_units(both), n_resamples=N_RESAMPLES, rng=self.campaign.seed
        )
        return float("nan") if found.pvalue is None else found.pvalue

    def _floor(self, items: IntArray, values: FloatArray) -> float | None:
        """Return p of a metric being better than marking every output as a whole."""
        own = self.gold.taken(items)
        whole = compare_spans(own.table, self._whole.taken(items), self.measures[0]).values
        return compare_detectors(
            values, whole, **_units(own), alternative="greater", n_resamples=N_RESAMPLES,
            rng=self.campaign.seed,
        ).pvalue  # fmt: skip

    @cached_property
    def _whole(self) -> SpanTable:
        outputs = Output.objects.filter(pk__in=np.unique(self.gold.output).tolist())
        texts = dict(outputs.values_list("pk", "text"))
        return everything([len(texts[pk]) for pk in self.gold.output.tolist()])

    def floors(self) -> Iterator[Line]:
        """Yield the baselines: marking nothing, and marking everything."""
        every = np.arange(len(self.gold))
        silent = nothing(self.gold.table)
        yield Line(key="nothing", **self._line(SILENT, "floor", every, silent)[0])
        whole = self._line(WHOLE, "floor", every, self._whole)[0]
        yield Line(key="everything", **whole)

    def ceilings(self, people: Gold) -> Iterator[Line]:
        """Yield how well annotators find each other's spans, where they judged the same outputs."""
        spans = {}
        for annotator in np.unique(people.annotator):
            items = np.flatnonzero(people.annotator == annotator)
            outputs, first = np.unique(people.output[items], return_index=True)
            spans[str(annotator)] = (outputs, people.table.taken(items[first]))
        found = [ceiling(spans, measure, fewest=FEWEST) for measure in self.measures]
        if not found[0].n:
            self.notes.append(NO_CEILING)
            return
        macro = ceiling(spans, self.measures[0], averaging="macro", fewest=FEWEST)
        label = plural(
            "spans.annotator-pairs",
            "One annotator against another ({n} ordered pair)",
            "One annotator against another ({n} ordered pairs)",
            n=found[0].n,
        )
        yield Line(
            key="annotators", label=label, kind="ceiling",
            n=sum(pair[2] for pair in found[0].pairs),
            precision=_plain(found[0].precision), recall=_plain(found[0].recall),
            f1=_plain(found[0].f1), ends=(_plain(found[0].lowest), _plain(found[0].highest)),
            character_precision=_plain(found[1].precision),
            character_recall=_plain(found[1].recall), character_f1=_plain(found[1].f1),
            character_ends=(_plain(found[1].lowest), _plain(found[1].highest)),
            macro_f1=_plain(macro.f1),
        )  # fmt: skip

    def _line(
        self, label: Message | str, kind: str, items: IntArray, table: SpanTable
    ) -> tuple[dict[str, Any], FloatArray]:
        """Return the fields of a line, and the components that tests use."""
        own, seed = self.gold.taken(items), self.campaign.seed
        compared = [compare_spans(own.table, table, measure) for measure in self.measures]
        spans, characters = (
            detect(each, **_units(own), n_resamples=N_RESAMPLES, rng=seed) for each in compared
        )
        self._warn(label, spans)
        macro = detect(compared[0].values, averaging="macro")
        usable = table.usable(self.measures[0].sides)
        clean = 1 - len(np.unique(table.item[usable])) / len(items)
        fields = {
            "label": label, "kind": kind, "n": len(items), "n_spans": int(usable.sum()),
            "clean": clean, "precision": spans.precision, "recall": spans.recall, "f1": spans.f1,
            "ends": ends(spans.f1_interval), "character_precision": characters.precision,
            "character_recall": characters.recall, "character_f1": characters.f1,
            "character_ends": ends(characters.f1_interval), "macro_f1": macro.f1,
        }  # fmt: skip
        fields |= self._error_free(own, table)
        return fields, compared[0].values

    def _error_free(self, own: Gold, table: SpanTable) -> dict[str, Any]:
        counts = [np.bincount(t.item, minlength=len(own)) for t in (own.table, table)]
        truth, predicted = is_error_free(own.score, counts[0]), counts[1] == 0
        found = error_free_detection(truth, predicted)
        interval = mcc_interval(truth, predicted, documents=own.unit.tolist())
        return {
            "free_precision": _plain(found.precision),
            "free_recall": _plain(found.recall),
            "mcc": _plain(found.mcc),
            "mcc_ends": None if np.isnan(interval.low) else ends(interval),
        }

    def _warn(self, label: Message | str, result: Result) -> None:
        self.notes += [
            message(
                "spans.of-metric",
                "{metric}: {warning}",
                metric=label,
                warning=warning.message,
            )
            for warning in result.warnings
        ]


def _units(gold: Gold) -> dict[str, Any]:
    """Return the units of resampling: segments, or their documents."""
    return {"units": gold.segment, "documents": gold.unit}


def _plain(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)
