"""The same tests against a newer tmux than the system's, which .ci/newer-tmux fetches."""

import os
import re
from pathlib import Path

import pytest

from termvisor.testing.visor_instance import run_instance
from tests.live.conftest import WatchedTmux
from tests.live.numbered_printer import NumberedPrinter, count_recorded_bytes, hash_after_start, read_raw_log
from tests.live.polling import wait_until
from tests.live.test_gaps import (  # noqa: F401 - also run here
    test_a_killed_recorder_is_one_gap_and_the_pane_is_captured_again,
    test_a_killed_server_is_one_gap_per_pane_and_a_new_server_has_new_panes,
    test_a_pipe_taken_by_another_program_is_left_alone_and_capture_continues,
    test_a_pipe_toggled_by_the_user_works_and_capture_continues,
    test_a_program_that_exits_leaves_its_output_and_an_uncertain_tail,
    test_killing_the_daemon_loses_no_output,
)
from tests.live.test_replay import test_a_cast_export_ends_with_the_screen_of_the_pane, watch_program  # noqa: F401 - also run here
from tests.live.test_watching import (  # noqa: F401 - also run here
    kill_daemon_under_busy_commands,
    test_a_client_whose_only_session_is_killed_detaches,
    test_a_server_with_exit_unattached_is_captured_and_still_exits,
    test_a_stopped_daemon_and_recorder_do_not_block_tmux,
    test_capture_changes_no_size_environment_hook_or_option,
    test_clear_history_and_resize_lose_no_output,
    test_kill_commands_end_the_server,
    test_the_server_exits_with_its_last_session,
)

pytestmark = pytest.mark.live
TMUX = Path(__file__).parents[2] / ".parts" / "tmux" / "bin" / "tmux"


@pytest.fixture(autouse=True, scope="module")
def newer_tmux():
    """Put the newer tmux first on PATH for this file."""
    if not os.access(TMUX, os.X_OK):
        pytest.fail("the newer tmux is missing. Fetch it with: .ci/newer-tmux")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{TMUX.parent}:{os.environ['PATH']}")
        yield


def test_a_newer_tmux_is_used_and_its_panes_are_captured_by_pipe(scene, shell):
    found = [event["data"] for event in scene.visor.call_robot("events")["items"] if event["kind"] == "server_found"]
    numbers = re.findall(r"\d+", found[0]["version"])
    assert [int(number) for number in numbers[:2]] > [3, 3]
    scene.print_word(shell, "heard-on-the-newer-one")
    assert scene.list_gap_causes() == []


def test_the_tmux_program_setting_selects_the_binary(folder, tmux):
    mux_id = tmux.start_session()
    with run_instance(folder, tmux.socket, tmux_program=str(TMUX)) as visor:
        visor.env = {**visor.env, "PATH": folder}
        WatchedTmux(tmux, visor).wait_until_captured(mux_id)


def test_five_megabytes_are_captured_completely_despite_a_killed_daemon(folder, scene):
    printer = NumberedPrinter(folder, "alpha", 5)
    pane = scene.wait_until_captured(scene.tmux.start_session(command=printer.command))
    printer.release()
    wait_until(lambda: count_recorded_bytes(scene.visor.paths.raw_dir) > 1e6)
    scene.visor.kill_daemon()
    wait_until(lambda: printer.is_done, timeout_s=60)
    size, lines, digest = printer.printed
    wait_until(lambda: hash_after_start(read_raw_log(scene.visor.paths.raw_dir, pane)) == (size, digest))
    text = scene.visor.run_checked("export", str(pane), "--text")
    numbers = [int(line.split()[2]) for line in text.splitlines() if line.startswith("alpha line ")]
    assert numbers == list(range(1, lines + 1))
    assert scene.list_gap_causes() == []


def test_killing_the_daemon_under_busy_tmux_commands_never_harms_the_server(scene, shell):
    kill_daemon_under_busy_commands(scene, busy=1)
    scene.print_word(shell, "alive-and-heard")
