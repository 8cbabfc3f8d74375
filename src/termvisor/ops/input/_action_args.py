"""Arguments that all acting operations share: approval, reservation owner and preconditions."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from termvisor.model.action.preconditions import Preconditions

PaneReference = Annotated[
    str, Meta(description="The pane: id, %id or session:window.pane.", extra={"positional": "one"})
]

ApprovalMode = Literal["none", "once", "session"]
"""Whether the caller approves in advance: not at all, this action, or this kind of action for the session."""


class ActionArgs(Struct, frozen=True, kw_only=True):
    """How the action is executed."""

    dry_run: Annotated[bool, Meta(description="Show the policy decision and the action without executing it.")] = False
    yes: Annotated[bool, Meta(description="Approve the action, if it requires approval (terminal only).")] = False
    yes_for_session: Annotated[
        bool,
        Meta(description="Like --yes, and for eight hours also this kind of action in this pane."),
    ] = False
    owner: Annotated[str, Meta(description="Owner of the reservation to act under.")] = ""
    wait_answer_secs: Annotated[
        float, Meta(description="Wait this many seconds for approval, if it is required.", ge=0, le=86_400)
    ] = 0.0
    force_stale: Annotated[
        bool, Meta(description="Execute even if the pane's state is outdated or incomplete; this is logged.")
    ] = False


class PreconditionArgs(ActionArgs, frozen=True, kw_only=True):
    """Preconditions; if one fails, nothing is executed."""

    if_runtime: Annotated[int | None, Meta(description="Require this process id in the pane.")] = None
    if_state: Annotated[
        str | None, Meta(description="Require this activity of the pane: prompt, command, alt_screen, …")
    ] = None
    if_updated_within: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Require output within this many seconds.")
    ] = None
    if_screen: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Require this text, or /pattern/ between slashes, on the screen."),
    ] = None
    if_prompt: Annotated[bool, Meta(description="Require a shell at its prompt.")] = False
    if_ready: Annotated[
        bool, Meta(description="Require that the program reported `ready` since its last command started.")
    ] = False
    if_tail: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Require that the last lines match this pattern.")
    ] = None
    lines: Annotated[int, Meta(description="Number of last lines that --if-tail checks.", ge=1, le=1000)] = 5
    stable: Annotated[
        float, Meta(description="Require that they have not changed for this many seconds.", ge=0, le=3600)
    ] = 0.0


def get_approval_mode(args: ActionArgs) -> ApprovalMode:
    """Return how the caller approves in advance."""
    return "session" if args.yes_for_session else "once" if args.yes else "none"


def build_preconditions(args: ActionArgs) -> Preconditions:
    """Return the preconditions given by the arguments."""
    preconditions = Preconditions(owner=args.owner, force_stale=args.force_stale, wait_for_answer=args.wait_answer_secs)
    if not isinstance(args, PreconditionArgs):
        return preconditions
    return structs.replace(
        preconditions,
        runtime=args.if_runtime,
        state=args.if_state,
        updated_within=args.if_updated_within,
        screen=args.if_screen,
        at_prompt=args.if_prompt,
        is_ready=args.if_ready,
        tail=args.if_tail,
        tail_lines=args.lines,
        stable_for=args.stable,
    )
