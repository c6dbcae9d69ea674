"""`manage.py release_claims`: put back what nobody answered in time, forget old answers."""

from typing import Any

from annotation.api.repeating import forget_old
from annotation.management.command_line import BaseCommand
from annotation.pool import releases


class Command(BaseCommand):
    help = (
        "Return items of open pools that were claimed longer ago than their campaign allows. "
        "Requests for items do the same, a few at a time. Also delete what repeated requests of "
        "programs would be answered, after a day."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for campaign in releases.campaigns_with_claims():
            count = 0
            while found := releases.release_stale(campaign, at_most=500):
                count += found
            self.stdout.write(f"{campaign.slug}: {count} released")
        forget_old()
