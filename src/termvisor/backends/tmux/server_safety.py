"""What must not be sent to which tmux server: commands that crash or freeze some versions, and how they are avoided.

A server is first asked for its version and options by a plain `tmux` process, which only reads. Everything later is
checked against the tables here.
"""

import re

from msgspec import Struct

from termvisor.backends.tmux.commands import CommandName, TmuxClient, TmuxCommand
from termvisor.errors import MuxError, Unsupported

Version = tuple[int, int]
_RELEASE = re.compile(r"(\d+)\.(\d+)[a-z]?")
_FIRST_NATIVE, _LAST_NATIVE = (3, 2), (3, 8)
"""Versions whose protocol was compared with the native client: same messages and sizes, protocol version 8. A message
of another size ends servers before 3.7, and the protocol version did not change with every difference."""


class ServerHazard(Struct, frozen=True):
    """Commands that harm servers of some versions while an option has a value, which is read just before."""

    commands: tuple[CommandName, ...]
    option: tuple[str, str]
    """Flags of show-options for its global value, and its name."""
    values: tuple[str, ...]
    first: Version
    fixed: Version
    effect: str
    remedy: str
    """The command that gives the option a harmless value."""


CONDITIONAL_HAZARDS = (
    ServerHazard(
        commands=("new-session", "new-window"),
        option=("-gwv", "window-size"),
        values=("manual",),
        first=(3, 3),
        fixed=(3, 7),
        effect="tmux crashes with all its panes (a null pointer in resize.c)",
        remedy="tmux set-option -gw window-size latest",
    ),
)
NEVER_SENT = {
    "suspend-client": "crashes the server with all its panes, even for a client that was not suspended",
    "attach-session": "only control_client.py attaches: tied to this process, with ignore-size and a guard client"
    " (otherwise a crash of ours froze the programs in 8 of 8 runs), and never to a session with destroy-unattached"
    " (tmux crashed in 15 of 40 runs when our client was its last)",
    "switch-client": "moves a client, and counts as activity of the session",
    "wait-for": "a waiting client keeps the server from exiting with its last session",
}
"""Commands that are not in the table of commands that are sent, and why they must not get into it."""

DISCONNECT_HAZARD = (
    "When any client disconnects, tmux destroys sessions that have destroy-unattached and no attached client. A client"
    " that is just detaching is not counted but still points to its session, so tmux crashes with all its panes. With"
    " 40 short commands per second, of ours or of any script, 5 of 40 detaches crashed tmux 3.3a; 3.7c has the same"
    " defect. While a server has such a session, the native client therefore keeps finished connections and closes"
    " them together every 30 seconds."
)
"""Every request ends with a disconnect, so this one cannot be avoided, only made rare."""


def explain_no_native_client(version: str) -> str:
    """Return why the native client must not talk to a server of this version; empty if it may."""
    release = parse_version(version)
    if release is None:
        return f"tmux {version} is not a release that is known to be safe for the native client"
    if not _FIRST_NATIVE <= release <= _LAST_NATIVE:
        known = f"{'.'.join(map(str, _FIRST_NATIVE))} to {'.'.join(map(str, _LAST_NATIVE))}"
        return f"tmux {version} is not known to be safe for the native client ({known} are)"
    return ""


def parse_version(version: str) -> Version | None:
    """Return major and minor number of a release such as `3.3a`; None for anything else, such as `next-3.9`."""
    match = _RELEASE.fullmatch(version)
    return (int(match[1]), int(match[2])) if match else None


async def check_hazards(client: TmuxClient, version: str, command: TmuxCommand) -> None:
    """Raise Unsupported if this command would harm the server with its current options."""
    release = parse_version(version)
    for hazard in CONDITIONAL_HAZARDS:
        # An unknown version may have any of the defects.
        is_affected = release is None or hazard.first <= release < hazard.fixed
        if command.name in hazard.commands and is_affected:
            await _check_option(client, version, hazard)


async def _check_option(client: TmuxClient, version: str, hazard: ServerHazard) -> None:
    flags, name = hazard.option
    reply = await client.request(TmuxCommand("show-options", flags, name))
    if reply.error or len(reply.lines) != 1:
        raise MuxError(f"cannot read the tmux option {name}: {reply.error or 'no answer'}")
    value = reply.lines[0].decode("utf-8", "replace")
    if value in hazard.values:
        fixed = ".".join(map(str, hazard.fixed))
        raise Unsupported(
            f"no window was opened: tmux {version} crashes with all its panes if one is opened while its option"
            f" {name} is {value}",
            hint=f"Run `{hazard.remedy}` and retry, or update tmux to {fixed}.",
        )
