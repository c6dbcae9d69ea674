"""Reference pages of addresses, API, commands, settings and packages."""

import ast
import inspect
import re
from argparse import SUPPRESS
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator

from annotation.web.parameters import ALL, JUDGMENTS
from core import extensions

# All environment variables, with their defaults and meanings. `config.settings` reads them; a
# test compares names and defaults.


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
    *(
        Variable(f"{name}_FILE", "", f"file with the value of `{name}`")
        for name in (
            "SECRET_KEY",
            "DATABASE_URL",
            "CELERY_BROKER_URL",
            "EMAIL_URL",
            "PROMETHEUS_TOKEN",
        )
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
        "FILES_S3_BUCKET",
        "",
        "bucket for uploads, media and trained checkpoints, in place of shared folders",
    ),
    Variable("FILES_S3_ENDPOINT", "", "address of an S3-compatible server; empty: Amazon's"),
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
        "secure cookies with `__Host-` names, plain HTTP is redirected; trusts the proxy's "
        "`X-Forwarded-Proto`",
    ),
    Variable("SESSION_IDLE_HOURS", "12", "ends unused sign-ins by password; 0: never"),
    Variable("SESSION_DAYS", "14", "ends all sign-ins by password"),
    Variable("SESSION_ADDRESSES", "no", "store and list the network address of each sign-in"),
    Variable(
        "OIDC_ISSUER", "", "an OpenID provider, as its tokens name it: [access](../access.md)"
    ),
    Variable("OIDC_CLIENT_ID", "", "name of this site at the provider"),
    Variable("OIDC_CLIENT_SECRET_FILE", "", "file with the secret for the provider"),
    Variable("OIDC_NAME", "single sign-on", "name of the provider on the sign-in page"),
    Variable("OIDC_CLAIM", "groups", "claim of its tokens that lists groups"),
    Variable("OIDC_ROLES", "{}", 'roles of groups, as JSON: `{"mt-team": "researcher"}`'),
    Variable("OIDC_NEW_ACCOUNTS", "no", "make an account at the first sign-in"),
    Variable(
        *("SECOND_FACTOR", "no"),
        "second factors: `yes` offers them, `admins` also requires them of site admins",
    ),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "",
        "address of an OpenTelemetry collector, for spans; its other variables apply too",
    ),
    Variable("SENTRY_DSN_FILE", "", "file with the address of a Sentry project, for errors"),
    Variable("HSTS_SECONDS", "0", "Strict-Transport-Security; `check --deploy` requires it"),
    Variable(
        *("TRUSTED_PROXIES", ""),
        "proxies whose `X-Forwarded-For` is trusted: addresses, networks, `unix`",
    ),
    Variable("MAX_UPLOAD_MB", "100", "largest upload"),
    Variable("MAX_MEDIA_MB", "50", "largest recording or picture of a segment"),
    Variable(
        "SCAN_COMMAND",
        "",
        "virus scanner that reads each recording and picture from standard input, such as "
        "`clamdscan --no-summary -`; only exit status 0 accepts the file",
    ),
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
        "extensions.layers,extensions.documents,extensions.trials,extensions.shortness,extensions.comparison,"
        "extensions.paper,extensions.decisions,extensions.formats",
        "packages that extend the core; empty for the core only: [extensions](../extensions.md)",
    ),
    Variable(
        "METRIC_PLUGINS", "", "distributions whose metrics are loaded: [plug-ins](../plugins.md)"
    ),
    Variable("LOG_LEVEL", "WARNING", "level of all logs"),
    Variable("LOG_FORMAT", "plain", "`json`: each line of the log is an object with `request_id`"),
    Variable("PROMETHEUS_TOKEN", "", "lets Prometheus read `/prometheus` with it as bearer token"),
    Variable(
        "PROMETHEUS_MULTIPROC_DIR",
        "a new folder",
        "where the processes of a web server count together; `serve` makes it",
    ),
    Variable(
        "API_REQUESTS_PER_MINUTE",
        "600",
        "of one account, counted by each web process; more get 429; 0: no limit",
    ),
    Variable("DEBUG", "no", "error pages with details; never on a server"),
)


# Write Markdown from plain values and docstrings.


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; each cell is one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return re.sub(r"\s+", " ", str(value)).strip().replace("|", "\\|")


def code(value: object) -> str:
    """Return a value as code; empty for an empty value."""
    return f"`{value}`" if str(value) else ""


def first_sentence(documented: object) -> str:
    """Return the first paragraph of a docstring in one line."""
    text = documented if isinstance(documented, str) else inspect.getdoc(documented)
    return re.sub(r"\s+", " ", (text or "").split("\n\n")[0]).strip()


def docstring(module: str) -> str:
    """Return the docstring of a module without importing it, because it may need torch."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))) or ""
    return re.sub(r"(?::\w+:)?(`+)([^`]+)\1", r"`\2`", text)


# The API has its own page; Django's admin links to the pages of the site.
ELSEWHERE = ("/api/", "/admin/")
PAGES_HEAD = """# Pages and other addresses

The last column has the query parameters of an address. *filters* are those of
[the list](../filters.md).

"""


def pages_page() -> str:
    """Return the page."""
    rows = (
        (
            code(re.sub(r"<\w+:(\w+)>", r"<\1>", route)),
            entry.name or "",
            _view_sentence(entry),
            _page_parameters(route, entry),
        )
        for route, entry in walk()
        if not route.startswith(ELSEWHERE)
    )
    return PAGES_HEAD + table(("address", "name", "", "takes"), rows)


def walk(patterns: list[Any] | None = None, before: str = "/") -> Iterator[tuple[str, URLPattern]]:
    """Yield every address with its route."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry.url_patterns, route)
        else:
            yield route, entry


def _view_sentence(entry: URLPattern) -> str:
    view: Any = entry.callback
    return first_sentence(getattr(view, "view_class", view))


def taken(route: str, entry: URLPattern) -> frozenset[str] | None:
    """Return the parameters of an address; None if its view does not declare them."""
    known: Any = getattr(entry.callback, "takes", None)
    given = dict.fromkeys(re.findall(r"<\w+:(\w+)>", route), "x") | (entry.default_args or {})
    return None if known is None else known(**given).names


def _page_parameters(route: str, entry: URLPattern) -> str:
    names = taken(route, entry) or frozenset()
    for group, filters in (("filters", ALL), ("filters except `scores`, `scale`", JUDGMENTS)):
        if filters.names <= names:
            return ", ".join((group, *map(code, sorted(names - filters.names))))
    return ", ".join(map(code, sorted(names)))


PAGING = {"limit", "offset"}
API_HEAD = """# API

JSON with a [token](../programs.md#tokens) of the named scope, or a session. Lists are
paginated (`limit`, `offset`). The OpenAPI schema at `/api/schema/` has every field and status.

"""


def api_page() -> str:
    """Return the page."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    head = ("operation", "", "scope", "parameters")
    return API_HEAD + table(head, _operations(schema["paths"]))


def _operations(paths: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for path, methods in paths.items():
        for method, operation in methods.items():
            about = first_sentence(operation.get("description", ""))
            if method == "get" and path.endswith("}/") and path[: path.rindex("{")] in paths:
                about = "Return one of them."
            scopes = [scope for each in operation["security"] for scope in each.get("token", ())]
            operation_name = code(f"{method.upper()} {path}")
            yield operation_name, about, ", ".join(scopes), _api_parameters(operation)


def _api_parameters(operation: dict[str, Any]) -> str:
    given = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    return ", ".join(code(each["name"]) for each in given if each["name"] not in PAGING)


OURS = {
    *("annotation", "metrics", "dashboards", "lifecycle", "config", "core"),
    *(each.app for each in extensions.installed()),
}


def commands_page() -> str:
    """Return the page."""
    found = [(name, app) for name, app in get_commands().items() if app in OURS]
    parts = [_command(name, str(app)) for name, app in sorted(found)]
    return "\n\n".join(["# Commands", *parts])


def _command(name: str, app: str) -> str:
    """Return the help of a command without the options that all commands have."""
    formatter = partial(DjangoHelpFormatter, width=100)
    parser = load_command_class(app, name).create_parser(
        "manage.py", name, formatter_class=formatter
    )
    for action in parser._actions:
        if DjangoHelpFormatter.show_last.intersection(action.option_strings):
            action.help = SUPPRESS
    return f"## manage.py {name}\n\n```text\n{parser.format_help()}```"


def settings_page() -> str:
    """Return the page."""
    rows = [(code(v.name), _default_value(v.default), v.meaning) for v in VARIABLES]
    return "# Settings\n\n" + table(("variable", "default", "meaning"), rows)


def _default_value(default: str) -> str:
    return default if "`" in default else code(default)


ROOT = Path(__file__).parents[2]
TOPS = (
    *("config", "core", "annotation", "metrics", "metaeval", "dashboards", "training", "lifecycle"),
    *("extensions", "touchstone", "benchmarks"),
)
# Folders with names of Django need no explanation.
SELF_EVIDENT = {"management", "migrations", "templatetags", "commands"}


def tree_page() -> str:
    """Return the page."""
    return "# The tree\n" + "".join(
        f"\n## {top}\n\n{_package_sentence(ROOT / top)}\n\n{table(('room', ''), _rooms(top))}\n"
        for top in TOPS
    )


def _rooms(top: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / top).rglob("__init__.py")):
        parts = path.parent.relative_to(ROOT / top).parts
        if parts and not SELF_EVIDENT.intersection(parts):
            yield code("/".join(parts)), _package_sentence(path.parent)


def _package_sentence(folder: Path) -> str:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    return first_sentence(ast.get_docstring(ast.parse(text)) or "")
