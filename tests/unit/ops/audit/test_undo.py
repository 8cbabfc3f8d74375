from termvisor.errors import StaleSnapshot
from termvisor.model.action.action import Kill, SetTitle
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.undo import UndoAction, UndoPrecondition
from termvisor.testing.operation_calls import build_sample_services, run_command

CLOSING = UndoAction(
    action=Kill(pane=1, closes_pane=True), undoes=UndoPrecondition(correlation="c0ffee", is_alone=True)
)


async def test_it_does_what_takes_the_action_back_bound_to_what_that_left() -> None:
    world = await build_sample_services()
    answered = await run_command(world, "undo")
    assert (answered.status, answered.out) == (0, "undone: set its title to 'make test' (pane 1)\n")
    ((action, terms),) = world.gate.executed
    assert action == SetTitle(pane=1, title="make test")
    assert terms.undoes == UndoPrecondition(correlation="0ff1ce", title="release build")
    data = (await run_command(world, "robot", "undo", "0ff1ce")).envelope["data"]
    assert (data["undoes"], data["status"], data["pane"]["id"]) == ("0ff1ce", "done", 1)


async def test_what_closes_a_pane_is_confirmed_first() -> None:
    world = await build_sample_services()
    world.gate.audit.sample_inverse = CLOSING
    answered = await run_command(world, "undo", is_terminal=True)
    assert (answered.status, world.gate.executed) == (2, [])
    assert "undo c0ffee: close the pane and end everything in it (pane 1)?" in answered.question
    assert (await run_command(world, "undo", "--yes")).status == 0
    assert world.gate.executed[0][0] == CLOSING.action


async def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    world = await build_sample_services()
    world.gate.audit.sample_inverse = CLOSING
    answered = await run_command(world, "undo", "--dry-run")
    assert "close the pane" in answered.out and world.gate.executed == []


async def test_what_has_no_inverse_is_an_error_of_its_own() -> None:
    world = await build_sample_services()
    world.gate.audit.sample_inverse = None
    answered = await run_command(world, "robot", "undo")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "no_inverse")


async def test_a_refusal_and_a_doubt_have_their_own_status() -> None:
    world = await build_sample_services()
    world.gate.outcome = Outcome(status="unknown", why="not_cleared", text="the input is not seen to be empty")
    answered = await run_command(world, "undo")
    assert (answered.status, answered.out.partition(":")[0]) == (6, "it cannot be said whether it is undone")
    world.gate.error = StaleSnapshot("nothing was done: the title is no longer the one that was set")
    assert (await run_command(world, "undo")).status == 75
