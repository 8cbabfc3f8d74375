"""Films that we made are read back; others are told apart."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.recordings.__main__ import explain_recording
from termvisor.agents.recordings.asciicast import read_cast
from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.model.terminal.screen import Screen
from termvisor.ops.history._asciicast import AsciicastWriter, CastMarker
from tests.recordings.scene import Scene, load_scenes

AT = 1_700_000_000 * NS


def frame(rows: Iterable[str], at: int = AT, *, width: int = 40, height: int = 4) -> ReplayFrame:
    shown = [*rows, *[""] * height][:height]
    return ReplayFrame(pane=PaneId(7), at=at, rows=tuple(shown), width=width, height=height, cursor_x=1, cursor_y=2)


def film(*frames: ReplayFrame, markers: Iterable[CastMarker] = ()) -> bytes:
    cast = AsciicastWriter()
    lines = [cast.write_header(frames[0], "pane 7")]
    for one in frames:
        lines += cast.write_frame(one)
    lines += [cast.write_marker(marker) for marker in markers]
    return "\n".join(lines).encode()


def screens(data: bytes) -> list[Screen]:
    return [one.screen for one in read_cast("film.cast", data).moments]


def test_what_was_painted_is_seen_again() -> None:
    before, after = frame(["one", "", "\x1b[31mthree\x1b[0m"]), frame(["one", "two"], AT + NS)
    found = screens(film(before, after))
    assert [one.rows for one in found] == [("one", "", "three", ""), ("one", "two", "", "")]
    assert [one.at for one in found] == [AT, AT + NS]
    assert (found[0].cursor_x, found[0].cursor_y) == (1, 2)


def test_a_new_size_begins_an_empty_screen() -> None:
    found = screens(film(frame(["one"]), frame(["two"], AT + NS, width=20, height=2)))
    assert (found[1].rows, found[1].width) == (("two", ""), 20)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)


@given(st.lists(st.lists(TEXT, max_size=4), min_size=1, max_size=4))
def test_every_film_of_ours_can_be_read(shown: list[list[str]]) -> None:
    frames = [frame(rows, AT + number * NS) for number, rows in enumerate(shown)]
    assert screens(film(*frames))[-1].rows == frames[-1].rows


def test_the_agent_is_the_one_that_a_marker_names() -> None:
    recording = read_cast(
        "film.cast", film(frame(["x"]), markers=[CastMarker(AT, "agent_began runtime=3 agent=codex pid=77")])
    )
    assert (recording.agent, recording.runtime.pid) == ("codex", 77)


HEAD = '{"version": 3, "term": {"cols": 20, "rows": 2}, "timestamp": 100}'


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (['{"version": 2, "width": 80, "height": 24}'], "missing required field|version 2"),
        (['{"version": 2, "term": {}}'], "version 2"),
        (['{"version": 3, "term": {}}'], "names no size"),
        ([HEAD], "shows nothing"),
        ([HEAD, '[0, "o", "one\\r\\ntwo"]'], "it prints"),
        ([HEAD, '[0, "o", "\\u001b[3A"]'], "CSI 3A"),
        ([HEAD, '[0, "o", "\\u001b]0;title\\u0007"]'], "it prints"),
        ([HEAD, '[0, "r", "wide"]'], "resizes"),
        ([HEAD, '{"no": "event"}'], "not one of ours"),
    ],
)
def test_a_film_of_another_maker_is_refused(lines: list[str], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_cast("film.cast", "\n".join(lines).encode())


def scene(agent: str, name: str) -> Scene:
    return next(one for one in load_scenes(agent) if one.name == name)


@pytest.mark.parametrize(
    ("agent", "name", "state"),
    [("claude_code", "approval_asked", "waiting_approval"), ("codex", "approval_asked", "waiting_approval")],
)
def test_screens_alone_say_what_an_agent_does(tmp_path: Path, agent: str, name: str, state: str) -> None:
    shown = scene(agent, name).screen
    size = {"width": shown.width, "height": shown.height}
    path = tmp_path / "film.cast"
    path.write_bytes(film(frame(["$ agent"], **size), frame(shown.rows, AT + NS, **size)))
    found = explain_recording(str(path), "", "30s")
    assert (found.view.state.agent, found.view.state.value, found.view.state.evidence_mode) == (
        agent,
        state,
        "heuristic",
    )


def test_a_film_in_which_no_agent_is_seen_wants_its_name(tmp_path: Path) -> None:
    path = tmp_path / "film.cast"
    path.write_bytes(film(frame(["$ make"])))
    with pytest.raises(Exception, match="does not say whose it is"):
        explain_recording(str(path), "", "")
    assert explain_recording(str(path), "codex", "").view.state.value == "unknown"
