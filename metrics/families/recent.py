"""The metrics of :mod:`metrics.registry` that came after the study of 2023.

Checkpoints are the hub's names under which their authors released them.
"""

from metrics.base import MetricInfo, OptionValue
from metrics.families.bleurt import options as bleurt
from metrics.families.comet import options as comet
from metrics.families.comet import sentinel_options as sentinel
from metrics.families.metricx import options as metricx
from metrics.options import Family, clean

Entry = tuple[MetricInfo, str]


def _released(family: Family, name: str, label: str, **given: OptionValue) -> Entry:
    return family.describe(name, label, clean(family, given)), family.scorer


def _metricx_24(size: str) -> list[Entry]:
    """One checkpoint that reads a reference, and the same without."""
    checkpoint = f"google/metricx-24-hybrid-{size}-v2p6"
    name, label = f"metricx-24-{size}", f"MetricX-24 {SIZES[size]}"
    return [
        _released(metricx.FAMILY, name, label, checkpoint=checkpoint),
        _released(
            metricx.FAMILY, f"{name}-qe", f"{label} QE", checkpoint=checkpoint, reference=False
        ),
    ]


def _metricx_23(size: str, *, qe: bool) -> Entry:
    words = ["metricx-23", *(["qe"] if qe else []), size]
    return _released(
        *(metricx.FAMILY, "-".join(words), f"MetricX-23{' QE' if qe else ''} {SIZES[size]}"),
        checkpoint=f"google/{'-'.join(words)}-v2p0",
        release="23",
        reference=not qe,
    )


def _comet(checkpoint: str, label: str, reference: bool, description: str, citation: str) -> Entry:
    name = checkpoint.partition("/")[2].lower()
    info = comet.make_info(name, label, checkpoint, reference, description, citation)
    return info, comet.FAMILY.scorer


def _bleurt(layers: int) -> Entry:
    """BLEURT-20 distilled to fewer layers."""
    info = bleurt.make_info(
        *(f"bleurt-20-d{layers}", f"BLEURT-20-D{layers}", f"lucadiliello/BLEURT-20-D{layers}"),
        description=f"BLEURT-20 distilled to {layers} layers: faster, and nearly as good.",
        citation="Pu et al. 2021, Learning compact metrics for MT",
    )
    return info, bleurt.FAMILY.scorer


def _sentinel(side: str, short: str) -> Entry:
    """Trained on MQM scores, after direct assessments."""
    checkpoint = f"sapienzanlp/sentinel-{short}-mqm"
    name, label = f"sentinel-{short}-mqm", f"Sentinel {side}"
    return _released(sentinel.FAMILY, name, label, checkpoint=checkpoint, reads=side)


_REI_2023 = "Rei et al. 2023, Scaling up CometKiwi"
SIZES = {"large": "Large", "xl": "XL", "xxl": "XXL"}
SENTINELS = (("source", "src"), ("output", "cand"), ("reference", "ref"))
_ALL: list[Entry] = [
    *(entry for size in SIZES for entry in _metricx_24(size)),
    _comet(
        *("Unbabel/XCOMET-XXL", "xCOMET-XXL", True),
        *("As xCOMET-XL, with three times as many weights.", "Guerreiro et al. 2023, xCOMET"),
    ),
    _comet(
        *("Unbabel/wmt23-cometkiwi-da-xl", "CometKiwi-23 XL", False),
        *("Reads source and output together, and no reference.", _REI_2023),
    ),
    _comet(
        *("Unbabel/wmt23-cometkiwi-da-xxl", "CometKiwi-23 XXL", False),
        *("As CometKiwi-23 XL, with three times as many weights.", _REI_2023),
    ),
    _comet(
        *("Unbabel/unite-mup", "UniTE-MUP", True),
        "Reads the output with the source, the reference and both; the mean counts.",
        "Wan et al. 2022, UniTE: unified translation evaluation",
    ),
    *map(_bleurt, (12, 6, 3)),
    *(_sentinel(side, short) for side, short in SENTINELS),
    *(_metricx_23("xl", qe=qe) for qe in (False, True)),
]
METRICS: dict[str, Entry] = {entry[0].name: entry for entry in _ALL}
