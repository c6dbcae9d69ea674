from pathlib import Path

from metrics.workers.signatures import CODE_HASH, OUR_PACKAGES, ROOT, code_hash, versions


def test_the_hash_follows_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    (folder / "a.py").write_text("1")
    first = code_hash(tmp_path)
    (folder / "a.py").write_text("22")
    second = code_hash(tmp_path)
    (folder / "a.py").rename(folder / "b.py")
    third = code_hash(tmp_path)
    assert len({first, second, third}) == 3
    (folder / "notes.txt").write_text("no code")
    assert code_hash(tmp_path) == third


def test_versions_name_the_code_that_runs() -> None:
    assert versions()["touchstone"] == CODE_HASH == code_hash()
    assert versions()["python"].startswith("3.11")


def test_all_that_a_worker_runs_counts() -> None:
    # `touchstone` starts workers, and none imports it.
    assert {*OUR_PACKAGES, "tests", "benchmarks", "touchstone"} == {
        path.parent.name for path in ROOT.glob("*/__init__.py")
    }
