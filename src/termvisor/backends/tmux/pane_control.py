"""Change tmux panes, each change being one command list that the server runs only if its guard holds.

If a target does not exist, tmux uses the client's current pane, so every guard also checks the pane id. Replies are
parsed line by line, so the only text in them that a pane can choose is the screen, which comes last, and the program
name, which a tmux format reduces to harmless characters.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from msgspec.structs import replace

from termvisor.backends.key_names import is_key_name
from termvisor.backends.pane_control import (
    AppliedChange,
    AppliedPaneChange,
    AttachedClient,
    GuardMismatch,
    GuardResult,
    PaneGuard,
    PaneState,
    PaneViewer,
)
from termvisor.backends.tmux.commands import (
    CommandName,
    TmuxCommand,
    build_guard,
    generate_token,
    parse_refusal,
    render_hidden_script,
)
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.backends.tmux.server_safety import check_hazards, parse_version
from termvisor.clock import NS
from termvisor.errors import BadRequest, MuxError
from termvisor.model.action.action import Spawn
from termvisor.model.ids import MuxPaneId

_COMMAND_FORMAT = "#{s/[^A-Za-z0-9._+@ -]/?/:pane_current_command}"
_SAFE_COMMAND_NAME = re.compile(r"[A-Za-z0-9._+@ -]+")
_SEARCHABLE_TEXT = re.compile(r"[A-Za-z0-9 .❯›●→]+")
_PANE_STATE_FORMAT = (
    "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    f" #{{pane_width}} #{{pane_height}} #{{cursor_x}} #{{cursor_y}} #{{cursor_flag}} {_COMMAND_FORMAT}"
)
_CURSOR_FORMAT = "#{cursor_x}/#{cursor_y}"
_FRONT_PANE_FORMAT = "#{W:,#{P:,#{pane_id}}}"
_FIRST_SANITIZING_VERSION = (3, 7)
_INPUT_BLOCKING_FLAGS = ("pane_dead", "pane_in_mode", "pane_input_off", "pane_synchronized")
_CLIENT_FORMAT = "client #{client_control_mode} #{pane_id} #{client_activity} #{client_utf8} #{client_tty}"


class TmuxPaneControl:
    def __init__(self, server: TmuxServer):
        self._server = server

    async def read_pane_state(self, pane: MuxPaneId) -> PaneState | None:
        token = generate_token()
        # The screen comes last, and every line of a client starts with the token, so no row can imitate one.
        reply = await self._server.client.request(
            TmuxCommand("display-message", "-p", "-t", pane, _PANE_STATE_FORMAT),
            _build_view_command(pane),
            TmuxCommand("list-clients", "-F", f"{token} {_CLIENT_FORMAT}"),
            TmuxCommand("capture-pane", "-p", "-J", "-e", "-t", pane),
        )
        # Without the pane, the first commands describe another one and the last one fails.
        if "can't find pane" in reply.error:
            return None
        if reply.error or len(reply.lines) < 2:
            raise MuxError(f"tmux reported: {reply.error or 'nothing'}")
        facts, view, *rest = reply.lines
        prefix = f"{token} ".encode()
        clients = [_split_client_line(line.removeprefix(prefix)) for line in rest if line.startswith(prefix)]
        state = _parse_pane_state(facts.decode("utf-8", "replace"), clients, tuple(rest[len(clients) :]))
        _, front, title = _split_view_line(view.decode("utf-8", "replace"))
        return replace(state, front=MuxPaneId(front), title=title)

    async def list_clients(self) -> list[AttachedClient]:
        reply = await self._server.client.request(TmuxCommand("list-clients", "-F", _CLIENT_FORMAT))
        rows = [_split_client_line(line) for line in reply.lines]
        return [_parse_client(words) for words in rows if words[:2] == ["client", "0"]]

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        if "\0" in text:
            raise BadRequest("the text contains a NUL character, which cannot be typed")
        buffer = generate_token()
        # The server reads the text from us, so that it has any size and is not in the user's message log.
        loading = TmuxCommand("load-buffer", "-b", buffer, "-")
        flags = ("-p", "-r", "-d", *_list_raw_paste_flags(self._server.version))
        pasting = TmuxCommand("paste-buffer", *flags, "-b", buffer, "-t", guard.pane)
        has_typed = False
        try:
            if _name_required_texts(guard):
                await self._server.client.request(loading, stdin=text.encode())
                result = await self._request_guarded(guard, [pasting])
            else:
                result = await self._request_guarded(guard, [pasting], before=[loading], stdin=text.encode())
            has_typed = not isinstance(result, GuardMismatch)
        finally:
            if not has_typed:
                # The text must not stay among the user's buffers.
                with suppress(MuxError):
                    await self._server.client.request(TmuxCommand("delete-buffer", "-b", buffer))
        return result if isinstance(result, GuardMismatch) else AppliedChange()

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        # send-keys would type an unknown name letter by letter.
        unknown = [key for key in keys if not is_key_name(key)]
        if unknown or not keys:
            raise BadRequest(f"unknown key {unknown[0]!r}" if unknown else "name at least one key")
        result = await self._request_guarded(guard, [TmuxCommand("send-keys", "-t", guard.pane, "--", *keys)])
        return result if isinstance(result, GuardMismatch) else AppliedChange()

    async def open_pane(self, spawn: Spawn, beside: MuxPaneId | None, gate: str = "") -> tuple[MuxPaneId, int]:
        """Start the program once the FIFO ``gate``, if it is given, has ended or is gone."""
        command = build_spawn_command(spawn, beside, gate)
        await check_hazards(self._server.client, self._server.version, command)
        reply = await self._server.client.request(command)
        words = reply.lines[-1].decode("ascii", "replace").split() if reply.lines else []
        if len(words) != 2 or reply.error:
            raise MuxError(f"tmux cannot start the program: {reply.error or 'no answer'}")
        return MuxPaneId(words[0]), int(words[1])

    async def change_pane(
        self, guard: PaneGuard, change: Literal["activate", "title", "close"], value: str = ""
    ) -> GuardMismatch | AppliedPaneChange:
        pane, view = guard.pane, _build_view_command(guard.pane)
        commands = {
            "activate": [TmuxCommand("select-window", "-t", pane), TmuxCommand("select-pane", "-t", pane), view],
            "title": [TmuxCommand("select-pane", "-t", pane, "-T", value.replace("#", "##")), view],
            "close": [TmuxCommand("kill-pane", "-t", pane)],
        }
        result = await self._request_guarded(guard, [view, *commands[change]])
        return result if isinstance(result, GuardMismatch) else _parse_applied_change(result)

    async def _request_guarded(
        self,
        guard: PaneGuard,
        commands: Sequence[TmuxCommand],
        *,
        before: Sequence[TmuxCommand] = (),
        stdin: bytes = b"",
    ) -> GuardMismatch | list[str]:
        """Run commands if the guard holds and return their output lines; otherwise return the failed condition."""
        success_token, texts = generate_token(), _name_required_texts(guard)
        listed = (
            *before,
            build_guard(guard.pane, build_condition(guard, texts), _build_guard_report_format(guard, texts)),
            *commands,
            TmuxCommand("display-message", "-p", success_token),
        )
        if texts:
            # What is typed, and what a screen shows, may be a secret, and must not stay in tmux's message log.
            listed, stdin = (TmuxCommand("source-file", "-"),), render_hidden_script(listed, texts).encode()
        reply = await self._server.client.request(*listed, stdin=stdin)
        if reply.lines[-1:] == (success_token.encode(),):
            # The first line is the guard's.
            return [line.decode("utf-8", "replace") for line in reply.lines[1:-1]]
        report = parse_refusal(reply)
        if report is None:
            raise MuxError(f"tmux reported: {reply.error or 'nothing'}")
        # Without the pane, the report has no pane id.
        return parse_mismatch(guard, report) if report.startswith("%") else GuardMismatch("pane", guard.pane, "none")


def _list_raw_paste_flags(version: str) -> tuple[str, ...]:
    """Return the flag with which newer versions paste control characters unchanged, as older ones do."""
    release = parse_version(version)
    return ("-S",) if release is not None and release >= _FIRST_SANITIZING_VERSION else ()


def build_condition(guard: PaneGuard, texts: Iterable[str] = ()) -> str:
    """Return a tmux format that is true if all conditions of the guard hold.

    ``texts`` are the names of the variables that hold the texts required on the screen.
    Raises BadRequest for a program name or text that cannot be written in a format.
    """
    parts = [
        f"#{{==:#{{pane_id}},{guard.pane}}}",
        f"#{{==:#{{pane_pid}},{guard.pid}}}",
        *(f"#{{==:#{{{flag}}},0}}" for flag in _INPUT_BLOCKING_FLAGS if guard.takes_input),
    ]
    if guard.command is not None:
        if not _SAFE_COMMAND_NAME.fullmatch(guard.command):
            raise BadRequest(f"cannot check for a program named {guard.command!r}: unsupported characters")
        parts.append(f"#{{==:#{{pane_current_command}},{guard.command}}}")
    if guard.alternate is not None:
        parts.append(f"#{{==:#{{alternate_on}},{int(guard.alternate)}}}")
    parts += map(_build_screen_condition, texts)
    if guard.cursor is not None:
        parts.append(f"#{{==:{_CURSOR_FORMAT},{_format_cursor(guard)}}}")
    if guard.title is not None:
        parts.append(_build_title_condition(guard.title))
    if guard.front is not None:
        parts.append(f"#{{==:{_FRONT_PANE_FORMAT},{guard.front}}}")
    condition = parts.pop()
    while parts:
        condition = f"#{{&&:{parts.pop()},{condition}}}"
    return condition


def parse_mismatch(guard: PaneGuard, answer: str) -> GuardMismatch:
    """Return the first failed condition, read from the report that tmux printed."""
    words = answer.split(" ", 10)
    if len(words) < 11:
        raise MuxError("tmux refused the change without a readable reason")
    pane, pid, dead, mode, input_off, synchronized, alternate, screen, cursor, has_title, rest = words
    command, _, front = rest.rpartition(" ")
    required = " / ".join(_list_required_texts(guard))
    is_shown = screen in ("-", "1" * len(_list_required_texts(guard)))
    checks = (
        GuardMismatch("pane", guard.pane, pane or "none"),
        # tmux 3.8 forgets the process of a dead pane.
        GuardMismatch("dead", "0", dead),
        GuardMismatch("pid", str(guard.pid), pid),
        GuardMismatch("mode", "0", mode),
        GuardMismatch("input_off", "0", input_off),
        GuardMismatch("synchronized", "0", synchronized),
        GuardMismatch("command", command if guard.command is None else guard.command, command),
        GuardMismatch("alternate", alternate if guard.alternate is None else str(int(guard.alternate)), alternate),
        GuardMismatch("screen", required, required if is_shown else "not in any row"),
        GuardMismatch("cursor", _format_cursor(guard) or cursor, cursor),
        GuardMismatch("title", guard.title or "", (guard.title or "") if has_title == "1" else "another one"),
        GuardMismatch("front", front if guard.front is None else guard.front, front),
    )
    ignored = () if guard.takes_input else ("dead", "mode", "input_off", "synchronized")
    failed = [check for check in checks if check.expected != check.actual and check.what not in ignored]
    # Unreachable in practice: the condition and the report are in one command list, so nothing changes between them.
    return failed[0] if failed else GuardMismatch("screen", "what was expected", "something else")


def _build_guard_report_format(guard: PaneGuard, texts: Iterable[str]) -> str:
    """Return a tmux format that prints the actual value of every condition."""
    screen = "".join(map(_build_screen_condition, texts)) or "-"
    has_title = "1" if guard.title is None else _build_title_condition(guard.title)
    flags = "#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{pane_synchronized} #{alternate_on}"
    return f"{flags} {screen} {_CURSOR_FORMAT} {has_title} {_COMMAND_FORMAT} {_FRONT_PANE_FORMAT}"


def _format_cursor(guard: PaneGuard) -> str:
    return "" if guard.cursor is None else f"{guard.cursor[0]}/{guard.cursor[1]}"


def _build_title_condition(title: str) -> str:
    """Return a format that compares the pane title with ``title``, whose special characters are escaped."""
    text = re.sub(r"[#,}]", r"#\g<0>", title)
    return f"#{{==:#{{pane_title}},{text}}}"


def _build_view_command(pane: MuxPaneId) -> TmuxCommand:
    """Return a command that prints the front pane and the title. tmux removes control characters from titles."""
    return TmuxCommand("display-message", "-p", "-t", pane, f"view {_FRONT_PANE_FORMAT} #{{pane_title}}")


def _parse_applied_change(lines: list[str]) -> AppliedPaneChange:
    (_, front, title), (_, _, new_title) = _split_view_line(lines[0]), _split_view_line(lines[-1])
    return AppliedPaneChange(old_title=title, old_front=MuxPaneId(front), new_title=new_title)


def _split_view_line(line: str) -> list[str]:
    words = line.split(" ", 2)
    if len(words) != 3 or words[0] != "view":
        raise MuxError("cannot parse the answer of tmux")
    return words


def _list_required_texts(guard: PaneGuard) -> tuple[str, ...]:
    """Return all texts that must be on the screen."""
    return (guard.shows, *guard.rows) if guard.shows else guard.rows


def _name_required_texts(guard: PaneGuard) -> dict[str, str]:
    """Return the texts that must be on the screen by the names of their variables, which no other request uses.

    Raises BadRequest for a text that tmux cannot search for.
    """
    texts = _list_required_texts(guard)
    if not all(map(_SEARCHABLE_TEXT.fullmatch, texts)):
        raise BadRequest(
            "cannot search the screen for this text: only letters, digits, blanks and pointers are supported"
        )
    token = generate_token()
    return {f"{token}_{number}": text for number, text in enumerate(texts)}


def _build_screen_condition(name: str) -> str:
    """Return a format that is true if the screen shows the text of this variable."""
    return f"#{{!=:#{{C:#{{{name}}}}},0}}"


def _parse_pane_state(facts: str, clients: list[list[str]], body: tuple[bytes, ...]) -> PaneState:
    words = facts.split(" ", 12)
    if len(words) != 13:
        raise MuxError("cannot parse the answer of tmux")
    pane, command = MuxPaneId(words[0]), words[12]
    pid, dead, mode, input_off, synchronized, alternate, width, height, x, y, cursor = (
        int(word or 0) for word in words[1:12]
    )
    return PaneState(
        pane=pane,
        pid=pid,
        command=command,
        dead=bool(dead),
        in_mode=bool(mode),
        input_off=bool(input_off),
        synchronized=bool(synchronized),
        alternate=bool(alternate),
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        cursor_visible=bool(cursor),
        rows=tuple(row.decode("utf-8", "replace") for row in body),
        viewers=tuple(
            PaneViewer(client.tty, client.typed_at)
            for client in (_parse_client(words) for words in clients if words[1:3] == ["0", pane])
        ),
    )


def _split_client_line(line: bytes) -> list[str]:
    return line.decode("utf-8", "replace").split(" ", 5)


def _parse_client(words: list[str]) -> AttachedClient:
    """Parse ``client 0 %5 1767268800 1 /dev/pts/3``. tmux reports whole seconds, so assume the end of the second."""
    return AttachedClient(words[5], MuxPaneId(words[2]), (int(words[3]) + 1) * NS, words[4] == "1")


_SESSION_ID = re.compile(r"\$\d+")
_KEEP_FAILED_PANE_SCRIPT = 'tmux set-option -p -t "$TMUX_PANE" remain-on-exit failed 2>/dev/null; echo; exec "$@"'
"""Runs in the new pane itself, because a later command could reach tmux after the program exited. The empty row is the
one that tmux scrolls off the screen when it reports the pane as dead."""
WAIT_SCRIPT = """[ -p "$1" ] && read -r _ <"$1"
shift
if [ $# = 0 ]; then
    command=$(tmux show-options -Aqv -t "$TMUX_PANE" default-command 2>/dev/null)
    if [ -n "$command" ]; then set -- "$SHELL" -c "$command"; else set -- "$SHELL" -l; fi
fi
exec "$@"
"""
"""Waits until the daemon closes the FIFO, then starts the program or, as tmux would, the user's shell."""
_COMMAND_BY_PLACE: Mapping[str, CommandName] = {
    "session": "new-session",
    "window": "new-window",
    "pane": "split-window",
}


def build_spawn_command(spawn: Spawn, beside: MuxPaneId | None, gate: str = "") -> TmuxCommand:
    """Return a command that prints the new pane's id and process id. The program waits for the end of a FIFO ``gate``.

    Raises BadRequest if the pane to split or the session is missing.
    """
    words = ["-d", "-P", "-F", "#{pane_id} #{pane_pid}", *_build_target_arguments(spawn, beside)]
    if spawn.cwd:
        # tmux expands formats in the folder name.
        words += ["-c", spawn.cwd.replace("#", "##")]
    for name, value in spawn.env.items():
        words += ["-e", f"{name}={value}"]
    if spawn.name and spawn.where != "pane":
        words += ["-n", spawn.name]
    program = _wrap_program(spawn)
    if gate:
        program = ("sh", "-c", WAIT_SCRIPT, "sh", gate, *program)
    program_words = ["--", *_build_program_words(program)] if program else []
    return TmuxCommand(_COMMAND_BY_PLACE[spawn.where], *words, *program_words)


def _build_target_arguments(spawn: Spawn, beside: MuxPaneId | None) -> list[str]:
    if spawn.where == "session":
        # -E: the daemon's environment is not the user's, so the session inherits the server's.
        return ["-E", "-s", spawn.session] if spawn.session else ["-E"]
    if spawn.where == "pane":
        if beside is None:
            raise BadRequest("a new pane needs a pane to split")
        return ["-h" if spawn.is_horizontal else "-v", "-t", beside]
    if not spawn.session:
        hint = "Name one with --session, or use --where session for a new one."
        raise BadRequest("a new window needs a session", hint=hint)
    prefix = "" if _SESSION_ID.fullmatch(spawn.session) else "="
    return ["-t", f"{prefix}{spawn.session}:"]


def _wrap_program(spawn: Spawn) -> tuple[str, ...]:
    """Return the command line, wrapped on request so that the pane of a failed program stays open with its output."""
    keeps_pane = (spawn.keeps_failure or spawn.account) and spawn.command
    return ("sh", "-c", _KEEP_FAILED_PANE_SCRIPT, "sh", *spawn.command) if keeps_pane else spawn.command


def _build_program_words(argv: tuple[str, ...]) -> list[str]:
    """Return the program's words. tmux runs several words directly but passes a single word to a shell."""
    return list(argv) if len(argv) > 1 else ["exec '" + argv[0].replace("'", "'\\''") + "'"]
