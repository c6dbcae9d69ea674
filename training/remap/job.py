"""Fit a projection as a job: text, words, links, vectors, fit, and measures on held-out text.

Zhao et al. 2020, section 3.2, as released. Fitted to are the first pairs in file order with 1 to 99
words on both sides (BERT's basic tokens). Their words are aligned lower-cased, in both directions,
over just these pairs, and symmetrised by grow-diag-final-and; each link is one pair of vectors. A
word's vector is the mean of its pieces at the layer. Sentences of more than 175 pieces are
excluded. With ``sentences``, a pair of vectors is the mean of the words of each side, or with LASER
its sentence vectors, of which the resulting metric is a Cosine.

Measured is, on up to 500 pairs after those fitted to, before and after mapping: the mean cosine of
vectors that belong together, that of vectors that do not (a mapping may raise every cosine), and
the share whose own target is the nearest among at most 1,000. The curve of held-out cosines has
these numbers of the same projection fitted to 100 to 10,000 pairs. The kind `pair-curve` has the
metric's correlation with human scores over the number of pairs.

It takes about 300 MB for 2,000 pairs of 25 words at 768 numbers; 3 GB for a curve to 10,000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from extensions.neural import laser
from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder
from extensions.neural.laser import Laser
from extensions.neural.mover import mapping
from extensions.neural.mover.mapping import About, Kind, Mapping
from extensions.neural.sentence_vectors import SentenceEncoder
from metaeval.messages import Message, message
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError, NewMetric, Outcome, Work
from training.jobs.saving import save_whole
from training.parallel.reading import hash_pairs, write_pairs
from training.remap import alignment, fitting
from training.remap.alignment import Links
from training.remap.fitting import Split, Vectors
from training.remap.options import SENTENCES
from training.remap.vectors import Array, Words, encode

# Texts that are encoded at once, because all their states are in memory.
SLICE = 200
MOST_HELD_OUT = 500
# The name of the curve in results, and so on pages.
CURVE = "curve_of_held_out_cosines"
# With a curve, one pair in this number is held out.
HELD_OUT_PART = 5


@dataclass(frozen=True)
class Text:
    """The usable pairs: words of both sides, and links where a file gave them.

    The first ``n_fitted`` are fitted to. ``held`` are the places of those held out.
    """

    source_language: str
    target_language: str
    raw: list[tuple[str, str]]
    split: list[Split]
    given: list[Links] | None
    n_fitted: int
    held: range
    counts: dict[str, int]

    def links(self, places: Sequence[int]) -> list[Links]:
        """Return the links of some pairs: those given, or aligned among just these."""
        if self.given is not None:
            return [self.given[place] for place in places]
        return alignment.align([self.split[place] for place in places])


def run(work: Work) -> Outcome:
    """Fit, save, and return the resulting metric; raises JobError or StoppedError."""
    text = prepare(work)
    encoder, layer = load_encoder(work)
    job = Fit(work, text, encoder, layer)
    vectors = job.vectors(range(text.n_fitted))
    fitted = job.fit(vectors)
    folder = save_whole(work.folder, "mapping", fitted.save, fitted.array.nbytes)
    result = {
        **_describe(fitted),
        "pairs": text.counts,
        "pairs_of_vectors": len(vectors),
        "held_out": job.compare(fitted),
        **_warnings(work, text, fitted, vectors),
    }
    if work.options["curve"]:
        result[CURVE] = job.curve()
    return Outcome(result, _metric(work, fitted, folder))


def prepare(work: Work) -> Text:
    """Choose the pairs to fit on and those to hold out; JobError if there are none."""
    source, target = _direction(work)
    reverse = bool(work.options["reverse"])
    raw = [pair[::-1] if reverse else pair for corpus in work.corpora for pair in corpus.pairs]
    counts = {"in_the_corpus": len(raw)}
    split, given = _words(raw, work), None
    if work.options["alignments"]:
        found = alignment.choose_links(
            raw, alignment.read_links(Path(str(work.options["alignments"]))), reverse
        )
        known = [n for n, each in enumerate(found) if each is not None]
        aligned = [each for each in found if each is not None]
        raw, split = [raw[n] for n in known], [(tuple(s), tuple(t)) for s, t, _ in aligned]
        given = [each for _, _, each in aligned]
        counts["with_an_alignment"] = len(known)
    usable = fitting.usable(split)
    if not usable:
        raise JobError(_none_usable(has_file=given is not None))
    raw, split = [raw[n] for n in usable], [split[n] for n in usable]
    given = None if given is None else [given[n] for n in usable]
    n_fitted, held = _divide(len(usable), int(work.options["pairs"]), bool(work.options["curve"]))
    counts |= {"usable": len(usable), "fitted_to": n_fitted, "held_out": len(held)}
    return Text(source, target, raw, split, given, n_fitted, held, counts)


def _none_usable(*, has_file: bool) -> Message:
    if has_file:
        return message(
            "remap.none-aligned",
            "No pair of the corpus can be used: none has 1 to 99 words on both sides and an "
            "alignment in the file.",
        )
    return message(
        "remap.none-usable",
        "No pair of the corpus can be used: none has 1 to 99 words on both sides.",
    )


def _divide(usable: int, wanted: int, has_curve: bool) -> tuple[int, range]:
    """Hold out the pairs after those to fit on; for a curve, always the last fifth."""
    if has_curve and usable > 1:
        first = usable - max(1, min(MOST_HELD_OUT, usable // HELD_OUT_PART))
        return min(wanted, first), range(first, usable)
    n_fitted = min(wanted, usable)
    return n_fitted, range(n_fitted, min(usable, n_fitted + MOST_HELD_OUT))


def _direction(work: Work) -> tuple[str, str]:
    found = {(each.source_language, each.target_language) for each in work.corpora}
    if len(found) != 1:
        raise JobError(
            message(
                "remap.directions",
                "Choose corpora of one direction. These corpora have: {directions}.",
                directions=sorted(f"{source}→{target}" for source, target in found),
            )
        )
    source, target = found.pop()
    return (target, source) if work.options["reverse"] else (source, target)


def _words(raw: Sequence[tuple[str, str]], work: Work) -> list[Split]:
    if work.options["alignments"]:
        return []
    return [
        (tuple(alignment.split_words(source)), tuple(alignment.split_words(target)))
        for source, target in raw
    ]


def load_encoder(work: Work) -> tuple[Encoder, int]:
    """Return the encoder and the number of the layer; JobError if there is none."""
    work.report({"stage": message("stage.encoder", "loading the encoder")})
    name = str(work.options["checkpoint"])
    try:
        is_laser = laser.is_laser(places.find(name))
        encoder = laser.get(name) if is_laser else encoders.get(name)
    except MetricError as error:
        raise JobError(error.message) from error
    if is_laser and work.options["units"] != SENTENCES:
        problem = message(
            "remap.laser-words", "LASER has vectors of sentences only. Choose sentences."
        )
        raise JobError(problem)
    layer, last = int(work.options["layer"]), encoder.n_layers - 1
    if layer > last:
        raise JobError(
            message(
                "remap.no-such-layer",
                "{checkpoint} has layers 0 to {last}, so layer {layer} does not exist.",
                checkpoint=name,
                last=last,
                layer=layer,
            )
        )
    return encoder, last if layer < 0 or is_laser else layer


class Fit:
    """All texts, encoded once, and fits to parts of them."""

    def __init__(self, work: Work, text: Text, encoder: Encoder, layer: int) -> None:
        self.work, self.text = work, text
        pool = text.held.start if work.options["curve"] else text.n_fitted
        self.pool = min(pool, max(text.n_fitted, fitting.SIZES[-1]))
        self.about = About(
            kind=cast(Kind, work.options["projection"]),
            encoder=str(work.options["checkpoint"]),
            fingerprint=mapping.fingerprint(encoder.model),
            layer=layer,
            source_language=text.source_language,
            target_language=text.target_language,
            n_pairs=0,
            data_hash=hash_pairs(write_pairs(text.raw[: text.n_fitted])),
        )
        chosen = [*range(self.pool), *text.held]
        if isinstance(encoder, Laser):
            self.encoded = self._whole(chosen)
        else:
            sentences = [side for place in chosen for side in text.split[place]]
            self.encoded = encode(encoder, sentences, layer, self._report_encoding)
        self.held = self._held()

    def _whole(self, chosen: Sequence[int]) -> dict[Words, Array]:
        """Return the vector of each sentence as if it were its only word, (1, width)."""
        texts = {
            words: text
            for place in chosen
            for words, text in zip(self.text.split[place], self.text.raw[place], strict=True)
        }
        found: dict[Words, Array] = {}
        encoder, distinct = SentenceEncoder(self.about.encoder), list(texts)
        for start in range(0, len(distinct), SLICE):
            part = distinct[start : start + SLICE]
            vectors = encoder.encode(texts[words] for words in part)
            found |= {words: vectors[texts[words]][None].astype(np.float32) for words in part}
            self._report_encoding(len(found), len(distinct))
        return found

    def _report_encoding(self, done: int, total: int) -> None:
        stage = message("stage.encoding", "encoding sentences")
        self.work.report({"stage": stage, "step": done, "total": total})

    def _held(self) -> Vectors:
        """Return the held-out vectors; their words are aligned among all text."""
        places = [*range(self.text.n_fitted), *self.text.held]
        return self._rows(places, len(self.text.held)) if self.text.held else fitting.NONE

    def vectors(self, places: Sequence[int]) -> Vectors:
        """Return the pairs of vectors of some pairs of sentences."""
        return self._rows(places, len(places))

    def _rows(self, places: Sequence[int], last: int) -> Vectors:
        """Return vectors of the last pairs; the others only help to align words."""
        chosen = [self.text.split[place] for place in places[-last:]]
        if self.work.options["units"] == SENTENCES:
            return fitting.sentence_vectors(chosen, self.encoded)
        self.work.report({"stage": message("stage.aligning", "aligning words")})
        return fitting.word_vectors(chosen, self.text.links(places)[-last:], self.encoded)

    def fit(self, vectors: Vectors) -> Mapping:
        """Fit to pairs of vectors; JobError if there are too few."""
        self.work.report({"stage": message("stage.fitting", "fitting")})
        return fitting.fit_to(self.about.kind, self.about, vectors)

    def compare(self, fitted: Mapping) -> dict[str, Any]:
        """Measure held-out pairs before and after; empty without any."""
        if not len(self.held):
            return {}
        before, after = fitting.measure(None, self.held), fitting.measure(fitted, self.held)
        return {"before": before, "after": after}

    def curve(self) -> list[dict[str, Any]]:
        """Fit to growing numbers of pairs, and measure each fit on the same held-out pairs."""
        if not len(self.held):
            return []
        rows = []
        for size in fitting.sizes_of_curve(self.pool):
            vectors = self.vectors(range(size))
            measured = fitting.measure(self.fit(vectors), self.held)
            rows.append({"pairs": size, "pairs_of_vectors": len(vectors), **measured})
            stage = message("stage.curve", "curve of held-out cosines")
            self.work.report({"stage": stage, CURVE: rows})
        return rows


def _describe(fitted: Mapping) -> dict[str, Any]:
    about = fitted.about
    return {
        "projection": about.kind,
        "signature": fitted.digest,
        "encoder": {"name": about.encoder, "fingerprint": about.fingerprint},
        "layer": about.layer,
        "direction": f"{about.source_language}→{about.target_language}",
        "data_hash": about.data_hash,
    }


def _warnings(
    work: Work, text: Text, fitted: Mapping, vectors: Vectors
) -> dict[str, list[Message]]:
    """Return warnings about the fit, under the key of results."""
    found, wanted = [], int(work.options["pairs"])
    if text.n_fitted < wanted:
        found.append(
            message(
                "remap.fewer-pairs",
                "Only {found} of the requested {wanted} pairs are available.",
                found=text.n_fitted,
                wanted=wanted,
            )
        )
    if len(vectors) < fitted.width:
        found.append(
            message(
                "remap.underdetermined",
                "The fit is not determined by the data: there are {pairs} pairs of vectors for "
                "{dimensions} dimensions.",
                pairs=len(vectors),
                dimensions=fitted.width,
            )
        )
    if not text.held:
        found.append(
            message(
                "remap.nothing-held-out",
                "No pair is left for held-out text, so nothing was measured.",
            )
        )
    return {"warnings": found} if found else {}


def _metric(work: Work, fitted: Mapping, folder: Path) -> NewMetric:
    about = fitted.about
    direction = f"{about.source_language}-{about.target_language}"
    shared = {
        "checkpoint": about.encoder,
        "mapping": str(folder.absolute()),
        "language-model": work.options["language-model"],
    }
    if laser.is_laser(places.find(about.encoder)):
        return NewMetric("cosine", f"Cosine LASER {about.kind.upper()} {direction}", shared)
    label = f"XMoverScore {about.kind.upper()} {direction} layer {about.layer}"
    options = shared | {"definition": work.options["definition"], "layer": about.layer}
    return NewMetric("xmoverscore", label, options)
