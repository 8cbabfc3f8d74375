"""A power cut: every process dies and the ends of files are lost. The rest is intact, and capture continues."""

import os
import signal
from pathlib import Path

from tests.live.numbered_printer import NumberedPrinter, count_recorded_bytes
from tests.live.polling import wait_until

ZEROS = b"\0" * 4096


def truncate_tail(path: Path, lost: int, tail: bytes) -> None:
    """Drop the last bytes of a file; some file systems show zeros in their place."""
    size = path.stat().st_size
    os.truncate(path, max(0, size - lost))
    with path.open("ab") as file:
        file.write(tail)


def test_after_a_power_cut_the_database_is_intact_and_capture_continues(folder, scene):
    printer = NumberedPrinter(folder, "alpha", 5)
    pane = scene.wait_until_captured(scene.tmux.start_session(command=printer.command))
    printer.release()
    wait_until(lambda: count_recorded_bytes(scene.visor.paths.raw_dir) > 300_000)
    wait_until(lambda: any(line.startswith("alpha line") for line in scene.read_lines("%0")))
    server = int(scene.tmux("display-message", "-p", "#{pid}"))
    for pid in (scene.visor.daemon_pid, scene.visor.recorder_pid, server):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{server}").exists())
    data = Path(scene.visor.paths.data_dir)
    newest = max(data.rglob("*.raw"), key=lambda path: path.stat().st_mtime_ns)
    for path, lost in ((newest, 100_000), (newest.with_suffix(".idx"), 2000), (data / "visor.db-wal", 100_000)):
        truncate_tail(path, lost, ZEROS)
    new_pane = scene.tmux.start_session("again")
    scene.wait_until_captured(new_pane)
    scene.print_word(new_pane, "after-the-power-cut")
    _, report, _ = scene.visor.run("doctor")
    assert f"ok    database       {data}/visor.db is intact" in report
    numbers = [int(line.split()[2]) for line in export_numbered_lines(scene, pane)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 100
    assert set(scene.list_pane_gap_causes(pane)) <= {
        "recorder_restart",
        "server_gone",
        "log_truncated",
        "tail_uncertain",
    }
    assert scene.list_pane_gap_causes(pane)


def export_numbered_lines(scene, pane: int) -> list[str]:
    """Return the stored numbered lines; the last one may be incomplete."""
    lines = scene.visor.run_checked("export", str(pane), "--text").splitlines()
    return [line for line in lines if line.startswith("alpha line") and line.endswith("dog")]
