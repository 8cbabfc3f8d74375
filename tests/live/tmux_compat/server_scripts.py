"""Read the tables behaviours.txt and dangerous_servers.txt: one section is one server and the lines that run on it."""

from itertools import groupby
from pathlib import Path
from typing import NamedTuple

TWO_SESSIONS = (
    "new-session -d -s alpha -n editor -x 100 -y 30 'exec cat'",
    "new-window -d -t =alpha: -n logs 'exec cat'",
    "split-window -d -t =alpha:logs 'exec cat'",
    "new-session -d -s bravo -n build -x 100 -y 30 'exec cat'",
)
SCENES = {
    # bravo is the newest, so tmux takes it where no target is named.
    "two sessions": TWO_SESSIONS,
    "attached": (*TWO_SESSIONS, "@client one attach-session -t =alpha"),
    "both attached": (*TWO_SESSIONS, "@client one attach-session -t =alpha", "@client two attach-session -t =bravo"),
    "one session": TWO_SESSIONS[:1],
    "nothing": (),
}
WORDS = {
    "$PLACE": "'#{session_name}:#{window_name}.#{pane_index} #{session_id} #{window_id} #{pane_id}'",
    "$CLIENTS": "list-clients -F '#{client_name} #{client_session} #{client_control_mode} #{client_flags}'",
    "$SESSIONS": "list-sessions -F '#{session_name} #{session_windows} #{session_attached}'",
    # The fields that tmux-resurrect saves for a pane.
    "$RESURRECT": "'pane #{session_name} #{window_index} #{window_active} :#{window_flags} #{pane_index} #{pane_title}"
    " :#{pane_current_path} #{pane_active} #{pane_current_command} #{history_size}'",
}
"""Abbreviations in the tables."""


class ServerScript(NamedTuple):
    """A server: its name, the lines that prepare it, and the lines that count.

    Scripts that only read may share a server with others that have the same setup.
    """

    name: str
    setup: tuple[str, ...]
    lines: tuple[str, ...]
    only_reads: bool = False


def read_scripts(file: str) -> list[ServerScript]:
    """Read a table beside this module: sections of a name in brackets and lines, separated by empty lines."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    for word, meaning in WORDS.items():
        text = text.replace(word, meaning)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    sections = [list(group) for is_text, group in groupby(lines, bool) if is_text]
    assert len(sections) == sum(line.startswith("[") for line in lines), "an empty line precedes each section"
    return [_parse_section(section[0].strip("[]"), section[1:]) for section in sections]


def _parse_section(name: str, lines: list[str]) -> ServerScript:
    fields: dict[str, list[str]] = {"scene": [], "setup": [], "reads": [], "": []}
    for line in lines:
        field, separator, rest = line.partition(": ")
        is_field = bool(separator) and field in fields
        fields[field if is_field else ""].append(rest if is_field else line)
    (scene,) = fields["scene"] or ["two sessions"]
    lines_that_count = (*fields["reads"], *fields[""])
    return ServerScript(name, (*SCENES[scene], *fields["setup"]), lines_that_count, not fields[""])
