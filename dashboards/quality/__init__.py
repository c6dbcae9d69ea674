"""The page on the quality of annotation."""
