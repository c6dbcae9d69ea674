"""What nvidia-smi prints is taken from its manual page: `--format=csv,noheader,nounits`, in MiB."""

import os
import stat
import sys
from pathlib import Path

import pytest

from metrics.workers import devices

TABLE = """\
0, GPU-5a3e2f10-0000-1111-2222-333344445555, NVIDIA H100 80GB HBM3, 81559, 80995
1, GPU-77c0de00-0000-1111-2222-333344445555, NVIDIA H100 80GB HBM3, 81559, 1024
2, GPU-90fade00-0000-1111-2222-333344445555, NVIDIA A100-SXM4-40GB, 40960, [N/A]
"""
MIB = 2**20


def test_every_gpu_with_its_memory() -> None:
    first, _, third = devices.parse(TABLE, None)
    assert first == {
        "kind": "gpu",
        "name": "NVIDIA H100 80GB HBM3",
        "total": 81559 * MIB,
        "free": 80995 * MIB,
    }
    assert third["free"] is None


@pytest.mark.parametrize(
    ("visible", "free"),
    [
        ("1", [1024 * MIB]),
        ("2,0", [None, 80995 * MIB]),
        ("GPU-77c0", [1024 * MIB]),
        ("", []),
        ("-1", []),
        # The CUDA guide: only devices before the first invalid index are visible.
        ("0,9,1", [80995 * MIB]),
    ],
)
def test_what_cuda_visible_devices_hides_is_left_out(visible: str, free: list[int | None]) -> None:
    assert [device["free"] for device in devices.parse(TABLE, visible)] == free


def test_a_program_that_is_there_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{TABLE}END\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    gpu, cpu = devices.devices()
    assert (gpu["name"], gpu["free"]) == ("NVIDIA H100 80GB HBM3", 1024 * MIB)
    assert cpu["kind"] == "cpu"
    program.write_text("#!/bin/sh\nexit 9\n")
    assert [device["kind"] for device in devices.devices()] == ["cpu"]


def test_the_processor_has_the_memory_of_the_host() -> None:
    cpu = devices.devices()[-1]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert cpu["total"] == pytest.approx(pages, rel=0.01)
    assert 0 < (cpu["free"] or 0) <= pages


def test_the_memory_of_this_process_grows() -> None:
    before = devices.process_memory() or 0
    ballast = bytearray(64 * MIB)
    ballast[::4096] = b"x" * len(ballast[::4096])
    after = devices.process_memory() or 0
    assert after - before > 48 * MIB
    assert sys.getsizeof(ballast) > 64 * MIB
