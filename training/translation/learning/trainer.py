"""Run the trainer of transformers: its arguments, evaluation, stopping and resuming.

Incomplete checkpoints are removed: a file that marks a complete one is written last.
"""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sacrebleu.metrics.chrf import CHRF
from torch.utils.data import Sampler
from transformers import (
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    TrainerControl,
    TrainerState,
)
from transformers.trainer import TRAINER_STATE_NAME
from transformers.trainer_callback import PrinterCallback

from extensions.neural.encoding.encoders import moved
from extensions.neural.encoding.precision import without_cudnn_attention
from metaeval.messages import message
from metaeval.systems import length_deviation
from training.contract import JobError, StoppedError
from training.jobs.saving import write_whole
from training.refreeeval.processes import first_alone, world
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.generating import Beam, Row, search
from training.translation.learning.pairs import Batches, Collator, Pairs

# What a model makes of held-out text: loss, and how its free outputs keep the wanted length.

# Pairs that are translated at each evaluation, and pairs whose loss is computed at once.
MOST, BATCH = 200, 64


@dataclass(frozen=True)
class Measured:
    """Loss a piece without smoothing; mean deviation from the reference's length in pieces, which
    a trained control gets; share of outputs equal to the reference; chrF."""

    loss: float
    length_error: float
    exact: float
    chrf: float


def measure(checkpoint: Checkpoint, pairs: Pairs, collator: Collator) -> Measured:
    """Measure a model greedily on the first pairs of a held-out set."""
    rows = pairs.rows[:MOST]
    asked = [
        Row(tuple(source), len(target) - 1 if checkpoint.has_control else None)
        for source, target in rows
    ]
    outputs = [found[0].pieces for found in search(checkpoint, asked, Beam(size=1))]
    texts = [checkpoint.write(list(output)) for output in outputs]
    references = [target for _, target in pairs.texts[:MOST]]
    own = [len(output) for output in outputs]
    error = length_deviation(own, [len(target) - 1 for _, target in rows])
    equal = [list(o) == target[:-1] for o, (_, target) in zip(outputs, rows, strict=True)]
    return Measured(
        loss(checkpoint, pairs, collator),
        error.statistic,
        float(np.mean(equal)),
        CHRF().corpus_score(texts, [references]).score,
    )


def loss(checkpoint: Checkpoint, pairs: Pairs, collator: Collator) -> float:
    """Return the mean −ln p of a held-out piece, ends and length tokens included."""
    total = n = 0.0
    order: Sequence[int] = sorted(range(len(pairs)), key=lambda place: len(pairs.rows[place][1]))
    for start in range(0, len(order), BATCH):
        batch = collator([pairs[place] for place in order[start : start + BATCH]])
        batch = {name: moved(value, checkpoint.device) for name, value in batch.items()}
        with torch.inference_mode():
            found = checkpoint.model(**batch)
        n_pieces = int((batch["labels"] >= 0).sum())
        total, n = total + float(found.loss) * n_pieces, n + n_pieces
    return total / n


Report = Callable[[dict[str, Any]], None]
WHOLE = "whole"
REPORT_SECONDS = 1.0
PART = 1_000_000


class Trainer(Seq2SeqTrainer):
    """Batches of about one length, and evaluations that translate."""

    pairs: Pairs
    held_out: Pairs
    collator: Collator
    checkpoint: Checkpoint

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        lengths = [len(source) + len(target) for source, target in self.pairs.rows]
        return Batches(lengths, self.args.train_batch_size, self.args.seed)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Translate held-out text without being forced, and compute its loss."""
        model = self.checkpoint.model
        was_training = model.training
        model.eval()
        found = asdict(measure(self.checkpoint, self.held_out, self.collator))
        model.train(was_training)
        metrics = {f"eval_{name}": value for name, value in found.items()}
        self.log(metrics)
        self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        """Save a checkpoint; if that fails, remove it and raise what the disk refused."""
        folder = Path(str(self.args.output_dir)) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(*args, **kwargs)  # type: ignore[no-untyped-call]
        except Exception:
            size = sum(each.nbytes for each in self.checkpoint.model.parameters())
            shutil.rmtree(folder, ignore_errors=True)
            require_room(folder.parent, 3 * size)
            raise


def require_room(folder: Path, n_bytes: int) -> None:
    """Raise what the disk says to that many bytes: torch only says that its archive is short."""
    try:
        with (folder / "probe").open("wb") as file:
            for start in range(0, n_bytes, PART):
                file.write(bytes(min(PART, n_bytes - start)))
    finally:
        (folder / "probe").unlink(missing_ok=True)


class Reporting(TrainerCallback):
    """Reports each second, stops where the job is to stop, and marks what is saved as whole."""

    def __init__(self, report: Report) -> None:
        self.report, self.stopped, self.reported_at = report, False, 0.0

    def on_step_end(
        self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Measure the last weights, which an interval may miss, and tell how far it is."""
        if state.global_step >= state.max_steps:
            control.should_log = control.should_evaluate = True
        if time.monotonic() - self.reported_at < REPORT_SECONDS:
            return
        try:
            self.report(progress(state))
            self.reported_at = time.monotonic()
        except StoppedError:
            self.stopped = control.should_save = control.should_training_stop = True

    def on_log(
        self, args: Any, state: TrainerState, control: TrainerControl, logs: Any = None, **_: Any
    ) -> None:
        """Raise JobError if the loss is not finite."""
        loss = (logs or {}).get("loss", 0.0)
        if not math.isfinite(loss):
            raise JobError(
                message(
                    "mt.loss-undefined",
                    "The loss is not a number after {n} updates. Choose a lower learning rate or a "
                    "longer warm-up.",
                    n=state.global_step,
                )
            )

    def on_save(
        self, args: Any, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Mark the checkpoint; of several processes the first has written it."""
        if not state.is_world_process_zero:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        write_whole(folder / WHOLE, lambda file: file.write(b"\n"))


def progress(state: TrainerState) -> dict[str, Any]:
    """Return how far a training is, with its curve."""
    found = {"step": state.global_step, "total": state.max_steps, "curve": curve(state)}
    return found | {"stage": message("stage.training", "training")}


def curve(state: TrainerState) -> list[dict[str, Any]]:
    """Return a row for every evaluation."""
    rows, loss = [], None
    for entry in state.log_history:
        loss = entry.get("loss", loss)
        if "eval_loss" in entry:
            row = {"step": entry["step"], "training_loss": loss}
            names = ("loss", "length_error", "exact", "chrf")
            rows.append(row | {f"held_out_{name}": entry[f"eval_{name}"] for name in names})
    return rows


def train(
    checkpoint: Checkpoint,
    pairs: tuple[Pairs, Pairs],
    collator: Collator,
    options: dict[str, Any],
    folder: Path,
    report: Report,
) -> TrainerState:
    """Train, or continue from the folder; the model has the best weights afterwards.

    Best is the lowest held-out loss. Raises JobError, and StoppedError with everything saved.
    """
    reporting = Reporting(report)
    trainer = Trainer(
        model=checkpoint.model,
        args=arguments(options, folder),
        data_collator=collator,
        train_dataset=pairs[0],
        eval_dataset=pairs[1],
        callbacks=[reporting],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.pairs, trainer.held_out = pairs
    trainer.collator, trainer.checkpoint = collator, checkpoint
    last = first_alone(lambda: last_whole(folder))
    if last is not None and _step_of(Path(last)) >= options["steps"]:
        # transformers would do one more update.
        trainer.state = TrainerState.load_from_json(str(Path(last) / TRAINER_STATE_NAME))
        trainer._load_best_model()
    else:
        with without_cudnn_attention():
            trainer.train(resume_from_checkpoint=last)
    if reporting.stopped:
        raise StoppedError
    checkpoint.model.eval()
    state: TrainerState = trainer.state
    return state


def last_whole(folder: Path) -> str | None:
    """Return the newest checkpoint that was completed, and remove those that were not."""
    whole = {}
    for path in folder.glob("checkpoint-*"):
        if (path / WHOLE).exists():
            whole[_step_of(path)] = path
        else:
            shutil.rmtree(path, ignore_errors=True)
    return str(whole[max(whole)]) if whole else None


def _step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def arguments(options: dict[str, Any], folder: Path) -> Seq2SeqTrainingArguments:
    """Return the arguments of the trainer of transformers."""
    every = min(options["evaluate_every"], options["steps"])
    return Seq2SeqTrainingArguments(
        output_dir=str(folder),
        max_steps=options["steps"],
        per_device_train_batch_size=options["batch"],
        gradient_accumulation_steps=options["accumulate"],
        learning_rate=options["rate"],
        warmup_steps=options["warmup"],
        lr_scheduler_type="inverse_sqrt",
        lr_scheduler_kwargs={"timescale": max(1, options["warmup"])},
        label_smoothing_factor=options["smoothing"],
        adam_beta1=0.9,
        adam_beta2=0.98,
        adam_epsilon=1e-9,
        bf16=_is_half(options["precision"]),
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        # With 1, what is saved when a training stops early would be removed at its end.
        save_total_limit=2,
        logging_steps=max(1, every // 10),
        # Otherwise a loss of nan would be reported as the mean of those before.
        logging_nan_inf_filter=False,
        load_best_model_at_end=True,
        metric_for_best_model="loss",
        greater_is_better=False,
        remove_unused_columns=False,
        dataloader_num_workers=0,
        use_cpu=not torch.cuda.is_available(),
        ddp_backend=None if torch.cuda.is_available() or world() == 1 else "gloo",
        dataloader_pin_memory=torch.cuda.is_available(),
        # A batch in pinned memory is sent while the one before it is computed.
        accelerator_config={"non_blocking": True},
        seed=options["seed"],
        disable_tqdm=True,
        log_level="error",
        report_to=[],
    )


def _is_half(precision: str) -> bool:
    has_gpu = torch.cuda.is_available()
    if precision == "bfloat16" and not has_gpu:
        raise JobError(message("mt.bfloat16", "bfloat16 needs a GPU."))
    return has_gpu and precision != "float32" and torch.cuda.is_bf16_supported()
