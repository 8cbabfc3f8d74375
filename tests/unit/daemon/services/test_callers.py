"""Who a caller is: real processes in a real tmux, and the rules on made-up chains of ancestors."""

import os
import shutil
from collections.abc import Iterator
from contextlib import aclosing
from itertools import count
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.backends.tmux.pane_source import identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.daemon.server.dispatcher import OperationDispatcher
from termvisor.daemon.services.callers import CallerIdentifier
from termvisor.model.action.action import SendText
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.terminal.target import LOCAL
from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.system.process_origin import AgentOrigin, OriginProcess, ProcessOrigin, find_doubt
from termvisor.system.procfs import list_processes, read_argv, read_start_time
from termvisor.system.retry import wait_until
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from tests.unit.actions.gate_scene import open_gate_scene

UID = os.getuid()
NUMBERS = count(1000 + os.getpid())


class AgentScene:
    """A person's shell and an agent's shell in two panes; the agent is a shell with the name of an agent."""

    def __init__(self, tmux: PrivateTmux, folder: str):
        self.tmux, self.folder = tmux, folder
        self._next = next(NUMBERS) * 100
        self.person = tmux.start_session("own", "env -i PATH=$PATH bash --norc --noprofile -i")
        os.symlink(shutil.which("bash") or "/bin/bash", f"{folder}/claude")
        self.agent = tmux.open_window(
            "own", f"env -i PATH=$PATH TMUX=$TMUX TMUX_PANE=$TMUX_PANE {folder}/claude --norc -i"
        )
        pid = int(tmux.read_format(self.agent, "#{pane_pid}"))
        process = AgentProcess(
            id="1", pane=2, place=PaneLocation("local", tmux.socket, self.agent), agent="claude_code", pid=pid,
            pid_started=read_start_time(pid), started_at=0,
        )  # fmt: skip
        facts = SimpleNamespace(
            pid=pid, pid_started=process.pid_started, tty=tmux.read_format(self.agent, "#{pane_tty}")
        )
        watcher = SimpleNamespace(known_panes={self.agent: SimpleNamespace(id=2, facts=facts)}, has_started=False)
        watcher.transport = SimpleNamespace(target=LOCAL)
        tracker = SimpleNamespace(agents_by_pane={2: process})
        self.callers = CallerIdentifier(
            SimpleNamespace(
                server_supervisor=SimpleNamespace(watchers={"": watcher}),
                agent_tracking=SimpleNamespace(tracker=tracker),
            )
        )

    def start(self, pane: str, command: str, tmux: PrivateTmux | None = None) -> PeerProcess:
        """Type a command with a unique `sleep` in it, `SLEEP`, and return the process of that sleep."""
        self._next += 1
        argv = ("sleep", str(self._next))
        (tmux or self.tmux).type_line(pane, command.replace("SLEEP", " ".join(argv)))
        found: list[int] = []

        def find() -> bool:
            found[:] = [one.pid for one in list_processes() if one.name == "sleep" and read_argv(one.pid) == argv]
            return bool(found)

        assert wait_until(find, 10.0), command
        return PeerProcess(UID, found[0], read_start_time(found[0]))


@pytest.fixture(scope="module")
def scene() -> Iterator[AgentScene]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        yield AgentScene(tmux, folder)


@pytest.mark.parametrize(
    "command",
    ["SLEEP &", "SLEEP | cat &", "bash -c 'SLEEP; true' &", "script -qc 'SLEEP' /dev/null </dev/null >/dev/null &"],
    ids=["plain", "piped", "script", "nested-terminal"],
)
async def test_a_command_of_a_shell_in_a_terminal_is_a_persons(scene: AgentScene, command: str) -> None:
    actor = await scene.callers.identify("cli", scene.start(scene.person, command))
    assert (actor.kind, actor.doubt, actor.face) == ("human", "", "cli")


@pytest.mark.parametrize(
    ("command", "kind", "doubt"),
    [
        ("SLEEP &", "agent", "started by an agent"),
        ("script -qc 'SLEEP' /dev/null </dev/null >/dev/null &", "agent", "started by an agent"),
        ("setsid -f SLEEP", "robot", "no controlling terminal"),
        ("(SLEEP &)", "robot", "does not descend from process"),
        (
            "setsid -f script -qc 'SLEEP' /dev/null </dev/null >/dev/null",
            "agent",
            "opened from pane 2, in which claude_code runs",
        ),
        (
            "CLAUDECODE=1 setsid -f script -qc 'SLEEP' /dev/null </dev/null >/dev/null",
            "agent",
            "CLAUDECODE in the environment",
        ),
        (
            "env -i PATH=$PATH setsid -f script -qc 'SLEEP' /dev/null </dev/null >/dev/null",
            "robot",
            "agent in pane 2 is older",
        ),
        ("env -i PATH=$PATH tmux -L $TMUX_PANE -f /dev/null new -d SLEEP", "robot", "agent in pane 2 is older"),
    ],
    ids=[
        "child",
        "own-terminal",
        "detached",
        "reparented",
        "detached-terminal",
        "marked",
        "no-environment",
        "own-tmux",
    ],
)
async def test_what_an_agent_starts_is_no_person(scene: AgentScene, command: str, kind: str, doubt: str) -> None:
    command = command.replace("-L $TMUX_PANE", f"-S {scene.folder}/second")
    actor = await scene.callers.identify("cli", scene.start(scene.agent, command))
    assert actor.kind == kind and doubt in actor.doubt
    if "tmux" in command:
        PrivateTmux(f"{scene.folder}/second").kill_server()


async def test_the_pane_of_an_agents_child_is_known_without_a_terminal(scene: AgentScene) -> None:
    peer = scene.start(scene.agent, "setsid -w SLEEP &")
    assert scene.callers.find_pane(peer.pid) == 2


async def test_a_young_tmux_server_is_a_persons_once_a_person_is_attached(scene: AgentScene) -> None:
    with run_private_tmux(scene.folder, "young") as young:
        pane = young.start_session("mine", "env -i PATH=$PATH bash --norc --noprofile -i")
        backend = SimpleNamespace(build_control=TmuxPaneControl)
        transport = SimpleNamespace(target=LOCAL)
        watcher = SimpleNamespace(known_panes={}, has_started=True, backend=backend, transport=transport)
        watcher.server = await identify_server(PlainClient("tmux", young.socket, lambda: None), young.socket)
        watchers = scene.callers._components.server_supervisor.watchers
        watchers["young"] = watcher
        peer = scene.start(pane, "SLEEP &", young)
        assert "agent in pane 2 is older" in (await scene.callers.identify("cli", peer)).doubt
        for pane, command, kind in ((scene.agent, "script -qc '{}' /dev/null", "robot"), (scene.person, "{}", "human")):
            attach = f"TERM=screen tmux -S {young.socket} attach"
            before = young("list-clients")
            scene.tmux.type_line(pane, command.format(attach))
            assert wait_until(lambda before=before: young("list-clients") != before, 10.0)
            assert (await scene.callers.identify("cli", peer)).kind == kind
        del watchers["young"]


@pytest.mark.parametrize(("face", "kind"), [("robot", "robot"), ("python", "robot"), ("web", "robot"), ("mcp", "mcp")])
async def test_an_interface_for_programs_is_never_a_person(scene: AgentScene, face: str, kind: str) -> None:
    actor = await scene.callers.identify(face, scene.start(scene.person, "SLEEP &"))
    assert (actor.kind, actor.face) == (kind, face) and "for programs" in actor.doubt


async def test_a_later_process_with_the_same_id_is_no_person(scene: AgentScene) -> None:
    peer = scene.start(scene.person, "SLEEP &")
    actor = await scene.callers.identify("cli", PeerProcess(UID, peer.pid, peer.started - 1))
    assert (actor.kind, actor.doubt) == ("robot", "its process has exited or cannot be read")


async def test_a_declared_terminal_does_not_make_a_person() -> None:
    with make_short_folder() as folder, run_private_tmux(folder, "person") as tmux:
        async with open_gate_scene(folder) as gates:
            _, pane = await gates.start_bash()
            robot = gates.services.bind_caller(await gates.services.callers.identify("robot", PeerProcess(UID, 1)))
            with pytest.raises(Exception, match="requires approval"):
                await robot.gate.run(SendText(pane=pane, text="true"), Preconditions())
            caller = AgentScene(tmux, folder).start("own", "setsid -f SLEEP")
            request = command_protocol.CommandRequest(
                ("approve", "1"), False, "/", command_protocol.TerminalInfo(80, True, True)
            )
            async with aclosing(
                OperationDispatcher(gates.services, lambda: None).run_command(request, caller)
            ) as frames:
                answer = b"".join([frame async for frame in frames])
    folded = b"must come from an interactive terminal: its process has no\ncontrolling terminal"
    assert folded in answer
    assert answer.endswith(b"x 77\n")


def build_process(pid: int, parent: int, *, name: str = "bash", uid: int = 1000, started: int = 50, session: int = 10):
    return OriginProcess(pid=pid, parent_pid=parent, session_id=session, started=started, name=name, uid=uid)


VISOR, SHELL = build_process(20, 10, name="visor", started=90), build_process(10, 5)
AGENT = AgentOrigin(name="codex", pane=3, pid=70, started=40, socket="/t/s", mux_pane="%3", tty="/dev/pts/3")


@pytest.mark.parametrize(
    "above",
    [
        (build_process(5, 4, name="sshd"), build_process(4, 3, name="sshd", uid=0), build_process(3, 1, uid=0)),
        (build_process(5, 1, name="login", uid=0),),
        (build_process(5, 0, name="bash"),),
        (build_process(5, 1, name="tmux: server", started=30),),
        (build_process(5, 2, name="konsole", started=30), build_process(2, 1, name="systemd", started=5)),
        (build_process(5, 4, name="sudo", uid=0), build_process(4, 3, uid=7), build_process(3, 1, uid=7)),
    ],
    ids=["ssh", "console", "container", "tmux", "desktop", "sudo"],
)
def test_ordinary_terminals_are_a_persons(above: tuple[OriginProcess, ...]) -> None:
    origin = ProcessOrigin(chain=(VISOR, SHELL, *above), has_terminal=True, tty="/dev/pts/9")
    assert find_doubt(origin, [AGENT], uid=1000, get_cgroup=lambda _pid: b"0::/") is None


def test_the_shell_that_is_process_1_is_a_persons() -> None:
    origin = ProcessOrigin(chain=(replace(VISOR, parent_pid=1, session_id=1),), has_terminal=True)
    assert find_doubt(origin, [AGENT], uid=1000, get_cgroup=lambda _pid: b"") is None


@pytest.mark.parametrize(
    ("groups", "is_person"), [({5: b"a", 70: b"a"}, False), ({5: b"a", 70: b"b"}, True), ({5: b"a", 70: b""}, False)]
)
def test_a_young_terminal_without_parent_must_be_in_another_control_group(groups, is_person: bool) -> None:
    above = build_process(5, 1, name="xterm", started=60)
    origin = ProcessOrigin(chain=(VISOR, SHELL, above), has_terminal=True, tty="/dev/pts/9")
    doubt = find_doubt(origin, [AGENT], uid=1000, get_cgroup=lambda pid: groups[pid])
    assert (doubt is None) == is_person
