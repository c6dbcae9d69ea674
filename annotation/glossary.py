"""What terms mean: the one place from which pages, `/glossary/` and the documentation have it."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term by its key in addresses; `label` as pages write it."""

    key: str
    label: str
    text: str


GROUPS: dict[str, tuple[Term, ...]] = {
    "Data": (
        Term(
            "segment",
            "Segment",
            "A stretch of source text that is judged as one, usually a sentence.",
        ),
        Term(
            "system",
            "System, output",
            "A system is what translated, a machine or a person. An output is its translation of "
            "one segment.",
        ),
        Term("reference", "Reference", "A person’s translation that outputs are compared with."),
        Term("test-set", "Test set", "Segments with their references and the outputs of systems."),
        Term(
            "campaign",
            "Campaign",
            "One question about the outputs of a test set, with its annotators and judgments.",
        ),
        Term(
            "study",
            "Study",
            "Campaigns that belong together: pages show them side by side and average over them.",
        ),
        Term(
            "judgment",
            "Judgment",
            "One person’s answer about one item. A changed answer is kept beside the older one.",
        ),
        Term(
            "bundle",
            "Replication bundle",
            "A file of a campaign’s texts, judgments and scores, from which one command computes "
            "every number again.",
        ),
    ),
    "Judging": (
        Term("da", "Direct assessment", "One output at a time gets a score from 0 to 100."),
        Term("esa", "ESA", "Error spans first, marked minor or major, then a score from 0 to 100."),
        Term(
            "mqm",
            "MQM",
            "Error spans with a category and a severity. The penalty is their weighted sum; "
            "analyses use minus the penalty, so that larger is better.",
        ),
        Term("contrastive", "Side by side", "Outputs of several systems are rated on one screen."),
        Term(
            "contrastive-esa",
            "Contrastive ESA",
            "ESA of a whole document by several systems, in columns beside each other.",
        ),
        Term(
            "span",
            "Error span",
            "A stretch of text marked as wrong, with a severity and perhaps a category. What is "
            "missing is marked in the source.",
        ),
        Term(
            "screen",
            "Screen",
            "What an annotator sees at once: one output, several of one segment, or a document.",
        ),
        Term(
            "length-ratio",
            "Length ratio",
            "The length asked of an output, as a share of the full target length: 80% or full.",
        ),
        Term(
            "assignment",
            "Assignment",
            "Fixed shares: everybody’s items are set when the campaign opens. Open pool: the next "
            "item goes where ratings are missing most. Active: effort goes to pairs of systems "
            "that are still undecided.",
        ),
        Term(
            "origin",
            "Simulated, imported",
            "Simulated judgments were made up by a program, imported ones collected elsewhere.",
        ),
    ),
    "Control items": (
        Term(
            "control",
            "Control item",
            "An item that tells whether somebody reads: trap, bad reference, repeat, gold item, or "
            "reference shown as an output. Annotators cannot tell it from others.",
        ),
        Term("trap", "Trap", "A reference cut short; who reads rates it clearly lower."),
        Term(
            "bad-reference",
            "Bad reference",
            "An output with a piece replaced from elsewhere; who reads rates it below the output.",
        ),
        Term("repeat", "Repeat", "An item shown to the same person twice, far apart."),
        Term("gold", "Gold item", "An item whose right score is known to lie within bounds."),
        Term(
            "verdict",
            "Verdict",
            "Whether an annotator passes, fails or is undecided by control items: a paired test of "
            "each control item against the item that it was made from.",
        ),
    ),
    "Scores and agreement": (
        Term("raw", "Raw score", "The score as it was given."),
        Term(
            "z",
            "z-score",
            "A score less its annotator’s mean, divided by their standard deviation: it takes out "
            "how strict a person is and how much of the scale they use.",
        ),
        Term(
            "one-vs-rest",
            "One-vs-rest r",
            "Pearson’s r of one annotator’s z-scores with the mean z-score of all others on the "
            "same items, averaged over annotators.",
        ),
        Term(
            "alpha",
            "Krippendorff’s α",
            "Agreement beyond chance: 1 is perfect, 0 what chance gives, below 0 worse than that. "
            "On z it compares judgments, on raw scores also habits of using the scale.",
        ),
        Term(
            "interval",
            "95 % interval",
            "Where the value would probably lie if texts of the same kind were drawn anew. Two "
            "values with overlapping intervals may still differ: ask the test.",
        ),
        Term(
            "trust",
            "Trust",
            "What limits the numbers of a page: agreement, control items, times, amount of data. "
            "Where judgments do not bear numbers out, nothing is ranked or bold.",
        ),
        Term("drift", "Drift", "Somebody’s scores or times rise or fall while they work."),
    ),
    "Metrics against humans": (
        Term(
            "statistic",
            "Statistic",
            "How a metric’s scores are compared with human scores: over segments (each output is a "
            "point) or over systems (each system is a point).",
        ),
        Term(
            "tau",
            "Kendall’s τ",
            "Pairs of outputs in the order of the humans less pairs in the other, as a share. τ-b "
            "and τ-c correct for ties in two ways.",
        ),
        Term("pearson", "Pearson’s r", "How close points come to a straight line, from −1 to 1."),
        Term("spearman", "Spearman’s ρ", "Pearson’s r of ranks."),
        Term(
            "acc-eq",
            "Pairwise accuracy with ties",
            "The share of pairs ordered as humans do, ties included; how small a difference of the "
            "metric counts as a tie is calibrated on the same data.",
        ),
        Term(
            "pa", "Pairwise accuracy", "The share of pairs of systems in the order of the humans."
        ),
        Term(
            "spa",
            "Soft pairwise accuracy",
            "Pairwise accuracy that also asks whether metric and humans are equally sure of the "
            "order.",
        ),
        Term(
            "hybrids",
            "Hybrid systems",
            "Made-up systems: for each segment one output is drawn from the real ones. Many "
            "give a correlation over systems where only a few real ones exist.",
        ),
        Term(
            "limit",
            "Limit",
            "What Pearson’s r over hybrids tends to as more of them are drawn, in closed form. Its "
            "interval comes from segments, so it does not shrink with the number of draws.",
        ),
        Term(
            "cells",
            "r of system means",
            "Pearson’s r between the means of each system’s scores over the judged outputs alone.",
        ),
        Term(
            "grouping",
            "Grouping",
            "None: all outputs are one list. By segment: outputs of the same segment are compared, "
            "then averaged. By system: outputs of the same system.",
        ),
        Term(
            "layer",
            "Layer",
            "An encoder has many layers, and a metric may read any of them. A layer "
            "chosen on the data it is judged by looks better than it is.",
        ),
        Term(
            "held-out",
            "Held-out value",
            "How a choice, such as that of a layer, does on segments that it was not made on.",
        ),
        Term(
            "simpson",
            "Simpson’s paradox",
            "Over all outputs a metric agrees with the humans, and within the systems it does "
            "not, or the other way round.",
        ),
    ),
    "Tests": (
        Term(
            "test",
            "Test",
            "How likely a difference at least as large is if two metrics were equally good. t over "
            "segments and permutations ask of new texts; Williams, Zou and the jackknife compare "
            "correlations over systems.",
        ),
        Term(
            "correction",
            "Correction",
            "Of many tests some come out by chance. Holm and Bonferroni keep one false finding "
            "unlikely, Benjamini–Hochberg keeps their share small.",
        ),
        Term(
            "scope",
            "Family of tests",
            "What is corrected together: all pairs of the table, or those of one metric.",
        ),
        Term(
            "cluster",
            "Cluster, rank",
            "A new rank begins where a metric or system is beaten significantly by one of the "
            "cluster above. Within a cluster the order says nothing.",
        ),
        Term(
            "power",
            "Power",
            "How often a test would find a difference of this size with this many judgments.",
        ),
        Term(
            "permutation",
            "PERM-BOTH",
            "A test that lets two metrics swap their scores of outputs at random, many times.",
        ),
    ),
    "Metrics": (
        Term(
            "signature",
            "Signature",
            "All that changes a score, in one line: metric, version, settings, checkpoint. Scores "
            "under different signatures are never mixed.",
        ),
        Term("checkpoint", "Checkpoint", "The files of a trained model, by name or folder."),
        Term("run", "Run", "One metric over the outputs of some systems, done by workers."),
        Term("worker", "Worker", "A process that computes scores, trainings and results."),
        Term(
            "preference",
            "Preference",
            "Whether a metric prefers a text to one that is worse by construction.",
        ),
        Term(
            "w2w",
            "W2W",
            "The share of segments in which a metric scores the worse text higher; low is good.",
        ),
        Term(
            "compliance",
            "Compliance",
            "The share of outputs whose length is within a tolerance of the length asked for.",
        ),
        Term(
            "judge",
            "Judge",
            "A language model that is asked how good a translation is, as a metric.",
        ),
    ),
}


def all_terms() -> Iterator[Term]:
    """Yield every term, in order."""
    for terms in GROUPS.values():
        yield from terms


TERMS = {term.key: term for term in all_terms()}
