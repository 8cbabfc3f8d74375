"""Every byte is stored in order, with its time, and decoded once, despite daemon kills."""

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


def extract_numbers(text: str, name: str) -> list[int]:
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith(f"{name} line ")]


def find_captured_pane(visor, pane):
    """Return the pane if all panes are captured by pipe, so that no output is missed from now on."""
    return all(item["heard_by"] == "pipe" for item in call_robot(visor, "state")["items"]) and pane


@pytest.mark.parametrize("megabytes", [10, pytest.param(50, marks=pytest.mark.live)])
def test_every_byte_is_stored_despite_daemon_kills_and_a_recorder_upgrade(folder, tmux, visor, megabytes):
    printer = NumberedPrinter(folder, "alpha", megabytes)
    tmux.start_session(command=printer.command)
    pane = wait_until(lambda: visor.call_robot("state")["items"])[0]["identity"]["id"]
    wait_until(lambda: find_captured_pane(visor, pane))
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
    assert extract_numbers(text, "alpha") == list(range(1, lines + 1))
    assert visor.call_robot("list-gaps")["items"] == []
