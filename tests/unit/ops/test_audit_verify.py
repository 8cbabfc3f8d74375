from termvisor.model.audit import BrokenChain
from termvisor.testing.asking import ask, lively


async def test_it_is_spelled_as_two_words_and_says_whether_the_record_is_whole() -> None:
    world = await lively()
    assert (await ask(world, "audit", "verify")).out == "The record is whole.\n"
    world.door.ledger.broken = BrokenChain(7, "its content was changed")
    answered = await ask(world, "audit", "verify")
    assert (answered.status, answered.out) == (1, "The record is broken at entry 7: its content was changed.\n")
