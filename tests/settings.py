"""Settings of the test suite: the real ones, with a fast hasher and tasks run in place."""

import os
import tempfile
from importlib.util import find_spec

os.environ.setdefault("SECRET_KEY", "only-for-tests")
os.environ.setdefault("TOUCHSTONE_VAR", tempfile.mkdtemp(prefix="touchstone-tests-"))
os.environ.setdefault("CELERY_EAGER", "yes")
# Second factors and a provider, which tests start themselves, as in installations that have them.
IS_CORE_ALONE = os.environ.get("EXTENSIONS") == ""
HAS_IDENTITY = not IS_CORE_ALONE and find_spec("allauth") and "SECOND_FACTOR" not in os.environ
if HAS_IDENTITY:
    os.environ["SECOND_FACTOR"] = "yes"
# Workers that tests start need not import every page to check the project each time.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASES, STORAGES, VAR_DIR  # noqa: E402

if HAS_IDENTITY:  # not for processes with the real settings
    del os.environ["SECOND_FACTOR"]

if "sqlite3" in DATABASES["default"]["ENGINE"]:
    # A file, as in real life: an in-memory database locks whole tables between threads.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
    # Many threads at once on a busy machine: SQLite lets none of them wait in line.
    DATABASES["default"]["OPTIONS"]["timeout"] = 300
else:
    # As SQLite above: no test cuts the power.
    DATABASES["default"].setdefault("OPTIONS", {})["options"] = "-c synchronous_commit=off"
    # A test is one transaction, in which a busy machine may do nothing for long.
    DATABASE_IDLE_SECONDS = 0

# Hundreds of requests a minute are nothing here.
API_REQUESTS_PER_MINUTE = 0

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True  # else each client of a test lists all static files
STATIC_ROOT = VAR_DIR
STORAGES = STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}
