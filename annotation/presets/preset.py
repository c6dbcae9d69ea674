"""What a preset is: a protocol with the settings that most campaigns of its kind have."""

from dataclasses import dataclass

from annotation import protocols


@dataclass(frozen=True)
class Preset:
    """A way of judging by name. `label` says what annotators do, `origin` who did it so before.

    `people` rate each item. `shows_reference` compares with the reference where every segment has
    one, otherwise with the source. `is_shortened` is for outputs below full length.
    """

    name: str
    label: str
    origin: str
    about: str
    protocol: str
    people: int = 3
    shows_reference: bool = False
    is_shortened: bool = False

    @property
    def judging(self) -> protocols.Protocol:
        """The protocol itself."""
        return protocols.get(self.protocol)
