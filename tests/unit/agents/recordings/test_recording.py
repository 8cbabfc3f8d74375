"""The time range of a recording, and the error for other files."""

from termvisor.agents.recordings.recording import AgentRecording, RecordedMoment, build_recording_error
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.ids import PaneId, RuntimeId


def test_a_recording_lasts_from_the_process_start_to_the_last_moment() -> None:
    runtime = AgentProcess(
        id=RuntimeId(1), pane=PaneId(1), place=PaneLocation("local", "", "%1"), agent="codex", started_at=5
    )
    recording = AgentRecording(
        kind="scenes", agent="codex", runtime=runtime, moments=(RecordedMoment(at=7), RecordedMoment(at=9))
    )
    assert (recording.began_at, recording.ended_at) == (5, 9)


def test_the_error_hint_names_how_to_make_a_recording() -> None:
    error = build_recording_error("x.json", "it is empty")
    assert error.message == "x.json is not a recording of an agent: it is empty"
    assert "visor export --cast" in error.hint
