"""The extension: parallel text, trainings, translations and preference analyses."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="training",
    needs=("extensions.neural",),
    urls="training.urls",
    api=(
        ("corpora", "training.api.CorpusViewSet", "api-corpus"),
        ("jobs", "training.api.JobViewSet", "api-job"),
        ("translations", "training.translation.systems.api.TranslationViewSet", "api-translation"),
    ),
    work={
        "training": "training.jobs.work.trainings",
        "translation": "training.translation.systems.work.translations",
    },
    families={
        "likelihood": "training.translation.options:LIKELIHOOD",
        "ibm1": "training.ibm1.options:IBM1",
    },
    metrics="training.translation.options.KNOWN_LIKELIHOODS",
    types="training.lifecycle.TYPES",
    test_set="training.lifecycle.WITH_TEST_SET",
    pages=(
        Place("jobs", _("Training")),
        Place("corpora", _("Parallel text")),
        Place("preference-table", _("Preferences of metrics")),
    ),
    fragments={
        "server": "training/_navigation.html",
        "test-set": "training/_test_set.html",
        "test-sets": "training/_test_sets.html",
    },
    reference="training.kinds.sections",
)
