"""Pages of those who run campaigns: access to them, uploads, campaigns, quality."""
