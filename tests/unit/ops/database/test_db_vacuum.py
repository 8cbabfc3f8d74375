from termvisor.testing.asking import ask, lively


async def test_what_was_given_back_is_told() -> None:
    assert (await ask(await lively(), "db", "vacuum")).out == "delete_raw    2 segments of 1 pane, 16.0 MB  0.2 s\n"
