"""Recordings, pictures and notes shown with a segment: accepted formats and storage."""
