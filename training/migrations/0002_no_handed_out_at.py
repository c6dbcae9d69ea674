from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("training", "0001_corpora_and_jobs")]

    operations = [migrations.RemoveField("trainingjob", "handed_out_at")]
