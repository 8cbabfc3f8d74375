"""The op `undo`: take an action back, where that can be done and all is still as it left it."""

from typing import Annotated

from msgspec import Meta, structs

from termvisor.errors import ConfirmationRequired, NotUndoable
from termvisor.model.action.action import Action, assess_risk, find_action_pane
from termvisor.model.action.undo import UndoAction
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    dry_run_action,
    execute_action,
    extend_result,
    render_action_result,
    render_dry_run_lines,
)
from termvisor.ops.render.action_text import describe_action
from termvisor.ops.render.text import RenderOptions, sanitize


class UndoArgs(ActionArgs, frozen=True, kw_only=True):
    """Which action."""

    which: Annotated[
        str,
        Meta(
            description="Its `correlation`, or `last`: your own last one.", extra={"positional": "one"}, max_length=64
        ),
    ] = "last"


class UndoResult(ActionResult, frozen=True, kw_only=True):
    """``undoes`` is the correlation of the action that is taken back, ``what`` is done for it."""

    undoes: str
    what: str


async def build_request(services: ActingServices, args: UndoArgs) -> ActionRequest:
    return (await _build_undo_request(services, args))[0]


async def _build_undo_request(services: ActingServices, args: UndoArgs) -> tuple[ActionRequest, UndoAction]:
    panes = await services.panes.list_panes(include_gone=True)
    inverse = await services.gate.audit.find_inverse(args.which, panes)
    pane = next((view for view in panes if view.id == find_action_pane(inverse.action)), None)
    terms = structs.replace(build_preconditions(args), undoes=inverse.undoes)
    return ActionRequest(action=inverse.action, preconditions=terms, pane=pane), inverse


async def run(services: ActingServices, args: UndoArgs) -> UndoResult:
    wished, inverse = await _build_undo_request(services, args)
    has_consent = args.yes or args.yes_for_session or args.dry_run
    if assess_risk(wished.action) == "destructive" and not has_consent:
        shown = render_dry_run_lines(await dry_run_action(services, wished), RenderOptions(), is_brief=True)
        raise ConfirmationRequired(
            f"undo {inverse.undoes.correlation}: {_describe_action(wished.action)}?", shown="\n".join(shown)
        )
    deed, _ = await execute_action(services, args, wished)
    return extend_result(deed, UndoResult, undoes=inverse.undoes.correlation, what=_describe_action(wished.action))


def _describe_action(action: Action) -> str:
    pane = find_action_pane(action)
    return describe_action(action) if pane is None else f"{describe_action(action)} (pane {pane})"


def render_text(result: UndoResult, options: RenderOptions) -> str:
    words = "undone" if result.status == "done" else "it cannot be said whether it is undone"
    return render_action_result(result, options, sanitize(f"{words}: {result.what}"))


def get_exit_status(result: UndoResult) -> int:
    return 6 if result.status == "unknown" else 0


OP = Operation(
    name="undo",
    robot_name="undo",
    summary="Take back what was done, where that can be proven to be safe.",
    doc=f"""Without a word it is your own last action that was not undone yet; `visor audit` shows the `correlation` of
every other. What takes it back is an action like any other: judged, asked about where the policy says so, recorded
(its entries name in `undoes` what they take back) and verified.

`set-title` gets the former title back, `activate` the pane that was in front of the session before; `spawn` and
`split` close the pane that they made, which asks as `kill --close` does; `reserve` is released. A text that stands in
a shell's input unsubmitted is cleared. Everything else has no inverse (`{NotUndoable.code}`): what a program took, what
keys did, what has ended.

Nothing is done where something else stands there by now: another title, another pane in front, another program in the
pane, a shell in which something runs, an input that somebody changed, or an action that was undone already.""",
    args_type=UndoArgs,
    result_type=UndoResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=(
        (2, "It has no inverse, or it would close a pane and was not confirmed: nothing was done."),
        (6, "It cannot be proven whether it is undone."),
        (75, "Nothing was done: it is no longer as it was left, or it was undone already."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        OperationExample("undo", "your own last action"),
        OperationExample("undo 5f1c0a9be2d47713 --dry-run", "what would be done, and whether it would be let through"),
        OperationExample("robot undo last --yes", "also where it closes a pane, as JSON"),
    ),
)
