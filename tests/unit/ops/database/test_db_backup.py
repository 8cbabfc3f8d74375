import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import CommandContext, call_operation
from termvisor.testing.operation_calls import collect_answer, run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_path_is_resolved_for_the_caller() -> None:
    services = await build_sample_services()
    result = await collect_answer(
        services, CommandContext(argv=("db", "backup", "copy.db"), is_robot=False, cwd="/home/me")
    )
    assert services.maintenance.backups == ["/home/me/copy.db"]
    assert result.out == "/home/me/copy.db: 8.2 KB, 3 panes, 0 lines, 0 events\n"


async def test_a_caller_without_a_directory_needs_an_absolute_path() -> None:
    with pytest.raises(BadRequest, match="absolute"):
        await call_operation(await build_sample_services(), "db_backup", {"file": "copy.db"})


async def test_an_existing_file_is_never_replaced() -> None:
    services = await build_sample_services()
    await run_command(services, "db", "backup", "/backups/copy.db")
    assert (await run_command(services, "robot", "db", "backup", "/backups/copy.db")).status == 75


async def test_quiet_output_is_only_the_path() -> None:
    assert (
        await run_command(await build_sample_services(), "-q", "db", "backup", "/backups/copy.db")
    ).out == "/backups/copy.db\n"
