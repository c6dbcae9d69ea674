"""Every neural family on a GPU: equality with the official packages, throughput, memory, recovery.

    python -m benchmarks.gpu [--pairs 2000] [--large] [--only CASE …] [--models DIR]
    python -m benchmarks.gpu --device cpu --small --pairs 40

Each case has two processes of its own: one that is ended by an error of its device (an assertion in
a kernel; a processor has none, and aborts), several cases at once; when all have ended, one that
measures, which shows that the next goes on. While one measures, alone on the device, others load.
Printed is one table in Markdown, its rows also as they come. Checkpoints are built with random
weights, in the genuine formats and in the shapes of base or large models; texts are made up.
``--models`` names a folder that holds others, by the names that :mod:`benchmarks.gpu.cases` gives
them; what it lacks is built. Exit status 1 where a value in float32 differs from the official one
by more than a thousandth of a standard deviation, one in TF32 or bfloat16 by more than four times
what the official package itself differs by, or a case did not end as it should.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.gpu import cases, checkpoints, table
from benchmarks.gpu.cases import Case
from metaeval.repeats import refuse_repeats

CHILD = "benchmarks.gpu.child"
# Each loads a checkpoint and scores a few texts.
FAULTS_AT_ONCE = max(1, (os.cpu_count() or 1) // 2)
# One measures; the next ones import, load and compute on the processor what they compare with.
MEASURED_AT_ONCE = 3 if FAULTS_AT_ONCE > 2 else 1


def main() -> int:
    options = parse()
    size = checkpoints.SIZES[options.size]
    if options.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    elif not has_gpu():
        print("There is no CUDA device; --device cpu --small tries it without.", file=sys.stderr)
        return 2
    wanted = [case for case in cases.cases(size) if not options.only or case.name in options.only]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, options, wanted)
        with ThreadPoolExecutor(FAULTS_AT_ONCE) as pool:
            ended = pool.map(lambda case: child(case, folder, options, "--fault"), wanted)
        with ThreadPoolExecutor(MEASURED_AT_ONCE) as pool:
            measured = pool.map(lambda *of: one(of[0], of[1], folder, options), wanted, ended)
            for found in measured:
                rows += found
    print(f"{options.size} checkpoints, {options.pairs} pairs\n\n{table.markdown(rows)}")
    return 1 if table.faults(rows) else 0


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--seconds", type=int, default=900, help="the most for one process")
    sizes = parser.add_mutually_exclusive_group()
    for size in ("small", "large"):
        sizes.add_argument(f"--{size}", dest="size", action="store_const", const=size)
    parser.set_defaults(size="base")
    return refuse_repeats(parser).parse_args(arguments)


def has_gpu() -> bool:
    """Asked in a process of its own: this one is to hold no memory of a GPU."""
    code = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code]).returncode == 0


def build(folder: Path, options: argparse.Namespace, wanted: Iterable[Case]) -> None:
    """Take over the user's checkpoints and make the others, from the texts that will be scored."""
    for path in options.models.iterdir() if options.models else ():
        (folder / path.name).symlink_to(path.absolute())
    texts = checkpoints.texts_of(checkpoints.make_inputs(options.pairs))
    names = [name for case in wanted for name in case.models.values()]
    checkpoints.build(folder, checkpoints.SIZES[options.size], texts, names)


def one(
    case: Case, ended: int | None, folder: Path, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """The rows of a case, whose process that its device was to end ended with a status.

    They are printed at once: a run that is cut off leaves those that were measured.
    """
    result = folder / f"{case.name}.json"
    status = child(case, folder, options)
    rows = [{"precision": "", "note": f"ended with status {status}"}]
    recovered = ended not in (0, None) and status == 0
    if result.exists():
        read = json.loads(result.read_text(encoding="utf-8"))
        rows = [{"recovered": recovered, **row} for row in read]
    found = [{"case": case.name, **row} for row in rows]
    print("\n".join(map(table.line, found)), file=sys.stderr, flush=True)
    return found


def child(case: Case, folder: Path, options: argparse.Namespace, *more: str) -> int | None:
    """The status of a process, None where it did not end in time."""
    command = [sys.executable, "-m", CHILD, str(folder), case.name, "--size", options.size]
    try:
        done = subprocess.run(
            [*command, "--pairs", str(options.pairs), *more],
            timeout=options.seconds,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode and not more:
        print(done.stderr[-2_000:], file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
