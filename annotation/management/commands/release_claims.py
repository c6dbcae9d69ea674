"""`manage.py release_claims`: put claims back that nobody answered in time."""

from typing import Any

from annotation.management.command_line import BaseCommand
from annotation.pool import releases


class Command(BaseCommand):
    help = (
        "Return items of open pools that were claimed longer ago than their campaign allows. "
        "Requests for items do the same, a few at a time."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for campaign in releases.campaigns_with_claims():
            count = 0
            while found := releases.release_stale(campaign, at_most=500):
                count += found
            self.stdout.write(f"{campaign.slug}: {count} released")
