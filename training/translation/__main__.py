"""Train a translation model from the command line, with `torchrun` on several GPUs.

    torchrun --nproc-per-node 4 -m training.translation --corpus news.tsv:en:zh --output DIRECTORY
        [--set NAME=VALUE …]

Without Django: the resulting model is a directory for `manage.py translate --model` and the page.
Run it again with the same directory to continue.
"""

import sys
from dataclasses import replace

from training.contract import Outcome, Work
from training.refreeeval.launching import launch
from training.translation.options import OPTIONS, conflicts, settle


def main() -> int:
    return launch("training.translation", __doc__, OPTIONS, conflicts, _run, _tell)


def _run(work: Work) -> Outcome:
    # Importing it takes seconds, which wrong settings should not cost.
    from training.translation.learning import job

    return job.run(replace(work, options=settle(work.options)))


def _tell(made: Outcome) -> None:
    print(f"The model is in {made.result['model']}: {made.result['held_out']}")


if __name__ == "__main__":
    sys.exit(main())
