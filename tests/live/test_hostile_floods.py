"""Floods of hostile output: nothing crashes, memory stays bounded, and the next line is found.

The full sizes are in `make bench` (hostile).
"""

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.live.conftest import run_watched_tmux
from tests.live.hostile_output import FLOOD_KINDS, build_flood_command
from tests.live.numbered_printer import read_resident_bytes
from tests.live.robot_call import call_robot

MB = 1_000_000
AMOUNT = {"osc": 4 * MB, "line": 8 * MB, "tiny": 50_000}
DEFAULT_AMOUNT = 300_000
MAX_DAEMON_BYTES, MAX_RECORDER_BYTES = 85 * MB, 15 * MB


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene, make_short_folder() as folder:
        scene.folder = folder
        scene.pane = scene.tmux.start_session("flooded")
        scene.pane_id = scene.wait_until_captured(scene.pane)
        scene.pids = scene.visor.daemon_pid, scene.visor.recorder_pid
        yield scene


@pytest.mark.parametrize("share", [0.5, pytest.param(1.0, marks=pytest.mark.live)])
@pytest.mark.parametrize("kind", FLOOD_KINDS)
def test_output_after_a_flood_is_read_and_memory_stays_bounded(fleet, kind, share):
    since = call_robot(fleet.visor, "get-text", str(fleet.pane_id), "--tail", "1")["cursor"]
    fleet.tmux.type_line(
        fleet.pane, build_flood_command(fleet.folder, kind, int(share * AMOUNT.get(kind, DEFAULT_AMOUNT)))
    )
    words = (f"^{kind}-flood-is-over$", "--regex", "--since", since, "--timeout-secs", "50")
    fleet.visor.call_robot("wait-for", str(fleet.pane_id), *words)
    daemon, recorder = fleet.pids
    assert read_resident_bytes(daemon) < MAX_DAEMON_BYTES
    assert read_resident_bytes(recorder) < MAX_RECORDER_BYTES


def test_floods_restart_no_process_and_leave_no_gap(fleet):
    assert (fleet.visor.daemon_pid, fleet.visor.recorder_pid) == fleet.pids
    assert fleet.list_gap_causes() == []
    fleet.print_word(fleet.pane, "all-is-well")
