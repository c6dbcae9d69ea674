"""Fit, store and check linear mappings of an encoder's source-side vectors.

Zhao et al. 2020, On the limitations of cross-lingual encoders as exposed by reference-free machine
translation evaluation, section 3.2. Imports only numpy; mappings apply to numpy arrays and torch
tensors.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import DataError, message
from metaeval.reasons import reason_of
from metrics.base import InputError, MetricError

Array = NDArray[np.float64]
Kind = Literal["clp", "clp-unconstrained", "umd", "umd-paper"]
KINDS: tuple[Kind, ...] = get_args(Kind)

WEIGHTS, META = "mapping.npz", "meta.json"


@dataclass(frozen=True)
class About:
    """Describe what a mapping was fitted on, and so where it may be used.

    ``encoder`` is the checkpoint's name, ``fingerprint`` that of its weights (:func:`fingerprint`),
    ``data_hash`` that of the fitting data. ``n_pairs`` counts vector pairs.
    """

    kind: Kind
    encoder: str
    fingerprint: str
    layer: int
    source_language: str
    target_language: str
    n_pairs: int
    data_hash: str


class Mapping:
    """Hold a mapping: a matrix (width, width) for CLP, a vector (width,) for UMD."""

    def __init__(self, about: About, array: Array) -> None:
        expected = 1 if about.kind.startswith("umd") else 2
        if about.kind not in KINDS:
            raise DataError(
                message(
                    "mapping.kind",
                    "The kind must be one of {kinds}, not “{kind}”.",
                    kinds=list(KINDS),
                    kind=str(about.kind),
                )
            )
        if array.ndim != expected or len(set(array.shape)) != 1 or not np.isfinite(array).all():
            raise DataError(
                message(
                    "mapping.shape",
                    "A mapping of kind {kind} cannot have the shape {shape}.",
                    kind=about.kind,
                    shape=str(array.shape),
                )
            )
        self.about, self.array = about, np.asarray(array, dtype=np.float64)
        self._tensors: dict[Any, Any] = {}

    @property
    def width(self) -> int:
        """Return the width of the vectors that it maps."""
        return len(self.array)

    @property
    def digest(self) -> str:
        """Return sixteen characters that identify the mapping in signatures."""
        text = json.dumps(asdict(self.about), sort_keys=True).encode()
        return hashlib.sha256(text + self.array.tobytes()).hexdigest()[:16]

    def apply(self, vectors: Any) -> Any:
        """Map source-side vectors (n, width), numpy or torch; return the same type."""
        array = self._like(vectors) if hasattr(vectors, "new_tensor") else self.array
        if self.about.kind == "umd-paper":
            return _remove_cosine(vectors, array)
        if self.about.kind == "umd":
            return vectors - (vectors @ array)[:, None] * array
        return vectors @ array

    def _like(self, vectors: Any) -> Any:
        """Return the array as a tensor like others; it is copied to a device once."""
        key = vectors.device, vectors.dtype
        if key not in self._tensors:
            self._tensors[key] = vectors.new_tensor(self.array)
        return self._tensors[key]

    def apply_to_target(self, vectors: Any) -> Any:
        """Map target-side vectors: published UMD changes both sides, the others only the source."""
        return self.apply(vectors) if self.about.kind == "umd-paper" else vectors

    def check(self, *, fingerprint: str, layer: int, source: str, target: str) -> None:
        """Raise a permanent :class:`MetricError` if it was fitted for something else."""
        about = self.about
        if about.fingerprint != fingerprint:
            problem = message(
                "mapping.other-encoder",
                "The mapping was fitted for the encoder {encoder} ({fitted}), not for the encoder "
                "{used}.",
                encoder=about.encoder,
                fitted=about.fingerprint,
                used=fingerprint,
            )
            raise MetricError(problem, permanent=True)
        if about.layer != layer:
            problem = message(
                "mapping.other-layer",
                "The mapping was fitted for layer {fitted}, not for layer {layer}.",
                fitted=about.layer,
                layer=layer,
            )
            raise MetricError(problem, permanent=True)
        if (about.source_language, about.target_language) != (source, target):
            raise InputError(
                message(
                    "mapping.other-direction",
                    "The mapping was fitted for {fitted}, not for {used}.",
                    fitted=f"{about.source_language}-{about.target_language}",
                    used=f"{source}-{target}",
                )
            )

    def save(self, folder: Path) -> None:
        """Write the array, then its description, without which a folder is not a mapping."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / META).unlink(missing_ok=True)
        np.savez(folder / WEIGHTS, array=self.array)
        document = {**asdict(self.about), "digest": self.digest}
        (folder / META).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def load(folder: Path) -> Mapping:
    """Read a mapping; raise a permanent :class:`MetricError` that names the file at fault."""
    about, digest = _read_about(folder)
    try:
        with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
            mapping = Mapping(about, stored["array"])
    except (OSError, ValueError, KeyError) as error:
        problem = message(
            "mapping.unreadable",
            "{file} is not a mapping: {error}",
            file=str(folder / WEIGHTS),
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error
    if mapping.digest != digest:
        problem = message(
            "mapping.digest",
            "{file} differs from its description in {description}. Fit the mapping again.",
            file=str(folder / WEIGHTS),
            description=str(folder / META),
        )
        raise MetricError(problem, permanent=True)
    return mapping


def load_for(folder: str, model: Any, *, layer: int, source: str, target: str) -> Mapping | None:
    """Read the mapping that an option names; None if the option is empty.

    Raises a permanent :class:`MetricError` if it was fitted for something else.
    """
    if not folder:
        return None
    found = load(Path(folder))
    found.check(fingerprint=fingerprint(model), layer=layer, source=source, target=target)
    return found


def read_about(folder: Path) -> About:
    """Read only the description of a mapping; errors as :func:`load`."""
    return _read_about(folder)[0]


def _read_about(folder: Path) -> tuple[About, str]:
    try:
        document = json.loads((folder / META).read_text(encoding="utf-8"))
        digest = document.pop("digest")
        return About(**document), digest
    except FileNotFoundError as error:
        problem = message(
            "mapping.missing",
            "There is no mapping in {folder}: {file} is missing.",
            folder=str(folder),
            file=META,
        )
        raise MetricError(problem, permanent=True) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        problem = message(
            "mapping.description",
            "{file} does not describe a mapping: {error}",
            file=str(folder / META),
            error=reason_of(error),
        )
        raise MetricError(problem, permanent=True) from error


def fingerprint(model: Any) -> str:
    """Return sixteen characters for the weights of an encoder, the same on any path and device.

    Computed from each parameter's name, shape and first 64 numbers: fast, and changed by training.
    """
    digest = hashlib.sha256()
    for name, weights in sorted(model.state_dict().items()):
        first = weights.detach().flatten()[:64].float().cpu().numpy()
        digest.update(f"{name}{tuple(weights.shape)}".encode())
        digest.update(first.tobytes())
    return digest.hexdigest()[:16]


def fit(kind: Kind, about: About, source: Array, target: Array) -> Mapping:
    """Fit a mapping of rows of ``source`` (pairs, width) onto rows of ``target``.

    Raises ValueError for arrays of different shapes or too few pairs.
    """
    source, target = _pairs(source, target)
    about = replace(about, kind=kind, n_pairs=len(source))
    return Mapping(about, _FIT[kind](source, target))


def fit_clp(source: Array, target: Array) -> Array:
    """Cross-lingual projection, orthogonal (eq. 5): W = UVᵀ where XᵀZ = USVᵀ; x' = xW.

    Reflections are allowed, as in the release.
    """
    source, target = _pairs(source, target)
    left, _, right = np.linalg.svd(source.T @ target)
    projection: Array = left @ right
    return projection


def fit_clp_unconstrained(source: Array, target: Array) -> Array:
    """Return the least-squares solution W = (XᵀX)⁻¹XᵀZ.

    With fewer pairs than numbers it is the solution with the smallest norm.
    """
    source, target = _pairs(source, target)
    projection: Array = np.linalg.lstsq(source, target, rcond=None)[0]
    return projection


def fit_umd(source: Array, target: Array) -> Array:
    """Return the universal mismatch direction (eq. 6): the first right singular vector of X − Z.

    The paper says left, which would have one number for each pair. The sign is arbitrary; here the
    largest number is positive.
    """
    source, target = _pairs(source, target)
    difference = source - target
    if not difference.any():
        raise DataError(
            message(
                "mapping.same-vectors",
                "Source and target vectors are the same, so there is no mismatch direction.",
            )
        )
    direction: Array = np.linalg.svd(difference, full_matrices=False)[2][0]
    sign: Array = np.sign(direction[np.abs(direction).argmax()])
    direction *= sign
    return direction


_FIT = {
    "clp": fit_clp,
    "clp-unconstrained": fit_clp_unconstrained,
    "umd": fit_umd,
    "umd-paper": fit_umd,
}


def _remove_cosine(vectors: Any, direction: Any) -> Any:
    """Return x − cos(x, v)v as printed in eq. 6; it is a projection only if x has length one."""
    lengths = (vectors**2).sum(-1) ** 0.5
    cosines = (vectors @ direction) / (lengths + (lengths == 0))
    return vectors - cosines[:, None] * direction


def _pairs(source: Array, target: Array) -> tuple[Array, Array]:
    source, target = np.asarray(source, np.float64), np.asarray(target, np.float64)
    if source.ndim != 2 or source.shape != target.shape or not source.size:
        raise ValueError(
            f"source and target must be matrices of one shape, not {source.shape}, {target.shape}"
        )
    if not (np.isfinite(source).all() and np.isfinite(target).all()):
        raise ValueError("source and target must hold finite numbers only")
    return source, target
