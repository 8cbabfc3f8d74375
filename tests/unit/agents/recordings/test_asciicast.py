"""Casts of `visor export --cast` are read back, others are rejected."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.recordings.asciicast import read_cast
from termvisor.agents.recordings.open_recording import explain_recording
from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame, Screen
from termvisor.ops.history._asciicast import AsciicastWriter, CastMarker, CastVersion
from tests.recordings.scene import Scene, load_scenes

AT = 1_700_000_000 * NS


def build_frame(rows: Iterable[str], at: int = AT, *, width: int = 40, height: int = 4) -> ReplayFrame:
    shown = [*rows, *[""] * height][:height]
    return ReplayFrame(pane=PaneId(7), at=at, rows=tuple(shown), width=width, height=height, cursor_x=1, cursor_y=2)


def build_cast(*frames: ReplayFrame, markers: Iterable[CastMarker] = (), version: CastVersion = "2") -> bytes:
    cast = AsciicastWriter(version)
    lines = [cast.write_header(frames[0], "pane 7")]
    for one in frames:
        lines += cast.write_frame(one)
    lines += [cast.write_marker(marker) for marker in markers]
    return "\n".join(lines).encode()


def read_screens(data: bytes) -> list[Screen]:
    return [one.screen for one in read_cast("build_cast.cast", data).moments]


@pytest.mark.parametrize("version", ["2", "3"])
def test_painted_rows_are_read_back(version: CastVersion) -> None:
    before, after = build_frame(["one", "", "\x1b[31mthree\x1b[0m"]), build_frame(["one", "two"], AT + NS)
    later = build_frame(["later"], AT + 3 * NS)
    *found, last = read_screens(build_cast(before, after, later, version=version))
    assert last.at == AT + 3 * NS
    assert [one.rows for one in found] == [("one", "", "three", ""), ("one", "two", "", "")]
    assert [one.at for one in found] == [AT, AT + NS]
    assert (found[0].cursor_x, found[0].cursor_y) == (1, 2)


def test_a_resize_clears_the_screen() -> None:
    found = read_screens(build_cast(build_frame(["one"]), build_frame(["two"], AT + NS, width=20, height=2)))
    assert (found[1].rows, found[1].width) == (("two", ""), 20)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)


@given(st.lists(st.lists(TEXT, max_size=4), min_size=1, max_size=4))
def test_every_exported_cast_can_be_read(shown: list[list[str]]) -> None:
    frames = [build_frame(rows, AT + number * NS) for number, rows in enumerate(shown)]
    assert read_screens(build_cast(*frames))[-1].rows == frames[-1].rows


def test_the_agent_is_named_in_a_marker() -> None:
    recording = read_cast(
        "build_cast.cast",
        build_cast(build_frame(["x"]), markers=[CastMarker(AT, "agent_began runtime=3 agent=codex pid=77")]),
    )
    assert (recording.agent, recording.runtime.pid) == ("codex", 77)


HEAD = '{"version": 3, "term": {"cols": 20, "rows": 2}, "timestamp": 100}'


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (['{"version": 1, "width": 80, "height": 24}'], "version 1 is not supported"),
        (['{"version": 2, "term": {"cols": 80, "rows": 24}}'], "has no terminal size"),
        (['{"version": 3, "term": {}}'], "has no terminal size"),
        ([HEAD], "contains no output"),
        ([HEAD, '[0, "o", "one\\r\\ntwo"]'], "it prints"),
        ([HEAD, '[0, "o", "\\u001b[3A"]'], "CSI 3A"),
        ([HEAD, '[0, "o", "\\u001b]0;title\\u0007"]'], "it prints"),
        ([HEAD, '[0, "r", "wide"]'], "resizes"),
        ([HEAD, '{"no": "event"}'], "not written by"),
    ],
)
def test_a_foreign_cast_is_rejected(lines: list[str], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_cast("build_cast.cast", "\n".join(lines).encode())


def find_scene(agent: str, name: str) -> Scene:
    return next(one for one in load_scenes(agent) if one.name == name)


@pytest.mark.parametrize(
    ("agent", "name", "state"),
    [("claude_code", "approval_asked", "waiting_approval"), ("codex", "approval_asked", "waiting_approval")],
)
def test_screens_alone_give_a_state(tmp_path: Path, agent: str, name: str, state: str) -> None:
    shown = find_scene(agent, name).screen
    size = {"width": shown.width, "height": shown.height}
    path = tmp_path / "build_cast.cast"
    path.write_bytes(build_cast(build_frame(["$ agent"], **size), build_frame(shown.rows, AT + NS, **size)))
    found = explain_recording(str(path), "", "30s")
    assert (found.view.state.agent, found.view.state.value, found.view.state.evidence_mode) == (
        agent,
        state,
        "heuristic",
    )


def test_a_cast_without_an_agent_requires_its_name(tmp_path: Path) -> None:
    path = tmp_path / "build_cast.cast"
    path.write_bytes(build_cast(build_frame(["$ make"])))
    with pytest.raises(Exception, match="the agent of the recording is unknown"):
        explain_recording(str(path), "", "")
    assert explain_recording(str(path), "codex", "").view.state.value == "unknown"
