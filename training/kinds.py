"""The kinds of trainings. Importing this module imports no torch: the web process stays light."""

from collections.abc import Iterator

from core.extensions import Section
from training.contract import KINDS, TrainingKind
from training.head import options as head
from training.preferences import options as preferences
from training.refreeeval import recipe as refreeeval
from training.remap import options as remap
from training.translation import options as translation

NEURAL = ("torch", "transformers")

KINDS |= {
    "remap": TrainingKind(
        key="remap",
        label="Projection for XMoverScore",
        description="Fits a linear map from the source side of an encoder onto its target side, "
        "from parallel text (Zhao et al. 2020). A metric comes of it.",
        path="training.remap.job:run",
        queue="gpu",
        needs_corpus=True,
        options=remap.OPTIONS,
        main=remap.MAIN,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["checkpoint"]],
    ),
    "refreeeval": TrainingKind(
        key="refreeeval",
        label="ReFreeEval",
        description="Trains an encoder on parallel text into a metric that needs no reference.",
        path="training.refreeeval.job:run",
        queue="gpu",
        needs_corpus=True,
        options=refreeeval.OPTIONS,
        conflicts=refreeeval.conflicts,
        packages=NEURAL,
        checkpoints=refreeeval.checkpoints,
        main=("encoder", "teacher", "variant", "layer", "sample", "seed"),
    ),
    "head": TrainingKind(
        key="head",
        label="Supervised head",
        description="Fits a small head on the judgments of a campaign, over a frozen encoder.",
        path="training.head.training:run",
        queue="gpu",
        needs_corpus=False,
        options=head.OPTIONS,
        conflicts=head.conflicts,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["encoder"]],
    ),
    "sentinel": TrainingKind(
        key="sentinel",
        label="Sentinel",
        description="Fits what can be said of a campaign's scores from the source, the output or "
        "lengths alone: a floor that every metric has to beat (Perrella et al. 2024).",
        path="training.head.sentinel:run",
        queue="gpu",
        needs_corpus=False,
        options=head.SENTINEL,
        packages=NEURAL,
        checkpoints=head.sentinel_checkpoints,
    ),
    translation.KIND: TrainingKind(
        key=translation.KIND,
        label="Translation model",
        description="Trains a Transformer on parallel text that translates, to a wanted length "
        "where it is told one (Cheng et al. 2023). Test sets are translated with it.",
        path="training.translation.learning.job:run",
        queue="gpu",
        needs_corpus=True,
        options=translation.OPTIONS,
        conflicts=translation.conflicts,
        main=translation.MAIN,
        packages=(*NEURAL, "accelerate", "sentencepiece"),
    ),
    preferences.KIND: TrainingKind(
        key=preferences.KIND,
        label="Preference analysis",
        description="Asks metrics whether they prefer texts that are worse by construction "
        "(Zhao et al. 2020). Started from a test set's page.",
        path="training.preferences.job:run",
        queue="gpu",
        needs_corpus=False,
        options=preferences.OPTIONS,
        metrics=lambda chosen: preferences.listed(str(chosen.get("metrics", ""))),
        has_form=False,
        has_folder=False,
    ),
}


def sections() -> Iterator[Section]:
    """Yield what the generated documentation says of trainings."""
    told = "Set by *Start a job*, `manage.py train KIND`, the API."
    yield Section("## Trainings", told)
    for key, kind in KINDS.items():
        module = kind.path.partition(":")[0]
        yield Section(f"### Job `{key}`: {kind.label}", kind.description, module, kind.options)
