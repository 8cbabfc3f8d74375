"""Steps in which a run looks back: at what was detected, at conversations, at the code that an agent works on."""

from fnmatch import fnmatchcase

from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.workflows.calls import (
    CodeSearchResult,
    LastSessionCall,
    RecallCall,
    RecalledDetection,
    RecallResult,
    SearchCodeCall,
    SessionRecord,
    SessionUpdateCall,
)
from termvisor.workflows.engine.journaled_calls import StepExecution
from termvisor.workflows.engine.services import StepServices
from termvisor.workflows.steps.act import build_actor, build_correlation


class LookupSteps:
    def __init__(self, services: StepServices):
        self._services = services

    async def recall_detections(self, call: RecallCall, execution: StepExecution) -> RecallResult:
        since = self._services.clock.now() - int(call.within * NS)
        known = await self._services.detections.list_since(_require_pane(execution), since)
        return RecallResult(
            found=tuple(_build_recalled_detection(one) for one in known if fnmatchcase(one.type, call.event))
        )

    async def find_last_session(self, call: LastSessionCall, execution: StepExecution) -> SessionRecord:
        return await self._services.sessions.find_last_session(_require_pane(execution), call)

    async def update_session(self, call: SessionUpdateCall, _going: StepExecution) -> SessionRecord:
        """Done twice it is the same: it only fills in what is missing."""
        return await self._services.sessions.update_session(call.session, call.external_id, call.tokens)

    async def search_code(self, call: SearchCodeCall, execution: StepExecution) -> CodeSearchResult:
        view = await self._services.panes.find_pane(_require_pane(execution))
        if view is None or not view.facts.cwd:
            return CodeSearchResult(trouble="the folder of the pane is not known")

        async def run_it(action: RunProgram) -> Outcome:
            return await self._services.gate.run(
                action, build_actor(execution.run), Preconditions(correlation=build_correlation(execution))
            )

        return await self._services.code_search.search(call.names, view.facts.cwd, run_it)


def _build_recalled_detection(detection: Detection) -> RecalledDetection:
    return RecalledDetection(
        event=detection.event, at=detection.at, type=detection.type, captures=dict(detection.captures)
    )


def _require_pane(execution: StepExecution) -> PaneId:
    if execution.run.pane is None:
        raise BadRequest("the run has no pane")
    return execution.run.pane
