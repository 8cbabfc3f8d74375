"""Twenty panes at once, and a daemon that is killed meanwhile: every pane's bytes and lines are all there, once."""

import pytest

from tests.live.printing import Printer, after_start, raw_log, recorded
from tests.live.waiting import until

PANES = 20


def numbered(text: str, name: str) -> list[int]:
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith(f"{name} line ")]


@pytest.mark.parametrize("megabytes", [0.5, pytest.param(2, marks=pytest.mark.live)])
def test_twenty_panes_survive_kills_of_the_daemon(folder, scene, megabytes):
    printers = [Printer(folder, f"p{number:02}", megabytes) for number in range(PANES)]
    scene.tmux.start(command=printers[0].command)
    for printer in printers[1:]:
        scene.tmux.window("work", printer.command)
    panes = {printer: scene.heard(f"%{number}") for number, printer in enumerate(printers)}
    visor, raw_dir = scene.visor, scene.visor.places.raw_dir
    printers[0].go()
    for part in (0.2, 0.6):
        until(lambda size=PANES * megabytes * 1e6 * part: recorded(raw_dir) > size)
        visor.kill_daemon()
    until(lambda: all(printer.is_done for printer in printers), seconds=60)
    for printer, pane in panes.items():
        size, _, digest = printer.written
        until(lambda pane=pane, told=(size, digest): after_start(raw_log(raw_dir, pane)) == told)
    for printer in printers[:5]:
        text = visor.visor("export", str(panes[printer]), "--text")
        assert numbered(text, printer.name) == list(range(1, printer.written[1] + 1))
    stored = {item["identity"]["id"]: item["lines"] for item in scene.panes()}
    assert stored == {pane: printer.written[1] + 1 for printer, pane in panes.items()}
    assert scene.causes() == []
