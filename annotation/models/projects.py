"""Projects: they hold test sets, campaigns and trainings, with people and limits."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class Project(models.Model):
    """What a group works on: test sets, campaigns, metric runs, trainings and people.

    A metric run belongs to the project of its test set. Limits are None for none: bytes of stored
    texts, recordings and pictures; metric runs and trainings started within 30 days; tokens and
    money that judges spend in all.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    max_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    max_starts = models.PositiveIntegerField(null=True, blank=True)
    max_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    max_money = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.slug])


class ProjectMember(models.Model):
    """What an account may do with everything in a project; the same roles as in a campaign."""

    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("Researcher: reads")
        REVIEWER = "reviewer", _("Reviewer: decides where annotators differ, and sees nothing else")
        ADMIN = "admin", _("Project admin: runs its campaigns and test sets")

    project = models.ForeignKey(Project, models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="project_memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.RESEARCHER)

    class Meta:
        ordering = ["project", "user"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="project_member_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} of project {self.project_id}"


class ProjectStart(models.Model):
    """A metric run or training that was started in a project. Rows are only added.

    They count although the run was deleted since.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="starts")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["project", "created_at"], name="project_starts_by_age")]

    def __str__(self) -> str:
        return f"start in project {self.project_id}"
