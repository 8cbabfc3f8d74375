"""A workflow as operations show it, and what a rehearsal of one would do."""

from typing import Literal

from msgspec import Struct

from termvisor.model.action.verdict import Verdict
from termvisor.model.detection.rule import Severity
from termvisor.model.workflow.run import WorkflowMode


class WorkflowReference(Struct, frozen=True, kw_only=True):
    """An event, an agent or a rule that a file speaks of, and where: others say whether there is such a one."""

    kind: Literal["event", "agent", "rule"]
    word: str
    place: str


class WorkflowInfo(Struct, frozen=True, kw_only=True):
    """``mode`` is the one in force; ``origin`` is where it comes from: `built-in`, a package, or a file. ``doubts`` are
    things that it speaks of and nobody knows."""

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
    """A file that is no workflow, and why; ``name`` is that of the workflow that it held or should hold."""

    file: str
    why: str
    name: str = ""


class DryRunStep(Struct, frozen=True, kw_only=True):
    """One step as it would be taken; of an act also what the policy would say of it now."""

    number: int
    kind: str
    name: str = ""
    given: str = ""
    assumed: str = ""
    """What a rehearsal took for granted: an answer, a text that comes, a time that passes."""
    verdict: Verdict | None = None
    refused: str = ""
    """What in the pane speaks against it now."""


class RunChangeRequest(Struct, frozen=True, kw_only=True):
    """What a person or program wants of a run."""

    kind: Literal["cancel", "pause", "resume", "signal"]
    word: str = ""
    """Of a signal: the word. Else the reason."""
    value: str = ""
