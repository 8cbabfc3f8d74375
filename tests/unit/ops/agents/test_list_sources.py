from termvisor.model.agent.session import SourceHealth
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld


async def test_sources_are_listed_with_how_they_are() -> None:
    data = (await ask(await lively(op="list_sources"), "robot", "list-sources")).envelope["data"]
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
    world = await lively(op="list_sources")
    out = (await ask(world, "sources", "--status", "down")).out
    assert "the server does not answer" in out
    assert "hook" not in out
    assert (await ask(world, "robot", "sources", "--agent", "none")).envelope["data"]["items"] == []


async def test_a_secret_in_an_address_is_taken_out() -> None:
    world = MemoryWorld()
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    world.agents.heard.append(SourceHealth(agent="codex", source="server", where=f"https://x/{secret}"))
    assert secret not in (await ask(world, "sources")).out


async def test_without_any_it_says_so() -> None:
    assert (await ask(MemoryWorld(), "sources")).out == "No agent has spoken anywhere yet.\n"
    assert (await ask(MemoryWorld(), "sources", "--status", "down")).out == "No source fits.\n"
