"""One folder for each family of metrics; the files beside them serve several."""
