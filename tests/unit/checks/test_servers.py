import msgspec

from termvisor.checks.servers import ServersAnswer
from termvisor.model.health import Health
from tests.unit.checks.conftest import MemorySight


class WithSilentServer(MemorySight):
    async def health(self) -> Health | None:
        health = await super().health()
        assert health is not None
        return msgspec.structs.replace(
            health, servers=(msgspec.structs.replace(health.servers[0], mux_ok=False), *health.servers)
        )


async def test_all_answer(sight: MemorySight) -> None:
    finding = await ServersAnswer().look(sight)
    assert (finding.status, finding.message) == ("ok", "1 watched, all answer")


async def test_a_silent_server_is_named(sight: MemorySight) -> None:
    finding = await ServersAnswer().look(WithSilentServer(sight.places, sight.world))
    assert (finding.status, finding.message) == ("warn", "no answer from /run/tmux/default")
