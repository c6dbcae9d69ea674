"""The settings of a campaign of Pearmut: its `info`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from secrets import token_hex
from typing import Any

from annotation import protocols
from annotation.imports.pearmut.answering import read_answers
from annotation.imports.pearmut.findings import Findings
from annotation.imports.pearmut.outputs import plain
from annotation.protocols import composed
from annotation.protocols.asked import Scale

DYNAMIC = "dynamic"
USUAL_PROTOCOL, USUAL_ASSIGNMENT = "cESA", "single-stream"
PROTOCOLS = {"DA": "segment-da", "ESA": "esa", "cESA": "contrastive-esa", "MQM": "mqm"}
MISSING = "[missing]"
MOST_TOKENS, MOST_USERS, MOST_COLD = 20, 10_000, 10_000
THRESHOLD, MOST_CHARACTERS = "validation_threshold", 80
CODES = {"passed": "token_pass", "failed": "token_fail"}
USED = {
    "assignment", "protocol", "shuffle", "instructions", "instructions_goodbye", "users",
    "dynamic_models", "special_tokens", "sliders", "mqm_categories", "mqm_severities", "textfield",
}  # fmt: skip
# What stays in the file, by why it has no effect here.
UNUSED = {
    "pages look as they do here": (
        "show_alignment", "word_level", "slider_colors", "template", "show_progress",
    ),
    "names of systems are never shown": ("show_model_names",),
    "screens are dealt as the campaign’s page says": (
        "seed", "docs_per_user", "dynamic_coldstart", "dynamic_coldstart_pool", "dynamic_warmup",
    ),
    "controls are judged by the rules of this site": (THRESHOLD, "data_random_prob"),
    "files of media do not come with a campaign": ("assets",),
}  # fmt: skip
# Settings of campaigns whose systems are drawn, with what they are where nobody says.
OF_DYNAMIC = {"dynamic_coldstart": 5, "data_random_prob": 0}
PLACEHOLDERS = ("${TOKEN}", "${USER_ID}")


@dataclass
class Info:
    """What is asked and of how many. `n_models` is the most on a screen, 0 for all of them, drawn
    by their standing where the campaign `is_dynamic`, after `cold_start` documents of each;
    `check_percent` is how likely a check is before each screen of such a campaign;
    `tokens` are special tokens, None for the usual ones, and `answers` own scales, errors and
    post-editing."""

    protocol: str = protocols.DEFAULT
    places: int = 0
    instructions: str = ""
    goodbye: str = ""
    tokens: list[str] | None = None
    answers: dict[str, Any] | None = None
    n_models: int = 0
    is_dynamic: bool = False
    cold_start: int = 0
    check_percent: int = 0
    shuffles: bool = True
    codes: Sequence[Mapping[str, Any] | None] = ()

    @cached_property
    def judging(self) -> protocols.Protocol:
        """The protocol with what the campaign has in the place of its own."""
        protocol = composed.compose(protocols.get(self.protocol), self.answers)
        if self.tokens is None or protocol.spans is None:
            return protocol
        return replace(protocol, spans=replace(protocol.spans, tokens=tuple(self.tokens)))

    @property
    def scales(self) -> list[Scale]:
        """The own scales, none where the protocol has its own; controls rest on the first."""
        return [scale for scale in self.judging.scales if scale.key]


def read_info(
    findings: Findings,
    values: Any,
    batches: Sequence[tuple[str, Any, str]],
    *,
    users: Sequence[str] | None,
) -> Info:
    """Read the settings; `batches` are (batch, document, path), of a stored campaign by `users`."""
    info = Info()
    if not findings.is_a("info", values, "an object"):
        return info
    info.codes = _codes(findings, values, users)
    info.is_dynamic = values.get("assignment") == DYNAMIC
    _name_others(findings, values, info)
    asked = values.get("protocol", USUAL_PROTOCOL)
    if not isinstance(asked, str) or asked not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        findings.error("info.protocol", f"{asked!r} is no protocol known here ({known})")
        return info
    info.protocol = _protocol(PROTOCOLS[asked], [document for _, document, _ in batches])
    info.instructions = _told(findings, values, "instructions")
    info.goodbye = _told(findings, values, "instructions_goodbye")
    info.shuffles = values.get("shuffle", True) is not False
    info.n_models = _models(findings, values)
    if info.is_dynamic:
        info.cold_start, info.check_percent = _drawing(findings, values)
    info.answers = read_answers(findings, values, info.protocol)
    info.tokens = _tokens(findings, values, info.protocol)
    numbers = {batch for batch, _, _ in batches}
    info.places = _places(findings, values if users is None else {}, len(numbers))
    return info


def _name_others(findings: Findings, values: Mapping[str, Any], info: Info) -> None:
    """Say of each setting that has no effect here why; nothing is lost, for the file is kept."""
    used = {*(OF_DYNAMIC if info.is_dynamic else ()), *([THRESHOLD] if any(info.codes) else ())}
    for why, names in UNUSED.items():
        given = [name for name in names if values.get(name) not in (None, False, "")]
        if given := [name for name in given if name not in used]:
            findings.say("info", f"without effect here: {', '.join(given)}; {why}")
    named = USED.union(*UNUSED.values())
    if unknown := sorted(set(values) - named):
        findings.say("info", f"not known here, and kept in the file: {', '.join(unknown)[:300]}")
    text = str(values.get("instructions") or "")
    if given := [word for word in PLACEHOLDERS if word in text]:
        findings.say("info.instructions", f"{', '.join(given)} will stand there as it is")


def _told(findings: Findings, values: Mapping[str, Any], name: str) -> str:
    """A text that annotators read, without its HTML."""
    given = values.get(name) or ""
    if not given or not findings.is_a(f"info.{name}", given, "text"):
        return ""
    if (text := plain(given)) != given:
        findings.say(f"info.{name}", "HTML is shown as plain text")
    return text


def _models(findings: Findings, values: Mapping[str, Any]) -> int:
    models = values.get("dynamic_models", 1) if values.get("assignment") == DYNAMIC else 0
    if type(models) is int and models >= 0:
        return models
    findings.error("info.dynamic_models", "a whole number is expected")
    return 0


def _drawing(findings: Findings, values: Mapping[str, Any]) -> tuple[int, int]:
    """How many documents of each system come first, and the chance of a check in percent."""
    cold, chance = (values.get(name, usual) for name, usual in OF_DYNAMIC.items())
    if type(cold) is not int or not 0 <= cold <= MOST_COLD:
        findings.error("info.dynamic_coldstart", f"a whole number up to {MOST_COLD} is expected")
        cold = 0
    if type(chance) not in (int, float) or not 0 <= chance <= 1:
        findings.error("info.data_random_prob", "a number from 0 to 1 is expected")
        chance = 0
    return cold, round(100 * chance)


def _tokens(findings: Findings, values: Mapping[str, Any], protocol: str) -> list[str] | None:
    tokens = values.get("special_tokens")
    if tokens is None or not findings.is_a("info.special_tokens", tokens, "a list"):
        return None
    if len(tokens) > MOST_TOKENS or not all(isinstance(each, str) for each in tokens):
        findings.error("info.special_tokens", f"at most {MOST_TOKENS} texts are expected")
    elif protocol == "contrastive-esa":
        return list(tokens)
    elif others := set(tokens) - {MISSING}:
        findings.kept["special tokens"] += len(others)
    return None


def _places(findings: Findings, values: Mapping[str, Any], n_batches: int) -> int:
    if not n_batches:
        if not findings.report.errors:
            findings.error("data", "there is nothing to rate")
        return 0
    users = values.get("users", n_batches)
    places = len(users) if isinstance(users, list) else users
    if isinstance(users, list):
        _check_users(findings, users)
    if type(places) is int and 1 <= places <= MOST_USERS:
        return places
    findings.error("info.users", "the number of users, or a list of them, is expected")
    return 0


def _check_users(findings: Findings, users: Sequence[Any]) -> None:
    """Users are names, or objects with a name and the codes that Pearmut shows at the end."""
    seen = set()
    for number, user in enumerate(users):
        path = f"info.users[{number}]"
        name = user.get("user_id") if isinstance(user, dict) else user
        if not isinstance(name, str | int) or name in seen:
            findings.error(path, "a user_id of its own is expected")
            continue
        seen.add(name)
    if seen:
        findings.kept["names of users"] += len(seen)


def _codes(
    findings: Findings, values: Mapping[str, Any], users: Sequence[str] | None
) -> list[dict[str, Any] | None]:
    """Return the codes of each user, as the annotator in that place gets them; empty for none.

    A code that is left out is drawn at random, as Pearmut does.
    """
    given = values.get("users")
    listed = given if isinstance(given, list) else []
    most = values.get(THRESHOLD) or 0
    if type(most) not in (int, float) or not 0 <= most < MOST_USERS:
        findings.error(f"info.{THRESHOLD}", "a number of failed checks, or a share below 1")
        most = 0
    found: dict[str, dict[str, Any] | None] = {}
    for number, user in enumerate(listed):
        path = f"info.users[{number}]"
        is_object = isinstance(user, dict)
        own = _own_codes(findings, user, path) if is_object else None
        found[str(user.get("user_id") if is_object else user)] = own and {**own, "most": most}
    names = found if users is None else users
    return [found.get(name) for name in names] if any(found.values()) else []


def _own_codes(findings: Findings, user: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    if not any(user.get(name) for name in CODES.values()):
        return None
    own = {key: user.get(name) or token_hex(8) for key, name in CODES.items()}
    for key, code in own.items():
        if not isinstance(code, str) or len(code) > MOST_CHARACTERS or not code.isprintable():
            said = f"1 to {MOST_CHARACTERS} printable characters are expected"
            findings.error(f"{path}.{CODES[key]}", said)
    return own


def _protocol(base: str, documents: Sequence[Any]) -> str:
    """Several models are compared on one screen; documents keep their segments together."""
    if base != "segment-da":
        return base
    items = [item for d in documents if isinstance(d, list) for item in d]
    targets = [item.get("tgt") for item in items if isinstance(item, dict)]
    if any(isinstance(target, dict) and len(target) > 1 for target in targets):
        return "side-by-side"
    return "document-da" if len(items) > len(documents) else base
