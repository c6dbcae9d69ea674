"""The classic families: plug-ins that come with Touchstone.

Each is described as a plug-in of somebody else is (:class:`metrics.plugins.Plugin`), found by its
entry point and imported where it scores; nothing else of ours names them. They are always on, keep
their plain keys, and their signatures name their own revision in place of a package's version.
"""

from functools import cache
from importlib.metadata import EntryPoint

from metrics.base import MetricInfo
from metrics.plugins import GROUP, Found, read

# What pyproject.toml of a package would list under the group.
ENTRY_POINTS = {
    "moverscore": "metrics.families.moverscore.options:PLUGIN",
    "sentsim": "metrics.families.sentsim.options:PLUGIN",
    "yisi": "metrics.families.yisi.options:PLUGIN",
    "yisi-static": "metrics.families.yisi.options:STATIC_PLUGIN",
    "yisi-0": "metrics.families.yisi.options:LETTERS_PLUGIN",
    "cosine": "metrics.families.cosine.options:PLUGIN",
    "wmd": "metrics.families.wmd.options:PLUGIN",
}
# Descriptions of those that stand in every list without being configured.
KNOWN = (
    "metrics.families.moverscore.options:KNOWN",
    "metrics.families.yisi.options:KNOWN",
    "metrics.families.sentsim.options:KNOWN",
    "metrics.families.cosine.options:KNOWN",
)


@cache
def found() -> dict[str, Found]:
    """Return the classic families by key."""
    return {name: read(EntryPoint(name, path, GROUP)) for name, path in ENTRY_POINTS.items()}


@cache
def known() -> dict[str, tuple[MetricInfo, str]]:
    """Return their known metrics by name, each with the dotted path of its scorer."""
    infos = [info for path in KNOWN for info in EntryPoint("known", path, GROUP).load()]
    return {info.name: (info, found()[info.family].scorer) for info in infos}
