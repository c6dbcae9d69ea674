"""Agreement between annotators: one-vs-rest r, Krippendorff's alpha, ICC, weighted kappa."""

from metaeval.judgments.agreement.estimates import (
    Alpha,
    OneVsRest,
    annotator_alphas,
    krippendorff_alpha,
    one_vs_rest_pearson,
)
from metaeval.judgments.agreement.intervals import (
    AgreementInterval,
    JudgmentAgreement,
    agreement_interval,
    judgment_agreement,
)
from metaeval.judgments.agreement.ratings import icc, weighted_kappa
from metaeval.judgments.agreement.screens import ScreenAgreement, screen_agreement

__all__ = [
    "AgreementInterval",
    "Alpha",
    "JudgmentAgreement",
    "OneVsRest",
    "ScreenAgreement",
    "agreement_interval",
    "annotator_alphas",
    "icc",
    "judgment_agreement",
    "krippendorff_alpha",
    "one_vs_rest_pearson",
    "screen_agreement",
    "weighted_kappa",
]
__dir__ = __all__.copy
