"""Every address of Touchstone, in pipeline order."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

urlpatterns = [
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("annotation.urls")),
    path("", include("metrics.urls")),
    path("", include("dashboards.urls")),
    path("api/", include("config.api")),
    path("admin/", admin.site.urls),
]

handler403 = "annotation.views.errors.forbidden"
handler404 = "annotation.views.errors.not_found"
handler500 = "annotation.views.errors.server_error"
