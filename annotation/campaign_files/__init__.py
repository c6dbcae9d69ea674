"""A whole campaign as one JSON file: texts, outputs, task, checks, instructions, people.

`schema.json` defines it. A file that was written is read as the same campaign.
"""

from annotation.campaign_files.parsing import CampaignFile, is_own, read
from annotation.campaign_files.storing import Opened, open_file, store_file
from annotation.campaign_files.writing import to_values

__all__ = ["CampaignFile", "Opened", "is_own", "open_file", "read", "store_file", "to_values"]
