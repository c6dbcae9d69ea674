"""Our own exports of judgments: what their columns hold, and rows of them to drafts.

`columns` is the declaration that exports write and imports read; `cells` reads one row, `settings`
what a row says of its campaign.
"""
