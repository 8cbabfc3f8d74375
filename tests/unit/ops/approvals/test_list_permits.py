from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_permits_are_listed() -> None:
    item = (await run_command(await build_sample_services(), "robot", "list-permits")).envelope["data"]["items"][0]
    assert (item["caller"], item["kind"], item["pane"]) == ("robot 1000 (builder)", "send_keys", 1)
    assert "No permits" in (await run_command(FakeServices(), "permits")).out
