"""Replay a recording of `visor agents record`, and compare each of its parts with the state that the user named."""

import os
from collections.abc import Iterator, Sequence

import msgspec

from termvisor.agents.recordings.open_recording import build_replay_context, read_recording_bytes
from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment, build_recording_error
from termvisor.agents.recordings.replay import replay_recording
from termvisor.clock import NS, parse_timestamp
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.agent_view import DescriptionCheck
from termvisor.model.agent.pane_recording import PaneRecordingLine
from termvisor.model.agent.state import StateName
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import LOCAL

# Rest counts only after it has lasted; the last screen stands still for as long after the end of a part.
_SETTLED_AFTER_NS = 10 * NS
_REST_STATES: frozenset[StateName] = frozenset({"idle", "completed"})
_LINE_DECODER = msgspec.json.Decoder(PaneRecordingLine)


def check_pane_recording(path: str) -> DescriptionCheck:
    """Replay every part of a recording. Runs in a worker process."""
    registry, config = build_replay_context()
    problems, states = [], []
    for number, (expected, recording) in enumerate(read_parts(path, read_recording_bytes(path)), 1):
        result = replay_recording(recording, recording.ended_at + _SETTLED_AFTER_NS, registry, config)
        found = result.view.state.value
        states.append(expected)
        # When a task ended, only time tells whether its agent is idle.
        if found != expected and not {found, expected} <= _REST_STATES:
            problems.append(f"part {number} shows {expected}, but is recognized as {found}")
    return DescriptionCheck(name=os.path.basename(path), problem="; ".join(problems), examples=tuple(states))


def read_parts(path: str, data: bytes) -> Iterator[tuple[StateName, AgentRecording]]:
    """Yield the state of each part, and its screens. Raises BadRequest if the file is no such recording."""
    try:
        lines = [_LINE_DECODER.decode(line) for line in data.splitlines() if line.strip()]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise build_recording_error(path, f"it was not written by `visor agents record`: {error}") from error
    starts = [index for index, line in enumerate(lines) if line.kind == "state"]
    if starts[:1] != [0]:
        raise build_recording_error(path, "it does not start with a state")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        screens = [line for line in lines[start:end] if line.kind == "screen"]
        if not screens:
            raise build_recording_error(path, f"line {start + 1} is followed by no screen")
        yield lines[start].state or "unknown", _build_part(lines[start], screens)


def _build_part(head: PaneRecordingLine, screens: Sequence[PaneRecordingLine]) -> AgentRecording:
    begun_at = parse_timestamp(head.at, 0)
    location = PaneLocation(LOCAL.name, "", MuxPaneId(""))
    agent_process = AgentProcess(
        id=RuntimeId(1), pane=PaneId(1), place=location, agent=head.agent, pid=0, started_at=begun_at
    )
    moments = tuple(RecordedMoment(at=parse_timestamp(one.at, 0), screen=_build_screen(one)) for one in screens)
    return AgentRecording(
        kind="cast", agent=head.agent, version=head.agent_version, runtime=agent_process, moments=moments
    )


def _build_screen(line: PaneRecordingLine) -> Screen:
    return Screen(
        pane=PaneId(1),
        rows=line.rows,
        width=line.width,
        height=line.height,
        cursor_x=line.cursor_x,
        cursor_y=line.cursor_y,
        alternate=line.is_alternate,
        at=parse_timestamp(line.at, 0),
    )
