"""Addresses of the pages on the use of metrics."""

from dashboards.pages.page import routes
from extensions.decisions.differences import DIFFERENCES
from extensions.decisions.difficulty import DIFFICULTY
from extensions.decisions.ensemble import ENSEMBLE_PAGE
from extensions.decisions.pooled import STUDY_DIFFERENCES

urlpatterns = [
    *routes(DIFFERENCES),
    *routes(DIFFICULTY),
    *routes(ENSEMBLE_PAGE),
    *routes(STUDY_DIFFERENCES),
]
