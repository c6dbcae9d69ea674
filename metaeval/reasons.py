"""Why something failed, as a message, whatever error Python raised."""

from metaeval.messages import Message, MessageError, message

# What Python's errors mean, the more special ones first.
REASONS: tuple[tuple[type[Exception], Message], ...] = (
    (FileNotFoundError, message("reason.not-found", "it does not exist")),
    (PermissionError, message("reason.not-permitted", "permission denied")),
    (IsADirectoryError, message("reason.folder", "it is a folder")),
    (UnicodeDecodeError, message("reason.not-utf8", "it is not UTF-8 text")),
    (ConnectionRefusedError, message("reason.refused", "the connection was refused")),
    (TimeoutError, message("reason.timeout", "no answer in time")),
    (ConnectionError, message("reason.broken", "the connection broke")),
)
LONGEST_REASON = 200


def reason_of(error: Exception) -> Message:
    """Return why something failed: as a message, also for errors that are not our own.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "x")).code
    'reason.not-found'
    >>> reason_of(KeyError("array")).text
    "KeyError: 'array'"
    """
    if isinstance(error, MessageError):
        return error.message
    for kind, reason in REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, OSError) and error.strerror:
        return message("reason.text", "{text}", text=error.strerror)
    text = " ".join(str(error).split())[:LONGEST_REASON]
    if type(error) is ValueError:
        return message("reason.text", "{text}", text=text)
    return message("reason.other", "{kind}: {text}", kind=type(error).__name__, text=text)
