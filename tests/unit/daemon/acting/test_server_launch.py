"""Which server is started for a program if none is running."""

from types import SimpleNamespace

import pytest

from termvisor.backends.backend import Abilities
from termvisor.daemon.acting.server_launch import find_server_launch
from termvisor.model.action.action import Spawn
from termvisor.model.terminal.target import LOCAL

FOUND = ["/run/default", "/run/old", "/data/demo"]


class ScriptedBackend:
    name = "tmux"

    def __init__(self, named: list[str] | None, *, is_missing: bool = False, **abilities: bool):
        self.named, self.is_missing, self.abilities = named, is_missing, Abilities(**abilities)

    def explain_unavailable(self) -> str:
        return "tmux is missing" if self.is_missing else ""

    async def list_addresses(self, _transport: object) -> list[str]:
        return FOUND if self.named is None else [*self.named, "/data/demo"]

    async def list_named_addresses(self, _transport: object) -> list[str] | None:
        return self.named


async def find_address(backend: ScriptedBackend, **fields: str) -> str | None:
    places = [(backend, SimpleNamespace(target=LOCAL))]
    launch = await find_server_launch(SimpleNamespace(list_places=lambda: places), Spawn(where="session", **fields))
    return None if launch is None else launch.key.address


@pytest.mark.parametrize(
    ("named", "server", "address"),
    [
        (None, "", "/run/default"),
        (None, "old", "/run/old"),
        (None, "/run/old", "/run/old"),
        (None, "new", "/run/new"),
        (None, "/srv/new", None),
        (["/a/one", "/a/two"], "", "/a/one"),
        (["/a/one", "/a/two"], "two", "/a/two"),
        (["/a/one", "/a/two"], "three", None),
        ([], "", None),
    ],
)
async def test_only_a_server_that_will_be_watched_is_started(named, server, address):
    assert await find_address(ScriptedBackend(named), server=server) == address


@pytest.mark.parametrize(
    "backend",
    [
        ScriptedBackend(None, is_missing=True),
        ScriptedBackend(None, spawns=False),
        ScriptedBackend(None, is_default_place=False),
    ],
    ids=["not installed", "opens no panes", "not the default"],
)
async def test_a_backend_that_cannot_start_the_program_starts_no_server(backend):
    assert await find_address(backend) is None


async def test_the_place_and_the_target_are_those_of_the_program():
    assert await find_address(ScriptedBackend(None, is_default_place=False), place="tmux") == "/run/default"
    assert await find_address(ScriptedBackend(None), place="pty") is None
    assert await find_address(ScriptedBackend(None), target="elsewhere") is None
