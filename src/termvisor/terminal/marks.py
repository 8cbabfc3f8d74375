"""Parse marks from OSC and CSI sequences: prompts, commands, titles, notifications, screen modes.

Pane output is untrusted: texts and parameters are bounded and stripped of control characters. Unknown sequences give no
mark. Whether a mark is trusted is decided elsewhere, based on the nonce in its ``params``.
"""

import base64
import binascii
import re
from collections.abc import Callable
from functools import partial

from termvisor.model.terminal.output import Mark, MarkKind

MarkBuilder = Callable[..., Mark]
"""Builds a mark at the offset of the sequence."""
MAX_TEXT_LENGTH = 4096
_MAX_PARAM_LENGTH = 1024
_MAX_PARAMS = 16

_SPACING = re.compile(r"[\t-\r]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPED_CHARACTER = re.compile(r"\\(\\|x[0-9a-fA-F]{2})")
_PERCENT_ENCODED = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_EXIT_STATUS = re.compile(r"-?\d{1,10}")
_CONEMU_COMMAND = re.compile(r"(1[0-2]|[1-9])(?:;(.*))?", re.DOTALL)

_SHELL_KINDS: dict[str, MarkKind] = {
    "A": "prompt_start",
    "B": "input_start",
    "C": "command_start",
    "D": "command_end",
    "P": "prompt_property",
}
_MARK_BY_MODE: dict[tuple[bytes, str], MarkKind] = {
    (b"2004", "h"): "paste_on",
    (b"2004", "l"): "paste_off",
    (b"2026", "h"): "sync_on",
    (b"2026", "l"): "sync_off",
}
_MARK_BY_MODE |= {(mode, "h"): "alt_screen_on" for mode in (b"1049", b"1047", b"47")}
_MARK_BY_MODE |= {(mode, "l"): "alt_screen_off" for mode in (b"1049", b"1047", b"47")}


def parse_csi_marks(parameters: bytes, final: str, offset: int) -> list[Mark]:
    """Parse mode changes and resets: ``CSI ? 1049 ; 2004 h`` is two marks, ``CSI ! p`` a reset."""
    if parameters == b"!" and final == "p":
        return [Mark(kind="reset", offset=offset)]
    if final not in ("h", "l") or not parameters.startswith(b"?"):
        return []
    kinds = (_MARK_BY_MODE.get((mode, final)) for mode in parameters[1:].split(b";"))
    return [Mark(kind=kind, offset=offset) for kind in kinds if kind is not None]


def parse_osc_mark(payload: bytes, offset: int) -> Mark | None:
    number, _, rest = payload.partition(b";")
    parser = _OSC_PARSERS.get(number)
    return None if parser is None else parser(rest.decode("utf-8", "replace"), partial(Mark, offset=offset))


def sanitize(text: str, limit: int = MAX_TEXT_LENGTH) -> str:
    """Remove control characters, reduce white space to single blanks, and truncate the text to the limit."""
    return _CONTROLS.sub("", _SPACING.sub(" ", text))[:limit]


def _parse_parameters(fields: list[str]) -> dict[str, str]:
    pairs = (field.partition("=") for field in fields if "=" in field)
    return {sanitize(key, 64): sanitize(value, _MAX_PARAM_LENGTH) for key, _, value in list(pairs)[:_MAX_PARAMS]}


def _unescape(text: str) -> str:
    r"""Decode the escapes of OSC 633: ``\\`` and ``\x3b``."""
    return _ESCAPED_CHARACTER.sub(lambda match: "\\" if match[1] == "\\" else chr(int(match[1][1:], 16)), text)


def _parse_semantic_prompt(rest: str, new_mark: MarkBuilder) -> Mark | None:
    """Parse OSC 133: ``D;0;aid=7``, ``C;cmdline_url=ls%20-l``. Our own marks have ``nonce=<hex>``."""
    letter, *fields = rest.split(";")
    if letter == "E":
        return _parse_command_line(fields, new_mark)
    kind = _SHELL_KINDS.get(letter)
    if kind is None:
        return None
    params = _parse_parameters(fields)
    status = next((field for field in fields if "=" not in field), "")
    return new_mark(
        kind=kind,
        text=_parse_sent_command(fields) if kind == "command_start" else "",
        exit_code=_parse_exit_status(status) if kind == "command_end" else None,
        params={key: value for key, value in params.items() if key not in ("cmdline", "cmdline_url")},
    )


def decode_percent(text: str) -> str:
    """Decode %XX like `urllib.parse.unquote`, whose import costs half a megabyte."""
    return _PERCENT_ENCODED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), text)


def _parse_sent_command(fields: list[str]) -> str:
    """Return the command line that fish (percent-encoded) and kitty's shell integration send with C."""
    values = dict(field.partition("=")[::2] for field in fields)
    return sanitize(decode_percent(values["cmdline_url"]) if "cmdline_url" in values else values.get("cmdline", ""))


def _parse_command_line(fields: list[str], new_mark: MarkBuilder) -> Mark:
    """Parse OSC 133;E. The command line may contain ``;``, so only known fields at its end are split off."""
    params: list[str] = []
    while fields and fields[-1].startswith(("nonce=", "aid=")):
        params.append(fields.pop())
    return new_mark(kind="command_line", text=sanitize(_unescape(";".join(fields))), params=_parse_parameters(params))


def _parse_vscode(rest: str, new_mark: MarkBuilder) -> Mark | None:
    """Parse OSC 633: like OSC 133, but ``E;line;nonce`` has a positional nonce and ``P`` escapes its values."""
    letter, *fields = rest.split(";")
    if letter == "E" and len(fields) == 2 and not fields[1].startswith("nonce="):
        nonce = {"nonce": sanitize(fields[1], _MAX_PARAM_LENGTH)} if fields[1] else {}
        return new_mark(kind="command_line", text=sanitize(_unescape(fields[0])), params=nonce)
    if letter == "P":
        return new_mark(kind="prompt_property", params=_parse_parameters([_unescape(field) for field in fields]))
    return _parse_semantic_prompt(rest, new_mark)


def _parse_exit_status(text: str) -> int | None:
    return int(text) if _EXIT_STATUS.fullmatch(text) else None


def _parse_cwd(rest: str, new_mark: MarkBuilder) -> Mark | None:
    """Parse OSC 7 ``file://host/path``; some shells send the bare path."""
    if rest.startswith("/"):
        return new_mark(kind="cwd", text=sanitize(rest))
    scheme, separator, address = rest.partition("://")
    host, slash, path = address.partition("/")
    if not separator or not slash or scheme not in ("file", "kitty-shell-cwd"):
        return None
    path = decode_percent(path) if scheme == "file" else path
    return new_mark(kind="cwd", text=sanitize("/" + path), params={"host": sanitize(host, 255)} if host else {})


def _parse_notification(rest: str, new_mark: MarkBuilder) -> Mark | None:
    """Parse OSC 9: a message, unless it starts with a ConEmu number (4 progress, 9 folder, others ignored)."""
    conemu = _CONEMU_COMMAND.fullmatch(rest)
    if conemu is None:
        return new_mark(kind="notification", text=sanitize(rest))
    number, value = conemu[1], conemu[2] or ""
    if number == "9":
        return new_mark(kind="cwd", text=sanitize(value.strip('"')))
    if number == "4":
        state, _, percent = value.partition(";")
        return new_mark(kind="progress", params={"state": sanitize(state, 8), "progress": sanitize(percent, 8)})
    return None


def _parse_kitty_notification(rest: str, new_mark: MarkBuilder) -> Mark:
    """Parse OSC 99 ``key=value:key=value;text``; with ``e=1`` the text is base64."""
    metadata, _, text = rest.partition(";")
    params = _parse_parameters(metadata.split(":"))
    decoded = _decode_base64(text) if params.get("e") == "1" else text
    return new_mark(kind="notification", text=sanitize(decoded or ""), params=params)


def _parse_urxvt_notification(rest: str, new_mark: MarkBuilder) -> Mark | None:
    command, _, text = rest.partition(";")
    title, _, body = text.partition(";")
    if command != "notify":
        return None
    return new_mark(kind="notification", text=sanitize(body), params={"title": sanitize(title, _MAX_PARAM_LENGTH)})


def _parse_iterm(rest: str, new_mark: MarkBuilder) -> Mark | None:
    command, _, value = rest.partition("=")
    if command == "CurrentDir":
        return new_mark(kind="cwd", text=sanitize(value))
    name, _, encoded = value.partition("=")
    decoded = _decode_base64(encoded)
    if command != "SetUserVar" or decoded is None:
        return None
    return new_mark(kind="user_var", text=sanitize(decoded), params={"name": sanitize(name, _MAX_PARAM_LENGTH)})


def _decode_base64(text: str) -> str | None:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        # Pane output may be anything; malformed data gives no mark.
        return None


def _build_text_parser(kind: MarkKind) -> Callable[[str, MarkBuilder], Mark]:
    return lambda rest, new_mark: new_mark(kind=kind, text=sanitize(rest))


def _parse_end_of_program(rest: str, new_mark: MarkBuilder) -> Mark | None:
    """Parse our own ``7770;end;<status>``, printed when a managed program has exited, and that of a job.

    The mark of a job is ``7770;job;end;<job>;<status>;<signal>;<mac>``; who wrote it is checked where it matters.
    """
    word, _, status = rest.partition(";")
    if word == "job" and status.startswith("end;"):
        word, status = "end", status.split(";")[2] if status.count(";") >= 2 else ""
    return new_mark(kind="end_of_program", exit_code=_parse_exit_status(status)) if word == "end" else None


_OSC_PARSERS: dict[bytes, Callable[[str, MarkBuilder], Mark | None]] = {
    b"0": _build_text_parser("title"),
    b"2": _build_text_parser("title"),
    b"7": _parse_cwd,
    b"9": _parse_notification,
    b"99": _parse_kitty_notification,
    b"133": _parse_semantic_prompt,
    b"633": _parse_vscode,
    b"777": _parse_urxvt_notification,
    b"1337": _parse_iterm,
    b"7501": _build_text_parser("agent"),
    b"7770": _parse_end_of_program,
}
