#!/usr/bin/env python
"""Touchstone's command line: `python manage.py help` lists the commands."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from core.commands import run

    run(sys.argv)
