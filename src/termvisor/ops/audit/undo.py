"""The operation `undo`: undo an action by its inverse, if the pane is still in the state that the action left."""

from typing import Annotated

from msgspec import Meta, structs

from termvisor.errors import ConfirmationRequired, NotUndoable
from termvisor.model.action.action import Action, assess_risk, find_action_pane
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.render.action_text import describe_action
from termvisor.ops.render.text import RenderOptions, sanitize


class UndoArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """Choose the action."""

    which: Annotated[
        str,
        Meta(
            description="The action's ID in `visor audit`, its `correlation`, or `last`: your own last action.",
            extra={"positional": "one"},
            max_length=64,
        ),
    ] = "last"


class UndoResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``undoes`` is the correlation of the undone action, ``what`` describes the inverse action."""

    undoes: str
    what: str


async def build_request(services: Services, args: UndoArgs) -> _action_operation.ActionRequest:
    panes = await services.panes.list_panes(include_gone=True)
    inverse = await services.gate.audit.find_inverse(args.which, panes)
    pane = next((view for view in panes if view.id == find_action_pane(inverse.action)), None)
    preconditions = structs.replace(_action_operation.build_preconditions(args), undoes=inverse.undoes)
    return _action_operation.ActionRequest(action=inverse.action, preconditions=preconditions, pane=pane)


async def execute(services: Services, args: UndoArgs, request: _action_operation.ActionRequest) -> UndoResult:
    undone, description = request.preconditions.undoes, _describe_action(request.action)
    correlation = "" if undone is None else undone.correlation
    is_confirmed = args.yes or args.yes_for_session or args.dry_run
    # The inverse can do more harm than the action: a started program is undone by closing its pane.
    if assess_risk(request.action) == "destructive" and not is_confirmed:
        shown = await _action_operation.preview_for_confirmation(services, request)
        raise ConfirmationRequired(f"undo {correlation}: {description}?", shown=shown)
    result = await _action_operation.execute_and_report(services, args, request)
    return _action_operation.extend_result(result, UndoResult, undoes=correlation, what=description)


def _describe_action(action: Action) -> str:
    pane = find_action_pane(action)
    return describe_action(action) if pane is None else f"{describe_action(action)} (pane {pane})"


def render_text(result: UndoResult, options: RenderOptions) -> str:
    status = "undone" if result.status == "done" else "not verified whether it was undone"
    return _action_operation.render_action_result(result, options, sanitize(f"{status}: {result.what}"))


OP = _action_operation.declare_action(
    name="undo",
    robot_name="undo",
    summary="Undo an action, if that is proven to be safe.",
    doc=f"""Without an argument it undoes your own last action that was not undone yet; `visor audit` shows the
ID and the `correlation` of all others. The inverse is an action like any other: checked by the policy, subject to
approval, logged (its entries name the undone action in `undoes`) and verified.

`set-title` is undone by restoring the former title, `activate` by activating the former pane of the session, `spawn`
and `split` by closing the new pane, which asks for confirmation like `kill --close`, and `reserve` by releasing the
reservation. Text that was typed into a shell but not submitted is cleared. All other actions have no inverse
(`{NotUndoable.code}`): text that a program has read, keys, processes that have ended.

Nothing is done if the state has changed since: another title, another active pane, another program in the pane, a
running command in the shell, edited input, or an action that was already undone.""",
    args_type=UndoArgs,
    build_request=build_request,
    execute=execute,
    result_type=UndoResult,
    render_text=render_text,
    get_exit_status=_action_operation.get_exit_status,
    exit_statuses=(
        (2, "Nothing was done: it has no inverse, or closing a pane was not confirmed."),
        (6, "The inverse was executed, but its effect could not be verified."),
        (75, "Nothing was done: the state has changed since, or it was already undone."),
        (77, "Nothing was done: denied, or it requires approval."),
    ),
    examples=(
        OperationExample("undo", "your own last action"),
        OperationExample("undo 57", "the action of audit entry 57"),
        OperationExample("undo 5f1c0a9be2d47713 --dry-run", "show the inverse and the policy's verdict"),
        OperationExample("robot undo last --yes", "without confirmation, as JSON"),
    ),
)
