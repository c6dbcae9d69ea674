"""Values that no honest program sends, each with a name for the report."""

import os
import re
import zlib
from collections.abc import Mapping
from typing import Any

from django.db import connection

# Number of values of each list that go to each part of a path, each parameter and each field,
# chosen by their names: all addresses together meet all values. FUZZ_DEPTH=25 sends everything
# everywhere.
DEPTH = int(os.environ.get("FUZZ_DEPTH", "1"))
LONG = "x" * 8192
# A name like a pattern, and a value like a message whose text would have 300 MB.
PATTERN = "{n:300000000}{0.a}{{7*7}}%(n)s%s%"
FORGED = '{"code": "x.y", "pattern": "{n:300000000}", "parameters": {"n": 1}}'
# Parts of an address and of a query, percent-encoded as they travel.
IN_ADDRESS = {
    "NUL": "%00",
    "NUL within": "a%00b",
    "2**63": str(2**63),
    "2**70": str(2**70),
    "-1": "-1",
    "-2**70": str(-(2**70)),
    "0": "0",
    "1e400": "1e400",
    "nan": "nan",
    "five thousand digits": "9" * 5000,
    "empty": "",
    "blank": "%20",
    "8 KiB": LONG,
    "half a character": "%ED%A0%80",
    "no UTF-8": "%FF%FE",
    "other digits": "%D9%A3%D9%A2",
    "superscript digit": "%C2%B2",
    "path traversal": "..%2F..%2Fetc%2Fpasswd",
    "dots": "..",
    "quote": "%27%20OR%201%3D1--",
    "markup": "%3Cscript%3E",
    "line break": "a%0D%0AX-Injected%3A%201",
    "fullwidth": "%EF%BC%A1",
    "template": "%7B%7B7*7%7D%7D",
    "percent": "%25s",
}
IN_FORM = {
    "NUL": "\0",
    "2**63": str(2**63),
    "2**70": str(2**70),
    "-1": "-1",
    "five thousand digits": "9" * 5000,
    "1e400": "1e400",
    "nan": "nan",
    "empty": "",
    "8 KiB": LONG,
    "other digits": "٣٢",
    "superscript digit": "²",
    "path traversal": "../../etc/passwd",
    "date": "0000-00-00",
    "last date": "9999-12-31",
    "JSON": '{"a": [1e400]}',
    "message": FORGED,
    "pattern": PATTERN,
}
# As JSON text: some of it no encoder would write.
IN_JSON = {
    "null": "null",
    "true": "true",
    "0": "0",
    "-1": "-1",
    "2**63": str(2**63),
    "2**70": str(2**70),
    "1e400": "1e400",
    "NaN": "NaN",
    "ten thousand digits": "9" * 10_000,
    "0.1": "0.1",
    "empty": '""',
    "text": '"text"',
    "NUL": '"a\\u0000b"',
    "half a character": '"\\ud800"',
    "other digits": '"\\u0663"',
    "8 KiB": f'"{LONG}"',
    "path traversal": '"../../etc/passwd"',
    "list": "[]",
    "list of null": "[null]",
    "list of lists": '[["a"]]',
    "object": "{}",
    "objects": '[{"a": {"b": null}}]',
    "message": FORGED,
    "messages": f"[{FORGED}, {FORGED}]",
    "beyond floats": "9" * 4000,
    "pattern": f'"{PATTERN}"',
    "NUL in a key": '{"a\\u0000": 1}',
    "infinite within": '{"a": [1e400]}',
    "half a character within": '{"a": ["\\udfff"]}',
}
BODIES = {
    "nothing": b"",
    "blank": b" ",
    "half an object": b"{",
    "garbage": b"\xff\xfe\x00garbage",
    "null": b"null",
    "text": b'"text"',
    "number": b"1",
    "list": b"[]",
    "list of lists": b"[[[]]]",
    "deep list": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "same key twice": b'{"a": 1, "a": 2}',
    "BOM": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
}
CONTENT_TYPES = (
    "",
    "text/plain",
    "application/xml",
    "application/json; charset=nonsense",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=",
    "no/such; type=\u00e9".encode().decode("latin-1"),
    "x" * 300,
)
HEADERS: tuple[dict[str, Any], ...] = (
    {"Accept": "text/html"},
    {"Accept": "application/xml"},
    {"Accept": "application/json; indent=99999999999999999999"},
    {"Accept": "application/json; indent=-1"},
    {"Accept": "nonsense"},
    {"Accept": "/"},
    {"Accept": ""},
    {"Accept": "*/*;q=nan," * 50},
    {"Accept-Language": "xx-" * 400},
    {"Accept-Language": "\u00ff"},
    {"Cookie": 'sessionid="\\000"; csrftoken="\\000"; django_language="\\000"'},
    {"Cookie": "sessionid=" + LONG},
    {"Cookie": 'messages="\\000"; touchstone_device="\\000"; touchstone_place="\\377"'},
    {"Authorization": "Basic \u00ff"},
    {"X-Forwarded-For": "nonsense, \u00ff"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"Range": "bytes=-99999999999999999999"},
    {"If-Modified-Since": "nonsense"},
    {"Referer": "http://[/"},
    {"HX-Request": "true"},
)
# What SQLite stores or compares and other databases refuse, or the other way about.
STORED_ELSEWHERE = re.compile(r"NUL|2\*\*|1e400|nan|NaN|infinite|half|8 KiB|last|Cookie")
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE")


def chosen(values: Mapping[str, Any], number: int, *seed: str) -> list[tuple[str, Any]]:
    """Return some of the values, others for another seed, the same in every run.

    Beside SQLite only what databases differ in: the rest is refused before a row is asked for.
    """
    if connection.vendor != "sqlite":
        values = {what: value for what, value in values.items() if STORED_ELSEWHERE.search(what)}
    rank = {what: zlib.crc32(repr((*seed, what)).encode()) for what in values}
    return sorted(values.items(), key=lambda pair: rank[pair[0]])[:number]
