"""All tests here read or write files of other tools."""

NEEDS = {"extensions.formats"}
