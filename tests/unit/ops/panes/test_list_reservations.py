from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld


async def test_who_holds_what_and_for_how_long() -> None:
    assert "alice" in (await ask(await lively(), "reservations")).out
    assert (await ask(MemoryWorld(), "reservations")).out == "No pane is reserved.\n"
