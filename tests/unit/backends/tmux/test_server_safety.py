"""Nothing is sent that would harm a server of its version and options."""

from contextlib import suppress

import pytest

from termvisor.backends.pane_control import AppliedChange, PaneGuard
from termvisor.backends.tmux.commands import COMMAND_NAMES, TmuxCommand, TmuxReply
from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.backends.tmux.server_safety import (
    CONDITIONAL_HAZARDS,
    NEVER_SENT,
    check_hazards,
    explain_no_native_client,
    parse_version,
)
from termvisor.errors import MuxError, Unsupported
from termvisor.model.action.action import Spawn


class AnsweringClient:
    """A client whose server has one value for every option."""

    kind = "fake"

    def __init__(self, *lines: bytes, error: str = ""):
        self._reply, self.asked = TmuxReply(lines, error), []

    async def request(self, *commands: TmuxCommand, stdin: bytes = b"") -> TmuxReply:
        self.asked += [command.words for command in commands]
        return self._reply

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("version", "release"),
    [("3.3a", (3, 3)), ("3.10", (3, 10)), ("next-3.7", None), ("openbsd-7.8", None), ("master", None), ("", None)],
)
def test_only_releases_have_a_version_number(version, release):
    assert parse_version(version) == release


@pytest.mark.parametrize("version", ["3.2", "3.2a", "3.3a", "3.5a", "3.8"])
def test_the_native_client_is_used_for_known_releases(version):
    assert explain_no_native_client(version) == ""


@pytest.mark.parametrize("version", ["3.1c", "2.9", "3.9", "4.0", "next-3.7", "master", ""])
def test_other_versions_get_tmux_processes_and_a_reason(version):
    assert f"tmux {version}" in explain_no_native_client(version)


def test_a_command_that_must_not_be_sent_is_in_no_table():
    assert not COMMAND_NAMES & set(NEVER_SENT)
    assert {name for hazard in CONDITIONAL_HAZARDS for name in hazard.commands} <= COMMAND_NAMES


@pytest.mark.parametrize("version", ["3.3", "3.3a", "3.5a", "3.6b", "next-3.6"])
async def test_a_command_that_would_crash_the_server_is_refused(version):
    with pytest.raises(Unsupported, match="its option window-size is manual") as refused:
        await check_hazards(AnsweringClient(b"manual"), version, TmuxCommand("new-window"))
    assert refused.value.hint == "Run `tmux set-option -gw window-size latest` and retry, or update tmux to 3.7."


@pytest.mark.parametrize(
    ("version", "command"), [("3.2a", "new-window"), ("3.7", "new-session"), ("3.3a", "split-window")]
)
async def test_nothing_is_asked_if_nothing_can_happen(version, command):
    client = AnsweringClient(b"manual")
    await check_hazards(client, version, TmuxCommand(command))
    assert client.asked == []


async def test_an_option_that_cannot_be_read_is_an_error():
    with pytest.raises(MuxError, match="window-size"):
        await check_hazards(AnsweringClient(error="no"), "3.3a", TmuxCommand("new-window"))


async def test_a_server_with_manual_window_sizes_survives_a_spawn(tmux, pane, native):
    control = TmuxPaneControl(await identify_server(native, tmux.socket))
    tmux("set", "-g", "window-size", "manual")
    for where in ("session", "window"):
        spawn = Spawn(where=where, session="work" if where == "window" else "new")
        with suppress(Unsupported):  # versions without the defect open it
            await control.open_pane(spawn, None)
    mux_id, pid = await control.open_pane(Spawn(where="pane", command=("sleep", "1000")), pane)
    assert await control.press(PaneGuard(pane=mux_id, pid=pid), ["x"]) == AppliedChange()
    tmux("set", "-g", "window-size", "latest")
    await control.open_pane(Spawn(where="window", session="work"), None)


async def test_a_session_with_a_local_manual_size_gets_windows(tmux, pane, native):
    control = TmuxPaneControl(await identify_server(native, tmux.socket))
    tmux("resize-window", "-t", pane, "-x", "60")
    assert tmux("show-options", "-wv", "-t", pane, "window-size") == "manual"
    mux_id, _ = await control.open_pane(Spawn(where="window", session="work"), None)
    assert tmux.read_format(mux_id, "#{session_name}") == "work"
