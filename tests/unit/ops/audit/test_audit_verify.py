from pathlib import Path

from msgspec.structs import replace

from termvisor.model.action.audit import BrokenChain
from termvisor.ops.api.catalog import find
from termvisor.ops.api.local_services import LocalWorld
from termvisor.settings import Places
from termvisor.testing.asking import ask, lively


async def test_it_is_spelled_as_two_words_and_says_whether_the_record_is_whole() -> None:
    world = await lively()
    assert (await ask(world, "audit", "verify")).out == "The record is whole.\n"
    world.door.ledger.broken = BrokenChain(7, "its content was changed")
    answered = await ask(world, "audit", "verify")
    assert (answered.status, answered.out) == (1, "The record is broken at entry 7: its content was changed.\n")


async def test_a_file_is_proven_without_a_daemon(tmp_path: Path) -> None:
    world, path = await lively(), tmp_path / "record.jsonl"
    path.write_text((await ask(world, "audit", "export")).out)
    newest = world.door.ledger.entries[-1].hash
    alone = LocalWorld(Places("/none/c", "/none/d", "/none/r"))
    answered = await ask(alone, "audit", "verify", "--file", str(path), "--kept", newest)
    assert (answered.status, answered.out) == (
        0,
        f"The file is whole.\nEntries: 1; the newest hash is {newest}.\n",
    )
    path.write_text(path.read_text().replace("make deploy", "make coffee"))
    answered = await ask(alone, "audit", "verify", "--file", str(path))
    assert (answered.status, answered.out) == (1, "The file is broken at entry 1: its content was changed.\n")


async def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    answered = await ask(await lively(), "robot", "audit", "verify", "--file", str(tmp_path / "none"))
    assert (answered.status, answered.envelope["error"]["code"]) == (69, "unavailable")


async def test_what_is_masked_is_told_as_not_proven(tmp_path: Path) -> None:
    world, path = await lively(), tmp_path / "record.jsonl"
    world.door.ledger.record(replace(world.door.ledger.entries[0], place="ghp_" + "a1B2" * 9))
    path.write_text((await ask(world, "audit", "export")).out)
    answered = await ask(world, "audit", "verify", "--file", str(path))
    assert answered.out.splitlines()[-1] == "A secret was taken out of 1 of them: their content is not proven."


def test_only_a_file_needs_no_daemon() -> None:
    op, words = find(["audit", "verify", "--file=x"], is_robot=False)
    assert (op.is_local(words), op.is_local([])) == (True, False)
