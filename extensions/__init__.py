"""Extensions that come with Touchstone: each is a package with a record, `extension.EXTENSION`."""
