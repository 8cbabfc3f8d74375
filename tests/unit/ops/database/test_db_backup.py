import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api.dispatch import Caller, call
from termvisor.testing.asking import ask, collect, lively


async def test_a_path_is_meant_as_the_caller_sees_it() -> None:
    world = await lively()
    answered = await collect(world, Caller(argv=("db", "backup", "copy.db"), is_robot=False, cwd="/home/me"))
    assert world.upkeep.backups == ["/home/me/copy.db"]
    assert answered.out == "/home/me/copy.db: 8.2 KB, 3 panes, 0 lines, 0 events\n"


async def test_a_caller_without_a_folder_names_the_whole_path() -> None:
    with pytest.raises(BadRequest, match="absolute"):
        await call(await lively(), "db_backup", {"file": "copy.db"})


async def test_a_file_that_exists_is_never_replaced() -> None:
    world = await lively()
    await ask(world, "db", "backup", "/backups/copy.db")
    assert (await ask(world, "robot", "db", "backup", "/backups/copy.db")).status == 75


async def test_quietly_only_the_path_is_said() -> None:
    assert (await ask(await lively(), "-q", "db", "backup", "/backups/copy.db")).out == "/backups/copy.db\n"
