from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.input._action_args import ActionArgs, PreconditionArgs, build_preconditions


def test_defaults_give_default_preconditions() -> None:
    assert build_preconditions(ActionArgs()) == build_preconditions(PreconditionArgs()) == Preconditions()


def test_every_guard_reaches_the_terms() -> None:
    words = "--if-runtime 7 --if-state prompt --if-updated-within 3 --if-screen ok --if-prompt --if-ready --if-tail x"
    more = "--lines 9 --stable 2 --owner me --force-stale --wait-answer-secs 4"
    assert build_preconditions(parse_arguments(PreconditionArgs, f"{words} {more}".split())) == Preconditions(
        runtime=7,
        state="prompt",
        updated_within=3.0,
        screen="ok",
        at_prompt=True,
        is_ready=True,
        tail="x",
        tail_lines=9,
        stable_for=2.0,
        owner="me",
        force_stale=True,
        wait_for_answer=4.0,
    )
