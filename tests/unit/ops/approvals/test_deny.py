from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_a_no_closes_the_question() -> None:
    world = await build_sample_services()
    assert "question 1 is denied" in (await run_command(world, "deny", "1")).out
    assert await world.gate.approvals.list() == []


async def test_it_may_say_that_it_is_done_in_other_words() -> None:
    assert "question 1 is edited" in (await run_command(await build_sample_services(), "deny", "1", "--edited")).out
