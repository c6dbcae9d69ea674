"""The start page: an annotator's tasks, or a researcher's campaigns."""

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.access import is_researcher, signed_in
from annotation.models import Annotator, Campaign
from core.database.prepared import Prepared, stand_in_key

USER = stand_in_key(1)
_tasks = Prepared(
    lambda: (
        Annotator.objects.filter(user=USER)
        .exclude(campaign__status=Campaign.Status.DRAFT)
        .select_related("campaign")
        .annotate(
            assigned=Count(
                "assignments",
                filter=Q(assignments__released_at=None)
                | Q(assignments__completed_at__isnull=False),
            ),
            completed=Count("assignments__completed_at"),
        )
        .order_by("campaign__name")
    )
)


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send researchers to the campaigns; show everyone else the tasks they were given."""
    tasks = _tasks.rows({USER: signed_in(request).pk})
    if is_researcher(request.user) and not tasks:
        return redirect("campaigns")
    return render(request, "annotation/home.html", {"tasks": tasks})
