"""Judgments and scores side by side: a room for each page, and what pages share."""
