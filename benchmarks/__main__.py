"""The table of docs/performance.md: every job that has a peer, one after the other.

    OMP_NUM_THREADS=1 python -m benchmarks [NAME ...]

Each benchmark runs in a process of its own and compares results with its peer's before it prints.
A NAME is a part of the module's. Exit status 1 where one fails or a bound is missed.
"""

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import version

from benchmarks.ratios import COLUMNS, line
from metaeval.repeats import refuse_repeats

MODULES = (
    "metrics.lexical",
    "metrics.bertscore",
    "metrics.comet",
    "metrics.transport",
    "metaeval.significance",
    "metaeval.statistics",
    "training.translation.served",
    "annotation.upload_reading",
)
PEERS = ("sacrebleu", "rouge-score", "bert-score", "unbabel-comet", "scipy", "pandas", "numpy")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    names = refuse_repeats(parser).parse_args().names
    chosen = [each for each in MODULES if not names or any(name in each for name in names)]
    print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in (*PEERS, "torch"))
    )
    print(line(*COLUMNS), line(*["---"] * len(COLUMNS)), sep="\n", flush=True)
    failed = []
    for name in chosen:
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            for text in child.stdout or ():
                print(text, end="", file=sys.stdout if text.startswith("|") else sys.stderr)
                sys.stdout.flush()
        if child.returncode:
            failed.append(name)
    if failed:
        print("failed, or a bound missed:", ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
