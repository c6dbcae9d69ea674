import resource
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from metrics.workers import telemetry
from tests.metrics.fakes import Counting, make_info


@pytest.fixture
def metric() -> Counting:
    return Counting(make_info("counting"), source_language="zh", target_language="en")


def test_a_metric_that_says_nothing_runs_on_the_cpu(metric: Counting) -> None:
    reading = telemetry.read(metric)
    assert (reading.device, reading.precision, reading.batch) == ("cpu", "", "")
    assert reading.device_peak_bytes is None


def test_peak_memory_is_the_kernels(metric: Counting) -> None:
    """VmHWM is the same count in /proc, in KiB."""
    before = telemetry.peak_memory()
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    # The kernel counts pages by processor, and adds them up exactly only now and then.
    assert before <= int(line.split()[1]) * 1024 * 1.05
    assert int(line.split()[1]) * 1024 <= telemetry.read(metric).peak_bytes * 1.05
    assert before // 1024 <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_metric_may_say_how_it_runs(metric: Counting) -> None:
    metric.device, metric.precision, metric.budget = "mps", "float32", 2048
    metric.peak_bytes = lambda: 5
    reading = telemetry.read(metric)
    assert (reading.device, reading.precision) == ("mps", "float32")
    assert (reading.batch, reading.device_peak_bytes) == ("2,048 tokens", 5)
    del metric.budget
    metric.batch_size = 64
    assert telemetry.read(metric).batch == "64 texts"


def test_torch_is_asked_about_a_gpu(metric: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = Mock()
    cuda.get_device_name.return_value = "NVIDIA H100"
    cuda.max_memory_allocated.return_value = 2**30
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(telemetry, "builds", dict)
    metric.device = "cuda:1"
    telemetry.begin(metric)
    cuda.reset_peak_memory_stats.assert_called_once_with("cuda:1")
    reading = telemetry.read(metric)
    assert (reading.device, reading.device_peak_bytes) == ("cuda:1 (NVIDIA H100)", 2**30)
