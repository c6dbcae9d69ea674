"""Give finished ReFreeEval trainings intervals of the gain that hold for few held-out texts.

What they stored is the normal interval, "0 to 0" where no text changed sides. Its width gives the
number of texts that did, from which the interval is computed anew.
"""

from django.db import migrations

from metaeval.significance import paired_gain


def renew(apps, schema_editor):
    jobs = apps.get_model("training", "TrainingJob").objects.filter(kind="refreeeval")
    for job in jobs.exclude(result={}).iterator():
        held = (job.result or {}).get("held_out")
        if isinstance(held, dict) and {"n", "gain", "low", "high"} <= held.keys():
            job.result["held_out"] = {**held, **renewed(**{k: held[k] for k in KEYS})}
            for name in ("low", "high"):
                if job.result["held_out"][name] is None:
                    del job.result["held_out"][name]
            job.save(update_fields=["result"])


KEYS = ("n", "gain", "low", "high")


def renewed(n, gain, low, high):
    """Return the ends, None where there is no interval, and how they were computed."""
    variance = n * ((high - low) / 2 / 1.96) ** 2
    changed = round((n - 1) * variance + n * gain**2)
    gained = round((changed + n * gain) / 2)
    lost = changed - gained
    before = [0] * gained + [1] * lost + [0] * (n - changed)
    after = [1] * gained + [0] * (n - gained)
    found = paired_gain(before, after)
    ends = found.interval[:2] if found.interval else (None, None)
    told = found.method or found.warnings[0].message
    return {"low": ends[0], "high": ends[1], "interval": told}


class Migration(migrations.Migration):
    dependencies = [("training", "0003_preferences")]

    operations = [migrations.RunPython(renew, migrations.RunPython.noop)]
