from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0033_public_title'),
    ]

    operations = [
        migrations.AddField(
            model_name='segment',
            name='domain',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
    ]
