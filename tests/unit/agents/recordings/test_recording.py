from termvisor.agents.recordings.recording import Moment, Recording, no_recording
from termvisor.model.agent.agent_process import Place, Runtime
from termvisor.model.ids import PaneId, RuntimeId


def test_it_lasts_from_the_start_of_the_program_to_the_last_moment() -> None:
    runtime = Runtime(id=RuntimeId(1), pane=PaneId(1), place=Place("local", "", "%1"), agent="codex", started_at=5)
    recording = Recording(kind="scenes", agent="codex", runtime=runtime, moments=(Moment(at=7), Moment(at=9)))
    assert (recording.began_at, recording.ended_at) == (5, 9)


def test_what_is_none_says_what_would_be_one() -> None:
    error = no_recording("x.json", "it is empty")
    assert error.message == "x.json is no recording of an agent: it is empty"
    assert "visor export --cast" in error.hint
