"""The operation `workflow_dry_run`: show the steps of a workflow in a pane with the policy's verdicts."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.model.action.approval import PolicyAnswer
from termvisor.model.workflow import DryRunStep
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import PaneReference, resolve_pane
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.ops.workflows._workflow_runs import format_step_value
from termvisor.ops.workflows.workflow_show import WorkflowName
from termvisor.redaction import redact


class WorkflowDryRunArgs(Struct, frozen=True, kw_only=True):
    """The workflow and the pane."""

    name: WorkflowName
    pane: PaneReference


class DryRunStepItem(Struct, frozen=True, kw_only=True):
    """``verdict`` is the policy's current verdict on an action, and ``why``; ``refused`` is a failed precondition of
    the pane, and ``ends_run`` tells that it will fail in the run too. ``assumed`` is what the dry run assumed: an
    answer, a text that appears, a time that passes.
    """

    number: int
    kind: str
    name: str
    given: Any
    verdict: PolicyAnswer | None
    why: str
    refused: str
    assumed: str
    ends_run: bool = False


class WorkflowDryRunResult(Struct, frozen=True, kw_only=True):
    """``ends`` is how the run would end."""

    workflow: str
    pane: int
    steps: tuple[DryRunStepItem, ...]
    ends: str


async def run(services: Services, args: WorkflowDryRunArgs) -> WorkflowDryRunResult:
    pane = await resolve_pane(services, args.pane)
    return build_dry_run_result(args.name, pane.id, await services.workflows.dry_run(args.name, pane.id))


def build_dry_run_result(workflow: str, pane: int, dry_run: tuple[Sequence[DryRunStep], str]) -> WorkflowDryRunResult:
    steps = tuple(map(_build_step_item, dry_run[0]))
    return WorkflowDryRunResult(workflow=workflow, pane=pane, steps=steps, ends=sanitize(redact(dry_run[1])))


def _build_step_item(dry_run_step: DryRunStep) -> DryRunStepItem:
    verdict = dry_run_step.verdict
    return copy_fields(
        DryRunStepItem,
        dry_run_step,
        given=msgspec.json.decode(dry_run_step.given) if dry_run_step.given else None,
        verdict=None if verdict is None else verdict.answer,
        why="" if verdict is None else sanitize(redact(verdict.why)),
        refused=sanitize(redact(dry_run_step.refused)),
    )


def _format_why(step: DryRunStepItem) -> str:
    """Format the reason; a failed precondition comes first, since it prevents the action whatever the policy is."""
    return f"refused now: {step.refused}" if step.refused else step.why or step.assumed or "-"


_STEP_COLUMNS = (
    TableColumn("STEP", lambda step: str(step.number), is_right_aligned=True),
    TableColumn("KIND", lambda step: f"{step.kind} {step.name}".strip(), style="cyan"),
    TableColumn("VERDICT", lambda step: step.verdict or "-", style="bold"),
    TableColumn("WHY", _format_why, can_shrink=True, min_width=16),
    TableColumn("INPUT", lambda step: format_step_value(step.given), can_shrink=True, min_width=16, worth=3),
)


def render_dry_run(result: WorkflowDryRunResult, options: RenderOptions) -> str:
    steps = render_table(_STEP_COLUMNS, result.steps, options) if result.steps else "No steps."
    return steps if options.is_quiet else f"{steps}\n\ndry run, nothing was done; the run would end with: {result.ends}"


OP = Operation(
    name="workflow_dry_run",
    summary="Show what a workflow would do in a pane, with the verdict on each step.",
    doc="""Reads the live pane, assumes that everything it waits for happens, and checks every action against the
policy. `ask` means that the action requires approval; `refused` is a precondition that the pane does not meet now. A
text that the program in the pane cannot take, such as several lines without bracketed paste, ends the dry run.""",
    run=run,
    render_text=render_dry_run,
    get_exit_status=lambda result: 1 if any(step.ends_run for step in result.steps) else 0,
    exit_statuses=(
        (0, "The workflow would run to its end, as far as that is known."),
        (1, "A step would be refused because of its text."),
        (4, "Workflow or pane not found."),
    ),
    examples=(
        OperationExample("workflow dry-run handle_compaction 7", "as a table"),
        OperationExample("robot workflow dry-run handle_compaction 7", "as JSON"),
    ),
)
