"""The hook spool, written by real shells and read one scan at a time."""

import json
import os
import subprocess

import pytest

from termvisor.agents.sources import hook_spool
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.clock import NS, SystemClock
from termvisor.errors import Unavailable


class Shifted(SystemClock):
    """A clock that can be put forward."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead * NS


class Reading:
    """Reads the spool like a daemon: store the records of a scan, then confirm."""

    def __init__(self, folder: str):
        self.folder, self.path = folder, f"{folder}/hooks.jsonl"
        self.clock = Shifted()
        self.mark = SpoolPosition()
        self.records: list = []
        self.dropped = 0
        self.detail = ""
        self.start()

    def start(self) -> None:
        """Start a daemon at the stored position."""
        self.spool = HookSpool(self.folder, self.mark, self.clock)

    def scan_once(self) -> float | None:
        found = self.spool.scan(None)
        self.records += found.records
        for record in found.records:
            assert SpoolPosition(record.life, record.seq) >= self.mark, "positions never go back"
            self.mark = SpoolPosition(record.life, record.seq)
        self.dropped += found.dropped
        self.detail = found.detail or self.detail
        self.spool.confirm_stored()
        return found.rescan_after_s

    def read(self) -> list[str]:
        """Scan until nothing is left and return the new events."""
        before = len(self.records)
        while self.scan_once() is not None:
            pass
        return [json.loads(record.text)["event"] for record in self.records[before:]]

    def hook(self, event: str, **more) -> None:
        line = json.dumps({"v": 1, "agent": "codex", "event": event, **more})
        subprocess.run(["sh", "-c", 'printf "%s\\n" "$1" >> "$2"', "hook", line, self.path], check=True)

    @property
    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@pytest.fixture
def reading(tmp_path, monkeypatch):
    monkeypatch.setattr(hook_spool, "MAX_SPOOL_BYTES", 150)
    return Reading(str(tmp_path / "spool"))


def test_hook_lines_are_read_with_their_position(reading):
    assert reading.read() == []
    reading.hook("Start", pane="%5", tmux="/tmp/t,1,0", pid=7)
    reading.hook("Stop")
    assert reading.read() == ["Start", "Stop"]
    first, last = reading.records
    assert (first.source, first.hint.mux_pane, first.hint.socket, first.hint.pid) == ("hook", "%5", "/tmp/t", 7)
    assert (last.life, last.seq, last.path) == (0, os.path.getsize(reading.path), reading.path)


def test_lines_written_without_a_reader_are_read_later_once(reading):
    reading.read()
    reading.hook("One")
    assert reading.read() == ["One"]
    reading.hook("Two")
    reading.start()
    assert reading.read() == ["Two"]
    reading.start()
    assert reading.read() == []


def test_unstored_records_are_read_again(reading):
    reading.read()
    reading.hook("One")
    assert len(reading.spool.scan(None).records) == 1
    reading.start()
    assert reading.read() == ["One"]


def test_folder_and_spool_are_private(reading):
    reading.read()
    assert (os.stat(reading.folder).st_mode & 0o777, os.stat(reading.path).st_mode & 0o777) == (0o700, 0o600)
    os.chmod(reading.path, 0o644)
    os.chmod(reading.folder, 0o755)
    reading.read()
    assert (os.stat(reading.folder).st_mode & 0o777, os.stat(reading.path).st_mode & 0o777) == (0o700, 0o600)


def test_a_symbolic_link_is_refused(reading, tmp_path):
    reading.read()
    os.remove(reading.path)
    (tmp_path / "elsewhere").write_text('{"v":1,"agent":"codex","event":"Stop"}\n')
    os.symlink(tmp_path / "elsewhere", reading.path)
    with pytest.raises(Unavailable, match="is a symbolic link"):
        reading.read()


def test_a_spool_of_another_user_is_refused(reading, monkeypatch):
    reading.read()
    monkeypatch.setattr(hook_spool, "make_private_folder", lambda folder: None)
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    with pytest.raises(Unavailable, match="another user"):
        reading.read()


def test_garbage_is_counted_and_skipped(reading):
    reading.read()
    with open(reading.path, "ab") as file:
        file.write(b"garbage\n\xff\xfe\n[]\n")
    reading.hook("Stop")
    assert reading.read() == ["Stop"]
    assert (reading.dropped, reading.detail) == (3, "it contains lines that were not written by a termvisor hook")


def test_a_payload_file_is_read_and_removed_when_stored(reading):
    reading.read()
    payload = os.path.join(reading.folder, "p1")
    with open(payload, "w") as file:
        json.dump({"prompt": "x" * 5000}, file)
    reading.hook("Prompt", file="p1")
    scan_once = reading.spool.scan(None)
    assert os.path.exists(payload)
    reading.spool.confirm_stored()
    assert json.loads(scan_once.records[0].text)["payload"] == {"prompt": "x" * 5000}
    assert reading.names == ["hooks.jsonl"]


@pytest.mark.parametrize("file", ["missing", "../outside", "bad"])
def test_an_event_with_an_unreadable_payload_is_kept_without_it(reading, tmp_path, file):
    reading.read()
    (tmp_path / "outside").write_text("{}")
    (tmp_path / "spool" / "bad").write_text("{")
    reading.hook("Prompt", file=file)
    assert reading.read() == ["Prompt"]
    assert json.loads(reading.records[0].text)["payload"] == {}
    assert reading.dropped == 1
    assert reading.detail.startswith("payload missing: ")
    assert (tmp_path / "outside").exists()


def test_an_orphaned_payload_file_is_removed_after_a_day(reading):
    reading.read()
    for name, age in {"young": 3600, "old": 90_000}.items():
        path = os.path.join(reading.folder, name)
        open(path, "w").close()
        os.utime(path, ns=(0, reading.clock.now() - age * NS))
    reading.start()
    reading.read()
    assert reading.names == ["hooks.jsonl", "young"]


def fill(reading: Reading) -> None:
    """More than fits, read to its end, so that the spool is renamed."""
    reading.hook("Fill", pad="x" * 200)
    assert reading.read() == ["Fill"]


def test_a_full_spool_is_rotated_and_removed_when_a_later_record_is_stored(reading):
    reading.read()
    fill(reading)
    assert reading.names == ["hooks.0.jsonl", "hooks.jsonl"]
    reading.hook("Next")
    assert reading.read() == ["Next"]
    assert (reading.mark.life, reading.names) == (1, ["hooks.jsonl"])
    fill(reading)
    assert reading.names == ["hooks.1.jsonl", "hooks.jsonl"]


def test_a_daemon_started_after_the_rotation_resumes_in_the_new_spool(reading):
    reading.read()
    fill(reading)
    reading.hook("Next")
    reading.start()
    assert reading.read() == ["Next"]
    assert (reading.mark.life, reading.names) == (1, ["hooks.jsonl"])


def test_rotated_spools_are_read_without_a_stored_position(reading):
    reading.read()
    fill(reading)
    reading.hook("Next")
    reading.read()
    fill(reading)
    reading.hook("Last")
    reading.mark = SpoolPosition()
    reading.start()
    assert reading.read() == ["Next", "Fill", "Last"]


def test_lines_appended_to_the_rotated_spool_come_first(reading):
    reading.read()
    with open(reading.path, "a") as slow:
        reading.hook("Fill", pad="x" * 200)
        while reading.names == ["hooks.jsonl"]:
            reading.scan_once()
        reading.hook("New")
        reading.scan_once()
        slow.write('{"v":1,"agent":"codex","event":"Slow"}\n')
    assert reading.read() == ["Slow", "New"]
    assert reading.mark.life == 1


def test_a_slow_hook_does_not_block_and_is_read_late(reading):
    reading.read()
    with open(reading.path, "a") as slow:
        reading.hook("Fill", pad="x" * 200)
        while reading.names == ["hooks.jsonl"]:
            reading.scan_once()
        reading.clock.ahead = 6
        reading.hook("New")
        for _ in range(5):
            reading.scan_once()
        assert json.loads(reading.records[-1].text)["event"] == "New"
        slow.write('{"v":1,"agent":"codex","event":"Slow"}\n')
    assert reading.read() == ["Slow"]
    assert (reading.mark.life, reading.names) == (1, ["hooks.jsonl"])


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_truncated_or_removed_spool_starts_a_new_life(reading, is_restarted):
    reading.read()
    reading.hook("One", pad="x" * 50)
    reading.read()
    os.remove(reading.path)
    reading.hook("Two")
    {True: reading.start, False: list}[is_restarted]()
    assert reading.read() == ["Two"]
    assert reading.mark.life == 1
    fill(reading)
    reading.hook("Three")
    assert reading.read() == ["Three"]


def test_without_leases_a_rotated_spool_is_read_for_a_while(reading, monkeypatch):
    monkeypatch.setattr(hook_spool.sys, "platform", "darwin")
    reading.read()
    reading.hook("Fill", pad="x" * 200)
    while reading.names == ["hooks.jsonl"]:
        reading.scan_once()
    reading.hook("New")
    assert reading.scan_once() == 0.02
    reading.clock.ahead = 6
    for _ in range(4):
        reading.scan_once()
    assert json.loads(reading.records[-1].text)["event"] == "New"
    reading.clock.ahead = 70
    assert reading.read() == []
    assert reading.names == ["hooks.jsonl"]
