"""Listening ports of real processes."""

import os
import socket
import subprocess
import sys

import pytest

from termvisor.system import procfs
from termvisor.system.listening_ports import find_listening_ports
from tests.unit.wait_until import wait_until

OPENS = """import socket, sys, time
s = socket.socket(); s.bind((sys.argv[1],0)); s.listen()
print(s.getsockname()[1], flush=True)
time.sleep(60)
"""


def read_started(pid: int) -> int:
    return procfs.read_process(pid).started


@pytest.mark.parametrize(("host", "is_here"), [("127.0.0.1", True), ("0.0.0.0", True), ("127.0.0.2", False)])
def test_a_process_has_its_listening_ports(host, is_here):
    with subprocess.Popen([sys.executable, "-c", OPENS, host], stdout=subprocess.PIPE, text=True) as child:
        try:
            port = int(child.stdout.readline())
            assert (port in find_listening_ports(child.pid, read_started(child.pid))) is is_here
            assert port not in find_listening_ports(os.getpid(), read_started(os.getpid()))
            assert find_listening_ports(child.pid, read_started(child.pid) + 1) == (), "another life of the same number"
        finally:
            child.kill()


def test_a_port_that_two_processes_share_is_left_out():
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert port in find_listening_ports(os.getpid(), read_started(os.getpid()))
        shares = OPENS.replace("s.bind", "s.setsockopt(1,15,1); s.bind").replace(",0))", f",{port}))")
        with subprocess.Popen([sys.executable, "-c", shares, "127.0.0.1"], stdout=subprocess.PIPE) as child:
            try:
                child.stdout.readline()
                assert port not in find_listening_ports(os.getpid(), read_started(os.getpid()))
                assert port not in find_listening_ports(child.pid, read_started(child.pid))
            finally:
                child.kill()


async def test_an_exited_or_only_connected_process_has_no_listening_port():
    assert find_listening_ports(2**22 + 1, 1) == ()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        wait = f"import socket,time; s=socket.create_connection({address!r}); time.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", wait]) as child:
            try:
                server.accept()[0].close()
                await wait_until(lambda: procfs.read_process(child.pid) is not None)
                assert find_listening_ports(child.pid, read_started(child.pid)) == ()
            finally:
                child.kill()
