"""A backend of another package: it keeps the contract, and a daemon finds it by its entry point alone."""

from contextlib import contextmanager

from termvisor.daemon.assembly import open_services
from termvisor.settings import Paths, make_instance_folders
from termvisor.testing.contracts.backend import COUNTING, BackendContract
from tests.unit.backends.toy_backend import SETTINGS, ToyBackend
from tests.unit.wait_until import wait_until


class TestToy(BackendContract):
    build_backend = staticmethod(ToyBackend)

    @contextmanager
    def run_server(self, paths):
        yield SETTINGS

    async def open_pane(self, scene, command):
        return scene.backend.server.open(*command)

    async def kill_server(self, scene):
        scene.backend.is_running = False
        scene.backend.server.leave()


async def test_a_daemon_captures_the_panes_of_an_installed_backend(folder, tmp_path, monkeypatch):
    (tmp_path / "toy-1.dist-info").mkdir()
    entry_points = "[termvisor.backends]\ntoy = tests.unit.backends.toy_backend:ToyBackend\n"
    (tmp_path / "toy-1.dist-info" / "entry_points.txt").write_text(entry_points)
    monkeypatch.syspath_prepend(str(tmp_path))
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    async with open_services(paths, SETTINGS) as services:
        backend = services._components.server_supervisor.backends["toy"]
        await wait_until(lambda: backend.server is not None)
        backend.server.open(*COUNTING)
        await services.panes.refresh()
        (pane,) = await services.panes.list_panes()
        assert (pane.instance.server.backend, pane.facts.session_name) == ("toy", "toy")
        watcher = services._components.server_supervisor.watchers[pane.instance.server.key]
        await wait_until(lambda: watcher.describe_capture(pane.instance.mux_id) == ("polled", None))
        assert services.panes.plan_attach(pane).outside == ()
        assert (await services.maintenance.get_health()).servers[0].client == "toy"
