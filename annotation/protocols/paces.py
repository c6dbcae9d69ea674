"""How long an item takes by protocol, of published data, the source beside each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds an item takes: from `low` to `high`, the same where one number is known."""

    low: float
    high: float
    source: str


DA = Pace(
    19, 29, "means of WMT21 ru–en (crowd, 159 tasks) and WMT22 zh–en (11 people, up to 300 s)"
)
PACES: dict[str, Pace] = {
    "segment-da": DA,
    "document-da": DA,
    "esa": Pace(48, 65, "WMT23 en–de, two rounds (Kocmi et al. 2024)"),
    "contrastive-esa": Pace(
        54, 78, "en–ja with three systems and with one on a screen (arXiv 2607.26640)"
    ),
}
