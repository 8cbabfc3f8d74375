import apsw
import pytest
from msgspec.structs import replace

from termvisor.clock import SystemClock
from termvisor.errors import InternalError
from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import Gap
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store import Store
from termvisor.store.sqlite.database import register_functions
from termvisor.store.sqlite.database_file import apply_migrations, list_migrations
from termvisor.store.tables.panes import StoredPane

SERVER = ServerInstance("local", "/tmp/tmux-1/default", 100, 5000)
PANE = PaneInstance(SERVER, "%1")
FACTS = PaneFacts(mux_id="%1", pid=7, session_name="work", title="vim")


async def test_a_pane_instance_is_stored_once_and_keeps_its_id(store):
    assert await store.panes.find_or_add(PANE, FACTS, at=10) == (1, True)
    assert await store.panes.find_or_add(PANE, FACTS, at=20) == (1, False)


@pytest.mark.parametrize(
    "other",
    [
        replace(PANE, mux_id="%2"),
        replace(PANE, generation=1),
        replace(PANE, server=replace(SERVER, pid=101)),
        replace(PANE, server=replace(SERVER, started=5001)),
        replace(PANE, server=replace(SERVER, socket="/tmp/other")),
        replace(PANE, server=replace(SERVER, target="build-host")),
    ],
)
async def test_another_instance_is_another_pane(store, other):
    await store.panes.find_or_add(PANE, FACTS, at=10)
    assert await store.panes.find_or_add(other, FACTS, at=10) == (2, True)


async def test_an_id_survives_a_restart(tmp_path):
    path = str(tmp_path / "visor.db")
    store = await Store.open(path, SystemClock())
    await store.panes.find_or_add(replace(PANE, mux_id="%0"), FACTS, at=10)
    given = await store.panes.find_or_add(PANE, FACTS, at=10)
    await store.close()
    store = await Store.open(path, SystemClock())
    assert given == (2, True)
    assert await store.panes.find_or_add(PANE, FACTS, at=20) == (2, False)
    await store.close()


async def test_panes_are_listed_with_their_newest_facts(store, new_pane):
    pane = await new_pane()
    newer = replace(FACTS, title="make", dead=True, dead_status=2)
    await store.panes.update(pane, newer, at=50)
    (listed,) = await store.panes.list_panes()
    assert (listed.id, listed.instance, listed.facts) == (pane, PANE, newer)
    assert listed.first_seen_at == 10


async def test_updating_an_unknown_pane_is_an_internal_error(store):
    with pytest.raises(InternalError, match="pane 99 not found"):
        await store.panes.update(PaneId(99), FACTS, at=1)


async def test_a_gone_pane_is_listed_only_when_asked_for(store, new_pane):
    first, second = await new_pane("%1"), await new_pane("%2")
    await store.panes.mark_gone(first, at=70)
    await store.panes.mark_gone(first, at=90)
    assert [pane.id for pane in await store.panes.list_panes()] == [second]
    assert [(pane.id, pane.gone_at) for pane in await store.panes.list_panes(include_gone=True)] == [
        (first, 70),
        (second, None),
    ]


async def test_a_pane_that_reappears_is_not_gone(store, new_pane):
    pane = await new_pane()
    await store.panes.mark_gone(pane, at=70)
    await store.panes.find_or_add(PANE, FACTS, at=80)
    (listed,) = await store.panes.list_panes()
    assert (listed.id, listed.gone_at) == (pane, None)


async def test_captured_bytes_lines_and_gaps_are_counted(store, new_pane, write_lines):
    pane, quiet = await new_pane("%1"), await new_pane("%2")
    await write_lines(pane, "one", "two", at=100, until=120)
    await write_lines(pane, "three", at=130)
    closed = await store.output.open_epoch(pane, "pipe", 140)
    await store.output.close_epoch(closed, "pane_exited", 150, size=1000)
    await store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=125))
    captured, silent = await store.panes.list_panes()
    assert (captured.lines, captured.gaps, captured.bytes_heard, captured.last_output_at) == (3, 1, 1018, 130)
    assert (silent.id, silent.lines, silent.gaps, silent.bytes_heard, silent.last_output_at) == (quiet, 0, 0, 0, None)


async def test_the_gaps_of_a_gone_pane_end_with_it(store, new_pane):
    pane = await new_pane()
    await store.output.record_gap(Gap(pane=pane, cause="recorder_restart", start_at=50))
    await store.panes.mark_gone(pane, at=70)
    assert [gap.end_at for gap in await store.output.list_gaps(pane=pane)] == [70]


async def test_one_pane_is_found_by_its_number_also_after_it_ended(store):
    await store.panes.find_or_add(PANE, FACTS, at=10)
    number, _ = await store.panes.find_or_add(replace(PANE, mux_id="%2"), FACTS, at=10)
    await store.panes.mark_gone(number, at=30)
    assert await store.panes.find(number) == (await store.panes.list_panes(include_gone=True))[1]
    assert await store.panes.find(PaneId(99)) is None


async def test_the_highest_number_of_a_server_is_known(store):
    assert await store.panes.find_highest_mux_number(SERVER) is None
    for name in ("%9", "%10", "%2"):
        await store.panes.find_or_add(replace(PANE, mux_id=name), FACTS, at=10)
    other = replace(SERVER, pid=101)
    await store.panes.find_or_add(PaneInstance(other, "%77"), FACTS, at=10)
    assert (await store.panes.find_highest_mux_number(SERVER), await store.panes.find_highest_mux_number(other)) == (
        10,
        77,
    )


async def test_panes_that_came_and_went_are_stored_once_with_a_gap(store):
    await store.panes.find_or_add(PANE, FACTS, at=10)
    for _ in range(2):
        await store.panes.add_missed(SERVER, ["%1", "%2"], since=20, at=30)
    known, missed = await store.panes.list_panes(include_gone=True)
    assert (known.instance, known.gone_at, known.gaps) == (PANE, None, 0)
    assert missed == StoredPane(
        id=2,
        instance=PaneInstance(SERVER, "%2"),
        facts=PaneFacts(mux_id="%2", pid=0, dead=True),
        first_seen_at=20,
        gone_at=30,
        gaps=1,
    )
    (gap,) = await store.output.list_gaps()
    assert (gap.pane, gap.cause, gap.start_at, gap.end_at) == (2, "link_down", 20, 30)


async def test_a_process_id_that_repeats_after_a_reboot_is_another_server(store):
    before, after = (replace(PANE, server=replace(SERVER, boot=boot)) for boot in ("a", "b"))
    assert await store.panes.find_or_add(before, FACTS, at=10) == (1, True)
    assert await store.panes.find_or_add(after, FACTS, at=20) == (2, True)
    assert await store.panes.find_or_add(before, FACTS, at=30) == (1, False)
    assert (await store.panes.find_newest(after.server, PANE.mux_id)).id == 2


async def test_a_server_that_was_stored_without_its_boot_gets_it(store):
    await store.panes.find_or_add(PANE, FACTS, at=10)
    running = replace(SERVER, boot="a")
    await store.panes.adopt_server(running)
    assert await store.panes.find_or_add(replace(PANE, server=running), FACTS, at=20) == (1, False)
    assert [pane.instance.server for pane in await store.panes.list_panes()] == [running]


async def test_an_unknown_server_is_not_stored_by_adopting_it(store):
    await store.panes.adopt_server(SERVER)
    assert await store.panes.find_highest_mux_number(SERVER) is None
    assert await store.panes.find_or_add(replace(PANE, server=replace(SERVER, backend="pty")), FACTS, at=1) == (1, True)
    assert [pane.instance.server.backend for pane in await store.panes.list_panes()] == ["pty"]


def test_servers_of_an_earlier_version_keep_their_ids_and_panes(tmp_path):
    connection = apsw.Connection(str(tmp_path / "visor.db"))
    register_functions(connection)
    first_with_boot = next(one.version for one in list_migrations() if one.path.endswith("_server_boot.sql"))
    for migration in list_migrations()[: first_with_boot - 1]:
        with open(migration.path, encoding="utf-8") as file:
            connection.execute(file.read())
        connection.pragma("user_version", migration.version)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("INSERT INTO server (id, target, socket, pid, started) VALUES (3, 'local', '/s', 1, 2)")
    connection.execute("INSERT INTO server (id, target, socket, pid, started) VALUES (9, 'local', '/gone', 1, 2)")
    connection.execute("DELETE FROM server WHERE id = 9")
    connection.execute(
        "INSERT INTO pane (server, mux_id, generation, facts, first_seen_at, last_seen_at)"
        " VALUES (3, '%1', 0, '{}', 1, 1)"
    )
    apply_migrations(connection)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    servers = "SELECT server.id, boot, backend, mux_id FROM server JOIN pane ON pane.server = server.id"
    assert connection.execute(servers).fetchall() == [(3, "", "tmux", "%1")]
    connection.execute("INSERT INTO server (target, socket, pid, started) VALUES ('local', '/new', 1, 2)")
    assert connection.last_insert_rowid() == 10
