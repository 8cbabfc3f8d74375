from termvisor.model.ids import PaneId
from termvisor.testing.operation_calls import OPERATION_CALLS, run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_result_has_stdout_stderr_and_status() -> None:
    services = await build_sample_services()
    fine, wrong = await run_command(services, "panes", "-q"), await run_command(services, "nope")
    assert (bool(fine.out), fine.err, fine.status) == (True, "", 0)
    assert (wrong.out, wrong.err.startswith("visor: "), wrong.status) == ("", True, 2)


async def test_a_leading_robot_argument_calls_as_a_robot() -> None:
    assert (await run_command(await build_sample_services(), "robot", "version")).envelope["ok"]


async def test_sample_services_have_data_of_every_kind() -> None:
    services = await build_sample_services()
    assert await services.history.list_lines(PaneId(1))
    assert await services.history.list_gaps()
    assert services.panes.get_pending_line(PaneId(1))
    assert len(await services.panes.list_panes(include_gone=True)) == 3
    assert OPERATION_CALLS
