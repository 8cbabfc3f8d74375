"""The op `rules_lint`: whether rules are right, each proven by its own texts."""

import os
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import NotFound
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.ops.rules._rule_packs import RuleProblem, lint_packs


class RulesLintArgs(Struct, frozen=True, kw_only=True):
    """What to look at."""

    path: Annotated[
        str | None,
        Meta(
            description="A rule's file, a pack, or a folder of packs; without it, all packs of this instance.",
            extra={"positional": "one", "is_path": True},
        ),
    ] = None


class RulesLintResult(Struct, frozen=True, kw_only=True):
    """``rules`` counts those that are right; ``troubles`` is what is wrong with the others. ``doubts`` are of right
    ones, which name an agent or a workflow that looks mistyped.
    """

    rules: int
    packs: tuple[str, ...]
    troubles: tuple[RuleProblem, ...]
    doubts: tuple[RuleProblem, ...]


async def run(services: Services, args: RulesLintArgs) -> RulesLintResult:
    if args.path is not None and not os.path.exists(args.path):
        raise NotFound(f"there is no {args.path}", hint="Name a rule's file, a pack, or a folder of packs.")
    found = await lint_packs(services, args.path)
    return RulesLintResult(rules=len(found.rules), packs=found.packs, troubles=found.problems, doubts=found.warnings)


def render_text(result: RulesLintResult, options: RenderOptions) -> str:
    wrong = [sanitize(str(trouble)) for trouble in result.troubles]
    right = f"{pluralize(result.rules, 'rule')} {'is' if result.rules == 1 else 'are'} right"
    odd = [sanitize(f"perhaps: {doubt}") for doubt in result.doubts]
    return "\n".join([*wrong, *odd, f"{right}, {pluralize(len(wrong), 'trouble')}."])


def _get_exit_status(result: RulesLintResult) -> int:
    return 78 if result.troubles else 0


OP = Operation(
    name="rules_lint",
    summary="Say what is wrong with rules.",
    doc="""Every file is read as the daemon would read it, and every rule must find its hits, with their captures, and
leave its misses alone. Patterns that some text would make slow are refused. A rule with a trouble is not in force;
all others are.""",
    args_type=RulesLintArgs,
    result_type=RulesLintResult,
    run=run,
    render_text=render_text,
    effect="local",
    get_exit_status=_get_exit_status,
    exit_statuses=((0, "All are right."), (78, "Something is wrong; each trouble names its file, line and key.")),
    examples=(
        OperationExample("rules lint", "all packs, also your own"),
        OperationExample("rules lint ~/.config/termvisor/packs/org.local", "one pack"),
    ),
)
