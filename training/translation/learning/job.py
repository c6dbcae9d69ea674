"""Train a translation model as a job: vocabulary, pairs, updates, and the folder of the model.

Models are Transformers of Marian's architecture in Marian's format, with one SentencePiece
vocabulary for both languages. Texts are tokenised before only with the study's preprocessing. The
weights with the lowest held-out loss are stored. For a target length L, the decoder
gets at step t:

- ``target-embedding`` (Niehues 2020): r = L + 1 − t, the remaining steps, at most ``cap``. ``int``:
  relu(W [word + position ; table(r)] + b); ``encoding``: the sinusoid of r instead of positions;
  ``forward-backward``: (word + position) · √d + the sinusoid, which learns slowly. For ``int``,
  steps beyond the cap count as the cap.
- ``length-token`` (Cheng et al. 2023): a first token ``<len_L>``, forced when decoding; one beyond
  the cap is refused.
- ``length-difference``, ``length-ratio`` (Takase and Okazaki 2019): sinusoids of L − t, or of t
  with L instead of 10,000.
- ``progress-ratio`` (Botcazou et al. 2025): cos and sin of (t / L) · width/2 · x, in addition to
  positions, with noise in training.
"""

import json
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from extensions.neural.encoding.encoders import best_device
from metaeval.messages import Message, message
from metrics.checkpoints import places
from training.contract import JobError, Outcome, Work, other_training
from training.jobs.saving import NOT_TRAINED, current, disk_errors, save_whole, write_whole
from training.refreeeval.processes import first_alone
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.learning import marian, vocabulary
from training.translation.learning import pairs as texts
from training.translation.learning.pairs import Collator, Pairs, Split
from training.translation.learning.trainer import curve, train
from training.translation.options import LENGTH_TOKEN, STUDY

PACKAGES = ("torch", "transformers", "accelerate", "sentencepiece")
UPDATES, VOCABULARY, MODEL = "updates", "vocabulary", "model"
RESUMABLE = message(
    "mt.resumable", "What was saved before is complete; the training can continue from it."
)


def run(work: Work) -> Outcome:
    """Train, or continue from what was saved; raises JobError or StoppedError."""
    options = dict(work.options)
    first_alone(lambda: _take(work))
    languages = texts.languages(work.corpora, options)
    split = texts.split(work.corpora, options)
    work.report({"stage": message("stage.vocabulary", "building the vocabulary")})
    tokenizer = vocabulary.load(first_alone(lambda: _vocabulary(work, split, languages)))
    work.report({"stage": message("stage.pieces", "splitting texts into pieces")})
    parts = tuple(Pairs(each, tokenizer, options) for each in (split.train, split.held_out))
    if min(map(len, parts)) < 1:
        raise JobError(_no_pairs(parts[0].counts))
    special = {"end": tokenizer.eos_token_id, "padding": tokenizer.pad_token_id}
    model: Any = marian.build(options, len(tokenizer), special)
    model.to(best_device())
    prefix = (model.config.decoder_start_token_id,)
    control = marian.control_of(model.config)
    checkpoint = Checkpoint(str(work.folder), model, tokenizer, prefix=prefix, control=control)
    start = checkpoint.model.config.decoder_start_token_id
    collator = Collator(tokenizer, start, checkpoint.control)
    with disk_errors(work.folder, RESUMABLE):
        state = train(
            checkpoint, (parts[0], parts[1]), collator, options, work.folder / UPDATES, work.report
        )
    writing = message("stage.writing", "writing the model")
    work.report({"step": state.global_step, "total": state.max_steps, "stage": writing})
    best = _best(curve(state))
    result = {
        "held_out": _measured(best),
        "languages": "-".join(languages),
        "pieces": len(tokenizer),
        "parameters": sum(each.numel() for each in checkpoint.model.parameters()),
        "pairs": {"training": parts[0].counts, "held_out": parts[1].counts},
        "updates": state.global_step,
        "updates_of_kept_weights": best["step"],
        "curve": curve(state),
        "versions": {
            name: version(name)
            for name in ((*PACKAGES, "sacremoses") if _is_study(options) else PACKAGES)
        },
        "data_hash": [corpus.sha256 for corpus in work.corpora],
    }
    folder = first_alone(lambda: _keep(work, checkpoint, result))
    return Outcome(result | {"model": str(folder), "model_hash": places.fingerprint(folder)})


def _take(work: Work) -> None:
    """Record what is trained in the folder; JobError if it has another training."""
    with disk_errors(work.folder, NOT_TRAINED):
        work.folder.mkdir(parents=True, exist_ok=True)
    path = work.folder / "training.json"
    document = {"options": dict(work.options), "corpora": [c.sha256 for c in work.corpora]}
    text = json.dumps(document, indent=1, sort_keys=True)
    if not path.exists():
        write_whole(path, lambda file: file.write(text.encode()))
    elif path.read_text(encoding="utf-8") != text:
        raise JobError(other_training(work.folder))


def _is_study(options: Mapping[str, Any]) -> bool:
    """Return whether texts are tokenised; trainings of earlier versions have no such option."""
    return bool(options.get("preprocessing") == STUDY)


def _vocabulary(work: Work, split: Split, languages: tuple[str, str]) -> Path:
    found = current(work.folder, VOCABULARY)
    if found:
        return found
    is_study = _is_study(work.options)
    sides = (each for pair in split.train for each in zip(pair, languages, strict=True))
    made = vocabulary.train(
        (vocabulary.tokenized(*each) if is_study else each[0] for each in sides),
        work.options["pieces"],
        work.options["vocabulary"],
    )
    n_lengths = work.options["cap"] if work.options["control"] == LENGTH_TOKEN else 0
    return save_whole(
        work.folder,
        VOCABULARY,
        lambda path: vocabulary.write(made, path, languages, n_lengths, moses=is_study),
    )


def _best(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of the weights with the lowest held-out loss."""
    return min(rows, key=lambda row: float(row["held_out_loss"]))


def _measured(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measures on held-out text."""
    return {key.removeprefix("held_out_"): value for key, value in row.items()
            if key.startswith("held_out_")}  # fmt: skip


def _keep(work: Work, checkpoint: Checkpoint, result: Mapping[str, Any]) -> Path:
    """Write the model once, as a checkpoint of Marian with a manifest."""

    def write(path: Path) -> None:
        checkpoint.model.save_pretrained(path)
        for file in sorted((current(work.folder, VOCABULARY) or path).iterdir()):
            shutil.copyfile(file, path / file.name)
        manifest = {"options": dict(work.options), **result}
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        (path / "manifest.txt").write_text(text + "\n", encoding="utf-8")

    return current(work.folder, MODEL) or save_whole(work.folder, MODEL, write)


def _no_pairs(counts: Mapping[str, int]) -> Message:
    """Return the message that no pair remains; the first count is that of all pairs."""
    n_pairs, n_long, *rest = counts.values()
    return message(
        "mt.no-pairs",
        "None of the {pairs} pairs can be used: {long} are too long, and {uneven} have a length "
        "ratio above the maximum.",
        pairs=n_pairs,
        long=n_long,
        uneven=sum(rest),
    )
