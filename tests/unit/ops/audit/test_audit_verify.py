from pathlib import Path

from msgspec.structs import replace

from termvisor.model.action.audit import ChainBreak
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_it_is_spelled_as_two_words_and_says_whether_the_record_is_whole() -> None:
    world = await build_sample_services()
    assert (await run_command(world, "audit", "verify")).out == "The record is whole.\n"
    world.gate.audit.broken_chain = ChainBreak(7, "its content was changed")
    answered = await run_command(world, "audit", "verify")
    assert (answered.status, answered.out) == (1, "The record is broken at entry 7: its content was changed.\n")


async def test_a_file_is_proven_without_a_daemon(tmp_path: Path) -> None:
    world, path = await build_sample_services(), tmp_path / "record.jsonl"
    path.write_text((await run_command(world, "audit", "export")).out)
    newest = world.gate.audit.entries[-1].hash
    alone = LocalServices(Paths("/none/c", "/none/d", "/none/r"))
    answered = await run_command(alone, "audit", "verify", "--file", str(path), "--kept", newest)
    assert (answered.status, answered.out) == (
        0,
        f"The file is whole.\nEntries: 1; the newest hash is {newest}.\n",
    )
    path.write_text(path.read_text().replace("make deploy", "make coffee"))
    answered = await run_command(alone, "audit", "verify", "--file", str(path))
    assert (answered.status, answered.out) == (1, "The file is broken at entry 1: its content was changed.\n")


async def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    answered = await run_command(
        await build_sample_services(), "robot", "audit", "verify", "--file", str(tmp_path / "none")
    )
    assert (answered.status, answered.envelope["error"]["code"]) == (69, "unavailable")


async def test_what_is_masked_is_told_as_not_proven(tmp_path: Path) -> None:
    world, path = await build_sample_services(), tmp_path / "record.jsonl"
    world.gate.audit.add_entry(replace(world.gate.audit.entries[0], place="ghp_" + "a1B2" * 9))
    path.write_text((await run_command(world, "audit", "export")).out)
    answered = await run_command(world, "audit", "verify", "--file", str(path))
    assert answered.out.splitlines()[-1] == "A secret was taken out of 1 of them: their content is not proven."


def test_only_a_file_needs_no_daemon() -> None:
    op, words = find_operation(["audit", "verify", "--file=x"], is_robot=False)
    assert (op.is_local(words), op.is_local([])) == (True, False)
