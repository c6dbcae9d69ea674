"""Every knob of Touchstone, read from the environment and checked at start.

`config/reference/site.py` lists the variables. Nothing else in the code reads the environment.
"""

import os
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu.entity import Queue

from config.environment import (
    bucket,
    email_settings,
    env_bool,
    env_choice,
    env_int,
    env_list,
    env_networks,
    judge_endpoints,
    oidc_issuer,
    read_files,
    role_names,
    secret_file,
    secret_key,
    site_url,
)
from core import extensions
from core.work import brokers
from metaeval import __version__
from touchstone import IS_INSTALLED

BASE_DIR = Path(__file__).resolve().parent.parent
# How commands of this installation begin, as pages tell them.
COMMAND = "touchstone" if IS_INSTALLED else "python manage.py"
# Everything that the app writes when no server is configured: database, broker, secret key.
VAR_DIR = Path(os.environ.get("TOUCHSTONE_VAR", BASE_DIR / "var"))
try:
    VAR_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise ImproperlyConfigured(f"TOUCHSTONE_VAR, a folder, cannot be made: {error}.") from None
# The page on which a demo opens; `manage.py demo` sets it for its processes.
DEMO = os.environ.get("TOUCHSTONE_DEMO", "")
# Real evaluation data for the import commands and the tests; never part of the repository.
DATA_DIR = Path(os.environ.get("TOUCHSTONE_DATA", BASE_DIR.parent / "shared" / "data"))

# Of what is secret, files with the values.
read_files(
    SECRET_KEY=os.environ.get("SECRET_KEY_FILE"),
    DATABASE_URL=os.environ.get("DATABASE_URL_FILE"),
    CELERY_BROKER_URL=os.environ.get("CELERY_BROKER_URL_FILE"),
    EMAIL_URL=os.environ.get("EMAIL_URL_FILE"),
    PROMETHEUS_TOKEN=os.environ.get("PROMETHEUS_TOKEN_FILE"),
)
DEBUG = env_bool("DEBUG", False)
SECRET_KEY = secret_key(VAR_DIR, debug=DEBUG)
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", "")
# Set where a proxy terminates TLS: cookies then travel over HTTPS only.
HTTPS = env_bool("HTTPS", False)
# The only peers whose X-Forwarded-For is believed; "unix" for a proxy on a Unix socket.
TRUSTED_PROXIES = env_networks("TRUSTED_PROXIES")

# Packages that add to the core (core/extensions.py, docs/extensions.md).
EXTENSIONS = env_list(
    "EXTENSIONS",
    "extensions.neural,extensions.judges,training,extensions.studies,"
    "extensions.layers,extensions.documents,extensions.trials,extensions.shortness,extensions.comparison,"
    "extensions.paper,extensions.decisions,extensions.formats",
)
# Sign-in through an organization, by OpenID Connect: off without an issuer (docs/access.md).
OIDC_ISSUER = oidc_issuer(os.environ.get("OIDC_ISSUER", ""))
OIDC_CLIENT_ID = os.environ.get("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = secret_file(
    "OIDC_CLIENT_SECRET_FILE", os.environ.get("OIDC_CLIENT_SECRET_FILE", "")
)
OIDC_NAME = os.environ.get("OIDC_NAME") or "single sign-on"
# The claim that lists groups, and which role each group has.
OIDC_CLAIM = os.environ.get("OIDC_CLAIM") or "groups"
OIDC_ROLES = role_names("OIDC_ROLES", os.environ.get("OIDC_ROLES") or "{}")
OIDC_NEW_ACCOUNTS = env_bool("OIDC_NEW_ACCOUNTS", False)
# Authenticator apps and security keys: nobody has them, everybody may, site admins must.
SECOND_FACTOR = env_choice("SECOND_FACTOR", "no", ("no", "yes", "admins"))
IDENTITY = bool(OIDC_ISSUER) or SECOND_FACTOR != "no"
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured("OIDC_CLIENT_ID must be set if OIDC_ISSUER is set.")
if IDENTITY and find_spec("allauth") is None:
    raise ImproperlyConfigured(
        "OIDC_ISSUER and SECOND_FACTOR need further packages: pip install 'touchstone-mt[sso]'."
    )
EXTENSIONS += [f"extensions.{name}" for name in ["identity"] if IDENTITY]
EXTENSIONS = list(dict.fromkeys(EXTENSIONS))  # who named it there means the same
EXTENSION_RECORDS = extensions.load_all(EXTENSIONS)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "config",
    "core",
    "annotation",
    "metrics",
    *(record.app for record in EXTENSION_RECORDS),
    "dashboards",
    "lifecycle",
    *(app for record in EXTENSION_RECORDS for app in record.apps),
]

MIDDLEWARE = [
    "config.logs.RequestIdMiddleware",
    "config.monitoring.RequestMetricsMiddleware",
    "config.monitoring.TracingMiddleware",
    "config.redaction.RedactionMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.compression.PolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.compression.CompressionMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "annotation.interface.LanguageMiddleware",
    "config.refusals.UnreadableMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "annotation.entry.sign_ins.SignInMiddleware",
    "annotation.api.authentication.TokenMiddleware",
    "annotation.web.password.AdminMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    *(name for record in EXTENSION_RECORDS for name in record.middleware),
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["core.templatetags.messages"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotation.access.roles",
                "annotation.web.appearance.appearance",
                "annotation.demo.tours.demo",
            ],
        },
    },
]

# Checkpoints and projections that jobs make; on several hosts, a folder that all of them see.
TRAINED_DIR = Path(os.environ.get("TOUCHSTONE_TRAINED", VAR_DIR / "trained"))

# --- Database -----------------------------------------------------------------------------------
# A server that is started without its settings would otherwise get a new, empty SQLite file.
IS_DATABASE_CHOSEN = DEBUG or bool({"DATABASE_URL", "TOUCHSTONE_VAR"} & os.environ.keys())
DATABASES = {
    "default": dj_database_url.parse(
        os.environ.get("DATABASE_URL") or f"sqlite:///{VAR_DIR / 'touchstone.sqlite3'}",
        conn_max_age=env_int("DATABASE_CONN_MAX_AGE", 60),
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # WAL lets pages read while a worker writes; IMMEDIATE makes writers queue instead of failing
    # when a read transaction is upgraded. `synchronous` stays FULL: an acknowledged judgment
    # survives a power cut.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL;",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["ENGINE"] = "core.database.postgresql"
# PostgreSQL: seconds that a statement waits for a lock, and that a transaction may do nothing
# before the server ends it and frees its locks: its host may have fallen silent. 0: no limit.
DATABASE_LOCK_SECONDS = env_int("DATABASE_LOCK_SECONDS", 10)
DATABASE_IDLE_SECONDS = env_int("DATABASE_IDLE_SECONDS", 30)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Accounts and security ----------------------------------------------------------------------
# Links sign in by the first; passwords are checked by the second alone.
AUTHENTICATION_BACKENDS = [
    "annotation.entry.accounts.LinkBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": 12}),
        ("CommonPasswordValidator", {}),
    )
]
AUTH_PASSWORD_VALIDATORS += [{"NAME": "annotation.accounts.passwords.SiteWordsValidator"}]
SESSION_ENGINE = "annotation.entry.accounts"
for _record in EXTENSION_RECORDS:
    globals().update(_record.settings)
# Sign-ins by password end after this long without a request, and after this many days in any case.
SESSION_IDLE_HOURS = env_int("SESSION_IDLE_HOURS", 12)
SESSION_DAYS = env_int("SESSION_DAYS", 14)
if SESSION_IDLE_HOURS < 0 or SESSION_DAYS < 1:
    raise ImproperlyConfigured("SESSION_IDLE_HOURS must be at least 0, SESSION_DAYS at least 1.")
# Sessions by link last as long as Django's.
SESSION_COOKIE_AGE = max(14, SESSION_DAYS) * 24 * 3600
# Whether the account page shows the network address of each sign-in.
SESSION_ADDRESSES = env_bool("SESSION_ADDRESSES", False)
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# Browsers then take these cookies from this host alone, over HTTPS.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
if HTTPS:
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    LANGUAGE_COOKIE_NAME = "__Host-language"
# A load balancer asks without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^prometheus$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = env_int("HSTS_SECONDS", 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_SECONDS > 0
# The checks of key, HTTPS, HSTS and DEBUG name settings of Django; ours (config/checks.py) name
# those that an operator sets. Whether browsers' lists get the name (W021) the domain's owner says.
SILENCED_SYSTEM_CHECKS = [f"security.W0{n}" for n in ("04", "08", "09", "12", "16", "18", "21")]
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CSRF_FAILURE_VIEW = "annotation.views.judging.unsent.csrf_failure"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Uploads: larger bodies are refused with a sentence, not read into memory.
MAX_UPLOAD_BYTES = env_int("MAX_UPLOAD_MB", 100) * 1024 * 1024
MAX_UNPACKED_BYTES = env_int("MAX_UNPACKED_MB", 500) * 1024 * 1024
# One recording or picture beside a segment; where they lie, which all web processes see.
MAX_MEDIA_BYTES = env_int("MAX_MEDIA_MB", 50) * 1024 * 1024
# A virus scanner, which reads each of them from standard input.
SCAN_COMMAND = shlex.split(os.environ.get("SCAN_COMMAND", ""))
MEDIA_ROOT = Path(os.environ.get("TOUCHSTONE_MEDIA", VAR_DIR / "media"))
# A bucket for uploads and media, which hosts then need not share as folders. Its keys are those of
# every program for S3: AWS_SHARED_CREDENTIALS_FILE, or the host's role.
FILES_S3_BUCKET = os.environ.get("FILES_S3_BUCKET", "")
FILES_S3_ENDPOINT = os.environ.get("FILES_S3_ENDPOINT", "")
if FILES_S3_BUCKET and find_spec("storages") is None:
    raise ImproperlyConfigured(
        "FILES_S3_BUCKET needs further packages: pip install 'touchstone-mt[s3]'."
    )
# Segments, references and outputs of one upload.
MAX_UPLOAD_TEXTS = env_int("MAX_UPLOAD_TEXTS", 1_000_000)
# Files beyond one of these are read by a worker, smaller ones while the browser waits.
IMPORT_IN_REQUEST_BYTES = env_int("IMPORT_IN_REQUEST_MB", 5) * 1024 * 1024
IMPORT_IN_REQUEST_ROWS = env_int("IMPORT_IN_REQUEST_ROWS", 20_000)
# The longest document with all that can be asked of each segment has about 4,500.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
DATA_UPLOAD_MAX_NUMBER_FILES = 200
# A long document with a text for each segment: nine bytes a Chinese letter, as a form sends it.
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024

# Memory of metric workers in MiB, for models without a GPU and for token vectors. Checked here,
# read in extensions/neural/encoding, which knows no Django.
env_int("RESIDENT_MODELS_MB", 4096)
env_int("EMBEDDING_CACHE_MB", 1024)
# GPUs of each child of a worker; read in metrics/workers/reporter.py.
env_int("GPUS_PER_SLOT", 1)

# Servers of language models that judges may ask (docs/judges.md). Keys stay in variables of their
# own, which `extensions.judges.endpoints` reads when a worker calls.
JUDGE_ENDPOINTS = judge_endpoints(os.environ.get("JUDGE_ENDPOINTS") or "[]")
read_files(
    **{
        each["key_variable"]: os.environ.get(f"{each['key_variable']}_FILE")
        for each in JUDGE_ENDPOINTS
        if each.get("key_variable")
    }
)

# Distributions whose metrics are loaded (docs/plugins.md); read in metrics/plugins.py, which knows
# no Django.
env_list("METRIC_PLUGINS", "")

# --- Language and time --------------------------------------------------------------------------
LANGUAGE_CODE = "en"
# Labels of choices are translated like other labels: templates/django/forms.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
# Each by its own name: what people look for in a list of languages.
LANGUAGES = [
    ("en", "English"),
    ("zh-hans", "简体中文"),
    ("de", "Deutsch"),
    ("cs", "Čeština"),
    ("ar", "العربية"),
]
# The languages of researchers' pages; annotators' have all.
READERS = ("en", "zh-hans")
LOCALE_PATHS = [BASE_DIR / "locale", BASE_DIR / "locale" / "readers"]
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

# --- Static files -------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("TOUCHSTONE_STATIC", VAR_DIR / "staticfiles"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    **({"files": bucket(FILES_S3_BUCKET, FILES_S3_ENDPOINT)} if FILES_S3_BUCKET else {}),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.storage.ModuleManifestStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
# No page names a file without its hash.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

# --- Notifications ------------------------------------------------------------------------------
# Workers have no request to take the address of the site from.
SITE_URL = site_url(os.environ.get("SITE_URL") or "http://localhost:8000")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = os.environ.get("EMAIL_FROM") or "touchstone@localhost"
globals().update(
    email_settings(os.environ.get("EMAIL_URL") or ("console:" if DEBUG else "smtp://localhost"))
)
# Links are mailed where somebody has named a server: one that prints would put them into a log.
MAILS_LINKS = os.environ.get("EMAIL_URL", "").lower().startswith("smtp")
WEBHOOK_TIMEOUT_SECONDS = env_int("WEBHOOK_TIMEOUT_SECONDS", 10)
if WEBHOOK_TIMEOUT_SECONDS < 1:
    raise ImproperlyConfigured("WEBHOOK_TIMEOUT_SECONDS must be at least 1.")
# Webhooks into the server's own network: only where every admin may reach it anyway.
WEBHOOK_ALLOW_PRIVATE = env_bool("WEBHOOK_ALLOW_PRIVATE", False)

# Where errors are reported, besides the log.
SENTRY_DSN = secret_file("SENTRY_DSN_FILE", os.environ.get("SENTRY_DSN_FILE", ""))
if SENTRY_DSN and find_spec("sentry_sdk") is None:
    raise ImproperlyConfigured(
        "SENTRY_DSN_FILE needs a further package: pip install 'touchstone-mt[sentry]'."
    )

# Spans go where OpenTelemetry's own variables say.
IS_TRACED = bool(os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"))
if IS_TRACED and find_spec("opentelemetry") is None:
    raise ImproperlyConfigured(
        "OTEL_EXPORTER_OTLP_ENDPOINT needs further packages: pip install 'touchstone-mt[otel]'."
    )

# --- API ----------------------------------------------------------------------------------------
VERSION = API_VERSION = __version__
# Of one account to the API, counted by each web process; 0 for no limit.
API_REQUESTS_PER_MINUTE = env_int("API_REQUESTS_PER_MINUTE", 600)
REST_FRAMEWORK = {
    # Tokens first: without either, programs get 401.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.access.IsResearcher"],
    "DEFAULT_PARSER_CLASSES": [
        "config.api.reading.StorableJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "annotation.api.pages.StrictPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    # The only version; otherwise any `?version=` would become part of a header of the schema.
    "ALLOWED_VERSIONS": [API_VERSION],
    "PAGE_SIZE": 100,
    "DEFAULT_THROTTLE_CLASSES": ["annotation.api.throttling.RequestsPerMinute"],
    "EXCEPTION_HANDLER": "annotation.api.parameters.answer_exception",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Touchstone",
    "DESCRIPTION": "Human judgments of translations, metric scores and meta-evaluation.",
    "VERSION": API_VERSION,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_INCLUDE_SCHEMA": False,
    # A file is bytes in a request and an address in an answer.
    "COMPONENT_SPLIT_REQUEST": True,
    "OAS_VERSION": "3.1.0",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.schema.describe_refusals",
    ],
    "ENUM_NAME_OVERRIDES": {
        "CampaignStatusEnum": "annotation.models.campaign.Campaign.Status",
        # Of metric runs and of training jobs.
        "WorkStatusEnum": "metrics.models.MetricRun.Status",
    },
}

# --- Celery -------------------------------------------------------------------------------------
# Without CELERY_BROKER_URL an embedded broker in VAR_DIR serves web and worker on one machine.
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or "filesystem://localhost//"
CELERY_BROKER_TRANSPORT_OPTIONS = brokers.transport_options(CELERY_BROKER_URL, VAR_DIR / "broker")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker tries for ever; it would end after an hour.
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CONNECTION_TIMEOUT = brokers.CONNECT_SECONDS
CELERY_BROKER_HEARTBEAT = brokers.HEARTBEAT_SECONDS
# RabbitMQ keeps a connection that fell silent for two heartbeats. A worker that connects again
# before that finds its exclusive queue locked, and would end.
CELERY_CONTROL_QUEUE_EXCLUSIVE = False
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_TASK_PUBLISH_RETRY_POLICY = brokers.RETRIES
CELERY_TASK_ALWAYS_EAGER = env_bool("CELERY_EAGER", False)
CELERY_TASK_EAGER_PROPAGATES = True
# Documents of the dashboards are then computed in the web process, too.
ANALYSES_IN_PLACE = CELERY_TASK_ALWAYS_EAGER
# State lives in our own tables, so that pages and workers read one truth.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# How long the result of a child that has died is waited for before another takes its place: ours
# have none.
CELERY_WORKER_LOST_WAIT = 0.5
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_POOL = "core.work.embedded:TaskPool"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "cpu"
WORK_QUEUES = ("cpu", "gpu", "judges", "documents", "documents-slow", "mail", "slow")
# Without keys of their own both would be bound to the default key, and get every message twice.
CELERY_TASK_QUEUES = [
    Queue(name, routing_key=name)  # type: ignore[no-untyped-call]
    for name in WORK_QUEUES
]
CELERY_TIMEZONE = "UTC"
# Workers know from the start the task that takes over what an older version left in the broker.
CELERY_IMPORTS = ["annotation.notifications.work"]
# Every kind of background work: its name and where it is described (`core.work.kinds`).
WORK_KINDS: dict[str, str] = {
    "notification": "annotation.notifications.work.notifications",
    "letter": "annotation.notifications.work.letters",
    "slice": "metrics.runs.work.kind",
    "hash-check": "metrics.stock.hosts.hash_checks",
    "file-import": "annotation.imports.background.file_imports",
    **{name: path for record in EXTENSION_RECORDS for name, path in record.work.items()},
    "document": "dashboards.documents.computing.documents",
}
# What files are imported as, and where that is described (`annotation.imports.background.Door`).
IMPORT_DOORS: dict[str, str] = {
    "test-set": "annotation.doors.test_sets",
    "judgments": "annotation.doors.campaigns",
    "human-scores": "annotation.doors.campaigns",
    "campaign-file": "annotation.doors.campaign_files",
    "gold": "annotation.doors.gold_items",
    "metric-scores": "metrics.spans.doors.metric_scores",
    "spans": "metrics.spans.doors.spans",
    "mt-metrics-eval": "metrics.datasets.door.folders",
    "data-set": "metrics.datasets.door.published_sets",
    **{name: path for record in EXTENSION_RECORDS for name, path in record.doors.items()},
}
# Seconds without a heartbeat after which another worker takes over the work of one.
RUN_STALE_SECONDS = env_int("RUN_STALE_SECONDS", 60)
if RUN_STALE_SECONDS < 5:
    raise ImproperlyConfigured(
        "RUN_STALE_SECONDS must be at least 5: workers report every 2 seconds."
    )

# What Prometheus sends to read `/prometheus`, and where the web server’s processes count together.
PROMETHEUS_TOKEN = os.environ.get("PROMETHEUS_TOKEN", "")
PROMETHEUS_FOLDER = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")

# Sets LOGGING up so that no record holds a personal link.
LOGGING_CONFIG = "config.redaction.configure"
DEFAULT_EXCEPTION_REPORTER = "config.redaction.Reporter"
LOG_FORMATS: dict[str, dict[str, Any]] = {
    "plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    "json": {
        "()": "config.logs.JsonFormatter",
        "fmt": "{levelname} {name} {message} {request_id} {task}",
        "style": "{",
        "rename_fields": {"levelname": "level", "name": "logger"},
        "timestamp": True,
    },
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"origin": {"()": "config.logs.Origin"}},
    "formatters": {"chosen": LOG_FORMATS[env_choice("LOG_FORMAT", "plain", LOG_FORMATS)]},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "filters": ["origin"],
            "formatter": "chosen",
        }
    },
    # Sign-ins, whatever the level.
    "loggers": {"annotation.entry.accounts": {"level": "INFO"}},
    "root": {"handlers": ["console"], "level": os.environ.get("LOG_LEVEL", "WARNING").upper()},
}
