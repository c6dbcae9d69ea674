"""Build the replication bundle as a document, in a worker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle import BundleChoice, build
from dashboards.documents.head import OfCampaign, about
from dashboards.documents.reasons import CampaignTrust
from metaeval.messages import Message

VERSION = 12
FILTERS = BundleChoice
# A field of the document is called `bytes`.
Data: TypeAlias = bytes


@dataclass(frozen=True)
class Table:
    """A table of the bundle: the arguments of the command that computes it, and its numbers."""

    name: str
    about: Message
    arguments: Sequence[str]
    expected: str


@dataclass(frozen=True)
class Member:
    """A file of the bundle."""

    file: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Bundle(OfCampaign):
    """The document; `zip` is the file, base64 in JSON."""

    filters: Mapping[str, Any]
    tables: Sequence[Table]
    statistics: Sequence[str]
    versions: Mapping[str, str]
    bytes: int
    rows: Sequence[Member]
    zip: Data


DOCUMENT = Bundle


def compute(campaign: Campaign, filters: Filters) -> Bundle:
    """Return the manifest, a row for every file, and the zip file.

    The files contain the whole campaign; the filters are arguments of the commands.
    """
    if not isinstance(filters, BundleChoice):
        filters = BundleChoice(**vars(filters))
    built = build(campaign, filters)
    manifest = built.manifest
    return Bundle(
        **about(campaign),
        filters=filters.as_json(),
        warnings=list(built.warnings),
        trust=msgspec.convert(manifest["trust"], CampaignTrust),
        tables=[
            Table(each.name, each.about, each.arguments, each.expected) for each in built.tables
        ],
        statistics=[question.statistic.key for question in filters.questions],
        versions=manifest["versions"],
        bytes=len(built.zip),
        rows=[Member(name, digest) for name, digest in manifest["files"].items()],
        zip=built.zip,
    )
