"""Content keys name the order of references; scores that another order may have given are dropped.

Until now two segments with the references A, B and B, A shared one key and so one score, although
some metrics read the first reference alone (COMET) or break ties by the order (chrF, ROUGE).
"""

import hashlib
import json
from collections import defaultdict

from django.db import migrations
from django.db.models import Count

# Metrics that no order of the references changes: their scores stay, under the new keys. Whatever
# is not named here, a metric that is no longer known among them, counts as one that it changes.
ORDER_FREE = {
    *("bleu", "bleu-star", "sentbleu", "ter", "sentbleu-wmt", "yisi-0", "yisi-1", "yisi-2"),
    *("bertscore-mbert", "bertscore-bart", "bertscore-roberta", "bertscore-deberta"),
    *("bertscore-mkd", "xbertscore", "sentsim", "cosine-labse", "bleurt-20", "moverscore"),
    *("xmoverscore-release-2020", "xmoverscore-head-2022", "xmoverscore-paper"),
    *("wmt21-comet-qe-da", "wmt22-cometkiwi-da"),
}
# Signatures that did not say yet that each value is the best over the references.
BEST = {"bertscore", "moverscore"}
BEST_NAMES = {f"bertscore-{name}" for name in ("mbert", "bart", "roberta", "deberta")}
BATCH = 500
DROPPED = (
    "Scores were dropped, of {:,} of its texts: those have several references, and the scores may "
    "have been computed with these in another order. Run it again to compute them anew."
)


def renew(apps, schema_editor):
    """Give outputs with several references new keys, and drop the scores that may be wrong."""
    old_keys, doubtful = _rekey(apps)
    sensitive = _sensitive_signatures(apps)
    lost = _drop(apps, sensitive, doubtful)
    _copy(apps, sensitive, old_keys)
    n_told = _tell_runs(apps, lost, old_keys)
    n_dropped = sum(map(len, lost.values()))
    if n_dropped:
        print(
            f"\n    {n_dropped:,} scores are dropped: of texts with several references, and of "
            "texts that are no longer stored, by metrics that the order of references changes. "
            f"{n_told:,} runs say so and are to be run again."
        )


def _key(source, references, text):
    content = json.dumps([source, references, text], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _rekey(apps):
    """Return the old key by the new one of texts with several references, and the old keys of
    those whose references differ."""
    segments = apps.get_model("annotation", "Segment").objects.order_by()
    rows = segments.annotate(n=Count("references")).filter(n__gt=1)
    several = list(rows.values_list("pk", flat=True))
    old_keys, doubtful = {}, set()
    for start in range(0, len(several), BATCH):
        _rekey_some(apps, several[start : start + BATCH], old_keys, doubtful)
    return old_keys, doubtful


def _rekey_some(apps, segments, old_keys, doubtful):
    outputs = apps.get_model("annotation", "Output").objects
    rows = apps.get_model("annotation", "Reference").objects.filter(segment__in=segments)
    named, changed = defaultdict(dict), []
    for segment, name, text in rows.order_by().values_list("segment_id", "name", "text"):
        named[segment][name] = text
    for output in outputs.filter(segment__in=segments).order_by().select_related("segment"):
        references = [text for _, text in sorted(named[output.segment_id].items())]
        if len(set(references)) > 1:
            doubtful.add(output.content_key)
        key = _key(output.segment.source, references, output.text)
        old_keys[key] = output.content_key
        if key != output.content_key:
            output.content_key = key
            changed.append(output)
    outputs.bulk_update(changed, ["content_key"], batch_size=BATCH)


def _sensitive_signatures(apps):
    """Return the primary keys of the signatures whose scores the order may change."""
    rows = apps.get_model("metrics", "ConfiguredMetric").objects.all()
    configured = {row.name: row for row in rows}
    signatures = apps.get_model("metrics", "MetricSignature").objects.values_list("pk", "metric")
    return {pk for pk, name in signatures if not _is_order_free(name, configured.get(name))}


def _is_order_free(name, row):
    if row is None:
        return name in ORDER_FREE
    return row.family != "comet" or not row.description.get("needs_reference", True)


def _drop(apps, signatures, doubtful):
    """Drop scores of doubtful texts, and of texts that are gone: nobody knows their references.

    Returns the keys that each signature lost.
    """
    scores = apps.get_model("metrics", "SegmentScore").objects
    outputs = apps.get_model("annotation", "Output").objects
    known = set(outputs.values_list("content_key", flat=True))
    lost, gone = defaultdict(set), []
    rows = scores.filter(signature__in=signatures).order_by()
    for pk, signature, key in rows.values_list("pk", "signature_id", "content_key"):
        if key in doubtful or key not in known:
            lost[signature].add(key)
            gone.append(pk)
    for start in range(0, len(gone), BATCH):
        scores.filter(pk__in=gone[start : start + BATCH]).delete()
    return lost


def _copy(apps, sensitive, old_keys):
    """Let the scores that stay be found under the new keys."""
    SegmentScore = apps.get_model("metrics", "SegmentScore")
    moved = [(new, old) for new, old in old_keys.items() if new != old]
    for start in range(0, len(moved), BATCH):
        part = moved[start : start + BATCH]
        rows = SegmentScore.objects.filter(content_key__in={old for _, old in part})
        stored = defaultdict(list)
        for row in rows.exclude(signature__in=sensitive):
            stored[row.content_key].append(row)
        copies = [
            SegmentScore(signature_id=row.signature_id, content_key=new, values=row.values)
            for new, old in part
            for row in stored[old]
        ]
        SegmentScore.objects.bulk_create(copies, batch_size=BATCH, ignore_conflicts=True)


def _tell_runs(apps, lost, old_keys):
    """Plan runs under way anew, and let those that had ended well and lost scores say so.

    Returns how many of the latter there are.
    """
    runs = apps.get_model("metrics", "MetricRun").objects.filter(signature__in=list(lost))
    active = runs.filter(status__in=["queued", "running"])
    _plan_anew(apps, active)
    finished = runs.filter(status="done")
    return sum(_tell(apps, run, lost[run.signature_id], old_keys) for run in finished)


def _plan_anew(apps, active):
    for name in ("Lease", "RunPlan"):
        apps.get_model("metrics", name).objects.filter(run__in=active).delete()
    active.update(cursor=-1, planned=0, done=0, reused=0, rate=None)


def _tell(apps, run, lost, old_keys):
    outputs = apps.get_model("annotation", "Output").objects.filter(system__in=run.systems.all())
    keys = outputs.order_by().values_list("content_key", flat=True).distinct()
    n = sum(old_keys.get(key) in lost for key in keys)
    if n:
        run.status, run.message = "failed", DROPPED.format(n)
        run.done = max(run.done - n, 0)
        run.reused = min(run.reused, run.done)
        run.save(update_fields=["status", "message", "done", "reused"])
    return bool(n)


def name_references(apps, schema_editor):
    """Say in the signatures of scores that stay which references they are of."""
    rows = apps.get_model("metrics", "ConfiguredMetric").objects.filter(family__in=BEST)
    names = {*rows.values_list("name", flat=True), *BEST_NAMES, "moverscore"}
    for row in apps.get_model("metrics", "MetricSignature").objects.all():
        if row.metric in names or "|against:reference|" in row.signature:
            row.signature = row.signature.replace("|revision:", "|references:best|revision:")
            row.save(update_fields=["signature"])


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0005_language"),
        ("metrics", "0005_longer_signature"),
    ]

    operations = [
        migrations.RunPython(renew, migrations.RunPython.noop),
        migrations.RunPython(name_references, migrations.RunPython.noop),
    ]
