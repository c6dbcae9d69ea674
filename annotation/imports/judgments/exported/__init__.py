"""Read our own exports of judgments.

`columns` is the declaration that exports write and imports read; `cells` reads one row, `settings`
what a row says of its campaign.
"""
