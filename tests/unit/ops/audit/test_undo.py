from termvisor.errors import StaleSnapshot
from termvisor.model.action.action import Kill, SetTitle
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import UndoAction, UndoPrecondition
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

CLOSING = UndoAction(
    action=Kill(pane=1, closes_pane=True), undoes=UndoPrecondition(correlation="c0ffee", is_alone=True)
)


async def test_the_inverse_is_executed_with_the_preconditions_of_the_undo() -> None:
    services = await build_sample_services()
    result = await run_command(services, "undo")
    assert (result.status, result.out) == (0, "undone: set its title to 'make test' (pane 1)\n")
    ((action, preconditions),) = services.gate.executed
    assert action == SetTitle(pane=1, title="make test")
    assert preconditions.undoes == UndoPrecondition(correlation="0ff1ce", title="release build")
    data = (await run_command(services, "robot", "undo", "0ff1ce")).envelope["data"]
    assert (data["undoes"], data["status"], data["pane"]["id"]) == ("0ff1ce", "done", 1)


async def test_an_undo_that_closes_a_pane_needs_confirmation() -> None:
    services = await build_sample_services()
    services.gate.audit.sample_inverse = CLOSING
    result = await run_command(services, "undo", is_terminal=True)
    assert (result.status, services.gate.executed) == (2, [])
    assert "undo c0ffee: close the pane and all its processes (pane 1)?" in result.question
    assert (await run_command(services, "undo", "--yes")).status == 0
    assert services.gate.executed[0][0] == CLOSING.action


async def test_a_dry_run_describes_the_undo_and_executes_nothing() -> None:
    services = await build_sample_services()
    services.gate.audit.sample_inverse = CLOSING
    result = await run_command(services, "undo", "--dry-run")
    assert "close the pane" in result.out and services.gate.executed == []


async def test_an_action_without_inverse_is_not_undoable() -> None:
    services = await build_sample_services()
    services.gate.audit.sample_inverse = None
    result = await run_command(services, "robot", "undo")
    assert (result.status, result.envelope["error"]["code"]) == (2, "no_inverse")


async def test_refused_and_unverified_undos_have_their_own_exit_status() -> None:
    services = await build_sample_services()
    services.gate.outcome = Outcome(status="unknown", why="not_cleared", text="the input is not seen to be empty")
    result = await run_command(services, "undo")
    assert (result.status, result.out.partition(":")[0]) == (6, "not verified whether it was undone")
    services.gate.error = StaleSnapshot("nothing was done: the title is no longer the one that was set")
    assert (await run_command(services, "undo")).status == 75
