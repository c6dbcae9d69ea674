"""Every variable of the environment, with its default and what it means.

`config.settings` reads them; a test holds names and defaults against it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """``default`` as people would write it, empty where there is none."""

    name: str
    default: str
    meaning: str


VARIABLES = (
    Variable(
        *("SECRET_KEY", "made once, in `TOUCHSTONE_VAR`"),
        "signs sessions and links; must be set where `DATABASE_URL` is",
    ),
    Variable(
        *("DATABASE_URL", "SQLite in `TOUCHSTONE_VAR`"),
        "such as `postgres://user:password@host:5432/name`",
    ),
    Variable("DATABASE_CONN_MAX_AGE", "60", "seconds that a database connection is kept"),
    Variable(
        *("DATABASE_LOCK_SECONDS", "10"),
        "PostgreSQL: seconds that a statement waits for a lock; 0 sets no limit",
    ),
    Variable(
        *("DATABASE_IDLE_SECONDS", "30"),
        "PostgreSQL: seconds after which a transaction that does nothing is ended; 0 sets no limit",
    ),
    Variable(
        *("CELERY_BROKER_URL", "embedded, in `TOUCHSTONE_VAR`"),
        "`redis://host:6379/0` or `amqp://user:password@host:5672//`",
    ),
    Variable("CELERY_EAGER", "no", "run tasks in the web process; for tests"),
    Variable(
        "RUN_STALE_SECONDS", "60", "seconds of silence after which a worker's work is others'"
    ),
    Variable("TOUCHSTONE_VAR", "var", "folder of database, broker, key and waiting uploads"),
    Variable("TOUCHSTONE_DATA", "../shared/data", "published data for `import_dataset` and tests"),
    Variable("TOUCHSTONE_MODELS", "", "folder of checkpoints for neural metrics"),
    Variable(
        *("TOUCHSTONE_TRAINED", "`trained` in `TOUCHSTONE_VAR`"),
        "what trainings make; on several hosts, a folder that all see",
    ),
    Variable(
        *("TOUCHSTONE_MEDIA", "`media` in `TOUCHSTONE_VAR`"),
        "recordings and pictures beside segments; on several hosts, a folder that all see",
    ),
    Variable("RESIDENT_MODELS_MB", "4096", "models that a worker without a GPU keeps in memory"),
    Variable("GPUS_PER_SLOT", "1", "GPUs over which a worker's child may spread a large model"),
    Variable("EMBEDDING_CACHE_MB", "1024", "token vectors that a worker keeps in memory"),
    Variable("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "host names that are served"),
    Variable("CSRF_TRUSTED_ORIGINS", "", "origins behind a proxy: `https://mt.example.org`"),
    Variable(
        *("HTTPS", "no"),
        "cookies by HTTPS alone, plain HTTP redirected; trusts the proxy's `X-Forwarded-Proto`",
    ),
    Variable("HSTS_SECONDS", "0", "Strict-Transport-Security; `check --deploy` asks for it"),
    Variable(
        *("TRUSTED_PROXIES", ""),
        "proxies whose `X-Forwarded-For` is believed: addresses, networks, `unix`",
    ),
    Variable("MAX_UPLOAD_MB", "100", "largest upload"),
    Variable("MAX_MEDIA_MB", "50", "largest recording or picture beside a segment"),
    Variable("MAX_UPLOAD_TEXTS", "200000", "most segments, references and outputs of one upload"),
    Variable("MAX_UNPACKED_MB", "500", "what an archive may hold, unpacked"),
    Variable(
        "SITE_URL", "http://localhost:8000", "address of the site, for links in notifications"
    ),
    Variable(
        *("EMAIL_URL", "`smtp://localhost`; with `DEBUG` `console:`"),
        "`smtp://host:25`, `smtp+tls://user:password@host:587`, `smtps://…:465`; `console:` "
        "prints. "
        "Links are mailed only where it names a server",
    ),
    Variable("EMAIL_FROM", "touchstone@localhost", "sender of e-mails"),
    Variable("WEBHOOK_TIMEOUT_SECONDS", "10", "how long a webhook may take to answer"),
    Variable("WEBHOOK_ALLOW_PRIVATE", "no", "webhooks to private, loopback, link-local addresses"),
    Variable(
        "JUDGE_ENDPOINTS", "[]", "servers of language models, as JSON: [judges](../judges.md)"
    ),
    Variable(
        "EXTENSIONS",
        "extensions.neural,extensions.judges,training,extensions.studies,"
        "extensions.layers,extensions.trials,extensions.shortness,extensions.comparison",
        "packages that add to the core; empty for the core alone: [extensions](../extensions.md)",
    ),
    Variable("METRIC_PLUGINS", "", "distributions whose metrics load: [plug-ins](../plugins.md)"),
    Variable("LOG_LEVEL", "WARNING", "of everything that is logged"),
    Variable("DEBUG", "no", "error pages with details; never on a server"),
)
