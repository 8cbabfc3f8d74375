"""What a watched server shows of us: nothing in options, hooks, environment and buffers, and one pipe a pane."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.tmux_compat.behaviour_runner import count_captured_panes, get_socket_folder, run_discovering_instance
from tests.live.tmux_compat.pane_operations import run_all_operations
from tests.live.tmux_compat.scripted_server import ScriptedServer
from tests.live.tmux_compat.server_scripts import SCENES

pytestmark = pytest.mark.live
SETTINGS_OF_USERS = (
    "set-buffer -b theirs kept",
    "set-buffer 'newest of the user'",
    "set-hook -g after-new-window 'set -g @opened yes'",
    "set-environment -t alpha SSH_AUTH_SOCK /their/agent",
    "set -t bravo status off",
)
STATE = (
    "list-buffers",
    "show-buffer",
    "show-options -g",
    "show-options -s",
    "show-options -gw",
    "show-options -t alpha",
    "show-options -w -t alpha",
    "show-options -p -t alpha:0.0",
    "show-hooks -g",
    "show-hooks -gw",
    "show-environment -g",
    "show-environment -t alpha",
    "list-clients",
    "list-keys",
)
TOGGLE = "pipe-pane -t bravo -o 'cat >> $FOLDER/theirs'"
"""The binding of tmux's manual for a log that one key starts and stops."""


class WatchedScene(NamedTuple):
    """A server with two sessions that a daemon watches."""

    server: ScriptedServer
    visor: VisorInstance

    def find_pane(self, mux_id: str) -> dict:
        items = call_robot(self.visor, "state")["items"]
        return next(item for item in items if item["identity"]["pane_id"] == mux_id)


@pytest.fixture
def watched() -> Iterator[WatchedScene]:
    with ExitStack() as stack:
        folder = stack.enter_context(make_short_folder())
        server = ScriptedServer(f"{folder}/one", f"{get_socket_folder(folder)}/one")
        stack.callback(server.close)
        server.prepare((*SCENES["two sessions"], *SETTINGS_OF_USERS))
        before = server.run_lines(STATE)
        visor = stack.enter_context(run_discovering_instance(folder))
        wait_until(lambda: count_captured_panes(visor).get(server.socket) == 4)
        assert server.run_lines(STATE) == before
        yield WatchedScene(server, visor)


def test_no_operation_leaves_a_buffer_option_hook_or_variable(watched: WatchedScene) -> None:
    before = watched.server.run_lines(STATE)
    pane = watched.find_pane("%0")["identity"]["id"]
    assert run_all_operations(watched.visor, pane, "alpha", watched.server.socket) == []
    watched.server.run_line("set -gu @opened")
    assert watched.server.run_lines(STATE) == before
    watched.visor.run_checked("down")
    assert watched.server.run_lines(STATE) == before


def test_the_pipes_of_panes_are_ours_and_end_with_us(watched: WatchedScene) -> None:
    listing = "list-panes -a -F '#{pane_id} #{pane_pipe}'"
    assert watched.server.run_line(listing) == "0 %0 1\n%1 1\n%2 1\n%3 1"
    watched.visor.run_checked("down")
    assert watched.server.run_line("@until 0 '#{P:#{pane_pipe}}' -t bravo") == "in time 0"
    assert watched.server.run_line(listing) == "0 %0 0\n%1 0\n%2 0\n%3 0"


def test_a_pipe_toggle_takes_our_pipe_at_the_first_press_and_logs_at_the_second(watched: WatchedScene) -> None:
    server = watched.server
    server.run_line(TOGGLE)
    assert server.run_line("@until 0 '#{pane_pipe}' -t bravo") == "in time 0"
    wait_until(lambda: watched.find_pane("%3")["heard_by"] != "pipe")
    server.run_line(TOGGLE)
    assert server.run_line("@until 1 '#{pane_pipe}' -t bravo") == "in time 1"
    server.run_line("@output bravo 'for their log'")
    assert server.run_line("@exists theirs") == "in time"
    wait_until(lambda: Path(server.folder, "theirs").read_text() == "for their log")
    server.run_line(TOGGLE)
    assert server.run_line("@until 0 '#{pane_pipe}' -t bravo") == "in time 0"


def test_beside_a_pipe_of_the_user_only_that_session_counts_as_attached(watched: WatchedScene) -> None:
    """The documented difference for panes that cannot be captured by a pipe of ours."""
    server = watched.server
    attached = "list-sessions -F '#{session_name} #{?session_attached,attached,}'"
    assert server.run_line(attached) == "0 alpha \nbravo "
    server.run_line("pipe-pane -t bravo")
    server.run_line("pipe-pane -t bravo 'cat > $FOLDER/theirs'")
    wait_until(lambda: watched.find_pane("%3")["heard_by"] == "control")
    assert server.run_line(attached) == "0 alpha \nbravo attached"
    assert [one["attached_sessions"] for one in call_robot(watched.visor, "health")["servers"]] == [1]
    watched.visor.run_checked("down")
    assert server.run_line(attached) == "0 alpha \nbravo "
    assert server.run_line("list-panes -t bravo -F '#{pane_pipe}'") == "0 1"
