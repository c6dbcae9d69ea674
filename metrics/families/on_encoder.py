"""What metrics on one encoder share: its place in a signature, and what a run's log tells of it."""

from metrics.base import MeanOfSegments, MetricError, MetricInfo
from metrics.encoding.encoders import Encoder


class OnEncoder(MeanOfSegments):
    """A metric whose work is that of ``encoder``."""

    encoder: Encoder

    @property
    def device(self) -> str:
        """Where it computes."""
        return self.encoder.spec.device

    @property
    def precision(self) -> str:
        """That of the encoder's forward pass (:mod:`metrics.encoding.precision`)."""
        return self.encoder.spec.precision

    @property
    def budget(self) -> int:
        """Padded tokens of a batch."""
        return self.encoder.budget


def encoder_fields(encoder: Encoder, name: str = "checkpoint") -> dict[str, str | int]:
    """What of an encoder changes a value, for a signature."""
    return {name: encoder.spec.checkpoint, f"{name}-weights": encoder.spec.weights}


def check_layer(info: MetricInfo, encoder: Encoder, layer: int) -> None:
    """Raise a permanent :class:`MetricError` where an encoder has no such layer."""
    if not 0 <= layer < encoder.n_layers:
        message = (
            f"{info.label}: {encoder.spec.checkpoint} has layers 0 to {encoder.n_layers - 1}, "
            f"not {layer}"
        )
        raise MetricError(message, permanent=True)
