"""The WSGI entry point: `gunicorn config.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from core import gc_tuning

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
_ = get_resolver().url_patterns
gc_tuning.freeze()
