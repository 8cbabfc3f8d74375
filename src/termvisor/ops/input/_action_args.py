"""What every op that acts takes: the terms on which something is done, and who is asked where a person must be."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

from termvisor.model.action.preconditions import Preconditions

PaneReference = Annotated[str, Meta(description="The pane; any reference.", extra={"positional": "one"})]

ApprovalMode = Literal["none", "once", "session"]
"""Whether a person has said yes already, and for how long."""


class ActionArgs(Struct, frozen=True, kw_only=True):
    """How it is done."""

    dry_run: Annotated[bool, Meta(description="Say what would be decided and done, and do nothing.")] = False
    yes: Annotated[bool, Meta(description="A person at a terminal says yes to what would be asked.")] = False
    yes_for_session: Annotated[
        bool,
        Meta(description="As --yes, and for eight hours: this kind of action of theirs in this pane."),
    ] = False
    owner: Annotated[str, Meta(description="Under whose reservation it is done.")] = ""
    wait_answer_secs: Annotated[
        float, Meta(description="Wait so many seconds for a person, where one must be asked.", ge=0, le=86_400)
    ] = 0.0
    force_stale: Annotated[
        bool, Meta(description="Also where what is known of the pane is old or incomplete; it is recorded.")
    ] = False


class PreconditionArgs(ActionArgs, frozen=True, kw_only=True):
    """What must hold, or nothing is done."""

    if_runtime: Annotated[int | None, Meta(description="Only if the pane's process has this id.")] = None
    if_state: Annotated[
        str | None, Meta(description="Only if the pane's activity is this: prompt, command, alt_screen, …")
    ] = None
    if_updated_within: Annotated[
        Annotated[float, Meta(gt=0)] | None, Meta(description="Only if it printed within so many seconds.")
    ] = None
    if_screen: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="Only if the screen shows this text, or /pattern/ between slashes."),
    ] = None
    if_prompt: Annotated[bool, Meta(description="Only if a shell's prompt is shown.")] = False
    if_ready: Annotated[bool, Meta(description="Only if it said `ready` since its last command began.")] = False
    if_tail: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Only if the last lines fit this pattern.")
    ] = None
    lines: Annotated[int, Meta(description="How many last lines --if-tail looks at.", ge=1, le=1000)] = 5
    stable: Annotated[float, Meta(description="Seconds for which they must not have changed.", ge=0, le=3600)] = 0.0


def get_approval_mode(args: ActionArgs) -> ApprovalMode:
    """What the caller says beforehand to what would be asked."""
    return "session" if args.yes_for_session else "once" if args.yes else "none"


def build_preconditions(args: ActionArgs) -> Preconditions:
    """The terms that an Input states."""
    terms = Preconditions(owner=args.owner, force_stale=args.force_stale, wait_for_answer=args.wait_answer_secs)
    if not isinstance(args, PreconditionArgs):
        return terms
    return structs.replace(
        terms,
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
