"""Hook lines, valid and invalid ones, and their payload files."""

import json
import os

import pytest

from termvisor.agents.sources.hook_spool import (
    MAX_PAYLOAD_BYTES,
    embed_payload,
    find_payload_name,
    parse_hook_record,
    read_payload,
)

LINE = b'{"v":1,"agent":"claude_code","event":"Stop","at":5,"pane":"%5","tmux":"/tmp/t,12,0","pid":77,"payload":{}}'


def test_a_line_has_a_process_hint():
    line = parse_hook_record(LINE)
    assert (line.agent, line.event) == ("claude_code", "Stop")
    assert (line.hint.socket, line.hint.mux_pane, line.hint.pid) == ("/tmp/t", "%5", 77)


@pytest.mark.parametrize("pane", ["", "5", "%", "%x", "%5;rm"])
def test_an_invalid_pane_gives_no_hint(pane):
    hint = parse_hook_record(
        json.dumps({"v": 1, "agent": "codex", "event": "Stop", "pane": pane, "pid": -3}).encode()
    ).hint
    assert (hint.mux_pane, hint.socket, hint.pid) == (None, "", 0)


@pytest.mark.parametrize(
    "data",
    [
        b"garbage",
        b"{",
        b"[]",
        b'"Stop"',
        b"\xff\xfe",
        b'{"v":2,"agent":"codex","event":"Stop"}',
        b'{"v":1,"agent":"","event":"Stop"}',
        b'{"v":1,"agent":"codex","event":""}',
        b'{"v":1,"agent":"codex"}',
        b'{"v":1,"agent":"codex","event":7}',
        b'{"v":1,"agent":"codex","event":"Stop","pid":"x"}',
        b"[" * 100_000,
    ],
)
def test_other_lines_are_rejected(data):
    assert parse_hook_record(data) is None


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("p1", "p1"),
        ("/spool/p1", "p1"),
        ("../p1", ""),
        ("/etc/passwd", ""),
        ("", ""),
        ("/spool/", ""),
        (".hidden", ""),
        ("hooks.jsonl", ""),
        ("hooks.3.jsonl", ""),
    ],
)
def test_a_payload_file_must_be_in_the_spool_folder(file, name):
    assert find_payload_name("/spool", file) == name


def test_the_payload_replaces_the_file_name(tmp_path):
    (tmp_path / "p").write_text('{"prompt":"ü"}')
    line = b'{"v":1,"agent":"codex","event":"Stop","at":5,"file":"p"}'
    line_without_file = {"v": 1, "agent": "codex", "event": "Stop", "at": 5}
    assert json.loads(embed_payload(line, read_payload(str(tmp_path / "p")))) == {
        **line_without_file,
        "payload": {"prompt": "ü"},
    }
    assert json.loads(embed_payload(line, b"{}")) == {**line_without_file, "payload": {}}


def test_a_payload_that_is_not_json_a_link_or_too_large_is_refused(tmp_path):
    (tmp_path / "p").write_text("{")
    (tmp_path / "link").symlink_to(tmp_path / "p")
    (tmp_path / "long").write_text('"' + "x" * MAX_PAYLOAD_BYTES + '"')
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="truncated"):
        read_payload(str(tmp_path / "p"))
    for name, why in {"link": "symbolic", "long": "larger", "pipe": "regular", "missing": "No such"}.items():
        with pytest.raises(OSError, match=why):
            read_payload(str(tmp_path / name))


def test_a_payload_of_another_user_is_refused(tmp_path, monkeypatch):
    (tmp_path / "p").write_text("{}")
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    with pytest.raises(OSError, match="another user"):
        read_payload(str(tmp_path / "p"))
