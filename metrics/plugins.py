"""Find metrics of other packages: by entry point, if `METRIC_PLUGINS` names their distribution.

The web process only reads descriptions, its own or those that workers report; a scorer is imported
where it scores. Pure: neither Django nor torch. How to write a plug-in: docs/plugins.md.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.messages import Message, from_json, message
from metrics.base import (
    MeanOfSegments,
    Metric,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import hashes, places
from metrics.options import Family, Option, OptionError, Options

GROUP, CONTRACT = "touchstone.metrics", 1
LONGEST_KEY = 40


@dataclass(frozen=True)
class Plugin:
    """The description of a family of metrics in a package, as data.

    ``scorer`` is the dotted path of its class (``package.module:Class``). ``measures`` are the
    values of a segment as (key, label); the first has an empty key and label and the name of the
    metric. ``limits`` says its size, its languages and how it fails. If the input or output of the
    metric depends on its options, ``describe`` replaces these fields: it gets (name, label, checked
    options) and raises ValueError if the options contradict each other. Code is not sent over the
    network, so such a package must also be installed on the web server. Texts are English and shown
    as they are; messages are shown in the language of the page.
    """

    label: Message | str
    description: Message | str
    scorer: str
    needs_source: bool = False
    needs_reference: bool = False
    higher_is_better: bool = True
    queue: str = "cpu"
    citation: str = ""
    measures: tuple[tuple[str, str], ...] = (("", ""),)
    options: tuple[Option, ...] = ()
    packages: tuple[str, ...] = ()
    contract: int = CONTRACT
    limits: Message | str = ""
    describe: Callable[[str, str, Options], MetricInfo] | None = None


@dataclass(frozen=True)
class Found:
    """A plug-in that is installed here, or that a worker reported.

    ``error`` is the reason why it cannot be used, or None.
    """

    key: str
    distribution: str
    version: str
    plugin: Plugin | None = None
    error: Message | None = None

    @property
    def scorer(self) -> str:
        """The dotted path of its class; empty where it cannot be used."""
        return self.plugin.scorer if self.plugin else ""

    @property
    def install(self) -> str:
        """The command that a worker without it needs."""
        return f"pip install {self.distribution}=={self.version}"

    @property
    def family(self) -> Family | None:
        """The family as the registry describes its own; None where it cannot be used."""
        if self.plugin is None:
            return None
        plugin = self.plugin
        return Family(
            key=self.key,
            label=plugin.label,
            description=message(
                "plugin.description",
                "{description} (plug-in {package} {version})",
                description=plugin.description,
                package=self.distribution,
                version=self.version,
            )
            if self.distribution
            else plugin.description,
            scorer=plugin.scorer,
            options=plugin.options,
            describe=self._describe,
            packages=plugin.packages,
            limits=plugin.limits,
        )

    def _describe(self, name: str, label: str, options: Options) -> MetricInfo:
        plugin = self.plugin
        assert plugin is not None  # noqa: S101
        given = tuple(options.items())
        if plugin.describe:
            info = plugin.describe(name, label, options)
            return replace(info, name=name, label=label, family=self.key, options=given)
        return MetricInfo(
            name=name,
            label=label,
            measures=tuple(f"{name}-{key}" if key else name for key, _ in plugin.measures),
            measure_labels=tuple(f"{label} {word}".strip() for _, word in plugin.measures),
            needs_source=plugin.needs_source,
            needs_reference=plugin.needs_reference,
            higher_is_better=plugin.higher_is_better,
            queue=plugin.queue,
            description=plugin.description,
            citation=plugin.citation,
            family=self.key,
            options=given,
        )

    def as_data(self) -> dict[str, Any]:
        """Return JSON for a worker's report; code is replaced by True."""
        data = asdict(self)
        if self.plugin and self.plugin.describe:
            data["plugin"]["describe"] = True
        return data


def _words(value: Any) -> Any:
    """Return a message that was sent as JSON, or text as it is."""
    return from_json(value) if isinstance(value, Mapping) else value


def from_data(data: Mapping[str, Any]) -> Found:
    """Read the report of a worker; raise ValueError or TypeError if its version differs."""
    given = data.get("plugin")
    plugin = None
    if given is not None:
        known = {each.name for each in fields(Plugin)}
        listed = {key: value for key, value in given.items() if key in known}
        listed |= {name: _words(given[name]) for name in ("label", "description")}
        listed["limits"] = _words(given.get("limits", ""))
        listed["options"] = tuple(_option(each) for each in given["options"])
        listed["measures"] = tuple((key, word) for key, word in given["measures"])
        listed["packages"] = tuple(given["packages"])
        if listed.get("describe"):
            listed["describe"] = _elsewhere
        plugin = Plugin(**listed)
    error = _words(data["error"])
    if isinstance(error, str):  # from a worker of an earlier version
        error = message("plugin.error", "{error}", error=error) if error else None
    return Found(data["key"], data["distribution"], data["version"], plugin, error)


def _elsewhere(name: str, label: str, options: Options) -> MetricInfo:
    raise OptionError(
        message(
            "plugin.code-needed",
            "The measures of this plug-in depend on its options. Install the plug-in on the web "
            "server, too, and name it in METRIC_PLUGINS.",
        )
    )


def _option(data: Mapping[str, Any]) -> Option:
    words = {name: _words(data[name]) for name in ("label", "help")}
    return Option(**{**data, **words, "choices": tuple(data["choices"])})


def allowed() -> frozenset[str]:
    """Return the distributions that may be loaded, from the environment."""
    names = os.environ.get("METRIC_PLUGINS", "").split(",")
    return frozenset(_plain(name) for name in names if name.strip())


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-")


@cache
def here() -> dict[str, Found]:
    """Return the plug-ins that are installed here and named in the setting, by key.

    A plug-in that cannot be read has an error and does not affect the others.
    """
    permitted = allowed()
    listed = [read(entry) for entry in entry_points(group=GROUP) if _is_in(permitted, entry)]
    return {each.key: each for each in listed}


def _is_in(permitted: frozenset[str], entry: EntryPoint) -> bool:
    return entry.dist is not None and _plain(entry.dist.name) in permitted


def read(entry: EntryPoint) -> Found:
    """Load the description that an entry point names; an exception becomes its error."""
    distribution = _plain(entry.dist.name) if entry.dist else ""
    version = entry.dist.version if entry.dist else ""
    key = f"{distribution}--{entry.name}" if distribution else entry.name
    try:
        plugin = entry.load()
        problem = _problem(key, plugin)
    except Exception as error:  # whatever foreign code raises
        text = f"{type(error).__name__}: {error}"
        plugin, problem = None, message("plugin.error", "{error}", error=text)
    return Found(key, distribution, version, None if problem else plugin, problem)


def _problem(key: str, plugin: object) -> Message | None:
    if not isinstance(plugin, Plugin):
        return message("plugin.no-plugin", "Its entry point is not a metrics.plugins.Plugin.")
    if plugin.contract != CONTRACT:
        return message(
            "plugin.contract",
            "It was written for contract {theirs}; this Touchstone has contract {ours}.",
            theirs=plugin.contract,
            ours=CONTRACT,
        )
    if len(key) > LONGEST_KEY:
        return message(
            "plugin.key-too-long",
            "Its key {key} is longer than {limit} characters.",
            key=key,
            limit=LONGEST_KEY,
        )
    if not plugin.measures or plugin.measures[0] != ("", ""):
        return message("plugin.first-measure", "Its first measure must be ('', '').")
    return None


def _none_elsewhere() -> dict[str, Found]:
    return {}


# Returns the plug-ins that only workers have.
elsewhere: ContextVar[Callable[[], Mapping[str, Found]]] = ContextVar(
    "plugins_elsewhere", default=_none_elsewhere
)


def everywhere() -> dict[str, Found]:
    """Return the plug-ins of this machine and of workers; for each key a working one if any."""
    found = dict(elsewhere.get()())
    for key, each in here().items():
        if each.plugin is not None or key not in found:
            found[key] = each
    return found


class PluginScorer(MeanOfSegments):
    """Base class of a plug-in's scorer: override ``score_one``, or ``score`` for whole batches."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info, self.options = info, dict(info.options)
        self.source_language, self.target_language = source_language, target_language

    def signature(self) -> str:
        """The options and the languages; package and version are added to it."""
        languages = f"{self.source_language}-{self.target_language}"
        named = {key: str(value).replace("|", "/") for key, value in self.options.items()}
        return format_signature(self.info.name, {"languages": languages, **named})

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, measures)."""
        check_inputs(self.info, inputs)
        rows = [np.atleast_1d(np.asarray(self.score_one(each), np.float64)) for each in inputs]
        return np.stack(rows) if rows else np.empty((0, self.info.width))

    def score_one(self, segment: SegmentInput) -> float | Sequence[float]:
        """Return the value, or all values, of one segment."""
        raise NotImplementedError


@dataclass
class Signed:
    """The signature of a plug-in's metric: its own, its package and the files it names."""

    metric: Metric
    found: Found
    own: Callable[[], str] = field(init=False)

    def __post_init__(self) -> None:
        self.own = self.metric.signature

    def __call__(self) -> str:
        """Return the signature with package, version and contract."""
        found = self.found
        return (
            f"{self.own()}|plugin:{found.distribution}|version:{found.version}"
            f"|contract:{CONTRACT}|scorer:{found.scorer}" + "".join(self._contents())
        )

    def _contents(self) -> Iterator[str]:
        """Fingerprint files and checkpoints of its options: they may change under the same name."""
        given = dict(self.metric.info.options)
        for option in self.found.plugin.options if self.found.plugin else ():
            value = str(given.get(option.name, ""))
            if value and option.kind in ("file", "checkpoint"):
                held = (
                    places.fingerprint(places.find(value))
                    if option.kind == "checkpoint"
                    else _of_files(value)
                )
                yield f"|{option.name}-contents:{held}"


def _of_files(name: str) -> str:
    """Return twelve digits that change with a file, or with any file of a folder."""
    path = Path(name)
    found = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    lines = [f"{hashes.of_file(each)}  {each.relative_to(path).as_posix()}\n" for each in found]
    return hashes.of_text("".join(lines))[:12]


def sign(metric: Metric, key: str) -> Metric:
    """Add package and version to the signature of a plug-in's metric."""
    if found := here().get(key):
        metric.signature = Signed(metric, found)  # type: ignore[method-assign]
    return metric
