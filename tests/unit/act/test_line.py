from termvisor.act.line import interrupted, prompted
from termvisor.errors import BadRequest, TimedOut
from termvisor.model.ids import PaneId
from tests.unit.act.dialogs import HastyClock
from tests.unit.act.lines import ScriptedLine

RUNS, STOPPED = {"id": "u", "status": "inProgress"}, {"id": "u", "status": "interrupted"}


async def step(_step: str) -> None:
    return None


async def test_a_prompt_that_begins_a_turn_is_delivered():
    line = ScriptedLine()
    ended = await prompted(line, "go on", step)
    assert (ended.status, ended.why, ended.channel, line.asked) == (
        "delivered",
        "turn_started",
        "native",
        ["turn/start"],
    )


async def test_a_prompt_that_is_refused_was_not_taken_and_silence_is_unknown():
    line = ScriptedLine()
    line.refuses = BadRequest("busy")
    assert (await prompted(line, "go on", step)).status == "refused"
    line.refuses = TimedOut("nothing")
    assert (await prompted(line, "go on", step)).status == "unknown"
    assert line.asked == ["turn/start"] * 2


async def test_a_turn_is_stopped_and_seen_to_be():
    line = ScriptedLine(RUNS, RUNS, STOPPED)
    outcome = await interrupted(line, PaneId(1), HastyClock())
    assert (outcome.status, outcome.channel) == ("done", "native")
    assert line.asked.count("turn/interrupt") == 1


async def test_what_rests_is_not_interrupted_and_what_goes_on_is_said():
    assert await interrupted(ScriptedLine(STOPPED), PaneId(1), HastyClock()) is None
    assert await interrupted(ScriptedLine(), PaneId(1), HastyClock()) is None
    assert (await interrupted(ScriptedLine(RUNS), PaneId(1), HastyClock())).status == "unknown"
