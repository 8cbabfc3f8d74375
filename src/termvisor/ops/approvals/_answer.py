"""Choose the approval requests of `approve` and `deny`, and wait for what comes of the answers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from termvisor.bus import wait_for_update
from termvisor.errors import BadRequest, ConfirmationRequired, ObjectNotFound, VisorError
from termvisor.model.action.approval import Approval, ApprovalOutcome
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import build_approval_item
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import pluralize

# Seconds to wait until the waiting caller's action is executed and verified.
_OUTCOME_TIMEOUT_S = 15.0
_MAX_LISTED = 1000


class RequestChoice(Struct, frozen=True, kw_only=True):
    """What the caller named: numbers, a pane, or all; nothing at all means the only open request."""

    numbers: tuple[int, ...]
    pane: str = ""
    all: bool = False
    up_to: int | None = None
    """Only requests up to this number: those that the person has seen."""
    is_confirmed: bool = False
    verb: str = "approve"


def parse_numbers(number: int | None, more: str) -> tuple[int, ...]:
    """Return the numbers of the requests. Raises BadRequest for a word that is no number."""
    words = more.split()
    wrong = next((word for word in words if not (word.isascii() and word.isdigit())), None)
    if wrong is not None:
        raise BadRequest(
            f"{wrong[:40]!r} is not the number of a request",
            hint="`visor inbox` shows the numbers. To send another text, pass it after --edit of `visor approve`.",
        )
    return tuple(dict.fromkeys([*([] if number is None else [number]), *map(int, words)]))


async def choose_requests(services: Services, choice: RequestChoice) -> tuple[int, ...]:
    """Return the numbers of the chosen requests.

    Raises BadRequest if the choice is ambiguous or empty, ConfirmationRequired before all requests are answered.
    """
    if bool(choice.numbers) + bool(choice.pane) + choice.all > 1:
        raise BadRequest("give numbers, --pane or --all, not several of them")
    if choice.numbers:
        return choice.numbers
    approvals = await services.gate.approvals.list(is_open=True, limit=_MAX_LISTED)
    if choice.up_to is not None:
        approvals = [approval for approval in approvals if approval.id <= choice.up_to]
    if choice.pane:
        pane = (await resolve_pane(services, choice.pane)).id
        approvals = [approval for approval in approvals if approval.pane == pane]
        if not approvals:
            raise ObjectNotFound(f"no open request in pane {pane}", hint="`visor inbox` lists the open requests.")
    if not approvals:
        raise ObjectNotFound("no open request", hint="`visor inbox --all` lists the closed ones.")
    if not choice.pane and not choice.all and len(approvals) > 1:
        first = approvals[0].id
        hint = f"`visor {choice.verb} {first}`, several numbers, or --all; `visor inbox` lists them."
        raise BadRequest(f"{pluralize(len(approvals), 'open request')}: say which", hint=hint)
    if choice.all and not choice.is_confirmed and choice.up_to is None:
        raise _build_confirmation(services, approvals, choice.verb)
    return tuple(approval.id for approval in approvals)


def _build_confirmation(services: Services, approvals: Sequence[Approval], verb: str) -> ConfirmationRequired:
    items = [build_approval_item(approval, services.clock.now()) for approval in approvals]
    shown = "\n".join(f"{item.id}: {item.what}" + (f" (pane {item.pane})" if item.pane else "") for item in items)
    # A request that arrives while the person reads the list is not answered with the others.
    details = {"consent": f"--up-to={items[-1].id}"}
    return ConfirmationRequired(f"{verb} {pluralize(len(items), 'request')}?", shown=shown, details=details)


async def answer_requests(
    services: Services, numbers: Sequence[int], answer: Callable[[int], Awaitable[Approval]]
) -> list[Approval]:
    """Answer the requests and return them with their outcomes. One that fails does not keep others from being answered.

    Raises the error of the first failure if nothing was answered.
    """
    answered: list[Approval] = []
    awaited: set[int] = set()
    errors: list[VisorError] = []
    approvals = services.gate.approvals
    with approvals.subscribe() as updates:
        for number in numbers:
            # Asked before the answer: a caller that does not wait executes the action when it calls again.
            awaited |= {number} if approvals.is_awaited(number) else set()
            try:
                answered.append(await answer(number))
            except VisorError as error:
                errors.append(error)
                if (known := await approvals.find(number)) is not None:
                    outcome = ApprovalOutcome(status="failed", why=error.code, text=f"not answered: {error.message}")
                    answered.append(replace(known, outcome=known.outcome or outcome))
        if errors and len(errors) == len(numbers):
            raise errors[0]
        permits = {approval.id: approval.permit for approval in answered}
        until = services.clock.monotonic() + _OUTCOME_TIMEOUT_S
        while any(one.outcome is None and one.id in awaited and one.state != "open" for one in answered):
            if (left := until - services.clock.monotonic()) <= 0:
                break
            await wait_for_update(services.clock, left, updates)
            answered = [one if one.outcome else await approvals.find(one.id) or one for one in answered]
    return [replace(approval, permit=permits[approval.id]) for approval in answered]


def get_exit_status(result: Any) -> int:
    """Return 75 if one of several requests could not be answered."""
    return 75 if any(one.outcome == "failed" for one in (result, *result.more)) else 0
