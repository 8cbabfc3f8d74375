import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import CommandContext, call_operation
from termvisor.testing.operation_calls import build_sample_services, collect_answer, run_command


async def test_a_path_is_meant_as_the_caller_sees_it() -> None:
    world = await build_sample_services()
    answered = await collect_answer(
        world, CommandContext(argv=("db", "backup", "copy.db"), is_robot=False, cwd="/home/me")
    )
    assert world.maintenance.backups == ["/home/me/copy.db"]
    assert answered.out == "/home/me/copy.db: 8.2 KB, 3 panes, 0 lines, 0 events\n"


async def test_a_caller_without_a_folder_names_the_whole_path() -> None:
    with pytest.raises(BadRequest, match="absolute"):
        await call_operation(await build_sample_services(), "db_backup", {"file": "copy.db"})


async def test_a_file_that_exists_is_never_replaced() -> None:
    world = await build_sample_services()
    await run_command(world, "db", "backup", "/backups/copy.db")
    assert (await run_command(world, "robot", "db", "backup", "/backups/copy.db")).status == 75


async def test_quietly_only_the_path_is_said() -> None:
    assert (
        await run_command(await build_sample_services(), "-q", "db", "backup", "/backups/copy.db")
    ).out == "/backups/copy.db\n"
