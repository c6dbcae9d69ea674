"""`python -m touchstone_client`."""

import sys

from touchstone_client.command import main

sys.exit(main())
