"""Distil an encoder for BERTScore-MKD from the command line, with `torchrun` on several GPUs.

    torchrun --nproc-per-node 2 -m training.distillation --corpus de-en.tsv:de:en --output DIRECTORY
        [--set NAME=VALUE …]

Without Django: the resulting encoder is a directory, which an admin adds as a metric xbertscore.
Run it again with the same directory to continue.
"""

import sys

from training.contract import Outcome
from training.distillation.job import run
from training.distillation.options import OPTIONS, conflicts
from training.refreeeval.launching import launch


def main() -> int:
    return launch("training.distillation", __doc__, OPTIONS, conflicts, run, _tell)


def _tell(made: Outcome) -> None:
    held = made.result["held_out"]
    print(f"Error {held['error_untrained']:.4f}, trained: {held['error_trained']:.4f}")
    if made.metric is not None:
        print(f"The encoder is in {made.metric.options['checkpoint']}.")


if __name__ == "__main__":
    sys.exit(main())
