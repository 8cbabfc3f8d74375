from termvisor.actions.agent_commands import Speaker
from termvisor.model.action.action import AnswerAgent, AnswerDialog, Interrupt, QuitAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from tests.unit.actions.dialogs import HastyClock, Painted, belief
from tests.unit.actions.lines import ScriptedLine
from tests.unit.agents.adapters.codex.test_screen_rules import ASKED, HITS

PANE = PaneId(1)
DONE = Outcome(status="done", why="carried")


class Ways:
    def __init__(self, painted: Painted, line: ScriptedLine | None = None):
        self.painted, self._line = painted, line

    def control(self, _pane: PaneId) -> Painted:
        return self.painted

    def line(self, _pane: PaneId) -> ScriptedLine | None:
        return self._line

    def carrier(self, request: str):
        async def carry(_belief: object) -> Outcome:
            return DONE

        return carry if request == "known" else None

    def has_left(self, _runtime: int) -> bool:
        return bool(self.painted.keys)


def speaker(rows: tuple[str, ...], after: tuple[str, ...] = (), line: ScriptedLine | None = None) -> tuple:
    def heard(painted: Painted, key: str) -> None:
        painted.rows = list(after or rows)

    painted = Painted(rows, heard)
    return painted, Speaker(Ways(painted, line), HastyClock())


async def test_its_server_is_asked_before_its_keys():
    painted, speak = speaker(HITS["working"], line=ScriptedLine(stops=True))
    outcome = await speak.say(Interrupt(pane=PANE, agent="codex"), belief(HITS["working"]))
    assert (outcome.channel, painted.keys) == ("native", [])


async def test_where_its_server_knows_of_no_work_its_keys_are_pressed():
    painted, speak = speaker(HITS["working"], HITS["turn_ended"], ScriptedLine(stops=None))
    outcome = await speak.say(Interrupt(pane=PANE, agent="codex"), belief(HITS["working"]))
    assert (outcome.channel, painted.keys) == ("keys", ["Escape"])


async def test_a_dialog_is_answered_and_an_agent_leaves():
    rows = belief(ASKED).voice.pick(belief(ASKED).shown, "deny").rows
    painted, speak = speaker(ASKED, HITS["turn_ended"])
    answer = AnswerDialog(pane=PANE, agent="codex", choice="deny", rows=rows)
    assert (await speak.say(answer, belief(ASKED))).status == "done"
    assert (await speak.say(QuitAgent(pane=PANE, agent="codex"), belief(painted.rows))).why == "left"
    assert painted.keys == ["Escape", "C-c"]


async def test_a_yes_is_carried_by_whoever_brought_the_request():
    _, speak = speaker(ASKED)
    wish = AnswerAgent(agent="codex", tool="shell", request="known")
    assert await speak.allow(wish, None) == DONE
    assert (await speak.allow(AnswerAgent(agent="codex", tool="x", request="other"), None)).why == ""
