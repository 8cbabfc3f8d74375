"""Steps in which a run looks back: at what was detected, at conversations, at the code that an agent works on."""

from fnmatch import fnmatchcase

from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.workflows.calls import CodeFound, Conversation, Keep, LastSession, Recall, Recalled, SearchCode, Spotted
from termvisor.workflows.engine.journaled_calls import Going
from termvisor.workflows.engine.services import Around
from termvisor.workflows.steps.act import actor_of, correlation_of


class Memory:
    def __init__(self, around: Around):
        self._around = around

    async def recall(self, call: Recall, going: Going) -> Recalled:
        since = self._around.clock.now() - int(call.within * NS)
        known = await self._around.detected.since(_pane(going), since)
        return Recalled(found=tuple(_spotted(one) for one in known if fnmatchcase(one.type, call.event)))

    async def last_session(self, call: LastSession, going: Going) -> Conversation:
        return await self._around.conversations.last(_pane(going), call)

    async def keep(self, call: Keep, _going: Going) -> Conversation:
        """Done twice it is the same: it only fills in what is missing."""
        return await self._around.conversations.keep(call.session, call.external_id, call.tokens)

    async def search_code(self, call: SearchCode, going: Going) -> CodeFound:
        view = await self._around.sight.view(_pane(going))
        if view is None or not view.facts.cwd:
            return CodeFound(trouble="the folder of the pane is not known")

        async def run_it(action: RunProgram) -> Outcome:
            return await self._around.hands.do(action, actor_of(going.run), Terms(correlation=correlation_of(going)))

        return await self._around.code.search(call.names, view.facts.cwd, run_it)


def _spotted(one: Detection) -> Spotted:
    return Spotted(event=one.event, at=one.at, type=one.type, captures=dict(one.captures))


def _pane(going: Going) -> PaneId:
    if going.run.pane is None:
        raise BadRequest("the run has no pane")
    return going.run.pane
