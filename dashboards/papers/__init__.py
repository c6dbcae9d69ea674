"""Pages as tables for papers: pure functions from a page's document to `latex.Table`s."""
