from termvisor.actions.agent_commands import AgentCommander
from termvisor.errors import BadRequest
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt, QuitAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from tests.unit.actions.scripted_screen import HastyClock, ScriptedPaneControl, build_snapshot
from tests.unit.actions.scripted_session import ScriptedSessionControl
from tests.unit.agents.adapters.codex.test_screen import ASKED, HITS

PANE = PaneId(1)
DONE = Outcome(status="done", why="carried")


class ScriptedRoutes:
    def __init__(self, painted: ScriptedPaneControl, session: ScriptedSessionControl | None = None):
        self.painted, self._line = painted, session

    def get_control(self, _pane: PaneId) -> ScriptedPaneControl:
        return self.painted

    def get_session_control(self, _pane: PaneId) -> ScriptedSessionControl | None:
        return self._line

    def find_allow_callback(self, request: str):
        async def allow(_snapshot: object) -> Outcome:
            return DONE

        return allow if request == "known" else None

    def has_exited(self, _runtime: int) -> bool:
        return bool(self.painted.keys)


def build_commander(
    rows: tuple[str, ...], after: tuple[str, ...] = (), session: ScriptedSessionControl | None = None
) -> tuple:
    def react_to_key(painted: ScriptedPaneControl, key: str) -> None:
        painted.rows = list(after or rows)

    painted = ScriptedPaneControl(rows, react_to_key)
    return painted, AgentCommander(ScriptedRoutes(painted, session), HastyClock())


async def test_the_server_is_preferred_to_keys():
    painted, commander = build_commander(HITS["working"], session=ScriptedSessionControl(stops=True))
    outcome = await commander.execute(Interrupt(pane=PANE, agent="codex"), build_snapshot(HITS["working"]))
    assert (outcome.status, outcome.channel, painted.keys) == ("done", "native", [])


async def test_keys_are_pressed_if_the_server_has_no_turn():
    painted, commander = build_commander(HITS["working"], HITS["turn_ended"], ScriptedSessionControl(stops=None))
    outcome = await commander.execute(Interrupt(pane=PANE, agent="codex"), build_snapshot(HITS["working"]))
    assert (outcome.channel, painted.keys) == ("keys", ["Escape"])


async def interrupt(session: ScriptedSessionControl) -> Outcome:
    _, commander = build_commander(HITS["working"], session=session)
    return await commander.execute(Interrupt(pane=PANE, agent="codex"), build_snapshot(HITS["working"]))


async def test_a_stop_that_the_server_does_not_verify_is_unknown():
    assert (await interrupt(ScriptedSessionControl(stops=False))).why == "still_at_work"
    silent = ScriptedSessionControl()
    silent.is_silent = True
    assert (await interrupt(silent)).why == "no_answer"


async def test_a_dialog_is_answered_and_quit_ends_the_agent():
    rows = build_snapshot(ASKED).interaction.find_choice_keys(build_snapshot(ASKED).screen, "deny").rows
    painted, commander = build_commander(ASKED, HITS["turn_ended"])
    answer = AnswerDialog(pane=PANE, agent="codex", choice="deny", rows=rows)
    assert (await commander.execute(answer, build_snapshot(ASKED))).status == "done"
    assert (await commander.execute(QuitAgent(pane=PANE, agent="codex"), build_snapshot(painted.rows))).why == "left"
    assert painted.keys == ["Escape", "C-c"]


async def test_an_approval_is_sent_by_the_callback_of_its_request():
    _, commander = build_commander(ASKED)
    action = AnswerAgent(agent="codex", tool="shell", request="known")
    assert await commander.deliver_approval(action, None) == DONE
    assert (
        await commander.deliver_approval(AnswerAgent(agent="codex", tool="x", request="other"), None)
    ).why == "hook_answered"


async def test_keys_are_pressed_if_the_server_rejects_the_interrupt():
    class Rejecting(ScriptedSessionControl):
        async def stop_turn(self) -> bool | None:
            raise BadRequest("no such session")

    painted, commander = build_commander(HITS["working"], HITS["turn_ended"], Rejecting())
    outcome = await commander.execute(Interrupt(pane=PANE, agent="codex"), build_snapshot(HITS["working"]))
    assert (outcome.status, outcome.channel, painted.keys) == ("done", "keys", ["Escape"])


async def test_the_answer_of_the_server_is_the_whole_outcome():
    assert await interrupt(ScriptedSessionControl(stops=True)) == Outcome(
        status="done", why="interrupted", pane=PANE, channel="native"
    )
    assert await interrupt(ScriptedSessionControl(stops=False)) == Outcome(
        status="unknown", why="still_at_work", text="the agent was asked to stop but is still working", pane=PANE
    )
    silent = ScriptedSessionControl()
    silent.is_silent = True
    assert await interrupt(silent) == Outcome(
        status="unknown", why="no_answer", text="the agent's server did not confirm it: no answer", pane=PANE
    )
