"""One folder per family of metrics; the modules beside them serve several families."""
