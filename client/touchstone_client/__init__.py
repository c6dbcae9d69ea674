"""Use a Touchstone server from Python: the API with typed calls, retries and data frames."""

from touchstone_client.campaigns import Campaign
from touchstone_client.client import Touchstone
from touchstone_client.requests import TouchstoneError
from touchstone_client.tables import Table
from touchstone_client.waiting import NoWorkerWarning, WaitError

__all__ = ["Campaign", "NoWorkerWarning", "Table", "Touchstone", "TouchstoneError", "WaitError"]
