"""Is this value a secret, or code, a placeholder, a counter, a word? Used where only the form hints at a secret."""

import re
from collections.abc import Callable

from termvisor.redaction.ordinary_words import is_plain, is_wordy

Judge = Callable[[re.Match[str]], bool]

MARKER = re.compile(r"\[redacted:[a-z0-9_]+\]")
_PLACEHOLDER = re.compile(
    r"[*.x•…_?-]+|[<$%{\[(].*|\W+|none|null|nil|undefined|true|false|str|string|text|bytes|int|bool|boolean|number"
    r"|required|optional|hidden|masked|redacted|example.*|your[-_ .].*"
    r"|(?:my|the|a|some|new|old)?[-_]?(?:password|passwd|pwd|passphrase|secret|token|api[-_]?key|key|value)[0-9]?",
    re.IGNORECASE,
)
_CODE = re.compile(r".*[(\[{}<>].*|[/~.&*!@#].*|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_NAME_IN_CODE = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*_?[0-9]")
_ODD = re.compile(r"[^\w.:,/-]")


def is_password(match: re.Match[str]) -> bool:
    """People choose these: short and wordy ones count where the form leaves no doubt."""
    text = match["secret"]
    if is_dummy(text):
        return False
    if match["quote"]:
        return True
    if _CODE.fullmatch(text):
        return False
    if match["sep"] == "=" and match["word"].isupper():
        return True
    return len(text) >= 6 and (_is_mixed(text) or text.isdigit() or _ODD.search(text) is not None)


def is_machine_secret(match: re.Match[str]) -> bool:
    """Machines make these: long enough, and letters with digits unless it stands in quotes or the environment."""
    text = match["secret"]
    if len(text) < 8 or is_dummy(text) or (not match["quote"] and _CODE.fullmatch(text)):
        return False
    if match["quote"] or (match["sep"] == "=" and match["word"].isupper()):
        return not is_wordy(text) or (len(text) >= 16 and "." not in text)
    return _is_mixed(text) and not _NAME_IN_CODE.fullmatch(text)


def is_flag_value(match: re.Match[str]) -> bool:
    text = match["secret"]
    return not is_dummy(text) and not _CODE.fullmatch(text) and (_is_mixed(text) or _ODD.search(text) is not None)


def is_header_value(match: re.Match[str]) -> bool:
    text = match["secret"]
    return not is_dummy(text) and not is_plain(text) and _is_mixed(text)


def is_base64(match: re.Match[str]) -> bool:
    text = match["secret"]
    return not is_wordy(text.rstrip("=")) and text != text.lower() and text != text.upper()


def is_url_password(match: re.Match[str]) -> bool:
    text = match["secret"]
    return text[0] not in "$<{*" and is_not_masked(match)


def is_key_material(match: re.Match[str]) -> bool:
    runs = re.findall(r"[A-Za-z0-9+/=]{16,}", match["secret"])
    return any(not is_plain(run) for run in runs)


def is_not_masked(match: re.Match[str]) -> bool:
    return MARKER.search(match["secret"]) is None


def is_anything(match: re.Match[str]) -> bool:
    """The user said so."""
    return True


def is_dummy(text: str) -> bool:
    """A placeholder, or masked already."""
    return MARKER.search(text) is not None or _PLACEHOLDER.fullmatch(text) is not None


def _is_mixed(text: str) -> bool:
    return any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
