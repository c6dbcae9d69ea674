"""The replication bundle as a document, so that a worker builds it and data and numbers agree."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle import BundleChoice, build
from dashboards.documents.head import OfCampaign, about
from dashboards.documents.reasons import CampaignTrust

VERSION = 10
FILTERS = BundleChoice


@dataclass(frozen=True)
class Held:
    """A table of the bundle: the arguments of the command that computes it, and its numbers."""

    name: str
    about: str
    arguments: Sequence[str]
    expected: str


@dataclass(frozen=True)
class Member:
    """A file of the bundle."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Bundle(OfCampaign):
    """The document; `zip` is the file in base64."""

    filters: Mapping[str, Any]
    tables: Sequence[Held]
    statistics: Sequence[str]
    versions: Mapping[str, str]
    bytes: int
    rows: Sequence[Member]
    zip: str


DOCUMENT = Bundle


def compute(campaign: Campaign, filters: Filters) -> Bundle:
    """Return the manifest, a row for every file, and the zip file.

    The files hold the whole campaign; the filters stand in the commands.
    """
    if not isinstance(filters, BundleChoice):
        filters = BundleChoice(**vars(filters))
    archive, manifest = build(campaign, filters)
    return Bundle(
        **about(campaign),
        filters=filters.as_json(),
        warnings=[f"{key}: {why}." for key, why in manifest["left_out"].items()],
        trust=msgspec.convert(manifest["trust"], CampaignTrust),
        tables=[Held(**table) for table in manifest["tables"]],
        statistics=[question.statistic.key for question in filters.questions],
        versions=manifest["versions"],
        bytes=len(archive),
        rows=[Member(name, digest) for name, digest in manifest["files"].items()],
        zip=base64.b64encode(archive).decode(),
    )
