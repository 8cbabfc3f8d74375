"""The op `workflow_show`: one workflow with all that is declared of it."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NoWorkflow
from termvisor.model.detection.rule import Severity
from termvisor.model.did_you_mean import nearest
from termvisor.model.workflow.info import WorkflowInfo
from termvisor.model.workflow.run import Mode
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Column, Look, clean, table
from termvisor.redaction import redact

WorkflowName = Annotated[str, Meta(description="The workflow's name.", extra={"positional": "one"})]


class ShowWorkflow(Struct, frozen=True, kw_only=True):
    """Which one."""

    name: WorkflowName


class WorkflowFacts(Struct, frozen=True, kw_only=True):
    """What starts it: ``events`` of at least this ``severity``, by these ``agents`` and ``rules`` where any are named,
    not older than ``fresh_for`` seconds. ``steps`` are those of a file; ``doubts`` are things that it speaks of and
    nobody knows.
    """

    name: str
    version: int
    summary: str
    origin: str
    mode: Mode
    events: tuple[str, ...]
    agents: tuple[str, ...]
    rules: tuple[str, ...]
    severity: Severity
    fresh_for: float
    priority: int
    timeout: float
    takes_pane: bool
    steps: tuple[str, ...]
    doubts: tuple[str, ...] = ()


def named(world: World, name: str) -> WorkflowInfo:
    """`NoWorkflow` says which one may be meant, or what is wrong with its file."""
    found, troubles = world.runs.workflows()
    info = next((one for one in found if one.name == name), None)
    if info is not None:
        return info
    if why := next((one.why for one in troubles if one.name == name), ""):
        raise NoWorkflow(f"{name} is left out: {why}", hint="Mend that line; the file is read again by itself.")
    near = nearest(name, [one.name for one in found])
    raise NoWorkflow(f"there is no workflow {name!r}", hint=f"Did you mean {near[0]}?" if near else None)


async def run(world: World, wanted: ShowWorkflow) -> WorkflowFacts:
    info = named(world, wanted.name)
    fields = {name: getattr(info, name) for name in WorkflowFacts.__struct_fields__}
    fields |= {"summary": redact(info.summary), "steps": tuple(map(redact, info.steps))}
    return WorkflowFacts(**fields)


_FACTS = (
    Column("WHAT", lambda fact: fact[0], style="bold"),
    Column("HOW IT IS", lambda fact: fact[1], may_shrink=True),
)


def plain(facts: WorkflowFacts, look: Look) -> str:
    rows = [
        ("name", f"{facts.name}, version {facts.version}, from {facts.origin}"),
        ("does", facts.summary),
        ("mode", facts.mode),
        ("events", _events(facts)),
        ("agents", " ".join(facts.agents) or "all"),
        ("priority", str(facts.priority)),
        (
            "time",
            f"{facts.timeout:g} s of work" + (f"; events up to {facts.fresh_for:g} s old" if facts.events else ""),
        ),
        *((f"step {number}", step) for number, step in enumerate(facts.steps)),
        *(("doubt", doubt) for doubt in facts.doubts),
    ]
    return table(_FACTS, [(name, clean(text)) for name, text in rows], look)


def _events(facts: WorkflowFacts) -> str:
    if not facts.events:
        return "none: it is started by people and programs"
    severe = "" if facts.severity == "info" else f", {facts.severity} or worse"
    return " ".join(facts.events) + (f", by the rules {' '.join(facts.rules)}" if facts.rules else "") + severe


OP = Op(
    name="workflow_show",
    summary="One workflow: what starts it, what it may do, its steps.",
    doc="""The steps of a file are shown as they were understood; those of a built-in workflow are in its code.
`visor workflow dry-run` shows what it would do in a pane.""",
    Input=ShowWorkflow,
    Output=WorkflowFacts,
    run=run,
    plain=plain,
    exits=((4, "There is no such workflow."),),
    examples=(
        Example("workflow show handle_compaction", "for people"),
        Example("robot workflow show handle_compaction", "as JSON"),
    ),
)
