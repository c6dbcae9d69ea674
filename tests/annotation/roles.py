"""What every address answers to every role, for a public and a private campaign."""

ROLES = (
    "anonymous", "annotator", "researcher", "member", "other", "owner", "appointed", "site",
)  # fmt: skip
Statuses = dict[str, int]


def each(**statuses: int) -> Statuses:
    """A status for every role; `readers` stands for all that are not named."""
    rest = statuses.pop("readers", 200)
    return {role: statuses.get(role, rest) for role in ROLES}


READ = each(anonymous=302, annotator=403)
API = each(anonymous=401, annotator=403)
CREATE = each(anonymous=302, annotator=403, researcher=403, member=403, appointed=403)
SENDER = each(anonymous=302, annotator=403, readers=404, owner=200, site=200)
CREATED = CREATE | {"other": 422, "owner": 422, "site": 422}
IMPORTS = each(anonymous=401, annotator=403, readers=400, researcher=403, member=403, appointed=403)
SITE = each(anonymous=302, readers=403, annotator=403, site=200)
# The test set of the table belongs to nobody.
SHARE = each(anonymous=302, annotator=403, readers=403, site=422)
# A project that only site admins are in.
PROJECT = each(anonymous=302, annotator=403, readers=404, site=200)
RATE = each(anonymous=302, annotator=200, readers=404)
ALL = each(anonymous=200, annotator=200)


def hidden(table: Statuses) -> Statuses:
    """As `table`, but those who may not see the private campaign find nothing."""
    return table | {"researcher": 404, "other": 404}


def of_project(name: str, table: Statuses) -> Statuses:
    """As `table`, but those who are not in the project of a private test set find nothing.

    Pages first refuse those who may not upload, or do not run the site.
    """
    if name == "testset-owner":
        return table
    is_refused = table["researcher"] == 403 and "withdraw" not in name
    without = ("other",) if is_refused else ("researcher", "other")
    # The owner of the campaign is not in the project, which has the job.
    is_job = "job" in name or name == "sweep"
    return table | dict.fromkeys((*without, *["owner"] * is_job), 404)


def run(done: int = 302) -> tuple[Statuses, Statuses]:
    """A change to a campaign, sent by POST: for the public and for the private campaign."""
    refused = {"researcher": 403, "member": 403, "other": 403}
    table = each(anonymous=302, annotator=403, readers=done) | refused
    return table, hidden(table)


def run_api(done: int) -> tuple[Statuses, Statuses]:
    """A change to a campaign by the API."""
    table, private = run(done)
    return table | {"anonymous": 401}, private | {"anonymous": 401}


CAMPAIGN = (READ, hidden(READ))
# A former address of a page, for those who may read it.
MOVED = dict.fromkeys(ROLES[2:], 302)
NOTHING_THERE = each(anonymous=302, annotator=403, readers=404)
UNNAMED = each(anonymous=302, annotator=403, readers=400)
CAMPAIGN_API = (API, hidden(API))
# Readers who neither began an import nor run the site.
NOT_THEIRS = ("researcher", "member", "other", "appointed")
# Of extensions that have addresses in the table.
NEEDS = {
    "extensions.identity",
    *("extensions.studies", "extensions.comparison", "extensions.layers"),
    *("extensions.shortness", "extensions.trials", "extensions.documents"),
    "extensions.decisions",
}
# Name of the address -> method, statuses for the public campaign, for the private one.
TABLE: dict[str, tuple[str, Statuses, Statuses]] = {
    "login": ("GET", *[each(anonymous=200, annotator=302, readers=302)] * 2),
    "healthz": ("GET", ALL, ALL),
    "readyz": ("GET", ALL, ALL),
    "prometheus": ("GET", *[dict.fromkeys(ALL, 404)] * 2),
    "logout": ("GET", *[each(readers=405, annotator=405, anonymous=405)] * 2),
    "set_language": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "home": ("GET", *[each(anonymous=302, annotator=200, readers=302)] * 2),
    "glossary": ("GET", READ, READ),
    "set-appearance": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "second-step": ("GET", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "provider-ask": ("GET", *[each(anonymous=404, annotator=404, readers=404)] * 2),
    "provider-back": ("GET", *[each(anonymous=404, annotator=404, readers=404)] * 2),
    "provider-connect": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "provider-disconnect": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "factors": ("GET", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "factor-app": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "factor-key": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "factor-codes": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "factor-remove": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "account-factors": ("POST", *[SITE | {"site": 302}] * 2),
    "own-account": ("GET", *[each(anonymous=302, annotator=200)] * 2),
    "token-make": ("POST", *[each(anonymous=302, annotator=403, readers=422)] * 2),
    "token-revoke": ("POST", *[each(anonymous=302, annotator=403, readers=302)] * 2),
    "account-export": ("POST", SITE, SITE),
    "account-erase": ("GET", SITE, SITE),
    "data-rule": ("GET", *run(200)),
    "audit-file": ("GET", *run(200)),
    "sign-ins-end": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "sign-in-end": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "accounts": ("GET", SITE, SITE),
    "account": ("GET", SITE, SITE),
    "account-roles": ("POST", *[SITE | {"site": 302}] * 2),
    "account-reset": ("POST", SITE, SITE),
    "account-mail": ("POST", *[SITE | {"site": 302}] * 2),
    "account-sign-out": ("POST", *[SITE | {"site": 302}] * 2),
    "account-activate": ("POST", *[SITE | {"site": 302}] * 2),
    "account-deactivate": ("POST", *[SITE | {"site": 302}] * 2),
    "account-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "schema": ("GET", ALL, ALL),
    "testsets": ("GET", READ, READ),
    "testset": ("GET", READ, READ),
    "testset-share": ("POST", SHARE, SHARE),
    "testset-share-remove": ("POST", *[SHARE | {"site": 404}] * 2),
    "testset-owner": ("POST", *[SITE | {"site": 422}] * 2),
    "system-human": ("POST", *[SHARE | {"site": 302}] * 2),
    "preferences": ("GET", READ, READ),
    "preferences-data": ("GET", READ, READ),
    "preferences-figure": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "preferences-start": ("GET", READ, READ),
    "preference-table": ("GET", READ, READ),
    "preference-table-data": ("GET", READ, READ),
    "testset-upload": ("GET", CREATE, CREATE),
    "campaigns": ("GET", READ, READ),
    "campaign-new": ("GET", CREATE, CREATE),
    "campaign": ("GET", *CAMPAIGN),
    "campaign-edit": ("GET", *run()),
    "campaign-answers": ("GET", *run()),
    "campaign-open": ("POST", *run()),
    "campaign-close": ("POST", *run()),
    "campaign-preview": ("GET", *run(200)),
    "campaign-draw": ("POST", *[each(anonymous=302, annotator=403, readers=200)] * 2),
    "campaign-file": ("GET", *CAMPAIGN),
    "campaign-from-file": ("POST", *[CREATED] * 2),
    "annotator-decide": ("POST", *run()),
    "campaign-instructions": ("POST", *run(422)),
    "campaign-import": ("GET", CREATE, CREATE),
    "campaign-items": ("GET", *run(200)),
    "campaign-items-delete": ("POST", *run()),
    "campaign-suggestions": ("GET", *run(200)),
    "monitor": ("GET", *CAMPAIGN),
    "monitor-data": ("GET", *CAMPAIGN),
    "monitor-remarks": ("GET", *CAMPAIGN),
    "power": ("GET", READ, READ),
    "power-data": ("GET", READ, READ),
    "campaign-power": ("GET", *CAMPAIGN),
    "campaign-power-data": ("GET", *CAMPAIGN),
    "export": ("GET", *CAMPAIGN),
    "export-file": ("GET", *CAMPAIGN),
    "access": ("GET", *CAMPAIGN),
    "campaign-privacy": ("POST", *run()),
    "member-add": ("POST", *run(422)),
    "member-remove": ("POST", *run()),
    "people-add": ("POST", *run(422)),
    "links-hide": ("POST", *run()),
    "letters": ("GET", *run(200)),
    "addresses-set": ("POST", *run()),
    "invitation-renew": ("POST", *run()),
    "invitation-revoke": ("POST", *run()),
    "adjudication": ("GET", *CAMPAIGN),
    "adjudication-file": ("GET", *CAMPAIGN),
    "adjudication-gold": ("POST", *run(422)),
    "adjudicate": ("GET", *run(404)),
    "hours": ("GET", *CAMPAIGN),
    "stop-decide": ("POST", *run(404)),
    "access-link-add": ("POST", *run(422)),
    "access-link-revoke": ("POST", *run()),
    "codes-check": ("POST", *run(422)),
    "access-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "consent": ("GET", *[RATE | {"annotator": 302}] * 2),
    "background": ("GET", *[RATE | {"annotator": 302}] * 2),
    "quality": ("GET", *CAMPAIGN),
    "quality-data": ("GET", *CAMPAIGN),
    "judgments-data": ("GET", *CAMPAIGN),
    "dashboard": ("GET", READ | MOVED, hidden(READ | MOVED)),
    "dashboard-data": ("GET", *CAMPAIGN),
    "whatif": ("GET", *CAMPAIGN),
    "whatif-data": ("GET", *CAMPAIGN),
    "samplesize": ("GET", *CAMPAIGN),
    "samplesize-data": ("GET", *CAMPAIGN),
    "compare": ("GET", READ, READ),
    "compare-data": ("GET", READ, READ),
    "campaign-setup": ("GET", *CAMPAIGN),
    "results": ("GET", *CAMPAIGN),
    "results-data": ("GET", *CAMPAIGN),
    "results-figure": ("GET", *CAMPAIGN),
    "correlations": ("GET", *CAMPAIGN),
    "correlations-data": ("GET", *CAMPAIGN),
    "dashboard-figure": ("GET", *CAMPAIGN),
    "whatif-figure": ("GET", *CAMPAIGN),
    "samplesize-figure": ("GET", *CAMPAIGN),
    "scatter-figure": ("GET", *CAMPAIGN),
    "systems-figure": ("GET", *CAMPAIGN),
    "correlations-figure": ("GET", *CAMPAIGN),
    "significance": ("GET", *CAMPAIGN),
    "significance-data": ("GET", *CAMPAIGN),
    "significance-figure": ("GET", *CAMPAIGN),
    "documents": ("GET", *CAMPAIGN),
    "documents-data": ("GET", *CAMPAIGN),
    "documents-figure": ("GET", *CAMPAIGN),
    **{
        f"{page}{part}": ("GET", *CAMPAIGN)
        for page in ("differences", "difficulty", "ensemble", "study-differences")
        for part in ("", "-data", "-figure")
    },
    "layers": ("GET", *CAMPAIGN),
    "layers-data": ("GET", *CAMPAIGN),
    "layers-figure": ("GET", *CAMPAIGN),
    "study-paper": ("GET", *CAMPAIGN),
    "study-paper-file": ("GET", *CAMPAIGN),
    "study-layers": ("GET", *CAMPAIGN),
    "study-layers-data": ("GET", *CAMPAIGN),
    "study-layers-figure": ("GET", *CAMPAIGN),
    "scatter": ("GET", *CAMPAIGN),
    "scatter-data": ("GET", *CAMPAIGN),
    "output": ("GET", *CAMPAIGN),
    "systems-pair": ("GET", *CAMPAIGN),
    "systems-pair-data": ("GET", *CAMPAIGN),
    "systems-pair-figure": ("GET", *CAMPAIGN),
    "metrics-pair": ("GET", *CAMPAIGN),
    "metrics-pair-data": ("GET", *CAMPAIGN),
    "metrics-pair-figure": ("GET", *CAMPAIGN),
    "selection": ("GET", *[NOTHING_THERE] * 2),
    "selection-delete": ("POST", *[NOTHING_THERE] * 2),
    "selection-save": ("POST", UNNAMED, hidden(UNNAMED)),
    "systems": ("GET", *CAMPAIGN),
    "systems-data": ("GET", *CAMPAIGN),
    "shortness": ("GET", *CAMPAIGN),
    "shortness-data": ("GET", *CAMPAIGN),
    "spans": ("GET", *CAMPAIGN),
    "spans-data": ("GET", *CAMPAIGN),
    "trial": ("GET", *CAMPAIGN),
    "trial-data": ("GET", *CAMPAIGN),
    "report": ("GET", *CAMPAIGN),
    "report-file": ("GET", *CAMPAIGN),
    "bundle": ("GET", *CAMPAIGN),
    "bundle-file": ("GET", *CAMPAIGN),
    "study-significance": ("GET", *CAMPAIGN),
    "study-significance-data": ("GET", *CAMPAIGN),
    "study-significance-figure": ("GET", *CAMPAIGN),
    "study-systems": ("GET", *CAMPAIGN),
    "study-systems-data": ("GET", *CAMPAIGN),
    "study-report": ("GET", *CAMPAIGN),
    "study-wmt": ("GET", *CAMPAIGN),
    "study-wmt-data": ("GET", *CAMPAIGN),
    "study-shortness": ("GET", *CAMPAIGN),
    "study-shortness-data": ("GET", *CAMPAIGN),
    "personal-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "annotate": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-ahead": ("GET", RATE, RATE),
    "annotate-test": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-stopped": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-attitude": ("POST", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "annotate-corrections": ("GET", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "annotate-done": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-history": ("GET", RATE, RATE),
    "annotate-own": ("GET", RATE, RATE),
    "offline-worker": ("GET", ALL, ALL),
    "item": ("GET", RATE, RATE),
    "item-around": ("GET", RATE, RATE),
    # No segment of the table has anything beside it.
    "item-media": ("GET", *[each(anonymous=302, annotator=404, readers=404)] * 2),
    "segment-media": ("GET", NOTHING_THERE, NOTHING_THERE),
    "metrics": ("GET", READ, READ),
    "metric": ("GET", READ, READ),
    "metric-add": ("GET", SITE, SITE),
    "metric-configure": ("GET", SITE, SITE),
    "judges": ("GET", READ, READ),
    "judge-template": ("GET", READ, READ),
    "judge-template-add": ("GET", SITE, SITE),
    "models": ("GET", READ, READ),
    "model-check": ("POST", *[SITE | {"site": 404}] * 2),
    "workers": ("GET", READ, READ),
    "runs": ("GET", READ, READ),
    "run": ("GET", READ, READ),
    "run-start": ("GET", READ, READ),
    "run-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "metric-scores": ("GET", READ, READ),
    "metric-scores-sets": ("GET", CREATE, CREATE),
    "metric-spans": ("GET", SITE, SITE),
    "metric-spans-file": ("GET", READ, READ),
    "mtme-import": ("GET", CREATE, CREATE),
    "dataset-list": ("GET", CREATE, CREATE),
    "file-import": ("GET", *[SENDER] * 2),
    "file-import-cancel": ("POST", *[SENDER | {"owner": 302, "site": 302}] * 2),
    # The test set belongs to nobody, so only site admins may add to it.
    "metric-scores-withdraw": ("POST", *[SITE | {"site": 302}] * 2),
    "search": ("GET", READ, READ),
    "studies": ("GET", READ, READ),
    "study": ("GET", *CAMPAIGN),
    "study-data": ("GET", *CAMPAIGN),
    "study-figure": ("GET", *CAMPAIGN),
    "study-printed": ("GET", *CAMPAIGN),
    "study-printed-data": ("GET", *CAMPAIGN),
    "study-printed-figure": ("GET", *CAMPAIGN),
    "matrix": ("GET", READ, READ),
    "matrix-data": ("GET", READ, READ),
    "matrix-figure": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "study-quality": ("GET", *CAMPAIGN),
    "study-quality-data": ("GET", *CAMPAIGN),
    "api-root": ("GET", API, API),
    "api-testset-list": ("GET", API, API),
    "api-testset-detail": ("GET", API, API),
    "api-testset-segments": ("GET", API, API),
    "api-testset-human-systems": (
        "POST",
        *[each(anonymous=401, annotator=403, readers=403, site=400)] * 2,
    ),
    "api-campaign-list": ("GET", API, API),
    "api-campaign-detail": ("GET", *CAMPAIGN_API),
    "api-campaign-file": ("GET", *CAMPAIGN_API),
    **{f"api-{name}-list": ("GET", *CAMPAIGN_API) for name in ("people", "links", "members")},
    "api-notices-list": ("GET", *run_api(200)),
    "api-campaign-open": ("POST", *run_api(409)),
    "api-campaign-close": ("POST", *run_api(200)),
    "api-people-exclude": ("POST", *run_api(400)),
    "api-people-include": ("POST", *run_api(400)),
    "api-people-reassign": ("POST", *run_api(409)),
    "api-people-renew": ("POST", *run_api(200)),
    "api-people-revoke": ("POST", *run_api(200)),
    "api-links-revoke": ("POST", *run_api(200)),
    # The page has removed the member before.
    "api-members-detail": ("DELETE", *run_api(404)),
    "api-judgment-list": ("GET", API, API),
    "jobs": ("GET", READ, READ),
    "job": ("GET", READ, READ),
    "job-data": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "job-figure": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "job-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "job-resume": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "sweep": ("GET", READ, READ),
    "training-kinds": ("GET", READ, READ),
    "training-start": ("GET", READ, READ),
    "translations": ("GET", READ, READ),
    "translation": ("GET", READ, READ),
    "translation-start": ("GET", READ, READ),
    "translation-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "translation-resume": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "corpora": ("GET", READ, READ),
    "corpus-upload": ("GET", READ, READ),
    "corpus": ("GET", READ, READ),
    "archive": ("GET", READ, READ),
    "changes": ("GET", SITE, SITE),
    # Of a project that runs nothing in the table; tests/lifecycle/projects has its members.
    "projects": ("GET", READ, READ),
    "project": ("GET", *[PROJECT] * 2),
    "project-member-set": ("POST", *[PROJECT | {"site": 422}] * 2),
    "project-member-remove": ("POST", *[PROJECT | {"site": 404}] * 2),
    "project-limits": ("POST", *[SITE | {"site": 302}] * 2),
    "api-project-list": ("GET", API, API),
    "api-project-detail": ("GET", *[PROJECT | {"anonymous": 401}] * 2),
    "api-project-members-list": ("GET", *[PROJECT | {"anonymous": 401}] * 2),
    "api-project-members-detail": ("DELETE", *[PROJECT | {"anonymous": 401, "site": 404}] * 2),
    "manage": ("GET", *CAMPAIGN),
    "manage-act": ("POST", *run()),
    "manage-delete": (
        "GET",
        *[hidden_if | {"member": 403, "appointed": 403} for hidden_if in run(200)],
    ),
    "api-resource": ("GET", *CAMPAIGN_API),
    "api-resource-action": ("POST", *[table | {"anonymous": 401} for table in run(200)]),
    "api-job-list": ("GET", API, API),
    "api-job-detail": ("GET", API, API),
    "api-job-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-translation-list": ("GET", API, API),
    "api-translation-detail": ("GET", API, API),
    "api-translation-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-translation-resume": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-job-resume": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-corpus-list": ("GET", API, API),
    "api-corpus-detail": ("GET", API, API),
    "api-run-list": ("GET", API, API),
    "api-run-detail": ("GET", API, API),
    "api-run-failed": ("GET", API, API),
    "api-run-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-metric-list": ("GET", API, API),
    "api-metric-detail": ("GET", API, API),
    "api-judge-template-list": ("GET", API, API),
    "api-metric-retire": ("POST", *[SITE | {"anonymous": 401, "site": 409}] * 2),
    "api-metric-import-list": ("GET", API, API),
    "api-metric-import-detail": ("GET", API, API),
    "api-import-judgments": ("POST", *[IMPORTS] * 2),
    "api-import-human-scores": ("POST", *[IMPORTS] * 2),
    "api-import-metric-spans": ("POST", *[IMPORTS] * 2),
    "api-import-mtme": ("POST", *[IMPORTS] * 2),
    "api-import-dataset": ("POST", *[IMPORTS] * 2),
    "api-metric-import-withdraw": ("POST", *[SITE | {"anonymous": 401, "site": 409}] * 2),
    "api-file-import-list": (
        "GET",
        *[IMPORTS | dict.fromkeys(("other", "owner", "site"), 200)] * 2,
    ),
    "api-file-import-detail": (
        "GET",
        *[IMPORTS | {"other": 404, "owner": 200, "site": 200}] * 2,
    ),
    "api-checkpoint-list": ("GET", API, API),
    "api-worker-list": ("GET", API, API),
    "api-result-list": ("GET", API, API),
    "api-result-detail": ("GET", *CAMPAIGN_API),
}
# Pages whose table can be taken into a paper.
TABLES = (
    "results", "dashboard", "whatif", "samplesize", "correlations", "significance", "scatter",
    "systems", "systems-pair", "metrics-pair", "layers", "documents", "study", "study-printed",
    "study-significance", "study-layers", "differences", "difficulty", "ensemble",
    "study-differences",
)  # fmt: skip
OF_TABLES = [f"{page}-table{file}" for page in TABLES for file in ("", "-file")]
TABLE |= dict.fromkeys(OF_TABLES, ("GET", *CAMPAIGN))
KINDS = ["public", "private", "project"]
# Addresses that take a study's name where others take a campaign's.
STUDIES = {
    "study", "study-data", "study-figure",
    "study-printed", "study-printed-data", "study-printed-figure",
    "study-quality", "study-quality-data",
    "study-significance", "study-significance-data", "study-significance-figure",
    "study-layers", "study-layers-data", "study-layers-figure",
    "study-paper", "study-paper-file",
    "study-differences", "study-differences-data", "study-differences-figure",
    "study-systems", "study-systems-data", "study-report",
    "study-shortness", "study-shortness-data", "study-wmt", "study-wmt-data",
    *(name for name in OF_TABLES if name.startswith("study")),
}  # fmt: skip
PROJECTS = {
    *("project", "project-member-set", "project-member-remove", "project-limits"),
    *("api-project-detail", "api-project-members-list", "api-project-members-detail"),
}
PREFERENCES = {f"preferences{part}" for part in ("", "-data", "-figure", "-start")}
SHARES = {"testset-share", "testset-share-remove", "testset-owner", "system-human"}
TEST_SETS = SHARES | {
    "testset", "campaign-draw", "run-start", "api-testset-detail", "api-testset-segments",
    "api-testset-human-systems",
} | PREFERENCES  # fmt: skip
# Rows of the table's test set that are named by their key.
OF_TEST_SETS = {
    *("run", "run-cancel", "api-run-detail", "api-run-failed", "api-run-cancel"),
    *("translation", "translation-cancel", "translation-resume"),
    *("api-translation-detail", "api-translation-cancel", "api-translation-resume"),
    *("job", "job-cancel", "job-resume", "sweep"),
    *("api-job-detail", "api-job-cancel", "api-job-resume"),
    *("api-metric-import-detail", "api-metric-import-withdraw"),
}
TEST_SETS |= {"metric-scores", "metric-scores-withdraw", "metric-spans", "metric-spans-file"}
