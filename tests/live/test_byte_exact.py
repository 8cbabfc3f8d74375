"""Every byte is kept, in order, with its time, and becomes text once; whatever is killed meanwhile."""

import pytest

from tests.live.numbered_printer import (
    NumberedPrinter,
    count_recorded_bytes,
    count_timed_bytes,
    hash_after_start,
    read_raw_log,
)
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

KILLS = 5


def numbered(text: str, name: str) -> list[int]:
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith(f"{name} line ")]


def heard(visor, pane):
    """Whether a pane's pipe is held, so that nothing it prints from now on is missed."""
    return all(item["heard_by"] == "pipe" for item in call_robot(visor, "state")["items"]) and pane


@pytest.mark.parametrize("megabytes", [10, pytest.param(50, marks=pytest.mark.live)])
def test_every_byte_survives_five_kills_of_the_daemon_and_an_upgrade_of_the_recorder(folder, tmux, visor, megabytes):
    printer = NumberedPrinter(folder, "alpha", megabytes)
    tmux.start_session(command=printer.command)
    pane = wait_until(lambda: visor.call_robot("state")["items"])[0]["identity"]["id"]
    wait_until(lambda: heard(visor, pane))
    recorder = visor.recorder_pid
    printer.release()
    for kill in range(KILLS):
        wait_until(lambda size=megabytes * 1e6 * kill / KILLS: count_recorded_bytes(visor.paths.raw_dir) > size)
        visor.kill_daemon()
    visor.run_checked("daemon", "restart")
    wait_until(lambda: printer.is_done, timeout_s=60)
    size, lines, digest = printer.printed
    wait_until(lambda: hash_after_start(read_raw_log(visor.paths.raw_dir, pane)) == (size, digest))
    assert visor.recorder_pid == recorder
    assert count_timed_bytes(visor.paths.raw_dir, pane) == len(read_raw_log(visor.paths.raw_dir, pane))
    text = visor.run_checked("export", str(pane), "--text", timeout=120)
    assert numbered(text, "alpha") == list(range(1, lines + 1))
    assert visor.call_robot("list-gaps")["items"] == []
