"""The kinds of trainings. Imports no torch, so that web processes stay small."""

from collections.abc import Iterator

from core.extensions import Section
from metaeval.messages import message
from training.contract import KINDS, TrainingKind
from training.distillation import options as distillation
from training.head import options as head
from training.ibm1 import options as ibm1
from training.pair_curve import options as pair_curve
from training.preferences import options as preferences
from training.refreeeval import recipe as refreeeval
from training.remap import options as remap
from training.translation import options as translation

NEURAL = ("torch", "transformers")

KINDS |= {
    "remap": TrainingKind(
        key="remap",
        label=message("kind.remap", "Projection for XMoverScore"),
        description=message(
            "kind.remap-about",
            "Fits a linear map from source to target vectors of an encoder on parallel text (Zhao "
            "et al. 2020). The result is a metric.",
        ),
        path="training.remap.job:run",
        queue="gpu",
        needs_corpus=True,
        options=remap.OPTIONS,
        main=remap.MAIN,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["checkpoint"]],
    ),
    pair_curve.KIND: TrainingKind(
        key=pair_curve.KIND,
        label=message("kind.pair-curve", "XMoverScore by the number of pairs"),
        description=message(
            "kind.pair-curve-about",
            "Fits projections to growing parts of parallel text and correlates the metric with the "
            "human scores of a campaign for each (Zhao et al. 2020, figure 4).",
        ),
        path="training.pair_curve.job:run",
        queue="gpu",
        needs_corpus=True,
        options=pair_curve.OPTIONS,
        conflicts=pair_curve.conflicts,
        packages=(*NEURAL, "ot"),
        checkpoints=pair_curve.checkpoints,
        main=pair_curve.MAIN,
    ),
    "refreeeval": TrainingKind(
        key="refreeeval",
        label=message("kind.refreeeval", "ReFreeEval"),
        description=message(
            "kind.refreeeval-about",
            "Trains an encoder on parallel text. The result is a metric that needs no reference.",
        ),
        path="training.refreeeval.train:run",
        queue="gpu",
        needs_corpus=True,
        options=refreeeval.OPTIONS,
        conflicts=refreeeval.conflicts,
        packages=NEURAL,
        checkpoints=refreeeval.checkpoints,
        main=("encoder", "teacher", "variant", "layer", "sample", "seed"),
    ),
    distillation.KIND: TrainingKind(
        key=distillation.KIND,
        label=message("kind.distillation", "Encoder for BERTScore-MKD"),
        description=message(
            "kind.distillation-about",
            "Teaches a multilingual encoder the vectors of a sentence encoder of one language "
            "(Reimers and Gurevych 2020). The result is BERTScore on the trained encoder.",
        ),
        path="training.distillation.job:run",
        queue="gpu",
        needs_corpus=True,
        options=distillation.OPTIONS,
        conflicts=distillation.conflicts,
        packages=NEURAL,
        checkpoints=lambda chosen: [chosen["encoder"], chosen["teacher"]],
        main=distillation.MAIN,
    ),
    "head": TrainingKind(
        key="head",
        label=message("kind.head", "Supervised head"),
        description=message(
            "kind.head-about",
            "Fits a small head on a frozen encoder to the judgments of a campaign. The result is a "
            "metric.",
        ),
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
        label=message("kind.sentinel", "Sentinel"),
        description=message(
            "kind.sentinel-about",
            "Predicts the scores of a campaign from the source, the output or lengths only. The "
            "result is a baseline that every metric should exceed (Perrella et al. 2024).",
        ),
        path="training.head.sentinel:run",
        queue="gpu",
        needs_corpus=False,
        options=head.SENTINEL,
        conflicts=head.campaign_conflicts,
        packages=NEURAL,
        checkpoints=head.sentinel_checkpoints,
    ),
    ibm1.KIND: TrainingKind(
        key=ibm1.KIND,
        label=message("kind.ibm1", "IBM1"),
        description=message(
            "kind.ibm1-about",
            "Learns word translation probabilities from parallel text (IBM model 1). The result is "
            "a metric that needs neither a reference nor an encoder.",
        ),
        path="training.ibm1.job:run",
        queue="cpu",
        needs_corpus=True,
        options=ibm1.OPTIONS,
    ),
    translation.KIND: TrainingKind(
        key=translation.KIND,
        label=message("kind.mt", "Translation model"),
        description=message(
            "kind.mt-about",
            "Trains a Transformer on parallel text, optionally with a length control (Cheng et al. "
            "2023). The model can translate test sets.",
        ),
        path="training.translation.learning.job:run",
        queue="gpu",
        needs_corpus=True,
        options=translation.OPTIONS,
        conflicts=translation.conflicts,
        settle=translation.settle,
        main=translation.MAIN,
        packages=(*NEURAL, "accelerate", "sacremoses", "sentencepiece"),
    ),
    preferences.KIND: TrainingKind(
        key=preferences.KIND,
        label=message("kind.preferences", "Preference analysis"),
        description=message(
            "kind.preferences-about",
            "Tests whether metrics prefer texts that are worse by construction (Zhao et al. 2020). "
            "Start it on the page of a test set.",
        ),
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
    """Yield the sections of trainings for the generated documentation."""
    yield Section("## Trainings", "Set with *Start a job*, `manage.py train KIND` or the API.")
    for key, kind in KINDS.items():
        module = kind.path.partition(":")[0]
        yield Section(f"### Job `{key}`: {kind.label}", str(kind.description), module, kind.options)
