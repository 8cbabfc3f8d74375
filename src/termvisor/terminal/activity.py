"""Marks become the activity of a pane: at a prompt, running a command, in the alternate screen, or unknown.

Any program can print the shell's marks. Only a mark with our nonce proves anything; and once a pane has shown our
nonce, shell marks without it are not even heard, so that printing a hostile file cannot fake a prompt or a status.
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.terminal.mark import Mark, MarkKind
from termvisor.model.terminal.pane import Activity, InputPlace


class Following(Struct, frozen=True, kw_only=True):
    """The activity, and what must be remembered to follow it on."""

    activity: Activity = Activity()
    behind: Activity | None = None
    """What went on when the alternate screen was entered."""
    command_line: str | None = None
    """Announced, but its command has not started yet."""
    has_nonce: bool = False
    place: InputPlace = InputPlace()


def follow(following: Following, mark: Mark, at: int, nonce: str | None) -> Following:
    """What is known after this mark, heard at this instant, in a pane whose shell was given this nonce."""
    if mark.kind in _SCREEN:
        return _SCREEN[mark.kind](following, at)
    is_proven = belief(following, mark, nonce)
    if is_proven is None:
        return following
    if is_proven and not following.has_nonce:
        following = replace(following, has_nonce=True, command_line=None)
    return _SHELL[mark.kind](following, mark, at, is_proven)


def belief(following: Following, mark: Mark, nonce: str | None) -> bool | None:
    """Whether this mark of a shell is proven; None when it is no shell's, or is not heard for want of the nonce."""
    if mark.kind not in _SHELL:
        return None
    is_proven = nonce is not None and mark.params.get("nonce") == nonce
    return is_proven if is_proven or not following.has_nonce else None


def _at_prompt(following: Following, _mark: Mark, at: int, is_proven: bool) -> Following:
    now = following.activity
    since = now.since if now.kind == "prompt" else at
    prompt = Activity(kind="prompt", since=since, last_exit=now.last_exit, is_proven=is_proven)
    return replace(following, activity=prompt, behind=None)


def _at_input(following: Following, mark: Mark, at: int, is_proven: bool) -> Following:
    place = replace(following.place, column=mark.column)
    return replace(_at_prompt(following, mark, at, is_proven), place=place)


def _command_started(following: Following, mark: Mark, at: int, is_proven: bool) -> Following:
    line = mark.text or following.command_line
    command = Activity(kind="command", since=at, command_line=line, is_proven=is_proven)
    place = replace(following.place, column=None)
    return replace(following, activity=command, behind=None, command_line=None, place=place)


def _command_ended(following: Following, mark: Mark, at: int, is_proven: bool) -> Following:
    prompt = Activity(kind="prompt", since=at, last_exit=mark.exit_code, is_proven=is_proven)
    return replace(following, activity=prompt, behind=None, command_line=None)


def _command_line(following: Following, mark: Mark, _at: int, is_proven: bool) -> Following:
    """Some shells tell the line before the start of the command, some after it."""
    now = following.activity
    if now.kind == "command" and now.command_line is None and now.is_proven == is_proven:
        return replace(following, activity=replace(now, command_line=mark.text))
    return replace(following, command_line=mark.text)


def _alternate_on(following: Following, at: int) -> Following:
    if following.activity.kind == "alt_screen":
        return following
    return replace(following, activity=Activity(kind="alt_screen", since=at), behind=following.activity)


def _alternate_off(following: Following, at: int) -> Following:
    if following.activity.kind != "alt_screen":
        return following
    behind = following.behind
    was_running = behind is not None and behind.kind == "command"
    return replace(following, activity=behind if was_running else Activity(since=at), behind=None)


def _reset(following: Following, at: int) -> Following:
    return replace(following, activity=Activity(since=at), behind=None, command_line=None, place=InputPlace())


def _pasting(is_on: bool) -> Callable[[Following, int], Following]:
    return lambda following, _at: replace(following, place=replace(following.place, is_paste_on=is_on))


_SCREEN: dict[MarkKind, Callable[[Following, int], Following]] = {
    "alt_screen_on": _alternate_on,
    "alt_screen_off": _alternate_off,
    "reset": _reset,
    "paste_on": _pasting(True),
    "paste_off": _pasting(False),
}
_SHELL: dict[MarkKind, Callable[[Following, Mark, int, bool], Following]] = {
    "prompt_start": _at_prompt,
    "input_start": _at_input,
    "command_start": _command_started,
    "command_end": _command_ended,
    "command_line": _command_line,
}
