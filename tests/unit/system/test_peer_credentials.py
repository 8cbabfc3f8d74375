"""Who is at the other end."""

import os
import socket

from termvisor.system import peer_credentials as peer


def test_the_peer_is_known_by_user_and_process() -> None:
    ours, theirs = socket.socketpair()
    credentials = ours.getsockopt(*peer.OPTION)
    assert (peer.uid(credentials), peer.pid(credentials)) == (os.getuid(), os.getpid())
    ours.close()
    theirs.close()


def test_a_peer_that_only_stopped_sending_is_not_gone() -> None:
    ours, theirs = socket.socketpair()
    assert not peer.is_gone(ours.fileno())
    theirs.shutdown(socket.SHUT_WR)
    assert not peer.is_gone(ours.fileno())
    theirs.close()
    assert peer.is_gone(ours.fileno())
    ours.close()
