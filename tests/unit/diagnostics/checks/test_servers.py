import msgspec

from termvisor.diagnostics.checks.servers import ServersAnswer
from termvisor.model.health import Health, ServerHealth
from tests.unit.diagnostics.checks.conftest import MemorySight


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


async def test_a_server_that_was_named_and_is_not_there_is_named(sight: MemorySight) -> None:
    class WithAbsentServer(MemorySight):
        async def health(self) -> Health | None:
            health = await super().health()
            absent = ServerHealth(target="local", socket="/run/none", mux_ok=False, client="none", panes=0)
            return msgspec.structs.replace(health, servers=(absent,)) if health else None

    finding = await ServersAnswer().look(WithAbsentServer(sight.places, sight.world))
    assert (finding.status, finding.message) == ("warn", "no answer from /run/none")
