"""Twenty panes print while the daemon is killed: every byte and line is stored once."""

import pytest

from tests.live.numbered_printer import NumberedPrinter, count_recorded_bytes, hash_after_start, read_raw_log
from tests.live.polling import wait_until

PANES = 20


def extract_numbers(text: str, name: str) -> list[int]:
    return [int(line.split()[2]) for line in text.splitlines() if line.startswith(f"{name} line ")]


@pytest.mark.parametrize("megabytes", [2])
@pytest.mark.live
def test_twenty_panes_are_captured_completely_despite_daemon_kills(folder, scene, megabytes):
    printers = [NumberedPrinter(folder, f"p{number:02}", megabytes) for number in range(PANES)]
    scene.tmux.start_session(command=printers[0].command)
    for printer in printers[1:]:
        scene.tmux.open_window("work", printer.command)
    panes = {printer: scene.wait_until_captured(f"%{number}") for number, printer in enumerate(printers)}
    visor, raw_dir = scene.visor, scene.visor.paths.raw_dir
    printers[0].release()
    for part in (0.2, 0.6):
        wait_until(lambda size=PANES * megabytes * 1e6 * part: count_recorded_bytes(raw_dir) > size)
        visor.kill_daemon()
    wait_until(lambda: all(printer.is_done for printer in printers), timeout_s=60)
    for printer, pane in panes.items():
        size, _, digest = printer.printed
        wait_until(lambda pane=pane, expected=(size, digest): hash_after_start(read_raw_log(raw_dir, pane)) == expected)
    for printer in printers[:5]:
        text = visor.run_checked("export", str(panes[printer]), "--text")
        assert extract_numbers(text, printer.name) == list(range(1, printer.printed[1] + 1))
    stored = {item["identity"]["id"]: item["lines"] for item in scene.list_panes()}
    assert stored == {pane: printer.printed[1] + 1 for printer, pane in panes.items()}
    assert scene.list_gap_causes() == []
