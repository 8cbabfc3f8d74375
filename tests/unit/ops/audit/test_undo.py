from termvisor.errors import StaleSnapshot
from termvisor.model.action.action import Kill, SetTitle
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.undo import Inverse, Undoes
from termvisor.testing.asking import ask, lively

CLOSING = Inverse(action=Kill(pane=1, closes_pane=True), undoes=Undoes(correlation="c0ffee", is_alone=True))


async def test_it_does_what_takes_the_action_back_bound_to_what_that_left() -> None:
    world = await lively()
    answered = await ask(world, "undo")
    assert (answered.status, answered.out) == (0, "undone: set its title to 'make test' (pane 1)\n")
    ((action, terms),) = world.door.done
    assert action == SetTitle(pane=1, title="make test")
    assert terms.undoes == Undoes(correlation="0ff1ce", title="release build")
    data = (await ask(world, "robot", "undo", "0ff1ce")).envelope["data"]
    assert (data["undoes"], data["status"], data["pane"]["id"]) == ("0ff1ce", "done", 1)


async def test_what_closes_a_pane_is_confirmed_first() -> None:
    world = await lively()
    world.door.ledger.taken_back = CLOSING
    answered = await ask(world, "undo", is_terminal=True)
    assert (answered.status, world.door.done) == (2, [])
    assert "undo c0ffee: close the pane and end everything in it (pane 1)?" in answered.shown
    assert (await ask(world, "undo", "--yes")).status == 0
    assert world.door.done[0][0] == CLOSING.action


async def test_a_dry_run_says_what_would_be_done_and_does_nothing() -> None:
    world = await lively()
    world.door.ledger.taken_back = CLOSING
    answered = await ask(world, "undo", "--dry-run")
    assert "close the pane" in answered.out and world.door.done == []


async def test_what_has_no_inverse_is_an_error_of_its_own() -> None:
    world = await lively()
    world.door.ledger.taken_back = None
    answered = await ask(world, "robot", "undo")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "no_inverse")


async def test_a_refusal_and_a_doubt_have_their_own_status() -> None:
    world = await lively()
    world.door.outcome = Outcome(status="unknown", why="not_cleared", text="the input is not seen to be empty")
    answered = await ask(world, "undo")
    assert (answered.status, answered.out.partition(":")[0]) == (6, "it cannot be said whether it is undone")
    world.door.error = StaleSnapshot("nothing was done: the title is no longer the one that was set")
    assert (await ask(world, "undo")).status == 75
