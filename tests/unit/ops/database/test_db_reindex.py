from termvisor.testing.asking import ask, lively


async def test_each_step_is_told() -> None:
    assert (await ask(await lively(), "db", "reindex")).out == "delete_raw    made anew, 16.0 MB  0.2 s\n"
