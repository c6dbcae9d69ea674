"""Names of the kinds of items in tables, and Appraise's marks on documents."""

import re

from annotation.models import Item

_WORDS = {
    Item.Kind.TARGET: "tgt target system output outputs mt normal regular segment candidate",
    Item.Kind.BAD_REF: "bad badref badreference degraded cal",
    Item.Kind.REPEAT: "repeat chk check duplicate dup repeated",
    Item.Kind.REF: "ref reference human referenceasoutput",
    Item.Kind.TRAP: "trap",
    Item.Kind.GOLD: "gold",
    Item.Kind.TUTORIAL: "tutorial practice training",
    Item.Kind.DOCUMENT: "document wholedocument doc",
}
KINDS = {"": Item.Kind.TARGET} | {
    word: kind for kind, words in _WORDS.items() for word in words.split()
}
CONTROLS = frozenset({Item.Kind.BAD_REF, Item.Kind.REF, Item.Kind.TRAP, Item.Kind.GOLD,
                      Item.Kind.TUTORIAL})  # fmt: skip
# These show a system's own output; the others another text.
SHOW_OUTPUT = frozenset({Item.Kind.TARGET, Item.Kind.REPEAT})
COPY = re.compile(r"#(bad|duplicate)\d*$")


def base_document(name: str, system: str) -> str:
    """Return a document's name without Appraise's marks of copies and of the system.

    >>> base_document("news-7#sysA#bad1", "sysA"), base_document("doc#1-2", "sysA")
    ('news-7', 'doc#1-2')
    """
    return COPY.sub("", name).removesuffix(f"#{system}") if system else COPY.sub("", name)
