"""tmux formats and how their answers become values.

Free text (paths, titles, names) may hold anything, also newlines, and no directory name may forge a pane: fields and
records are separated by words that this process made up and no pane can guess. They are printable, because some
versions of tmux (3.5a) spell control characters out.
"""

import os
from collections.abc import Iterator

from termvisor.backends.pane_source import PaneStatus
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts
from termvisor.redaction import redact_each

FIELD_SEPARATOR, RECORD_SEPARATOR = (f"<{os.urandom(8).hex()}>".encode() for _ in range(2))
_PANE_VARIABLES = (
    "pane_id", "pane_pid", "session_id", "session_attached", "session_attached_list",
    "window_id", "window_index", "pane_index", "pane_active",
    "pane_tty", "pane_width", "pane_height", "alternate_on", "pane_in_mode", "pane_dead", "pane_dead_status",
    "pane_dead_signal", "pane_pipe", "history_limit", "destroy-unattached", "session_name", "window_name",
    "pane_current_command", "pane_current_path", "pane_title",
)  # fmt: skip
_FREE_TEXT_VARIABLES = _PANE_VARIABLES[_PANE_VARIABLES.index("session_name") :]
"""What anybody may have named."""
_STATUS_VARIABLES = ("pane_id", "pane_pid", "pane_pipe", "pane_dead")
_SERVER_VARIABLES = ("pid", "version", "exit-unattached", "socket_path")


def _build_format(words: tuple[str, ...]) -> str:
    return '"' + FIELD_SEPARATOR.decode().join(f"#{{{word}}}" for word in words) + RECORD_SEPARATOR.decode() + '"'


LIST_STATUSES_COMMAND = f"list-panes -a -F {_build_format(_STATUS_VARIABLES)}"
LIST_PANES_COMMAND = f"list-panes -a -F {_build_format(_PANE_VARIABLES)}"
SERVER_INFO_COMMAND = f"display-message -p {_build_format(_SERVER_VARIABLES)}"


def parse_pane_statuses(body: tuple[bytes, ...], hidden: frozenset[str] = frozenset()) -> dict[MuxPaneId, PaneStatus]:
    """``hidden`` are the panes of our own session."""
    found = {}
    for word in _split_records(body, _STATUS_VARIABLES):
        name = MuxPaneId(word["pane_id"])
        if name not in hidden:
            found[name] = PaneStatus(
                _parse_int(word["pane_pid"]) or 0, word["pane_pipe"] == "1", word["pane_dead"] == "1"
            )
    return found


def parse_pane_facts(body: tuple[bytes, ...]) -> list[PaneFacts]:
    """Every pane once, also when its window is linked into several sessions."""
    words: dict[str, dict[str, str]] = {}
    for word in _split_records(body, _PANE_VARIABLES):
        words.setdefault(word["pane_id"], word)
    shown = iter(redact_each([word[name] for word in words.values() for name in _FREE_TEXT_VARIABLES]))
    return [_build_facts(word | {name: next(shown) for name in _FREE_TEXT_VARIABLES}) for word in words.values()]


def parse_server_info(body: tuple[bytes, ...]) -> dict[str, str]:
    """Who a server is: pid, version, exit-unattached, socket_path."""
    return next(_split_records(body, _SERVER_VARIABLES), {})


def _split_records(body: tuple[bytes, ...], names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    *records, rest = b"\n".join(body).split(RECORD_SEPARATOR)
    if rest.strip():
        raise MuxError("tmux answered a listing that we cannot read")
    for record in records:
        words = record.removeprefix(b"\n").decode("utf-8", "replace").split(FIELD_SEPARATOR.decode())
        if len(words) != len(names):
            raise MuxError("tmux answered a listing that we cannot read")
        yield dict(zip(names, words, strict=True))


def _build_facts(word: dict[str, str]) -> PaneFacts:
    """Of words without secrets."""
    return PaneFacts(
        mux_id=MuxPaneId(word["pane_id"]),
        pid=_parse_int(word["pane_pid"]) or 0,
        session_id=word["session_id"],
        session_name=word["session_name"],
        session_attached=_parse_int(word["session_attached"]) or 0,
        session_clients=tuple(filter(None, word["session_attached_list"].split(","))),
        session_ends_unattached=word["destroy-unattached"] not in ("", "0", "off"),
        window_id=word["window_id"],
        window_index=_parse_int(word["window_index"]) or 0,
        window_name=word["window_name"],
        pane_index=_parse_int(word["pane_index"]) or 0,
        active=word["pane_active"] == "1",
        tty=word["pane_tty"],
        command=word["pane_current_command"],
        cwd=word["pane_current_path"],
        title=word["pane_title"],
        width=_parse_int(word["pane_width"]) or 0,
        height=_parse_int(word["pane_height"]) or 0,
        alternate=word["alternate_on"] == "1",
        in_mode=word["pane_in_mode"] not in ("", "0"),
        dead=word["pane_dead"] == "1",
        dead_status=_parse_int(word["pane_dead_status"]),
        dead_signal=_parse_int(word["pane_dead_signal"]),
        piped=word["pane_pipe"] == "1",
        history_limit=_parse_int(word["history_limit"]) or 0,
    )


def _parse_int(word: str) -> int | None:
    return int(word) if word.lstrip("-").isdecimal() else None
