from termvisor.testing.asking import ask, lively


async def test_a_reservation_ends_once() -> None:
    world = await lively()
    assert (await ask(world, "release", "1")).out == "reservation 1 has ended\n"
    assert (await ask(world, "release", "1")).status == 2
