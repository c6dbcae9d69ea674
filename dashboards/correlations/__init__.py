"""The page of metrics against humans."""
