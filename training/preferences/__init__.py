"""Preference analyses as jobs: metrics asked about texts that are worse by construction."""
