"""Move the user's windows and clients out of our private session.

tmux applies a command without a target to the session used last, which may be ours: `tmux new-window` in a script
opens its window there, `tmux attach` shows it. tmux offers no way to exclude a session, so they are moved at once.
"""

from msgspec import Struct

from termvisor.backends.tmux.control_mode import quote_word
from termvisor.backends.tmux.pane_source import PRIVATE_SESSION_CONDITION, TmuxServer
from termvisor.errors import MuxError

_LIST_SESSIONS_COMMAND = (
    "list-sessions -F"
    f" '#{{session_activity}} #{{session_attached}} #{{session_id}} #{{?{PRIVATE_SESSION_CONDITION},1,0}}'"
)


class _TmuxSession(Struct, frozen=True):
    id: str
    activity: int
    is_attached: bool


async def move_misplaced_windows(server: TmuxServer) -> int:
    """Move misplaced windows and clients to the user's most recently used session; return how many were moved."""
    sessions = await _list_user_sessions(server)
    if not sessions:
        return 0
    home = f"={server.home_session}:"
    windows = await _request_word_lists(server, f"list-windows -t {home} -F '#{{window_id}} #{{window_active}}'")
    clients = await _request_word_lists(server, f"list-clients -t {home} -F '#{{client_control_mode}} #{{client_tty}}'")
    window_target = max(sessions, key=lambda session: session.activity)
    _, *misplaced = sorted(windows, key=lambda words: int(words[0].lstrip("@")))
    commands = [
        f"move-window {'' if active == '1' else '-d '}-s {window} -t {quote_word(window_target.id)}:"
        for window, active in misplaced
    ]
    client_target = max(sessions, key=lambda session: (not session.is_attached, session.activity))
    commands += [
        f"switch-client -c {quote_word(words[1])} -t {quote_word(client_target.id)}"
        for words in clients
        if words[0] == "0"
    ]
    for command in commands:
        await server.client.request(command)
    return len(commands)


async def _list_user_sessions(server: TmuxServer) -> list[_TmuxSession]:
    rows = await _request_word_lists(server, _LIST_SESSIONS_COMMAND)
    return [
        _TmuxSession(session, int(activity), attached != "0")
        for activity, attached, session, private in rows
        if private == "0"
    ]


async def _request_word_lists(server: TmuxServer, command: str) -> list[list[str]]:
    """Return the output lines split into words: ids, numbers and tty names, never text that a pane can choose."""
    reply = await server.client.request(command)
    if reply.error:
        raise MuxError(f"tmux reported: {reply.error}")
    return [line.decode("ascii", "replace").split(" ") for line in reply.output_lines]
