"""Workflows as operations show them, and the steps of a dry run."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.rule import Severity
from termvisor.model.workflow.run import WorkflowMode


class WorkflowReference(Struct, frozen=True, kw_only=True):
    """An event, agent or rule named in a workflow file, and where; whether it exists is checked later."""

    kind: Literal["event", "agent", "rule"]
    word: str
    place: str


class WorkflowInfo(Struct, frozen=True, kw_only=True):
    """``mode`` is the effective one; ``origin`` is `built-in`, a package or a file; ``doubts`` are names in the file
    that do not exist."""

    name: str
    version: int
    summary: str
    origin: str
    mode: WorkflowMode
    events: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    severity: Severity = "info"
    fresh_for: float = 0.0
    priority: int = 100
    timeout: float = 0.0
    takes_pane: bool = True
    steps: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class WorkflowFileProblem(Struct, frozen=True, kw_only=True):
    """An invalid workflow file, and why; ``name`` is that of the workflow that it should define."""

    file: str
    why: str
    name: str = ""


class DryRunStep(Struct, frozen=True, kw_only=True):
    """One step of a dry run; for an action also the verdict of the policy now."""

    number: int
    kind: str
    name: str = ""
    given: str = ""
    assumed: str = ""
    """Result that the dry run assumed: an answer, a text that appears, a time that passes."""
    verdict: Verdict | None = None
    refused: str = ""
    """The precondition of the pane that fails now."""


class RunChangeRequest(Struct, frozen=True, kw_only=True):
    """A request to change a run."""

    kind: Literal["cancel", "pause", "resume", "signal"]
    word: str = ""
    """The name of a signal, otherwise the reason."""
    value: str = ""
