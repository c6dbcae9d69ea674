"""The WSGI entry point: `gunicorn config.wsgi`."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
# Looking through all that is loaded for what is unused holds up every thread for a tenth of a
# second and finds nothing: it stays for as long as the process lives.
_ = get_resolver().url_patterns
gc.collect()
gc.freeze()
