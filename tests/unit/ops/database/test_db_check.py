from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_an_intact_database_is_ok() -> None:
    result = await run_command(await build_sample_services(), "db", "check", "--thorough")
    assert (result.status, result.out) == (0, "/home/me/.local/share/termvisor/visor.db ok\n")


async def test_a_problem_is_reported_with_hints_and_exit_status_one() -> None:
    services = await build_sample_services()
    services.maintenance.check_problem = "the index does not fit the text"
    result = await run_command(services, "db", "check")
    assert result.status == 1
    assert "the index does not fit the text" in result.out
    assert "visor db reindex" in result.out
    assert "visor db restore" in result.out
    data = (await run_command(services, "robot", "db", "check")).envelope["data"]
    assert (data["is_fine"], data["wrong"]) == (False, services.maintenance.check_problem)
