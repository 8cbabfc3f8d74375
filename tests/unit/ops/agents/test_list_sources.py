from termvisor.model.agent.session import SourceHealth
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_sources_are_listed_with_how_they_are() -> None:
    data = (await run_command(await build_sample_services(op="list_sources"), "robot", "list-sources")).envelope["data"]
    assert [(item["agent"], item["source"], item["status"]) for item in data["items"]] == [
        ("claude_code", "hook", "well"),
        ("codex", "app_server", "down"),
    ]
    assert data["items"][0]["heard_age"] == 60.0
    assert data["summary"] == {
        "sources": 2,
        "by_status": {"down": 1, "well": 1},
        "by_agent": {"claude_code": 1, "codex": 1},
    }


async def test_those_that_cannot_be_heard_are_found() -> None:
    world = await build_sample_services(op="list_sources")
    out = (await run_command(world, "sources", "--status", "down")).out
    assert "the server does not answer" in out
    assert "hook" not in out
    assert (await run_command(world, "robot", "sources", "--agent", "none")).envelope["data"]["items"] == []


async def test_a_secret_in_an_address_is_taken_out() -> None:
    world = FakeServices()
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    world.agents.source_health.append(SourceHealth(agent="codex", source="server", where=f"https://x/{secret}"))
    assert secret not in (await run_command(world, "sources")).out


async def test_without_any_it_says_so() -> None:
    assert (await run_command(FakeServices(), "sources")).out == "No agent has spoken anywhere yet.\n"
    assert (await run_command(FakeServices(), "sources", "--status", "down")).out == "No source fits.\n"
