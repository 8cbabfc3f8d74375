"""Private key blocks, line by line: everything between BEGIN and END is masked, also when rows were broken.

A block that is not ended is given up at the first line that cannot be part of one.
"""

import re

from termvisor.redaction.mask import marker
from termvisor.redaction.secret_kind import FRAME, TAIL
from termvisor.redaction.wrapped_lines import Open

KIND = "private_key"
_LABELS = ("", "RSA", "EC", "DSA", "OPENSSH", "ENCRYPTED", "PGP", "SSH2ENCRYPTED", "ANY")
_HEADS = tuple(f"-----BEGIN{label}PRIVATEKEY" for label in _LABELS)
_MOST_LINES = 600
"""A key of 16,384 bits in rows of twenty columns."""
_BEGIN = re.compile(r"BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-{0,5}")
_BEHIND_BEGIN = re.compile(
    rf"[\s\"'`]*(?:\\n|\\r)*(?:{re.escape(marker(KIND))}|[A-Za-z0-9+/=\\]{{0,24}})[{re.escape(TAIL)}]*"
)
_EDGE = rf"[\s>{re.escape(FRAME)}]*"
_GUTTER = re.compile(rf"{_EDGE}(?:[0-9]{{1,6}}[\s:→{re.escape(FRAME)}]{_EDGE})?(?:-(?!-))?")
_BODY = re.compile(r"[A-Za-z0-9+/=\\]*")
_FIELD = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|X-[\w-]+):")


def begins(text: str) -> Open | None:
    """A row that opens a block, or ends within the words that open one."""
    found = list(_BEGIN.finditer(text))
    if found:
        last = found[-1]
        return Open(KIND, 0, len(_HEADS[0])) if _BEHIND_BEGIN.fullmatch(text, last.end()) else None
    return _cut_head(_squeezed(text.rstrip(TAIL)[-60:]))


def go_on(text: str, was: Open) -> tuple[str, Open | None]:
    head = _HEADS[was.number]
    return _go_on_head(text, was, head) if was.count < len(head) else _go_on_body(text, was)


def _cut_head(tail: str) -> Open | None:
    for number, head in enumerate(_HEADS):
        for count in range(len(head) - 1, len("-----"), -1):
            if tail.endswith(head[:count]):
                return Open(KIND, number, count)
    return None


def _go_on_head(text: str, was: Open, head: str) -> tuple[str, Open | None]:
    """Labels that begin alike (none, PGP, PRIVATE) are told apart by what follows."""
    content = _squeezed(text.strip(TAIL + ">"))
    for number, other in enumerate(_HEADS):
        rest = other[was.count :]
        if not content or not rest or other[: was.count] != head[: was.count]:
            continue
        if content.startswith(rest):
            return text, Open(KIND, 0, len(_HEADS[0]))
        if rest.startswith(content):
            return text, Open(KIND, number, was.count + len(content))
    return text, None


def _go_on_body(text: str, was: Open) -> tuple[str, Open | None]:
    more = Open(KIND, was.number, was.count + 1) if was.count < len(_HEADS[0]) + _MOST_LINES else None
    end = len(text.rstrip(TAIL.replace("\\", "")))
    gutter = _GUTTER.match(text, 0, end)
    start = gutter.end() if gutter else 0
    content = text[start:end]
    if not content or content == marker(KIND) or _FIELD.match(content) or _is_rest_of_head(content, was):
        return text, more
    run = _BODY.match(content)
    width = run.end() if run else 0
    behind = content[width:]
    if not width or (behind and behind[0] not in "-\"'`," and width < 40):
        return text, None
    masked = text[:start] + marker(KIND) + text[start + width :]
    return masked, more if not behind else None


def _is_rest_of_head(content: str, was: Open) -> bool:
    return was.count == len(_HEADS[0]) and not content.strip("-") and len(content) <= 5


def _squeezed(text: str) -> str:
    return text.replace(" ", "")
