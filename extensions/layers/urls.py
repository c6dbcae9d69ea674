"""Addresses of the pages on layers, of a campaign and of a study."""

from dashboards.pages.page import routes
from extensions.layers.page import LAYERS, STUDY_LAYERS

urlpatterns = [*routes(LAYERS), *routes(STUDY_LAYERS)]
