"""Twenty panes at once, and a daemon that is killed meanwhile: every pane's bytes and lines are all there, once."""

from collections import defaultdict
from pathlib import Path

from tests.live.printing import Printer, after_start, raw_log
from tests.live.waiting import until

PANES, MEGABYTES = 20, 2


def recorded(raw_dir: str) -> int:
    return sum(part.stat().st_size for part in Path(raw_dir).rglob("*.raw"))


def numbered(text: str) -> dict[str, list[int]]:
    """The numbers of the lines that each printer is said to have printed."""
    found: dict[str, list[int]] = defaultdict(list)
    for line in text.splitlines():
        name, *rest = line.split(" ", 3)
        if rest[:1] == ["line"]:
            found[name].append(int(rest[1]))
    return found


def test_twenty_panes_of_two_megabytes_survive_two_kills_of_the_daemon(folder, scene):
    printers = [Printer(folder, f"p{number:02}", MEGABYTES) for number in range(PANES)]
    scene.tmux.start(command=printers[0].command)
    for printer in printers[1:]:
        scene.tmux.window("work", printer.command)
    ids = {f"p{number:02}": scene.heard(f"%{number}") for number in range(PANES)}
    raw_dir = scene.visor.places.raw_dir
    printers[0].go()
    for megabytes in (8, 24):
        until(lambda size=megabytes * 1e6: recorded(raw_dir) > size)
        scene.visor.kill_daemon()
    until(lambda: all(printer.is_done for printer in printers), seconds=60)
    written = {printer.name: printer.written for printer in printers}
    for name, (size, _, digest) in written.items():
        until(lambda pane=ids[name], told=(size, digest): after_start(raw_log(raw_dir, pane)) == told)
    lines = numbered(scene.visor.visor("export", "--text", timeout=120))
    assert {name: lines[name] == list(range(1, count + 1)) for name, (_, count, _) in written.items()} == dict.fromkeys(
        written, True
    )
    assert scene.causes() == []
