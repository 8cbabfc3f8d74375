"""The steps of a rehearsal, as answers tell them."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.model.action.verdict import Answer
from termvisor.model.workflow.info import Rehearsed
from termvisor.ops.render.text import Column, Look, clean, table
from termvisor.ops.workflows._run_item import in_words
from termvisor.redaction import redact


class RehearsedStep(Struct, frozen=True, kw_only=True):
    """``verdict`` is what the policy would say of an act now, and ``why``; ``refused`` what in the pane speaks against
    it. ``assumed`` is what was taken for granted: an answer, a text that comes, a time that passes.
    """

    number: int
    kind: str
    name: str
    given: Any
    verdict: Answer | None
    why: str
    refused: str
    assumed: str


class Rehearsal(Struct, frozen=True, kw_only=True):
    """Nothing was done. ``ends`` is how it would end."""

    workflow: str
    pane: int
    steps: tuple[RehearsedStep, ...]
    ends: str


def rehearsal(workflow: str, pane: int, told: tuple[Sequence[Rehearsed], str]) -> Rehearsal:
    steps = tuple(map(_step, told[0]))
    return Rehearsal(workflow=workflow, pane=pane, steps=steps, ends=clean(redact(told[1])))


def _step(one: Rehearsed) -> RehearsedStep:
    verdict = one.verdict
    return RehearsedStep(
        number=one.number,
        kind=one.kind,
        name=one.name,
        given=msgspec.json.decode(one.given) if one.given else None,
        verdict=None if verdict is None else verdict.answer,
        why="" if verdict is None else clean(redact(verdict.why)),
        refused=clean(redact(one.refused)),
        assumed=one.assumed,
    )


def _why(step: RehearsedStep) -> str:
    """What the pane says against it comes before what the policy says: it would be refused now in any case."""
    return f"refused now: {step.refused}" if step.refused else step.why or step.assumed or "-"


_COLUMNS = (
    Column("STEP", lambda step: str(step.number), is_right=True),
    Column("KIND", lambda step: f"{step.kind} {step.name}".strip(), style="cyan"),
    Column("VERDICT", lambda step: step.verdict or "-", style="bold"),
    Column("WHY", _why, may_shrink=True),
    Column("GIVEN", lambda step: in_words(step.given), may_shrink=True),
)


def rows(told: Rehearsal, look: Look) -> str:
    steps = table(_COLUMNS, told.steps, look) if told.steps else "It would do nothing."
    return steps if look.is_quiet else f"{steps}\n\nnothing was done; it would end so: {told.ends}"
