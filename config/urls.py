"""Every address of Touchstone, in pipeline order."""

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from annotation.views.home import SignIn, admin_sign_in
from annotation.web.appearance import choose_appearance, choose_language
from config.health import healthz, readyz
from config.monitoring import prometheus
from core import extensions

urlpatterns = [
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("appearance/", choose_appearance, name="set-appearance"),
    path("language/", choose_language, name="set_language"),
    path("", include("annotation.urls")),
    path("", include("metrics.urls")),
    *(path("", include(each.urls)) for each in extensions.installed() if each.urls),
    path("", include("dashboards.urls")),
    path("", include("lifecycle.views")),
    path("", include("lifecycle.projects.pages")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("prometheus", prometheus, name="prometheus"),
    path("api/", include("config.api.routes")),
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
]

handler400 = "annotation.web.errors.bad_request"
handler403 = "annotation.web.errors.forbidden"
handler404 = "annotation.web.errors.not_found"
handler500 = "config.refusals.server_error"
