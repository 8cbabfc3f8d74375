"""Build formats for tmux listings and parse their output.

Free text (paths, titles, names) may contain anything, even newlines, but must not forge a pane. Fields and records are
separated by random words generated at startup, which no pane can guess. They are printable, because some versions
of tmux (3.5a) escape control characters.
"""

import os
from collections.abc import Iterator

from msgspec import Struct

from termvisor.backends.pane_source import PaneStatus
from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts
from termvisor.redaction import redact_each

FIELD_SEPARATOR, RECORD_SEPARATOR = (f"<{os.urandom(8).hex()}>".encode() for _ in range(2))
_PANE_VARIABLES = (
    "pane_id", "pane_pid", "session_id", "session_attached", "session_attached_list",
    "window_id", "window_index", "pane_index", "pane_active",
    "pane_tty", "pane_width", "pane_height", "alternate_on", "pane_in_mode", "pane_dead", "pane_dead_status",
    "pane_dead_signal", "pane_pipe", "history_limit", "destroy-unattached", "exit-unattached", "session_name",
    "window_name", "pane_current_command", "pane_current_path", "pane_title",
)  # fmt: skip
_FREE_TEXT_VARIABLES = _PANE_VARIABLES[_PANE_VARIABLES.index("session_name") :]
"""Variables holding text chosen by users or programs; their values are redacted."""
_STATUS_VARIABLES = ("pane_id", "pane_pid", "pane_pipe", "pane_dead")
_SERVER_VARIABLES = ("pid", "version", "exit-unattached", "socket_path")


def _build_format(names: tuple[str, ...]) -> str:
    return FIELD_SEPARATOR.decode().join(f"#{{{name}}}" for name in names) + RECORD_SEPARATOR.decode()


LIST_STATUSES_COMMAND = TmuxCommand("list-panes", "-a", "-F", _build_format(_STATUS_VARIABLES))
LIST_PANES_COMMAND = TmuxCommand("list-panes", "-a", "-F", _build_format(_PANE_VARIABLES))
SERVER_INFO_COMMAND = TmuxCommand("display-message", "-p", _build_format(_SERVER_VARIABLES))


class ServerPaneList(Struct, frozen=True):
    """All panes of a server, and whether the server exits with its last attached client."""

    panes: list[PaneFacts]
    exits_unattached: bool


def parse_pane_statuses(body: tuple[bytes, ...]) -> dict[MuxPaneId, PaneStatus]:
    """Return the status of every pane."""
    return {
        MuxPaneId(values["pane_id"]): PaneStatus(
            _parse_int(values["pane_pid"]) or 0, values["pane_pipe"] == "1", values["pane_dead"] == "1"
        )
        for values in _split_records(body, _STATUS_VARIABLES)
    }


def parse_pane_list(body: tuple[bytes, ...]) -> ServerPaneList:
    """Return the redacted facts of every pane, listing a pane once even if several sessions link its window."""
    values_by_pane: dict[str, dict[str, str]] = {}
    for values in _split_records(body, _PANE_VARIABLES):
        values_by_pane.setdefault(values["pane_id"], values)
    redacted = iter(redact_each([values[name] for values in values_by_pane.values() for name in _FREE_TEXT_VARIABLES]))
    panes = [
        _build_facts(values | {name: next(redacted) for name in _FREE_TEXT_VARIABLES})
        for values in values_by_pane.values()
    ]
    return ServerPaneList(panes, any(is_option_on(values["exit-unattached"]) for values in values_by_pane.values()))


def is_option_on(value: str) -> bool:
    """Return True for the value of a flag option: `1` or `on`, depending on the version."""
    return value in ("1", "on")


def parse_server_info(body: tuple[bytes, ...]) -> dict[str, str]:
    """Return pid, version, exit-unattached and socket_path of a server, or an empty dict if there is no answer."""
    return next(_split_records(body, _SERVER_VARIABLES), {})


def _split_records(body: tuple[bytes, ...], names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    *records, rest = b"\n".join(body).split(RECORD_SEPARATOR)
    if rest.strip():
        raise MuxError("cannot parse the pane listing of tmux")
    for record in records:
        values = record.removeprefix(b"\n").decode("utf-8", "replace").split(FIELD_SEPARATOR.decode())
        if len(values) != len(names):
            raise MuxError("cannot parse the pane listing of tmux")
        yield dict(zip(names, values, strict=True))


def _build_facts(values: dict[str, str]) -> PaneFacts:
    return PaneFacts(
        mux_id=MuxPaneId(values["pane_id"]),
        pid=_parse_int(values["pane_pid"]) or 0,
        session_id=values["session_id"],
        session_name=values["session_name"],
        session_attached=_parse_int(values["session_attached"]) or 0,
        session_clients=tuple(filter(None, values["session_attached_list"].split(","))),
        session_ends_unattached=values["destroy-unattached"] not in ("", "0", "off"),
        window_id=values["window_id"],
        window_index=_parse_int(values["window_index"]) or 0,
        window_name=values["window_name"],
        pane_index=_parse_int(values["pane_index"]) or 0,
        active=values["pane_active"] == "1",
        tty=values["pane_tty"],
        command=values["pane_current_command"],
        cwd=values["pane_current_path"],
        title=values["pane_title"],
        width=_parse_int(values["pane_width"]) or 0,
        height=_parse_int(values["pane_height"]) or 0,
        alternate=values["alternate_on"] == "1",
        in_mode=values["pane_in_mode"] not in ("", "0"),
        dead=values["pane_dead"] == "1",
        dead_status=_parse_int(values["pane_dead_status"]),
        dead_signal=_parse_int(values["pane_dead_signal"]),
        piped=values["pane_pipe"] == "1",
        history_limit=_parse_int(values["history_limit"]) or 0,
    )


def _parse_int(word: str) -> int | None:
    return int(word) if word.lstrip("-").isdecimal() else None
