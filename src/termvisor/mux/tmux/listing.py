"""tmux formats and how their answers become values.

Free text may hold anything, also newlines and our separators, and no directory name may forge a pane. Names and titles
are sent with their length in front. What tmux reads from the process each time it is named may change between its
length and its text: from that it takes the separators out.
"""

from collections.abc import Iterator

from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.pane import PaneFacts
from termvisor.mux.base import Thin
from termvisor.redact import redact

_FIELD, _RECORD = b"\x1f", b"\x1e"
_WORDS = (
    "pane_id", "pane_pid", "session_id", "session_attached", "window_id", "window_index", "pane_index", "pane_active",
    "pane_tty", "pane_width", "pane_height", "alternate_on", "pane_in_mode", "pane_dead", "pane_dead_status",
    "pane_dead_signal", "pane_pipe", "history_limit", "destroy-unattached",
)  # fmt: skip
_LIVE = ("pane_current_command", "pane_current_path")
_TEXTS = ("session_name", "window_name", "pane_title")
_HEAD = len(_WORDS) + len(_LIVE)


def _format(*parts: str) -> str:
    return '"' + "\\037".join(parts) + '\\036"'


THIN = "list-panes -a -F " + _format("#{pane_id}", "#{pane_pid}", "#{pane_pipe}", "#{pane_dead}")
FULL = "list-panes -a -F " + _format(
    *(f"#{{{word}}}" for word in _WORDS),
    *(f"#{{s/[\\036\\037]/?/:{word}}}" for word in _LIVE),
    *(f"#{{n:{text}}}" for text in _TEXTS),
    *(f"#{{{text}}}" for text in _TEXTS),
)
SERVER = "display-message -p " + '"' + "\\037".join(
    ("#{pid}", "#{version}", "#{exit-unattached}", "#{socket_path}")
) + '"'  # fmt: skip


def parse_thin(body: tuple[bytes, ...], hidden: frozenset[str] = frozenset()) -> dict[MuxPaneId, Thin]:
    """``hidden`` are the panes of our own session."""
    found = {}
    for line in body:
        pane, pid, piped, dead = line.removesuffix(_RECORD).split(_FIELD)
        name = MuxPaneId(pane.decode())
        if name not in hidden:
            found[name] = Thin(int(pid or 0), piped == b"1", dead == b"1")
    return found


def parse_full(body: tuple[bytes, ...]) -> list[PaneFacts]:
    """Every pane once, also when its window is linked into several sessions."""
    found: dict[str, PaneFacts] = {}
    for words, texts in _records(b"\n".join(body)):
        facts = _facts(dict(zip((*_WORDS, *_LIVE), words, strict=True)), dict(zip(_TEXTS, texts, strict=True)))
        found.setdefault(facts.mux_id, facts)
    return list(found.values())


def _records(data: bytes) -> Iterator[tuple[list[str], list[str]]]:
    at = 0
    while at < len(data):
        head = data[at:].split(_FIELD, _HEAD + len(_TEXTS))
        words, lengths = head[:_HEAD], head[_HEAD:-1]
        at = len(data) - len(head[-1])
        texts = []
        try:
            for length in map(int, lengths):
                texts.append(data[at : at + length].decode("utf-8", "replace"))
                at += length + 1
        except ValueError as error:
            raise MuxError("tmux answered a listing that we cannot read") from error
        if data[at - 1 : at] != _RECORD:
            raise MuxError("tmux answered a listing that we cannot read")
        at += 1
        yield [word.decode("utf-8", "replace") for word in words], texts


def _facts(word: dict[str, str], text: dict[str, str]) -> PaneFacts:
    return PaneFacts(
        mux_id=MuxPaneId(word["pane_id"]),
        pid=_number(word["pane_pid"]) or 0,
        session_id=word["session_id"],
        session_name=redact(text["session_name"]),
        session_attached=_number(word["session_attached"]) or 0,
        session_ends_unattached=word["destroy-unattached"] not in ("", "0", "off"),
        window_id=word["window_id"],
        window_index=_number(word["window_index"]) or 0,
        window_name=redact(text["window_name"]),
        pane_index=_number(word["pane_index"]) or 0,
        active=word["pane_active"] == "1",
        tty=word["pane_tty"],
        command=redact(word["pane_current_command"]),
        cwd=redact(word["pane_current_path"]),
        title=redact(text["pane_title"]),
        width=_number(word["pane_width"]) or 0,
        height=_number(word["pane_height"]) or 0,
        alternate=word["alternate_on"] == "1",
        in_mode=word["pane_in_mode"] not in ("", "0"),
        dead=word["pane_dead"] == "1",
        dead_status=_number(word["pane_dead_status"]),
        dead_signal=_number(word["pane_dead_signal"]),
        piped=word["pane_pipe"] == "1",
        history_limit=_number(word["history_limit"]) or 0,
    )


def _number(word: str) -> int | None:
    return int(word) if word.lstrip("-").isdecimal() else None
