"""No test asks a network: connections stay on this machine, others are refused."""

from __future__ import annotations

import socket
import sys
from ipaddress import ip_address
from typing import Any

OWN = {None, "", "localhost", socket.gethostname()}


def is_own(host: Any) -> bool:
    """Return whether a host is this machine; a number that is looked up asks nobody."""
    if host in OWN:
        return True
    try:
        return ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise where a connection to another machine begins; datagrams, which Dask asks for its own address, may pass."""
    if event == "socket.connect":
        connection, address = arguments
        if connection.type == socket.SOCK_STREAM and isinstance(address, tuple) and not is_own(address[0]):
            raise PermissionError(f"a test asked for the network: {address}")


sys.addaudithook(refuse)
