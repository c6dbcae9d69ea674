"""Read the settings of a Pearmut campaign: its `info`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from secrets import token_hex
from typing import Any

from django.utils.html import strip_tags

from annotation import protocols
from annotation.imports.jsonfiles import missing_key
from annotation.protocols import composed
from annotation.protocols.base import Scale
from extensions.formats.pearmut.answering import read_answers
from extensions.formats.pearmut.findings import Findings
from metaeval.messages import Message, message, plural, truncated

# Read the outputs of one Pearmut item.

ONLY_MODEL = "output"


def read_targets(findings: Findings, value: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return outputs by model; a single text is the output of a model without a name."""
    path = f"{path}.tgt"
    if "tgt" not in value:
        findings.error(path, missing_key("tgt"))
        return {}
    targets = value["tgt"]
    if isinstance(targets, str):
        return {ONLY_MODEL: targets}
    if not findings.is_a(path, targets, dict):
        return {}
    if not targets:
        findings.error(path, message("pearmut.no-outputs", "There are no outputs."))
    return {
        model: text
        for model, text in targets.items()
        if findings.is_a(f"{path}.{model}", text, str)
    }


def plain(html: str) -> str:
    """Return the text of a piece of HTML."""
    return unescape(strip_tags(html))


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
# Settings without effect, by the reason; the stored file keeps them.
UNUSED = {
    message("pearmut.reason-design", "Screens have the design of this site."): (
        "show_alignment", "word_level", "slider_colors", "template", "show_progress",
    ),
    message("pearmut.reason-names", "Names of systems are never shown."): ("show_model_names",),
    message("pearmut.reason-assignment", "The settings of the campaign determine assignment."): (
        "seed", "docs_per_user", "dynamic_coldstart", "dynamic_coldstart_pool", "dynamic_warmup",
    ),
    message("pearmut.reason-controls", "Control items are judged by the rules of this site."): (
        THRESHOLD, "data_random_prob",
    ),
    message("pearmut.reason-media", "Media files are not part of a campaign file."): ("assets",),
}  # fmt: skip
SPECIAL_TOKENS = plural(
    "pearmut.special-tokens",
    "{n} special token is only used by cESA. It is kept in the stored file and exported again, but "
    "has no effect.",
    "{n} special tokens are only used by cESA. They are kept in the stored file and exported "
    "again, but have no effect.",
    n=1,
)
USER_NAMES = plural(
    "pearmut.user-names",
    "{n} name of a user has no effect. It is kept in the stored file and exported again.",
    "{n} names of users have no effect. They are kept in the stored file and exported again.",
    n=1,
)
# Settings of campaigns whose systems are drawn, with their defaults.
OF_DYNAMIC = {"dynamic_coldstart": 5, "data_random_prob": 0}
PLACEHOLDERS = ("${TOKEN}", "${USER_ID}")


@dataclass
class Info:
    """The settings of a campaign.

    `n_models` is the largest number of systems on a screen, 0 for all of them. If the campaign
    `is_dynamic`, they are drawn by their standing, after `cold_start` documents of each, and
    `check_percent` is the probability of a control item before each screen. `tokens` are special
    tokens, None for the usual ones, and `answers` own scales, errors and post-editing.
    """

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
        """The protocol with the campaign's own parts."""
        protocol = composed.compose(protocols.get(self.protocol), self.answers)
        if self.tokens is None or protocol.spans is None:
            return protocol
        return replace(protocol, spans=replace(protocol.spans, tokens=tuple(self.tokens)))

    @property
    def scales(self) -> list[Scale]:
        """The campaign's own scales, if any; control items are judged by the first."""
        return [scale for scale in self.judging.scales if scale.key]


def read_info(
    findings: Findings,
    values: Any,
    batches: Sequence[tuple[str, Any, str]],
    *,
    users: Sequence[str] | None,
) -> Info:
    """Read the settings.

    `batches` are (batch, document, path). `users` are those of a stored campaign, whose data are by
    user, or None.
    """
    info = Info()
    if not findings.is_a("info", values, dict):
        return info
    info.codes = _codes(findings, values, users)
    info.is_dynamic = values.get("assignment") == DYNAMIC
    _name_others(findings, values, info)
    asked = values.get("protocol", USUAL_PROTOCOL)
    if not isinstance(asked, str) or asked not in PROTOCOLS:
        findings.error(
            "info.protocol",
            message(
                "pearmut.protocol",
                "The protocol “{given}” is unknown. It must be one of {protocols}.",
                given=str(asked)[:80],
                protocols=list(PROTOCOLS),
            ),
        )
        return info
    info.protocol = _protocol(PROTOCOLS[asked], [document for _, document, _ in batches])
    info.instructions = _plain_text(findings, values, "instructions")
    info.goodbye = _plain_text(findings, values, "instructions_goodbye")
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
    """Warn of settings without effect; the stored file keeps them."""
    used = {*(OF_DYNAMIC if info.is_dynamic else ()), *([THRESHOLD] if any(info.codes) else ())}
    for reason, names in UNUSED.items():
        given = [name for name in names if values.get(name) not in (None, False, "")]
        if given := [name for name in given if name not in used]:
            findings.warn("info", _unused(given, reason))
    named = USED.union(*UNUSED.values())
    if unknown := sorted(set(values) - named):
        findings.warn(
            "info",
            message(
                "pearmut.unknown-settings",
                "These settings are unknown and have no effect: {settings}. The stored file keeps "
                "them.",
                settings=truncated([name[:80] for name in unknown], 10),
            ),
        )
    text = str(values.get("instructions") or "")
    if given := [word for word in PLACEHOLDERS if word in text]:
        findings.warn(
            "info.instructions",
            message(
                "pearmut.placeholders",
                "Placeholders are not filled in and are shown to annotators: {placeholders}.",
                placeholders=given,
            ),
        )


def _unused(settings: Sequence[str], reason: Message) -> Message:
    return message(
        "pearmut.unused-settings",
        "These settings have no effect: {settings}. {reason}",
        settings=settings,
        reason=reason,
    )


def _plain_text(findings: Findings, values: Mapping[str, Any], name: str) -> str:
    """Return a text for annotators without its HTML."""
    given = values.get(name) or ""
    if not given or not findings.is_a(f"info.{name}", given, str):
        return ""
    if (text := plain(given)) != given:
        findings.warn(
            f"info.{name}",
            message("pearmut.html", "The HTML of the text is removed."),
        )
    return text


def _models(findings: Findings, values: Mapping[str, Any]) -> int:
    models = values.get("dynamic_models", 1) if values.get("assignment") == DYNAMIC else 0
    if type(models) is int and models >= 0:
        return models
    findings.error(
        "info.dynamic_models",
        message("pearmut.dynamic-models", "The value must be a whole number."),
    )
    return 0


def _drawing(findings: Findings, values: Mapping[str, Any]) -> tuple[int, int]:
    """Return the documents of each system that come first, and the percentage of controls."""
    cold, chance = (values.get(name, usual) for name, usual in OF_DYNAMIC.items())
    if type(cold) is not int or not 0 <= cold <= MOST_COLD:
        findings.error(
            "info.dynamic_coldstart",
            message(
                "pearmut.cold-start",
                "The value must be a whole number from 0 to {limit}.",
                limit=MOST_COLD,
            ),
        )
        cold = 0
    if type(chance) not in (int, float) or not 0 <= chance <= 1:
        findings.error(
            "info.data_random_prob",
            message("pearmut.probability", "The value must be a number from 0 to 1."),
        )
        chance = 0
    return cold, round(100 * chance)


def _tokens(findings: Findings, values: Mapping[str, Any], protocol: str) -> list[str] | None:
    tokens = values.get("special_tokens")
    if tokens is None or not findings.is_a("info.special_tokens", tokens, list):
        return None
    if len(tokens) > MOST_TOKENS or not all(isinstance(each, str) for each in tokens):
        findings.error(
            "info.special_tokens",
            message(
                "pearmut.tokens",
                "The value must be a list of at most {limit} texts.",
                limit=MOST_TOKENS,
            ),
        )
    elif protocol == "contrastive-esa":
        return list(tokens)
    elif others := set(tokens) - {MISSING}:
        findings.counts[SPECIAL_TOKENS] += len(others)
    return None


def _places(findings: Findings, values: Mapping[str, Any], n_batches: int) -> int:
    if not n_batches:
        if not findings.report.errors:
            findings.error("data", message("pearmut.no-data", "There are no items to rate."))
        return 0
    users = values.get("users", n_batches)
    places = len(users) if isinstance(users, list) else users
    if isinstance(users, list):
        _check_users(findings, users)
    if type(places) is int and 1 <= places <= MOST_USERS:
        return places
    findings.error(
        "info.users",
        message(
            "pearmut.users",
            "The value must be a number of users from 1 to {limit}, or a list of users.",
            limit=MOST_USERS,
        ),
    )
    return 0


def _check_users(findings: Findings, users: Sequence[Any]) -> None:
    """Check users: names, or objects with a name and the codes that Pearmut shows at the end."""
    seen = set()
    for number, user in enumerate(users):
        path = f"info.users[{number}]"
        name = user.get("user_id") if isinstance(user, dict) else user
        if not isinstance(name, str | int) or name in seen:
            findings.error(
                path,
                message("pearmut.user-id", "Every user must have a different user_id."),
            )
            continue
        seen.add(name)
    if seen:
        findings.counts[USER_NAMES] += len(seen)


def _codes(
    findings: Findings, values: Mapping[str, Any], users: Sequence[str] | None
) -> list[dict[str, Any] | None]:
    """Return the codes of each user, in the order of annotators; empty if there are none.

    A missing code is drawn at random, as in Pearmut.
    """
    given = values.get("users")
    listed = given if isinstance(given, list) else []
    most = values.get(THRESHOLD) or 0
    if type(most) not in (int, float) or not 0 <= most < MOST_USERS:
        findings.error(
            f"info.{THRESHOLD}",
            message(
                "pearmut.threshold",
                "The value must be a number of failed control items, or a fraction below 1.",
            ),
        )
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
            findings.error(
                f"{path}.{CODES[key]}",
                message(
                    "pearmut.code",
                    "The value must be text of 1 to {limit} printable characters.",
                    limit=MOST_CHARACTERS,
                ),
            )
    return own


def _protocol(base: str, documents: Sequence[Any]) -> str:
    """Return the protocol for DA: side by side with several models, by document with segments."""
    if base != "segment-da":
        return base
    items = [item for d in documents if isinstance(d, list) for item in d]
    targets = [item.get("tgt") for item in items if isinstance(item, dict)]
    if any(isinstance(target, dict) and len(target) > 1 for target in targets):
        return "side-by-side"
    return "document-da" if len(items) > len(documents) else base
