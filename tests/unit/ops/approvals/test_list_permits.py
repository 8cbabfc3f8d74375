from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_who_may_do_what_without_a_question() -> None:
    item = (await run_command(await build_sample_services(), "robot", "list-permits")).envelope["data"]["items"][0]
    assert (item["caller"], item["kind"], item["pane"]) == ("robot 1000 (builder)", "send_keys", 1)
    assert "No lasting permits" in (await run_command(FakeServices(), "permits")).out
