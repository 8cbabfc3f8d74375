"""The promises hold on a newer tmux than the system's, too: the same tests, run against the one that set-up fetched."""

import os
import re
from pathlib import Path

import pytest

from termvisor.testing.visor_instance import run_instance
from tests.live.conftest import WatchedTmux
from tests.live.numbered_printer import NumberedPrinter, count_recorded_bytes, hash_after_start, read_raw_log
from tests.live.polling import wait_until
from tests.live.test_gaps import (  # noqa: F401 - run here once more
    test_a_killed_recorder_is_one_gap_and_the_pane_is_heard_again,
    test_a_killed_server_is_one_gap_a_pane_and_a_new_server_starts_anew,
    test_a_program_that_exits_leaves_its_words_and_an_uncertain_tail,
    test_a_stolen_pipe_is_left_to_its_owner_and_the_pane_is_heard_another_way,
    test_a_toggled_pipe_works_for_the_person_who_toggles_it,
    test_killing_the_daemon_loses_nothing,
)
from tests.live.test_replay import test_a_film_ends_as_the_pane_looks, watch  # noqa: F401 - run here once more
from tests.live.test_watching import (  # noqa: F401 - run here once more
    killed_under_busy_commands,
    test_a_person_whose_only_session_is_killed_leaves_and_does_not_land_in_ours,
    test_a_server_that_exits_unattached_still_does_and_is_heard_meanwhile,
    test_a_stopped_daemon_and_recorder_block_nobody,
    test_clear_history_and_resize_lose_nothing,
    test_kill_commands_end_what_they_would_have_ended,
    test_sizes_environment_hooks_and_buffers_stay_as_they_were,
    test_the_server_ends_with_its_last_session,
)

pytestmark = pytest.mark.live
TMUX = Path(__file__).parents[2] / ".parts" / "tmux" / "bin" / "tmux"


@pytest.fixture(autouse=True, scope="module")
def newer_tmux():
    """Whoever starts `tmux` in this file gets the newer one."""
    if not os.access(TMUX, os.X_OK):
        pytest.fail("the newer tmux is missing. Fetch it with: .ci/newer-tmux")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{TMUX.parent}:{os.environ['PATH']}")
        yield


def test_it_is_a_newer_tmux_and_its_panes_are_heard_by_pipe(scene, shell):
    told = [event["data"] for event in scene.visor.call_robot("events")["items"] if event["kind"] == "server_found"]
    numbers = re.findall(r"\d+", told[0]["version"])
    assert [int(number) for number in numbers[:2]] > [3, 3]
    scene.print_word(shell, "heard-on-the-newer-one")
    assert scene.list_gap_causes() == []


def test_the_setting_alone_names_the_program(folder, tmux):
    mux_id = tmux.start_session()
    with run_instance(folder, tmux.socket, tmux_program=str(TMUX)) as visor:
        visor.env = {**visor.env, "PATH": folder}
        WatchedTmux(tmux, visor).wait_until_captured(mux_id)


def test_five_megabytes_survive_a_kill_of_the_daemon(folder, scene):
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
    killed_under_busy_commands(scene, busy=1)
    scene.print_word(shell, "alive-and-heard")
