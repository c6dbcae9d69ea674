"""On what the scores under a signature were computed: processors, devices, builds of libraries."""

from collections.abc import Collection

from metrics.models import RunWorker

NOT_RECORDED = {"processor": "not recorded"}


def of_signatures(signatures: Collection[str]) -> dict[str, list[dict[str, str]]]:
    """Return, by signature, every different way in which workers computed its scores.

    Scores are shared by content, so all runs of a signature count. Scores from before builds were
    recorded have the processor "not recorded". Costs one query.
    """
    parts = RunWorker.objects.filter(run__signature__signature__in=set(signatures), segments__gt=0)
    rows = parts.order_by("pk").values_list("run__signature__signature", "device", "builds")
    found: dict[str, list[dict[str, str]]] = {signature: [] for signature in signatures}
    for signature, device, builds in rows:
        way = {"device": device} | dict(sorted((builds or NOT_RECORDED).items()))
        if way not in found[signature]:
            found[signature].append(way)
    return found
