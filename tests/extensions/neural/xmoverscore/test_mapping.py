"""Mappings against the literal checks; stored, read again, refused by name."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes

from extensions.neural.mover import mapping
from extensions.neural.mover.mapping import About, Mapping
from metaeval.messages import DataError
from metrics.base import MetricError
from tests.extensions.neural.mover.published import CHECKS
from tests.refusals import refused

X, Z = (np.array(CHECKS["C1"]["inputs"][key]) for key in "XZ")
ABOUT = About("clp", "small", "f1", 8, "de", "en", 4, "d1")
USE: dict[str, Any] = {"fingerprint": "f1", "layer": 8, "source": "de", "target": "en"}


def random_pairs(n: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    source = rng.standard_normal((n, width))
    target = source @ rng.standard_normal((width, width)) + rng.standard_normal((n, width))
    return source, target


def test_published_projections() -> None:
    expected = CHECKS["C1"]["expected"]
    orthogonal, plain = mapping.fit_clp(X, Z), mapping.fit_clp_unconstrained(X, Z)
    np.testing.assert_allclose(orthogonal, expected["W"], atol=1e-5)
    np.testing.assert_allclose(orthogonal.T @ orthogonal, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(plain, expected["W_least_squares"], atol=1e-5)
    for projection, key in (
        (orthogonal, "frobenius_residual"),
        (plain, "frobenius_residual_least_squares"),
    ):
        assert np.linalg.norm(X @ projection - Z) == pytest.approx(expected[key], abs=1e-5)


def test_projection_is_that_of_scipy() -> None:
    source, target = random_pairs(30, 8)
    np.testing.assert_allclose(
        mapping.fit_clp(source, target), orthogonal_procrustes(source, target)[0], atol=1e-10
    )


def test_published_mismatch_direction() -> None:
    check = CHECKS["C2"]
    source, target = (np.array(check["inputs"][key]) for key in "XZ")
    expected, x = check["expected"], np.array([check["inputs"]["x"]])
    direction = mapping.fit_umd(source, target)
    np.testing.assert_allclose(np.abs(direction), expected["abs_v"], atol=1e-5)
    mapped = mapping.fit("umd", ABOUT, source, target).apply(x)[0]
    np.testing.assert_allclose(mapped, expected["f_x"], atol=1e-5)
    literal = mapping.fit("umd-paper", ABOUT, source, target).apply(x)[0]
    np.testing.assert_allclose(literal, expected["f_x_if_cosine_read_literally"], atol=1e-5)
    # The released files hold vectors of which the released scorer takes the first number.
    faulty = x[0] - direction[0] ** 2 * x.sum()
    np.testing.assert_allclose(
        faulty, expected["released_with_1d_bias_file_and_bias_index_0"], atol=1e-5
    )
    assert np.abs(mapped - faulty).max() > 1


def test_mismatch_direction_is_that_of_the_largest_difference() -> None:
    source, target = random_pairs(40, 6)
    values, vectors = np.linalg.eigh((source - target).T @ (source - target))
    direction = mapping.fit_umd(source, target)
    assert abs(direction @ vectors[:, values.argmax()]) == pytest.approx(1)
    assert direction[np.abs(direction).argmax()] > 0


@pytest.mark.parametrize("kind", mapping.KINDS)
def test_a_mapping_survives_storage_and_works_on_tensors(tmp_path: Path, kind: Any) -> None:
    source, target = random_pairs(20, 5)
    fitted = mapping.fit(kind, ABOUT, source, target)
    assert (fitted.about.kind, fitted.about.n_pairs) == (kind, 20)
    fitted.save(tmp_path / "mapping")
    again = mapping.load(tmp_path / "mapping")
    assert again.about == fitted.about == mapping.read_about(tmp_path / "mapping")
    assert again.digest == fitted.digest
    vectors = np.random.default_rng(1).standard_normal((3, 5))
    np.testing.assert_array_equal(again.apply(vectors), fitted.apply(vectors))
    tensor = again.apply(torch.tensor(vectors, dtype=torch.float32))
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.numpy(), fitted.apply(vectors), atol=1e-5)


def test_only_the_published_mismatch_changes_the_target_side() -> None:
    source, target = random_pairs(20, 5)
    for kind in mapping.KINDS:
        fitted = mapping.fit(kind, ABOUT, source, target)
        is_same = np.array_equal(fitted.apply_to_target(target), target)
        assert is_same == (kind != "umd-paper")


def test_a_mapping_of_something_else_is_refused_by_name() -> None:
    fitted = mapping.fit("clp", ABOUT, X, Z)
    fitted.check(**USE)
    for change, code, facts in (
        ({"fingerprint": "f2"}, "encoder", {"encoder": "small", "fitted": "f1", "used": "f2"}),
        ({"layer": 12}, "layer", {"fitted": 8, "layer": 12}),
        ({"source": "en", "target": "de"}, "direction", {"fitted": "de-en", "used": "en-de"}),
    ):
        with refused(f"mapping.other-{code}", kind=MetricError, **facts) as caught:
            fitted.check(**USE | change)
        assert caught.value.permanent


def test_each_property_changes_the_digest() -> None:
    digests = {
        mapping.fit("clp", replace(ABOUT, **change), X, Z).digest
        for change in ({}, {"layer": 9}, {"data_hash": "d2"}, {"source_language": "fr"})
    }
    assert len(digests | {mapping.fit("clp", ABOUT, Z, X).digest}) == 5


def test_damaged_folders_are_refused(tmp_path: Path) -> None:
    with refused("mapping.missing", kind=MetricError, file="meta.json"):
        mapping.load(tmp_path)
    mapping.fit("umd", ABOUT, X, Z).save(tmp_path)
    (tmp_path / "mapping.npz").write_bytes(b"no array")
    with refused("mapping.unreadable", kind=MetricError):
        mapping.load(tmp_path)
    mapping.fit("umd", ABOUT, Z, -X).save(tmp_path / "other")
    (tmp_path / "mapping.npz").write_bytes((tmp_path / "other" / "mapping.npz").read_bytes())
    with refused("mapping.digest", kind=MetricError):
        mapping.load(tmp_path)
    (tmp_path / "meta.json").write_text("[1]")
    with refused("mapping.description", kind=MetricError):
        mapping.load(tmp_path)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    mapping.fit("umd", ABOUT, X, Z).save(tmp_path)
    np.savez(tmp_path / "mapping.npz", array=np.array([Touch(tmp_path / "was-run")], object))
    with refused("mapping.unreadable", kind=MetricError):
        mapping.load(tmp_path)
    assert not (tmp_path / "was-run").exists()


def test_meta_is_readable(tmp_path: Path) -> None:
    mapping.fit("clp", ABOUT, X, Z).save(tmp_path)
    document = json.loads((tmp_path / "meta.json").read_text())
    assert document["source_language"] == "de"
    assert document["n_pairs"] == 4


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (np.ones((3, 2)), np.ones((2, 2))),
        (np.ones((0, 2)), np.ones((0, 2))),
        (np.ones(3), np.ones(3)),
        (np.full((2, 2), np.nan), np.ones((2, 2))),
    ],
)
def test_pairs_that_are_none(source: np.ndarray, target: np.ndarray) -> None:
    for fit in (mapping.fit_clp, mapping.fit_clp_unconstrained, mapping.fit_umd):
        with pytest.raises(ValueError, match="source and target"):
            fit(source, target)


def test_no_mismatch_has_no_direction() -> None:
    with refused("mapping.same-vectors", kind=DataError):
        mapping.fit_umd(X, X)


def test_an_array_of_another_shape() -> None:
    with refused("mapping.shape", kind=DataError):
        Mapping(ABOUT, np.ones((2, 3)))
    with refused("mapping.kind", kind=DataError):
        Mapping(replace(ABOUT, kind="clp-2"), np.eye(2))


def test_a_fingerprint_follows_the_weights() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    first = mapping.fingerprint(model)
    assert mapping.fingerprint(model) == first
    with torch.no_grad():
        model.bias.add_(1)
    assert mapping.fingerprint(model) != first


class Touch:
    """Unpickling this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return (Path.touch, (self.path,))
