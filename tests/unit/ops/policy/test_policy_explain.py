from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_command_that_acts_is_explained_and_not_run() -> None:
    world = await build_sample_services()
    out = (await run_command(world, "policy", "explain", "send", "1", "rm -rf build")).out
    assert "type 'rm -rf build' and press Enter" in out
    assert "policy says allow" in out
    assert world.gate.executed == []


async def test_its_own_options_stand_after_two_dashes() -> None:
    out = (
        await run_command(await build_sample_services(), "policy", "explain", "kill", "--", "1", "--signal", "KILL")
    ).out
    assert "SIGKILL" in out


async def test_what_only_looks_needs_no_policy() -> None:
    answered = await run_command(await build_sample_services(), "policy", "explain", "panes")
    assert answered.status == 2
    assert "does not act" in answered.err
