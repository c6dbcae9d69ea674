"""``python -m metaeval``: statistics from files, and whole replication bundles again."""

import sys

from metaeval.commands.entry import main

if __name__ == "__main__":
    sys.exit(main())
