"""Execute read-only steps: recall detections, find and complete sessions, search code."""

from fnmatch import fnmatchcase

from termvisor.clock import NS
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.detection.detection import Detection
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
        detections = await self._services.detections.list_since(execution.require_pane(), since)
        matching = (detection for detection in detections if fnmatchcase(detection.type, call.event))
        return RecallResult(found=tuple(_build_recalled_detection(detection) for detection in matching))

    async def find_last_session(self, call: LastSessionCall, execution: StepExecution) -> SessionRecord:
        return await self._services.sessions.find_last_session(execution.require_pane(), call)

    async def update_session(self, call: SessionUpdateCall, _execution: StepExecution) -> SessionRecord:
        # Idempotent, since it only fills in missing values: it may run twice after a crash.
        return await self._services.sessions.update_session(call.session, call.external_id, call.tokens)

    async def search_code(self, call: SearchCodeCall, execution: StepExecution) -> CodeSearchResult:
        view = await self._services.panes.find_pane(execution.require_pane())
        if view is None or not view.facts.cwd:
            return CodeSearchResult(trouble="the folder of the pane is not known")

        async def run_program(action: RunProgram) -> Outcome:
            preconditions = Preconditions(correlation=build_correlation(execution))
            return await self._services.gate.run(action, build_actor(execution.run), preconditions)

        return await self._services.code_search.search(call.names, view.facts.cwd, run_program)


def _build_recalled_detection(detection: Detection) -> RecalledDetection:
    return RecalledDetection(
        event=detection.event, at=detection.at, type=detection.type, captures=dict(detection.captures)
    )
