"""Every byte is kept, in order, with its time, and becomes text once; whatever is killed meanwhile."""

import pytest

from tests.live.looking import look
from tests.live.printing import Printer, after_start, raw_log, recorded, timed_bytes
from tests.live.waiting import until

KILLS = 5


def numbered(text: str, name: str) -> list[int]:
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith(f"{name} line ")]


def heard(visor, pane):
    """Whether a pane's pipe is held, so that nothing it prints from now on is missed."""
    return all(item["heard_by"] == "pipe" for item in look(visor, "state")["items"]) and pane


@pytest.mark.parametrize("megabytes", [10, pytest.param(50, marks=pytest.mark.live)])
def test_every_byte_survives_five_kills_of_the_daemon_and_an_upgrade_of_the_recorder(folder, tmux, visor, megabytes):
    printer = Printer(folder, "alpha", megabytes)
    tmux.start(command=printer.command)
    pane = until(lambda: visor.robot("state")["items"])[0]["identity"]["id"]
    until(lambda: heard(visor, pane))
    recorder = visor.recorder_pid
    printer.go()
    for kill in range(KILLS):
        until(lambda size=megabytes * 1e6 * kill / KILLS: recorded(visor.places.raw_dir) > size)
        visor.kill_daemon()
    visor.visor("daemon", "restart")
    until(lambda: printer.is_done, seconds=60)
    size, lines, digest = printer.written
    until(lambda: after_start(raw_log(visor.places.raw_dir, pane)) == (size, digest))
    assert visor.recorder_pid == recorder
    assert timed_bytes(visor.places.raw_dir, pane) == len(raw_log(visor.places.raw_dir, pane))
    text = visor.visor("export", str(pane), "--text", timeout=120)
    assert numbered(text, "alpha") == list(range(1, lines + 1))
    assert visor.robot("list-gaps")["items"] == []
