"""Mask private key blocks line by line: everything between BEGIN and END, even if rows are wrapped.

An unterminated block ends at the first line that cannot be part of one.
"""

import re

from termvisor.redaction.mask import build_marker
from termvisor.redaction.partial_secrets import OpenSecret
from termvisor.redaction.secret_kind import FRAME_CHARS, ROW_END_CHARS

PRIVATE_KEY_KIND = "private_key"
_LABELS = ("", "RSA", "EC", "DSA", "OPENSSH", "ENCRYPTED", "PGP", "SSH2ENCRYPTED", "ANY")
_BEGIN_MARKERS = tuple(f"-----BEGIN{label}PRIVATEKEY" for label in _LABELS)
# Enough for a key of 16,384 bits in rows of 20 columns.
_MAX_LINES = 600
_BEGIN = re.compile(r"BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-{0,5}")
_AFTER_BEGIN = re.compile(
    rf"[\s\"'`]*(?:\\n|\\r)*(?:{re.escape(build_marker(PRIVATE_KEY_KIND))}|[A-Za-z0-9+/=\\]{{0,24}})[{re.escape(ROW_END_CHARS)}]*"
)
_MARGIN = rf"[\s>{re.escape(FRAME_CHARS)}]*"
_GUTTER = re.compile(rf"{_MARGIN}(?:[0-9]{{1,6}}[\s:→{re.escape(FRAME_CHARS)}]{_MARGIN})?(?:-(?!-))?")
_BODY = re.compile(r"[A-Za-z0-9+/=\\]*")
_HEADER_FIELD = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|X-[\w-]+):")


def find_block_start(text: str) -> OpenSecret | None:
    """Return an open secret if a block begins in this row, or if the row ends within the BEGIN marker."""
    markers = list(_BEGIN.finditer(text))
    if markers:
        last = markers[-1]
        return (
            OpenSecret(PRIVATE_KEY_KIND, 0, len(_BEGIN_MARKERS[0]))
            if _AFTER_BEGIN.fullmatch(text, last.end())
            else None
        )
    return _find_partial_marker(_remove_spaces(text.rstrip(ROW_END_CHARS)[-60:]))


def mask_block_line(text: str, open_secret: OpenSecret) -> tuple[str, OpenSecret | None]:
    head = _BEGIN_MARKERS[open_secret.number]
    return (
        _continue_marker(text, open_secret, head)
        if open_secret.count < len(head)
        else _mask_body_line(text, open_secret)
    )


def _find_partial_marker(tail: str) -> OpenSecret | None:
    for number, head in enumerate(_BEGIN_MARKERS):
        for count in range(len(head) - 1, len("-----"), -1):
            if tail.endswith(head[:count]):
                return OpenSecret(PRIVATE_KEY_KIND, number, count)
    return None


def _continue_marker(text: str, open_secret: OpenSecret, begin_marker: str) -> tuple[str, OpenSecret | None]:
    """Continue a BEGIN marker that was cut by the end of the row, trying each label with the same start in turn."""
    content = _remove_spaces(text.strip(ROW_END_CHARS + ">"))
    for number, other in enumerate(_BEGIN_MARKERS):
        rest = other[open_secret.count :]
        if not content or not rest or other[: open_secret.count] != begin_marker[: open_secret.count]:
            continue
        if content.startswith(rest):
            return text, OpenSecret(PRIVATE_KEY_KIND, 0, len(_BEGIN_MARKERS[0]))
        if rest.startswith(content):
            return text, OpenSecret(PRIVATE_KEY_KIND, number, open_secret.count + len(content))
    return text, None


def _mask_body_line(text: str, open_secret: OpenSecret) -> tuple[str, OpenSecret | None]:
    next_open = (
        OpenSecret(PRIVATE_KEY_KIND, open_secret.number, open_secret.count + 1)
        if open_secret.count < len(_BEGIN_MARKERS[0]) + _MAX_LINES
        else None
    )
    end = len(text.rstrip(ROW_END_CHARS.replace("\\", "")))
    gutter = _GUTTER.match(text, 0, end)
    start = gutter.end() if gutter else 0
    content = text[start:end]
    if (
        not content
        or content == build_marker(PRIVATE_KEY_KIND)
        or _HEADER_FIELD.match(content)
        or (open_secret.count == len(_BEGIN_MARKERS[0]) and not content.strip("-") and len(content) <= 5)
    ):
        return text, next_open
    run = _BODY.match(content)
    width = run.end() if run else 0
    after_run = content[width:]
    if not width or (after_run and after_run[0] not in "-\"'`," and width < 40):
        return text, None
    masked = text[:start] + build_marker(PRIVATE_KEY_KIND) + text[start + width :]
    return masked, next_open if not after_run else None


def _remove_spaces(text: str) -> str:
    return text.replace(" ", "")
