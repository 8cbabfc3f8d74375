from termvisor.testing.asking import ask, lively


async def test_a_permit_is_taken_back_once() -> None:
    world = await lively()
    assert (await ask(world, "revoke-permit", "1")).out == "permit 1 no longer holds\n"
    assert (await ask(world, "revoke-permit", "1")).status == 2
