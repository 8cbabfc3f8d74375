from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld


async def test_who_may_do_what_without_a_question() -> None:
    item = (await ask(await lively(), "robot", "list-permits")).envelope["data"]["items"][0]
    assert (item["caller"], item["kind"], item["pane"]) == ("robot 1000 (builder)", "send_keys", 1)
    assert "No lasting permits" in (await ask(MemoryWorld(), "permits")).out
