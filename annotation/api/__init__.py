"""The stages of annotation for programs, under /api/."""
