"""Addresses of the pages on the use of metrics."""

from dashboards.pages.page import routes
from extensions.decisions.differences import DIFFERENCES
from extensions.decisions.difficulty import DIFFICULTY
from extensions.decisions.ensemble import ENSEMBLE_PAGE

urlpatterns = [*routes(DIFFERENCES), *routes(DIFFICULTY), *routes(ENSEMBLE_PAGE)]
