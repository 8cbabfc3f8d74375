"""Derive the activity of a pane from marks: at a prompt, running a command, on the alternate screen, or unknown.

Any program can print shell marks. Only a mark with our nonce is proven; once a pane has shown our nonce, shell marks
without it are ignored, so that printing a hostile file cannot fake a prompt or an exit status.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.terminal.mark import Mark, MarkKind
from termvisor.model.terminal.pane import InputState, PaneActivity


class ActivityState(Struct, frozen=True, kw_only=True):
    """The activity and the state needed to follow it. Field names are stored in the database."""

    activity: PaneActivity = PaneActivity()
    behind: PaneActivity | None = None
    """The activity when the alternate screen was entered."""
    command_line: str | None = None
    """Reported before its command starts."""
    has_nonce: bool = False
    place: InputState = InputState()


def apply_mark(state: ActivityState, mark: Mark, at: int, nonce: str | None) -> ActivityState:
    """Apply one mark, read at time ``at``, of a pane whose shell was given ``nonce``."""
    if mark.kind in _SCREEN_HANDLERS:
        return _SCREEN_HANDLERS[mark.kind](state, at)
    is_proven = check_mark_proof(state, mark, nonce)
    if is_proven is None:
        return state
    if is_proven and not state.has_nonce:
        state = replace(state, has_nonce=True, command_line=None)
    return _SHELL_HANDLERS[mark.kind](state, mark, at, is_proven)


def check_mark_proof(state: ActivityState, mark: Mark, nonce: str | None) -> bool | None:
    """Return whether a shell mark is proven; None if it is no shell mark or is ignored for lack of the nonce."""
    if mark.kind not in _SHELL_HANDLERS:
        return None
    is_proven = nonce is not None and mark.params.get("nonce") == nonce
    return is_proven if is_proven or not state.has_nonce else None


def _enter_prompt(state: ActivityState, _mark: Mark, at: int, is_proven: bool) -> ActivityState:
    now = state.activity
    since = now.since if now.kind == "prompt" else at
    prompt = PaneActivity(kind="prompt", since=since, last_exit=now.last_exit, is_proven=is_proven)
    return replace(state, activity=prompt, behind=None)


def _enter_input(state: ActivityState, mark: Mark, at: int, is_proven: bool) -> ActivityState:
    place = replace(state.place, column=mark.column)
    return replace(_enter_prompt(state, mark, at, is_proven), place=place)


def _start_command(state: ActivityState, mark: Mark, at: int, is_proven: bool) -> ActivityState:
    line = mark.text or state.command_line
    command = PaneActivity(kind="command", since=at, command_line=line, is_proven=is_proven)
    place = replace(state.place, column=None)
    return replace(state, activity=command, behind=None, command_line=None, place=place)


def _end_command(state: ActivityState, mark: Mark, at: int, is_proven: bool) -> ActivityState:
    prompt = PaneActivity(kind="prompt", since=at, last_exit=mark.exit_code, is_proven=is_proven)
    return replace(state, activity=prompt, behind=None, command_line=None)


def _set_command_line(state: ActivityState, mark: Mark, _at: int, is_proven: bool) -> ActivityState:
    """Set the command line, which some shells report before the start of the command and some after it."""
    now = state.activity
    if now.kind == "command" and now.command_line is None and now.is_proven == is_proven:
        return replace(state, activity=replace(now, command_line=mark.text))
    return replace(state, command_line=mark.text)


def _enter_alternate_screen(state: ActivityState, at: int) -> ActivityState:
    if state.activity.kind == "alt_screen":
        return state
    return replace(state, activity=PaneActivity(kind="alt_screen", since=at), behind=state.activity)


def _leave_alternate_screen(state: ActivityState, at: int) -> ActivityState:
    if state.activity.kind != "alt_screen":
        return state
    behind = state.behind
    was_running = behind is not None and behind.kind == "command"
    return replace(state, activity=behind if was_running else PaneActivity(since=at), behind=None)


def _reset_activity(state: ActivityState, at: int) -> ActivityState:
    return replace(state, activity=PaneActivity(since=at), behind=None, command_line=None, place=InputState())


def _build_paste_handler(is_on: bool) -> Callable[[ActivityState, int], ActivityState]:
    return lambda state, _at: replace(state, place=replace(state.place, is_paste_on=is_on))


_SCREEN_HANDLERS: dict[MarkKind, Callable[[ActivityState, int], ActivityState]] = {
    "alt_screen_on": _enter_alternate_screen,
    "alt_screen_off": _leave_alternate_screen,
    "reset": _reset_activity,
    "paste_on": _build_paste_handler(True),
    "paste_off": _build_paste_handler(False),
}
_SHELL_HANDLERS: dict[MarkKind, Callable[[ActivityState, Mark, int, bool], ActivityState]] = {
    "prompt_start": _enter_prompt,
    "input_start": _enter_input,
    "command_start": _start_command,
    "command_end": _end_command,
    "command_line": _set_command_line,
}
