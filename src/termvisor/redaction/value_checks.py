"""Decide whether a matched value is a secret, or code, a placeholder, a counter or a word."""

import re
from collections.abc import Callable

ValueCheck = Callable[[re.Match[str]], bool]

REDACTION_MARKER = re.compile(r"\[redacted:[a-z0-9_]+\]")
_PLACEHOLDER = re.compile(
    r"[*.x•…_?-]+|[<$%{\[(].*|\W+|none|null|nil|undefined|true|false|str|string|text|bytes|int|bool|boolean|number"
    r"|required|optional|hidden|masked|redacted|example.*|your[-_ .].*"
    r"|(?:my|the|a|some|new|old)?[-_]?(?:password|passwd|pwd|passphrase|secret|token|api[-_]?key|key|value)[0-9]?",
    re.IGNORECASE,
)
_CODE = re.compile(r".*[(\[{}<>].*|[/~.&*!@#].*|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_NAME_IN_CODE = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*_?[0-9]")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^@]*")
_UNUSUAL_CHARACTER = re.compile(r"[^\w.:,/-]")
# Words joined by ``- _ .`` are ordinary (`sk-learn-based-model`, `2024-05-01`); mixed letters and digits are not.
_WORD = r"(?:[A-Z]?[a-z]+[0-9]{0,2}|[0-9]{1,4})?"
_ANY_WORD = r"(?:(?:[A-Z]?[a-z]+|[A-Z]+|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+)[0-9]{0,2}|[0-9]{1,4})?"
_PLAIN_WORDS = re.compile(rf"{_WORD}(?:[-_.]{_WORD})*")
_ANY_WORDS = re.compile(rf"{_ANY_WORD}(?:[-_.]{_ANY_WORD})*")


def is_password(match: re.Match[str]) -> bool:
    """Accept user-chosen passwords; short and word-like ones only if quoted or in an upper-case assignment."""
    text = match["secret"]
    if is_placeholder(text):
        return False
    if match["quote"]:
        # The working folder in a listing of environment variables.
        return not (match["word"].lower() == "pwd" and text[0] in "/~")
    if _CODE.fullmatch(text):
        return False
    if match["sep"] == "=" and match["word"].isupper():
        return True
    return len(text) >= 6 and (
        _has_letters_and_digits(text) or text.isdigit() or _UNUSUAL_CHARACTER.search(text) is not None
    )


def is_machine_secret(match: re.Match[str]) -> bool:
    """Accept generated secrets: long, and with letters and digits unless quoted or in an environment variable."""
    text = match["secret"]
    if len(text) < 8 or is_placeholder(text) or (not match["quote"] and _CODE.fullmatch(text)):
        return False
    # A secret inside of a URL has a kind of its own.
    if _URL.fullmatch(text):
        return False
    if match["quote"] or (match["sep"] == "=" and match["word"].isupper()):
        return not has_only_words(text) or (len(text) >= 16 and "." not in text)
    return _has_letters_and_digits(text) and not _NAME_IN_CODE.fullmatch(text)


def is_flag_value(match: re.Match[str]) -> bool:
    text = match["secret"]
    return (
        not is_placeholder(text)
        and not _CODE.fullmatch(text)
        and (_has_letters_and_digits(text) or _UNUSUAL_CHARACTER.search(text) is not None)
    )


def is_no_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


def is_netrc_password(match: re.Match[str]) -> bool:
    """Accept a password in an entry; alone on its line, only one that is not an ordinary word."""
    return is_no_placeholder(match) if match["entry"] else is_flag_value(match)


def is_random_text(match: re.Match[str]) -> bool:
    """Accept a value with letters and digits that is not made of words; digits only at its end are those of a name."""
    text = match["secret"]
    is_mixed = any(char.isdigit() for char in text.rstrip("0123456789"))
    return is_mixed and not has_only_words(text) and not is_placeholder(text)


def is_header_value(match: re.Match[str]) -> bool:
    text = match["secret"]
    return not is_placeholder(text) and not has_only_plain_words(text) and _has_letters_and_digits(text)


def is_base64(match: re.Match[str]) -> bool:
    text = match["secret"]
    return not has_only_words(text.rstrip("=")) and text != text.lower() and text != text.upper()


def is_url_password(match: re.Match[str]) -> bool:
    text = match["secret"]
    return text[0] not in "$<{*" and is_not_masked(match)


def is_key_material(match: re.Match[str]) -> bool:
    runs = re.findall(r"[A-Za-z0-9+/=]{16,}", match["secret"])
    return any(not has_only_plain_words(run) for run in runs)


def is_not_masked(match: re.Match[str]) -> bool:
    return REDACTION_MARKER.search(match["secret"]) is None


def is_always_secret(match: re.Match[str]) -> bool:
    """Accept every match of a user's own pattern."""
    return True


def is_placeholder(text: str) -> bool:
    """Return True for a placeholder or an existing marker."""
    return REDACTION_MARKER.search(text) is not None or _PLACEHOLDER.fullmatch(text) is not None


def has_only_plain_words(text: str) -> bool:
    """Return True if the text has only lower-case or capitalised words and short numbers."""
    return _PLAIN_WORDS.fullmatch(text) is not None


def has_only_words(text: str) -> bool:
    """Return True for plain words, or UPPER-CASE and camelCase ones as at the start of a log line."""
    return _ANY_WORDS.fullmatch(text) is not None


def _has_letters_and_digits(text: str) -> bool:
    return any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
