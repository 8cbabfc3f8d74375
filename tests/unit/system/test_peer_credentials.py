"""Credentials of a socket peer."""

import os
import socket

from termvisor.system import peer_credentials


def test_the_peer_is_known_by_user_and_process() -> None:
    ours, theirs = socket.socketpair()
    credentials = ours.getsockopt(*peer_credentials.PEER_CREDENTIALS_OPTION)
    assert (peer_credentials.parse_uid(credentials), peer_credentials.parse_pid(credentials)) == (
        os.getuid(),
        os.getpid(),
    )
    ours.close()
    theirs.close()


def test_a_peer_that_only_stopped_sending_is_not_gone() -> None:
    ours, theirs = socket.socketpair()
    assert not peer_credentials.is_peer_gone(ours.fileno())
    theirs.shutdown(socket.SHUT_WR)
    assert not peer_credentials.is_peer_gone(ours.fileno())
    theirs.close()
    assert peer_credentials.is_peer_gone(ours.fileno())
    ours.close()
