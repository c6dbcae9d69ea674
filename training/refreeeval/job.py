"""ReFreeEval (Wu et al. 2023) as a job: a sentence level, then a word level.

Each translation is compared with k texts that are worse by construction. The score of the student
is the F1 of greedy matching, at its layer, without temperature. Fluency, L_fl [eq.
7], is the cross-entropy of finding the genuine text among k + 1 scores. Faithfulness, L_fa [eq. 8],
is the Kullback–Leibler divergence of the student's softmax from that of a sentence encoder's
cosines, added up over candidates, averaged over texts. L_sent = L_fl + α L_fa [eq. 9].

On the word level, L_word [eq. 2–6], the encoder itself, without dropout, aligns pieces:
softmax over each side of the products of vectors, both above c1. Those above c2 are rivals. With
cosines and gradients, the share of the aligned among both should grow, for the pieces of either
side. There is no logarithm, so the loss is between −2 and 0.

``full`` trains the sentence level, then from its best checkpoint the word level; ``sent-level``
trains L_sent, ``fluency`` L_fl only, ``sent-fa`` L_fa only, ``word-level`` L_word only. AdamW,
ε 1e-8, no weight decay, gradients of the word level clipped at 1.
"""

from metaeval.reasons import reason_of
from training.contract import JobError, NewMetric, Outcome, Work
from training.refreeeval.recipe import Recipe
from training.refreeeval.train import make_metric


def run(work: Work) -> Outcome:
    """Train, and return the resulting metric; raises JobError or StoppedError."""
    try:
        recipe = Recipe.from_options(work.options)
    except ValueError as error:
        raise JobError(reason_of(error)) from error
    made = make_metric(recipe, work.corpora, work.folder, work.report)
    label = f"ReFreeEval {recipe.variant} (seed {recipe.seed})"
    # The layer is in the meta.json of the checkpoint.
    metric = NewMetric("refreeeval", label, {"checkpoint": str(made.folder)})
    return Outcome(made.manifest, metric)
