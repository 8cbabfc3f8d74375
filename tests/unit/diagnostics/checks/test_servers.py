import msgspec

from termvisor.diagnostics.checks.servers import ServersCheck
from termvisor.model.health import HealthStatus, ServerHealth
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


class WithSilentServer(FakeCheckContext):
    async def get_health(self) -> HealthStatus | None:
        health = await super().get_health()
        assert health is not None
        return msgspec.structs.replace(
            health, servers=(msgspec.structs.replace(health.servers[0], mux_ok=False), *health.servers)
        )


async def test_all_servers_respond(context: FakeCheckContext) -> None:
    finding = await ServersCheck().run(context)
    assert (finding.status, finding.message) == ("ok", "1 watched, all respond")


async def test_a_silent_server_is_named(context: FakeCheckContext) -> None:
    finding = await ServersCheck().run(WithSilentServer(context.paths, context.services))
    assert (finding.status, finding.message) == ("warn", "no response from /run/tmux/default")


async def test_a_configured_server_that_does_not_exist_is_named(context: FakeCheckContext) -> None:
    class WithAbsentServer(FakeCheckContext):
        async def get_health(self) -> HealthStatus | None:
            health = await super().get_health()
            absent = ServerHealth(target="local", socket="/run/none", mux_ok=False, client="none", panes=0)
            return msgspec.structs.replace(health, servers=(absent,)) if health else None

    finding = await ServersCheck().run(WithAbsentServer(context.paths, context.services))
    assert (finding.status, finding.message) == ("warn", "no response from /run/none")
