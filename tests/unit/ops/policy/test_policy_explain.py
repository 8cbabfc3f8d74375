from termvisor.testing.asking import ask, lively


async def test_a_command_that_acts_is_explained_and_not_run() -> None:
    world = await lively()
    out = (await ask(world, "policy", "explain", "send", "1", "rm -rf build")).out
    assert "type 'rm -rf build' and press Enter" in out
    assert "policy says allow" in out
    assert world.door.done == []


async def test_its_own_options_stand_after_two_dashes() -> None:
    out = (await ask(await lively(), "policy", "explain", "kill", "--", "1", "--signal", "KILL")).out
    assert "SIGKILL" in out


async def test_what_only_looks_needs_no_policy() -> None:
    answered = await ask(await lively(), "policy", "explain", "panes")
    assert answered.status == 2
    assert "does not act" in answered.err
