"""The hook script, run by a real `sh`; its output is read with the spool reader."""

import json
import os
import stat
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.hook_spool import HookSpool, SpoolPosition
from termvisor.errors import Unavailable
from termvisor.settings import Paths
from termvisor.setup import hook_script
from termvisor.testing.fake_clock import FakeClock

PANE = {"TMUX": "/tmp/tmux-7/default,123,0", "TMUX_PANE": "%5"}


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    where = Paths(*(str(tmp_path / name) for name in ("config", "it's data", "run")))
    hook_script.install(where)
    return where


def run(places: Paths, payload: bytes, *, event: str = "Stop", env: dict[str, str] = PANE) -> bytes:
    """Run the hook like an agent: in a shell, with the payload on stdin. It must succeed without output."""
    command = hook_script.build_tell_command(places, "claude_code", event)
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=payload,
        capture_output=True,
        env={"PATH": os.environ["PATH"], **env},
        check=True,
        timeout=30,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    return payload


async def records(places: Paths) -> Sequence[SourceRecord]:
    spool = HookSpool(places.spool_dir, SpoolPosition(), FakeClock())
    return spool.scan(None).records


async def test_an_event_is_one_line_with_pane_process_and_time(places: Paths) -> None:
    before = time.time_ns()
    run(places, b'{"session_id": "s1",\n  "last_assistant_message": "a \\n b"}\n')
    (record,) = await records(places)
    result = json.loads(record.text)
    assert (result["v"], result["agent"], result["event"]) == (1, "claude_code", "Stop")
    assert (record.hint.socket, record.hint.mux_pane, record.hint.pid) == ("/tmp/tmux-7/default", "%5", os.getpid())
    assert result["payload"] == {"session_id": "s1", "last_assistant_message": "a \n b"}
    assert before // 1_000_000 <= result["at"] <= time.time_ns() // 1_000_000


@pytest.mark.parametrize(
    "payload",
    [
        b'{"text": "it\'s \\"quoted\\" $(touch x) `touch x` %s %d \\\\ \\u0000 ; & | > <"}',
        '{"text": "ü 漢字 🙂"}'.encode(),
        b'{\r\n"text":\r\n"x"\r\n}\r\n',
        b'{"text": "' + b"x" * 2_980 + b'"}',
        b'{"text": "' + b"%n\\\\" * 1_000 + b'"}',
        b'{"text": "' + "漢".encode() * 100_000 + b'"}',
    ],
    ids=["signs", "letters", "lines", "nearly a page", "more than a page", "large"],
)
async def test_any_payload_arrives_unchanged(places: Paths, payload: bytes) -> None:
    run(places, payload)
    (record,) = await records(places)
    assert json.loads(record.text)["payload"] == json.loads(payload)


@pytest.mark.parametrize("payload", [b"", b"\n", b"no json", b"[1]", b"\0\0", b'"{"'])
async def test_a_payload_that_is_not_an_object_is_dropped(places: Paths, payload: bytes) -> None:
    run(places, payload)
    (record,) = await records(places)
    assert json.loads(record.text)["payload"] == {}


async def test_a_payload_cannot_forge_a_second_line(places: Paths) -> None:
    run(places, b'{"a": 1}}\n{"v":1,"agent":"codex","event":"Stop","payload":{}')
    run(places, b'{"b": 2}')
    assert [json.loads(record.text)["payload"] for record in await records(places)] == [{"b": 2}]


async def test_a_too_long_payload_is_dropped_and_the_event_is_reported(places: Paths) -> None:
    run(places, b'{"text": "' + b"x" * (2 << 20) + b'"}')
    (record,) = await records(places)
    assert json.loads(record.text)["payload"] == {}
    assert os.listdir(places.spool_dir) == ["hooks.jsonl"]


@pytest.mark.parametrize("name", ['/tmp/a"b,1,0', "/tmp/a\\b,1,0", "/tmp/a\nb,1,0"])
async def test_a_socket_name_with_special_characters_is_dropped(places: Paths, name: str) -> None:
    run(places, b"{}", env={"TMUX": name, "TMUX_PANE": "%1"})
    (record,) = await records(places)
    assert (record.hint.socket, record.hint.mux_pane) == ("", None)


async def test_concurrent_hooks_lose_no_event(places: Paths) -> None:
    command = hook_script.build_tell_command(places, "codex", "PreToolUse")
    payloads = [b'{"n": %d, "text": "%b"}' % (number, b"x" * (number * 60 % 4_000)) for number in range(60)]
    running = [subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE) for _ in payloads]
    for process, payload in zip(running, payloads, strict=True):
        process.communicate(payload, timeout=30)
    result = [json.loads(record.text)["payload"]["n"] for record in await records(places)]
    assert sorted(result) == list(range(60))


@pytest.mark.parametrize("problem", ["script gone", "spool is a file", "spool cannot be written"])
def test_any_problem_is_hidden_from_the_agent(places: Paths, problem: str) -> None:
    spool = Path(places.spool_dir)
    if problem == "script gone":
        Path(places.hook_file).unlink()
    elif problem == "spool is a file":
        spool.rmdir()
        spool.touch()
    else:
        (spool / "hooks.jsonl").mkdir()
    run(places, b"{}")


def test_ask_without_a_daemon_prints_nothing(places: Paths) -> None:
    command = hook_script.build_ask_command(places, "claude_code")
    asked = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, check=True, timeout=30)
    assert (asked.stdout, asked.stderr) == (b"", b"")
    assert not Path(places.runtime_dir).exists()


def test_the_script_is_private_and_written_once(places: Paths) -> None:
    found = os.stat(places.hook_file)
    assert stat.S_IMODE(found.st_mode) == 0o600
    hook_script.install(places)
    assert os.stat(places.hook_file).st_ino == found.st_ino
    run(places, b'{"text": "' + b"x" * 5_000 + b'"}')
    modes = {stat.S_IMODE(os.stat(f"{places.spool_dir}/{name}").st_mode) for name in os.listdir(places.spool_dir)}
    assert (modes, stat.S_IMODE(os.stat(places.spool_dir).st_mode)) == ({0o600}, 0o700)


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(Unavailable):
        hook_script.install(Paths(str(tmp_path), str(tmp_path / "data"), str(tmp_path / "run")))


def test_the_duration_of_a_hook_is_recorded(places: Paths, record_testsuite_property) -> None:
    took = []
    for _ in range(20):
        begun = time.perf_counter()
        run(places, b'{"session_id": "s1"}')
        took.append((time.perf_counter() - begun) * 1000)
    record_testsuite_property("hook_ms", f"median {statistics.median(took):.1f}, longest {max(took):.1f}")
    assert len(took) == 20
