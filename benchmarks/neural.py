"""Neural families for scripts that run without Django: importing this module registers them."""

from extensions.neural.extension import EXTENSION
from extensions.neural.known import KNOWN
from metrics import registry

registry.FAMILIES.update(EXTENSION.families)
registry.METRICS.update(KNOWN)
