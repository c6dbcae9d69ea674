"""Train one level: updates, validation, best and last checkpoint, and going on after a kill.

With `torchrun` every process takes its share of each batch and gradients are summed, so that the
loss is that of the whole batch whatever the number of processes. Dropout is seeded anew for every
update, by its number, so a training that goes on after a kill ends as one that was never stopped.
"""

import json
import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch

from extensions.neural.encoding.ahead import ahead
from extensions.neural.encoding.precision import without_cudnn_attention
from metaeval.messages import message
from training.contract import JobError, StoppedError
from training.jobs.saving import Stream, current, save_whole, write_whole
from training.refreeeval.levels import Level, Parts, Validation
from training.refreeeval.losses import rate_factor
from training.refreeeval.processes import check_equal, rank, sum_gradients, wait, world
from training.refreeeval.student import Student

Report = Callable[[dict[str, Any]], None]
EPSILON = 1e-8
REPORT_SECONDS = 1.0


class Schedule(Protocol):
    """The settings of a recipe that the loop reads."""

    @property
    def steps(self) -> int: ...

    @property
    def evaluate_every(self) -> int: ...

    @property
    def accumulation(self) -> int: ...

    @property
    def seed(self) -> int: ...


@dataclass
class State:
    """Where a level stands; saved with every checkpoint. `curve` has a row per validation."""

    step: int = 0
    best: tuple[float, float] = (float("-inf"), float("-inf"))
    curve: list[dict[str, float]] = field(default_factory=list)
    seconds: float = 0.0
    pieces: int = 0


@dataclass(frozen=True)
class Trained:
    """A finished level: its checkpoints, the curve, and how it did before and after."""

    best: Path
    last: Path
    state: State
    total: int


def train(
    level: Level, student: Student, recipe: Schedule, folder: Path, report: Report
) -> Trained:
    """Train a level to its end, from where an earlier attempt left off.

    Raises StoppedError, with everything saved, if `report` does, and JobError for a loss that is
    not finite.
    """
    run = _Run(level, student, recipe, folder, report)
    run.resume()
    try:
        run.to_the_end()
    except StoppedError:
        run.save("last")
        raise
    best, last = current(folder, "best"), current(folder, "last")
    if best is None or last is None:
        raise JobError(
            message(
                "refreeeval.checkpoints-lost",
                "The checkpoints in {folder} were removed during the training.",
                folder=str(folder),
            )
        )
    return Trained(best, last, run.state, run.total)


class _Run:
    def __init__(
        self, level: Level, student: Student, recipe: Schedule, folder: Path, report: Report
    ) -> None:
        self.level, self.student, self.recipe, self.folder = level, student, recipe, folder
        self.report, self.state = report, State()
        per_pass = len(level.batches(0))
        self.total = recipe.steps or per_pass
        self.optimizer = torch.optim.AdamW(
            student.model.parameters(), lr=level.rate, eps=EPSILON, weight_decay=0.0, fused=True
        )
        self.reported = 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def resume(self) -> None:
        """Load the last checkpoint, if any; JobError if it cannot be read."""
        last = current(self.folder, "last")
        try:
            if last is not None:
                self._take_up(last)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            raise JobError(
                message(
                    "refreeeval.checkpoint-unreadable",
                    "The checkpoint {checkpoint} cannot be read ({error}). Delete the folder "
                    "{folder} to train this level again.",
                    checkpoint=str(last),
                    error=type(error).__name__,
                    folder=str(self.folder),
                )
            ) from error

    def _take_up(self, last: Path) -> None:
        """Restore weights, optimizer and state from the last checkpoint."""
        from safetensors.torch import load_file

        weights = load_file(last / "model.safetensors", device=str(self.student.device))
        self.student.model.load_state_dict(weights)
        stored = torch.load(last / "state.pt", map_location=self.student.device, weights_only=True)
        self.optimizer.load_state_dict(stored["optimizer"])
        self.state = State(**json.loads(stored["state"]))
        self.state.best = (self.state.best[0], self.state.best[1])

    def to_the_end(self) -> None:
        """Do all updates that are left."""
        self.student.model.train()
        if not self.state.curve:
            self._validate({}, [])
        batches = ahead(self._cut_ahead, self._batches_left())
        # Also for layers that are computed again for their gradients.
        with closing(batches), without_cudnn_attention():
            for batch, _ in batches:
                self._step(batch)

    def _cut_ahead(self, batch: Sequence[int]) -> None:
        self.level.cut_ahead(batch[rank() :: world()])

    def _step(self, batch: Sequence[int]) -> None:
        began = time.monotonic()
        parts = self._update(batch)
        self.state.step += 1
        self.state.seconds += time.monotonic() - began
        if self.state.step % self.recipe.evaluate_every == 0 or self.state.step == self.total:
            self._validate(parts, batch)
        self._tell(parts)

    def _batches_left(self) -> Iterator[list[int]]:
        done, epoch, seen = self.state.step, 0, 0
        while done < self.total:
            batches = self.level.batches(epoch)
            left = batches[max(0, done - seen) :][: self.total - done]
            yield from left
            done, epoch, seen = done + len(left), epoch + 1, seen + len(batches)

    def _update(self, batch: Sequence[int]) -> dict[str, float]:
        """Update once on a batch, in parts if configured; return the mean losses of this
        process's share."""
        factor = rate_factor(self.state.step, self.level.warmup, max(self.total, 1))
        for group in self.optimizer.param_groups:
            group["lr"] = self.level.rate * factor
        self.optimizer.zero_grad(set_to_none=True)
        self._seed_dropout()
        before, parts, total = self.student.n_real, Parts(), torch.zeros(())
        share = batch[rank() :: world()]
        for piece in _split(share, self.recipe.accumulation):
            loss, found = self.level.loss(piece)
            torch.autograd.backward(loss * (len(piece) / len(batch)))
            total = total + loss.detach()
            for name, value in found.items():
                parts[name] = parts.get(name, torch.zeros(())) + value * len(piece) / len(share)
        # One copy: a GPU is waited for once, and computes the step beside the next batch.
        whole, *values = torch.stack([total, *parts.values()]).tolist()
        if not math.isfinite(whole):
            self._give_up(self.state.step + 1, batch)
        sum_gradients(self.student.model)
        if self.level.clip:
            torch.nn.utils.clip_grad_norm_(self.student.model.parameters(), self.level.clip)
        self.optimizer.step()
        self.state.pieces += self.student.n_real - before
        return dict(zip(parts, values, strict=True))

    def _seed_dropout(self) -> None:
        key = f"{self.recipe.seed}:{self.level.name}:{self.state.step}:{rank()}"
        torch.manual_seed(zlib.crc32(key.encode()))

    def _give_up(self, update: int, batch: Sequence[int]) -> None:
        path = self.folder / "batch-without-loss.json"
        text = json.dumps({"step": update - 1, "places": list(batch)})
        write_whole(path, lambda file: file.write(text.encode()))
        raise JobError(
            message(
                "refreeeval.loss-undefined",
                "The loss of update {update} is not a number. Its batch is in {file}. A lower "
                "learning rate may help.",
                update=update,
                file=path.name,
            )
        )

    def _validate(self, parts: dict[str, float], batch: Sequence[int]) -> None:
        """Measure, record and save: always as last, and as best if it is the best."""
        check_equal(self.student.model)
        found: Validation = self.level.validate()
        if not math.isfinite(found.loss):
            self._give_up(self.state.step, batch)
        row = {"step": self.state.step, "accuracy": found.accuracy, "held_out_loss": found.loss}
        self.state.curve.append({**row, **parts})
        if found.rank > self.state.best:
            self.state.best = found.rank
            self.save("best")
        self.save("last")

    def save(self, name: str) -> None:
        """Save a checkpoint of this name; the previous one stays if that fails."""
        if rank() == 0:
            is_last = name == "last"
            # AdamW keeps two moments of every weight.
            n_bytes = self.student.n_bytes * (3 if is_last else 1)
            write = self._write_last if is_last else self._write
            save_whole(self.folder, name, write, n_bytes)
        wait()

    def _write(self, folder: Path) -> None:
        self.student.save(folder, {"step": self.state.step, "level": self.level.name})

    def _write_last(self, folder: Path) -> None:
        """Write the weights and the state that resuming needs."""
        self._write(folder)
        stored = {
            "optimizer": self.optimizer.state_dict(),
            "state": json.dumps(vars(self.state)),
        }
        with Stream(folder / "state.pt") as file:
            torch.save(stored, file)

    def _tell(self, parts: dict[str, float]) -> None:
        now = time.monotonic()
        if now - self.reported < REPORT_SECONDS and self.state.step < self.total:
            return
        self.reported = now
        state = self.state
        per_step = state.seconds / max(1, state.step)
        self.report(
            {
                "level": self.level.name,
                "step": state.step,
                "total": self.total,
                "losses": parts,
                "curve": state.curve,
                "pieces_per_second": state.pieces / max(state.seconds, 1e-9),
                "seconds_left": per_step * (self.total - state.step),
            }
        )


def _split(share: Sequence[int], parts: int) -> list[Sequence[int]]:
    """Split into parts of similar size; none is empty, and an empty share has no parts."""
    size = max(1, math.ceil(len(share) / parts))
    return [share[start : start + size] for start in range(0, len(share), size)]
