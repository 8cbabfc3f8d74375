"""What belongs to a person and landed in our own session goes where it would have gone without us.

tmux takes a command without a target to the session that was used last, and that may be ours: `tmux new-window` in a
script opens its window there, `tmux attach` shows it. Ours is hidden from no rule of tmux's, so what strays into it is
sent on at once.
"""

from msgspec import Struct

from termvisor.backends.tmux.control_mode import quote_word
from termvisor.backends.tmux.pane_source import PRIVATE_SESSION_CONDITION, TmuxServer
from termvisor.errors import MuxError

_LIST_SESSIONS_COMMAND = f"list-sessions -F '#{{session_activity}} #{{session_attached}} #{{session_id}} #{{?{PRIVATE_SESSION_CONDITION},1,0}}'"


class _TmuxSession(Struct, frozen=True):
    id: str
    activity: int
    is_attached: bool


async def move_misplaced_windows(server: TmuxServer) -> int:
    """How many windows and clients were sent on."""
    sessions = await _list_user_sessions(server)
    if not sessions:
        return 0
    home = f"={server.home_session}:"
    windows = await _request_word_lists(server, f"list-windows -t {home} -F '#{{window_id}} #{{window_active}}'")
    clients = await _request_word_lists(server, f"list-clients -t {home} -F '#{{client_control_mode}} #{{client_tty}}'")
    newest = max(sessions, key=lambda one: one.activity)
    _, *strays = sorted(windows, key=lambda words: int(words[0].lstrip("@")))
    commands = [
        f"move-window {'' if active == '1' else '-d '}-s {window} -t {quote_word(newest.id)}:"
        for window, active in strays
    ]
    free = max(sessions, key=lambda one: (not one.is_attached, one.activity))
    commands += [
        f"switch-client -c {quote_word(words[1])} -t {quote_word(free.id)}" for words in clients if words[0] == "0"
    ]
    for command in commands:
        await server.client.request(command)
    return len(commands)


async def _list_user_sessions(server: TmuxServer) -> list[_TmuxSession]:
    found = await _request_word_lists(server, _LIST_SESSIONS_COMMAND)
    return [
        _TmuxSession(session, int(activity), attached != "0")
        for activity, attached, session, private in found
        if private == "0"
    ]


async def _request_word_lists(server: TmuxServer, command: str) -> list[list[str]]:
    """Only ids, numbers and names of terminals: nothing that a pane can choose."""
    reply = await server.client.request(command)
    if reply.error:
        raise MuxError(f"tmux said: {reply.error}")
    return [line.decode("ascii", "replace").split(" ") for line in reply.output_lines]
