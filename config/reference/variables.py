"""All environment variables, with their defaults and meanings.

`config.settings` reads them; a test compares names and defaults.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One variable; ``default`` is its text, empty without a default."""

    name: str
    default: str
    meaning: str


VARIABLES = (
    Variable(
        *("SECRET_KEY", "made once, in `TOUCHSTONE_VAR`"),
        "signs sessions and links; required if `DATABASE_URL` is set",
    ),
    Variable(
        *("DATABASE_URL", "SQLite in `TOUCHSTONE_VAR`"),
        "such as `postgres://user:password@host:5432/name`",
    ),
    Variable("DATABASE_CONN_MAX_AGE", "60", "seconds that a database connection stays open"),
    Variable(
        *("DATABASE_LOCK_SECONDS", "10"),
        "PostgreSQL: seconds that a statement waits for a lock; 0 sets no limit",
    ),
    Variable(
        *("DATABASE_IDLE_SECONDS", "30"),
        "PostgreSQL: seconds after which an idle transaction is ended; 0 sets no limit",
    ),
    Variable(
        *("CELERY_BROKER_URL", "embedded, in `TOUCHSTONE_VAR`"),
        "`redis://host:6379/0` or `amqp://user:password@host:5672//`",
    ),
    Variable("CELERY_EAGER", "no", "run tasks in the web process; for tests"),
    Variable(
        "RUN_STALE_SECONDS", "60", "seconds without a report after which other workers take over"
    ),
    Variable("TOUCHSTONE_VAR", "var", "folder of database, broker, key and waiting uploads"),
    Variable("TOUCHSTONE_DEMO", "", "page on which a demo opens; `manage.py demo` sets it"),
    Variable("TOUCHSTONE_DATA", "../shared/data", "published data for `import_dataset` and tests"),
    Variable("TOUCHSTONE_MODELS", "", "folder of checkpoints for neural metrics"),
    Variable(
        *("TOUCHSTONE_TRAINED", "`trained` in `TOUCHSTONE_VAR`"),
        "results of trainings; with several hosts, a shared folder",
    ),
    Variable(
        *("TOUCHSTONE_MEDIA", "`media` in `TOUCHSTONE_VAR`"),
        "recordings and pictures of segments; with several hosts, a shared folder",
    ),
    Variable(
        *("TOUCHSTONE_STATIC", "`staticfiles` in `TOUCHSTONE_VAR`"),
        "styles and scripts as they are served; `collectstatic` writes them",
    ),
    Variable("RESIDENT_MODELS_MB", "4096", "memory for models of a worker without a GPU"),
    Variable("GPUS_PER_SLOT", "1", "GPUs that a large model of one process can use"),
    Variable("EMBEDDING_CACHE_MB", "1024", "memory for token vectors of a worker"),
    Variable("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "host names that are served"),
    Variable("CSRF_TRUSTED_ORIGINS", "", "origins behind a proxy: `https://mt.example.org`"),
    Variable(
        *("HTTPS", "no"),
        "secure cookies, plain HTTP is redirected; trusts the proxy's `X-Forwarded-Proto`",
    ),
    Variable("HSTS_SECONDS", "0", "Strict-Transport-Security; `check --deploy` requires it"),
    Variable(
        *("TRUSTED_PROXIES", ""),
        "proxies whose `X-Forwarded-For` is trusted: addresses, networks, `unix`",
    ),
    Variable("MAX_UPLOAD_MB", "100", "largest upload"),
    Variable("MAX_MEDIA_MB", "50", "largest recording or picture of a segment"),
    Variable(
        "MAX_UPLOAD_TEXTS", "1000000", "maximum segments, references and outputs of one upload"
    ),
    Variable("IMPORT_IN_REQUEST_MB", "5", "a worker imports files that are larger together"),
    Variable("IMPORT_IN_REQUEST_ROWS", "20000", "a worker imports files with more rows together"),
    Variable("MAX_UNPACKED_MB", "500", "maximum unpacked size of an archive"),
    Variable(
        "SITE_URL", "http://localhost:8000", "address of the site, for links in notifications"
    ),
    Variable(
        *("EMAIL_URL", "`smtp://localhost`; with `DEBUG` `console:`"),
        "`smtp://host:25`, `smtp+tls://user:password@host:587`, `smtps://…:465`; `console:` "
        "prints. "
        "Links are mailed only if it names a server",
    ),
    Variable("EMAIL_FROM", "touchstone@localhost", "sender of e-mails"),
    Variable("WEBHOOK_TIMEOUT_SECONDS", "10", "seconds that a webhook may take to answer"),
    Variable(
        "WEBHOOK_ALLOW_PRIVATE",
        "no",
        "allow webhooks to private, loopback and link-local addresses",
    ),
    Variable(
        "JUDGE_ENDPOINTS", "[]", "servers of language models, as JSON: [judges](../judges.md)"
    ),
    Variable(
        "EXTENSIONS",
        "extensions.neural,extensions.judges,training,extensions.studies,"
        "extensions.layers,extensions.trials,extensions.shortness,extensions.comparison",
        "packages that extend the core; empty for the core only: [extensions](../extensions.md)",
    ),
    Variable(
        "METRIC_PLUGINS", "", "distributions whose metrics are loaded: [plug-ins](../plugins.md)"
    ),
    Variable("LOG_LEVEL", "WARNING", "level of all logs"),
    Variable("DEBUG", "no", "error pages with details; never on a server"),
)
