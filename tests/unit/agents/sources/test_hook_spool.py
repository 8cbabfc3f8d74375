"""The hook spool, written by real shells and read one scan at a time."""

import json
import os
import subprocess

import pytest

from termvisor.agents.adapters.loader import load_adapters
from termvisor.agents.sources import hook_spool
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import AgentKnowledge, apply_facts
from termvisor.clock import NS, SystemClock
from termvisor.errors import Unavailable
from termvisor.model.agent.agent_process import AgentProcess, AgentStarted, PaneLocation
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from tests.builtin_thresholds import DEFAULT_THRESHOLDS


class ShiftedClock(SystemClock):
    """A clock that can be set ahead."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead * NS


class SpoolReader:
    """Reads the spool like a daemon: store the records of a scan, then confirm."""

    def __init__(self, folder: str):
        self.folder, self.path = folder, f"{folder}/hooks.jsonl"
        self.clock = ShiftedClock()
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
        line = json.dumps({"v": 1, "agent": "codex", "event": event} | more)
        subprocess.run(["sh", "-c", 'printf "%s\\n" "$1" >> "$2"', "hook", line, self.path], check=True)

    @property
    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))


@pytest.fixture
def spool_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(hook_spool, "MAX_SPOOL_BYTES", 150)
    return SpoolReader(str(tmp_path / "spool"))


def test_hook_lines_are_read_with_their_position(spool_reader):
    assert spool_reader.read() == []
    spool_reader.hook("Start", pane="%5", tmux="/tmp/t,1,0", pid=7)
    spool_reader.hook("Stop")
    assert spool_reader.read() == ["Start", "Stop"]
    first, last = spool_reader.records
    assert (first.source, first.hint.mux_pane, first.hint.socket, first.hint.pid) == ("hook", "%5", "/tmp/t", 7)
    assert (last.life, last.seq, last.path) == (0, os.path.getsize(spool_reader.path), spool_reader.path)


def test_lines_written_without_a_reader_are_read_later_once(spool_reader):
    spool_reader.read()
    spool_reader.hook("One")
    assert spool_reader.read() == ["One"]
    spool_reader.hook("Two")
    spool_reader.start()
    assert spool_reader.read() == ["Two"]
    spool_reader.start()
    assert spool_reader.read() == []


def test_unstored_records_are_read_again(spool_reader):
    spool_reader.read()
    spool_reader.hook("One")
    assert len(spool_reader.spool.scan(None).records) == 1
    spool_reader.start()
    assert spool_reader.read() == ["One"]


def test_folder_and_spool_are_private(spool_reader):
    spool_reader.read()
    assert (os.stat(spool_reader.folder).st_mode & 0o777, os.stat(spool_reader.path).st_mode & 0o777) == (0o700, 0o600)
    # Only the spool of an instance is restricted: a folder with other content may be another program's.
    with open(f"{os.path.dirname(spool_reader.folder)}/nonce", "x"):
        os.chmod(spool_reader.path, 0o644)
        os.chmod(spool_reader.folder, 0o755)
    spool_reader.read()
    assert (os.stat(spool_reader.folder).st_mode & 0o777, os.stat(spool_reader.path).st_mode & 0o777) == (0o700, 0o600)


def test_a_symbolic_link_is_refused(spool_reader, tmp_path):
    spool_reader.read()
    os.remove(spool_reader.path)
    (tmp_path / "elsewhere").write_text('{"v":1,"agent":"codex","event":"Stop"}\n')
    os.symlink(tmp_path / "elsewhere", spool_reader.path)
    with pytest.raises(Unavailable, match="is a symbolic link"):
        spool_reader.read()


def test_a_spool_of_another_user_is_refused(spool_reader, monkeypatch):
    spool_reader.read()
    monkeypatch.setattr(hook_spool, "make_private_folder", lambda folder: None)
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    with pytest.raises(Unavailable, match="another user"):
        spool_reader.read()


def test_garbage_is_counted_and_skipped(spool_reader):
    spool_reader.read()
    with open(spool_reader.path, "ab") as file:
        file.write(b"garbage\n\xff\xfe\n[]\n")
    spool_reader.hook("Stop")
    assert spool_reader.read() == ["Stop"]
    assert (spool_reader.dropped, spool_reader.detail) == (
        3,
        "it contains lines that were not written by a termvisor hook",
    )


def test_a_payload_file_is_read_and_removed_when_stored(spool_reader):
    spool_reader.read()
    payload = os.path.join(spool_reader.folder, "p1")
    with open(payload, "w") as file:
        json.dump({"prompt": "x" * 5000}, file)
    spool_reader.hook("Prompt", file="p1")
    result = spool_reader.spool.scan(None)
    assert os.path.exists(payload)
    spool_reader.spool.confirm_stored()
    assert json.loads(result.records[0].text)["payload"] == {"prompt": "x" * 5000}
    assert spool_reader.names == ["hooks.jsonl"]


@pytest.mark.parametrize("file", ["missing", "../outside", "bad"])
def test_an_event_with_an_unreadable_payload_is_kept_without_it(spool_reader, tmp_path, file):
    spool_reader.read()
    (tmp_path / "outside").write_text("{}")
    (tmp_path / "spool" / "bad").write_text("{")
    spool_reader.hook("Prompt", file=file)
    assert spool_reader.read() == ["Prompt"]
    assert json.loads(spool_reader.records[0].text)["payload"] == {}
    assert spool_reader.dropped == 1
    assert spool_reader.detail.startswith("payload missing: ")
    assert (tmp_path / "outside").exists()


def test_an_orphaned_payload_file_is_removed_after_a_day(spool_reader):
    spool_reader.read()
    for name, age in {"young": 3600, "old": 90_000}.items():
        path = os.path.join(spool_reader.folder, name)
        open(path, "w").close()
        os.utime(path, ns=(0, spool_reader.clock.now() - age * NS))
    spool_reader.start()
    spool_reader.read()
    assert spool_reader.names == ["hooks.jsonl", "young"]


def fill_spool(spool_reader: SpoolReader) -> None:
    """Write more than fits and read it, so that the spool is rotated."""
    spool_reader.hook("Fill", pad="x" * 200)
    assert spool_reader.read() == ["Fill"]


def test_a_full_spool_is_rotated_and_removed_when_a_later_record_is_stored(spool_reader):
    spool_reader.read()
    fill_spool(spool_reader)
    assert spool_reader.names == ["hooks.0.jsonl", "hooks.jsonl"]
    spool_reader.hook("Next")
    assert spool_reader.read() == ["Next"]
    assert (spool_reader.mark.life, spool_reader.names) == (1, ["hooks.jsonl"])
    fill_spool(spool_reader)
    assert spool_reader.names == ["hooks.1.jsonl", "hooks.jsonl"]


def test_a_daemon_started_after_the_rotation_resumes_in_the_new_spool(spool_reader):
    spool_reader.read()
    fill_spool(spool_reader)
    spool_reader.hook("Next")
    spool_reader.start()
    assert spool_reader.read() == ["Next"]
    assert (spool_reader.mark.life, spool_reader.names) == (1, ["hooks.jsonl"])


def test_rotated_spools_are_read_without_a_stored_position(spool_reader):
    spool_reader.read()
    fill_spool(spool_reader)
    spool_reader.hook("Next")
    spool_reader.read()
    fill_spool(spool_reader)
    spool_reader.hook("Last")
    spool_reader.mark = SpoolPosition()
    spool_reader.start()
    assert spool_reader.read() == ["Last"], "what was stored is blank by now"


def test_lines_appended_to_the_rotated_spool_come_first(spool_reader):
    spool_reader.read()
    with open(spool_reader.path, "a") as slow:
        spool_reader.hook("Fill", pad="x" * 200)
        while spool_reader.names == ["hooks.jsonl"]:
            spool_reader.scan_once()
        spool_reader.hook("New")
        spool_reader.scan_once()
        slow.write('{"v":1,"agent":"codex","event":"Slow"}\n')
    assert spool_reader.read() == ["Slow", "New"]
    assert spool_reader.mark.life == 1


def test_a_slow_hook_does_not_block_and_is_read_late(spool_reader):
    spool_reader.read()
    with open(spool_reader.path, "a") as slow:
        spool_reader.hook("Fill", pad="x" * 200)
        while spool_reader.names == ["hooks.jsonl"]:
            spool_reader.scan_once()
        spool_reader.clock.ahead = 6
        spool_reader.hook("New")
        for _ in range(5):
            spool_reader.scan_once()
        assert json.loads(spool_reader.records[-1].text)["event"] == "New"
        slow.write('{"v":1,"agent":"codex","event":"Slow"}\n')
    assert spool_reader.read() == ["Slow"]
    assert (spool_reader.mark.life, spool_reader.names) == (1, ["hooks.jsonl"])


@pytest.mark.parametrize("is_restarted", [True, False])
def test_a_truncated_or_removed_spool_starts_a_new_life(spool_reader, is_restarted):
    spool_reader.read()
    spool_reader.hook("One", pad="x" * 50)
    spool_reader.read()
    os.remove(spool_reader.path)
    spool_reader.hook("Two")
    {True: spool_reader.start, False: list}[is_restarted]()
    assert spool_reader.read() == ["Two"]
    assert spool_reader.mark.life == 1
    fill_spool(spool_reader)
    spool_reader.hook("Three")
    assert spool_reader.read() == ["Three"]


def test_without_leases_a_rotated_spool_is_read_for_a_while(spool_reader, monkeypatch):
    monkeypatch.setattr(hook_spool.sys, "platform", "darwin")
    spool_reader.read()
    spool_reader.hook("Fill", pad="x" * 200)
    while spool_reader.names == ["hooks.jsonl"]:
        spool_reader.scan_once()
    spool_reader.hook("New")
    assert spool_reader.scan_once() == 0.02
    spool_reader.clock.ahead = 6
    for _ in range(4):
        spool_reader.scan_once()
    assert json.loads(spool_reader.records[-1].text)["event"] == "New"
    spool_reader.clock.ahead = 70
    assert spool_reader.read() == []
    assert spool_reader.names == ["hooks.jsonl"]


def test_a_stored_line_is_blank_in_the_spool_and_an_unstored_one_is_not(spool_reader):
    spool_reader.read()
    spool_reader.hook("start", payload={"prompt": "hunter2"})
    spool_reader.spool.scan(None)
    with open(spool_reader.path) as file:
        assert "hunter2" in file.read()
    spool_reader.start()
    assert spool_reader.read() == ["start"]
    with open(spool_reader.path) as file:
        assert file.read().strip() == ""
    spool_reader.hook("stop")
    assert spool_reader.read() == ["stop"], "the overwritten file is still the same file"
    assert spool_reader.dropped == 0


def test_lines_stored_by_a_killed_daemon_are_blanked_by_the_next(spool_reader):
    spool_reader.read()
    spool_reader.hook("start", payload={"prompt": "hunter2"})
    (record,) = spool_reader.spool.scan(None).records
    spool_reader.mark = SpoolPosition(record.life, record.seq)
    spool_reader.hook("stop")
    spool_reader.start()
    assert spool_reader.read() == ["stop"]
    with open(spool_reader.path) as file:
        assert file.read().strip() == ""


def fold_records(records: list, started_at: int) -> AgentKnowledge:
    """Return the knowledge about one Claude Code after these hook records."""
    place = PaneLocation(TargetName("local"), "/tmp/t", MuxPaneId("%5"))
    agent = AgentProcess(
        id=RuntimeId(1), pane=PaneId(1), place=place, agent="claude_code", pid=7, started_at=started_at
    )
    adapter = next(one for one in load_adapters() if one.name == "claude_code")
    signals = [signal for record in records for signal in adapter.read_record(record)]
    return apply_facts(AgentKnowledge(), [AgentStarted(at=started_at, runtime=agent), *signals], DEFAULT_THRESHOLDS)


def test_a_hook_line_that_comes_again_is_dropped_and_counted(spool_reader):
    spool_reader.read()
    now_ms = spool_reader.clock.now() // 10**6
    place = {"agent": "claude_code", "pane": "%5", "tmux": "/tmp/t,1,0", "pid": 7}
    prompt = {"event": "UserPromptSubmit", "at": now_ms - 9000, "payload": {"session_id": "s", "prompt": "go"}}
    ended = {"event": "Stop", "at": now_ms - 5000, "payload": {"session_id": "s"}}
    older = {"event": "PreToolUse", "at": now_ms - 7000, "payload": {"session_id": "s", "tool_name": "Bash"}}
    for fields in (prompt, ended, prompt, older):
        spool_reader.hook(**(place | fields))
        spool_reader.read()
    knowledge = fold_records(spool_reader.records, (now_ms - 60_000) * 10**6)
    assert knowledge.dropped == {"duplicate": 1, "late_event": 1}
    assert compute_state(knowledge, RuntimeId(1), spool_reader.clock.now(), DEFAULT_THRESHOLDS).value == "completed"


def test_hook_lines_without_a_time_are_told_apart_by_their_place(spool_reader):
    spool_reader.read()
    for _ in range(2):
        spool_reader.hook("Stop")
    spool_reader.read()
    assert len({record.event_id for record in spool_reader.records}) == 2
