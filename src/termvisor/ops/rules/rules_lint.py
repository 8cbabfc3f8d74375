"""The operation `rules_lint`: validate rule files and test each rule on its own examples."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import ObjectNotFound
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.ops.rules._rule_packs import RuleProblem, lint_packs


class RulesLintArgs(Struct, frozen=True, kw_only=True):
    """Choose the rules."""

    path: Annotated[
        str | None,
        Meta(
            description="A rule file, a pack, or a directory of packs; default: all packs of this instance.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class RulesLintResult(Struct, frozen=True, kw_only=True):
    """``rules`` counts the valid rules; ``troubles`` are the errors of the others. ``doubts`` are warnings about valid
    ones, such as a probably misspelled agent or workflow.
    """

    rules: int
    packs: tuple[str, ...]
    troubles: tuple[RuleProblem, ...]
    doubts: tuple[RuleProblem, ...]


async def run(services: Services, args: RulesLintArgs) -> RulesLintResult:
    if args.path is not None and not os.path.exists(args.path):
        raise ObjectNotFound(f"{args.path} not found", hint="Name a rule file, a pack, or a directory of packs.")
    lint = await lint_packs(services, args.path)
    return RulesLintResult(rules=len(lint.rules), packs=lint.packs, troubles=lint.problems, doubts=lint.warnings)


def render_text(result: RulesLintResult, options: RenderOptions) -> str:
    errors = [sanitize(f"error: {problem}") for problem in result.troubles]
    warnings = [sanitize(f"warning: {problem}") for problem in result.doubts]
    footer = f"{pluralize(result.rules, 'rule')} ok" + (f", {pluralize(len(errors), 'error')}" if errors else "")
    return "\n".join([*errors, *warnings, footer])


OP = Operation(
    name="rules_lint",
    summary="Validate rule files and test their examples.",
    doc="""Every file is read like the daemon reads it. Every rule must match its hits, with their captures, and must
not match its misses. Patterns that some text would make slow are errors. A rule with an error is not active; all others
are.""",
    run=run,
    render_text=render_text,
    effect="local",
    get_exit_status=lambda result: 78 if result.troubles else 0,
    exit_statuses=((0, "All rules are valid."), (78, "There are errors; each names its file, line and key.")),
    examples=(
        OperationExample("rules lint", "all packs, including your own"),
        OperationExample("rules lint ~/.config/termvisor/packs/org.local", "one pack"),
    ),
)
