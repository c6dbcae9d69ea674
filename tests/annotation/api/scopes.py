"""Which scope a token needs for every change by the API; all that only reads needs `read`."""

ADMIN, SCORE, SITE = "annotate-admin", "score", "site"
CHANGES = {
    "POST /api/test-sets/{slug}/human-systems/": ADMIN,
    "POST /api/imports/judgments/": ADMIN,
    "POST /api/imports/human-scores/": ADMIN,
    "POST /api/imports/mt-metrics-eval/": ADMIN,
    "POST /api/imports/data-sets/": ADMIN,
    "DELETE /api/things/{kind}/{which}/": ADMIN,
    "POST /api/things/{kind}/{which}/{verb}/": ADMIN,
    "POST /api/runs/": SCORE,
    "POST /api/runs/{id}/cancel/": SCORE,
    "POST /api/imports/metric-scores/": SCORE,
    "POST /api/imports/metric-scores/{id}/withdraw/": SCORE,
    "POST /api/corpora/": SCORE,
    "POST /api/jobs/": SCORE,
    "POST /api/jobs/{id}/cancel/": SCORE,
    "POST /api/jobs/{id}/resume/": SCORE,
    "POST /api/translations/": SCORE,
    "POST /api/translations/{id}/cancel/": SCORE,
    "POST /api/translations/{id}/resume/": SCORE,
    "POST /api/metrics/": SITE,
    "POST /api/metrics/{name}/retire/": SITE,
}
