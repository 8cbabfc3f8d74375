"""The maintenance service of a real daemon."""

import asyncio
import os

import pytest

from termvisor.daemon.assembly import open_services
from termvisor.settings import Paths, Settings
from termvisor.store.maintenance.backup import read_file_contents
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.pattern_cache import install_pattern_cache


@pytest.fixture
def places():
    with make_short_folder() as folder:
        found = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        install_pattern_cache(found)
        yield found


async def test_health_lists_the_last_maintenance_runs(places):
    async with open_services(places, Settings(tmux_sockets=())) as services:
        assert not (await services.maintenance.check_database()).wrong
        assert [run.is_done async for run in services.maintenance.vacuum_database()][-1]
        assert [run.is_done async for run in services.maintenance.vacuum_database(rebuild_indexes=True)][-1]
        made = await services.maintenance.backup_database(f"{places.data_dir}/copy.db")
        health = await services.maintenance.get_health()
    assert made.contents.events == read_file_contents(made.path).events == 1
    assert [run.operation for run in health.maintenance] == ["backup", "reindex", "vacuum", "check"]
    assert health.last_checkpoint_at is not None
    assert health.alerts == ()


async def test_a_policy_that_others_could_write_is_an_alert(places):
    os.makedirs(places.config_dir)
    os.chmod(places.config_dir, 0o777)
    async with open_services(places, Settings(tmux_sockets=())) as services:
        (alert,) = (await services.maintenance.get_health()).alerts
    assert alert.startswith("the policy is refused, so no action is allowed")


async def test_health_tells_of_a_deleted_database_that_was_repaired_and_of_one_that_was_cut(places):
    async with open_services(places, Settings(tmux_sockets=())) as services:
        os.unlink(places.database)
        (repaired,) = (await services.maintenance.get_health()).alerts
        assert "was deleted while the daemon was running; it was written again" in repaired
        await services._components.store.checkpoint()
        os.truncate(places.database, 8192)
        health = await services.maintenance.get_health()
        assert (health.db_writable, any("was cut" in alert for alert in health.alerts)) == (False, True)


async def test_a_round_and_its_preview_run_all_operations(places):
    async with open_services(places, Settings(tmux_sockets=())) as services:
        foretold = [run.operation async for run in services.maintenance.run_maintenance(dry_run=True)]
        done = [run.operation async for run in services.maintenance.run_maintenance() if run.is_done]
    assert (foretold, done) == (done[:3], ["delete_raw", "delete_rows", "seal", "forget_panes"])


async def test_the_last_snapshot_is_written_at_shutdown(places):
    async with open_services(places, Settings(tmux_sockets=(), snapshot_interval=15.0)):
        assert not os.path.exists(places.snapshot_file)
    assert read_file_contents(places.snapshot_file).events == 2


async def test_files_on_disk_are_kept_after_the_database_was_lost(places):
    """New panes and epochs get numbers beyond those of the files, else the recorder would refuse them."""
    os.makedirs(f"{places.raw_dir}/41/99")
    with open(f"{places.raw_dir}/41/99/{0:016d}.raw", "wb") as file:
        file.write(b"from before")
    with run_private_tmux(places.runtime_dir) as tmux:
        tmux.start_session(command="sh")
        async with open_services(places, Settings(tmux_sockets=(tmux.socket,))) as services:
            (pane,) = await services.panes.list_panes()
            assert pane.id == 42
            async with asyncio.timeout(20):
                while (await services.panes.list_panes())[0].heard_by != "pipe":
                    await asyncio.sleep(0.02)
            assert [epoch.id for epoch in await services.history.recording.list_epochs(pane.id)] == [100]
    assert os.path.getsize(f"{places.raw_dir}/41/99/{0:016d}.raw") == 11
