"""Programs that end as programs do, without the seconds of their start: forked from one process that imported all.

What is forked has its own streams and signals, runs to the end of the interpreter, and flushes there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MAIN = "from kernelmean.cli import main; main()"
SERVER = """
import json, os, socket, sys, warnings
import kernelmean.cli.app, kernelmean.studies.comparison.table_pass, pyarrow.csv, pyarrow.parquet
orders = socket.socket(fileno=int(sys.argv[1]))
while True:
    order, streams, _, _ = socket.recv_fds(orders, 1 << 16, 2)
    if not order:
        break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of libraries, at rest
        process = os.fork()
    if not process:
        orders.close()
        for number, stream in enumerate(streams, start=1):
            os.dup2(stream, number)
            os.close(stream)
        order = json.loads(order)
        os.chdir(order["folder"])
        sys.argv[1:] = order["words"]
        exec(order["program"])
        break
    for stream in streams:
        os.close(stream)
    orders.send(str(process).encode())
    orders.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())
"""


@dataclass(frozen=True)
class Done:
    """How a program ended, and what it wrote to the streams that were not given."""

    returncode: int
    stdout: str
    stderr: str


class Forks:
    """A process that has imported the program, and forks."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders

    def __call__(
        self,
        words: tuple[str, ...],
        program: str = MAIN,
        *,
        stdout: int | None = None,
        stderr: int | None = None,
        meanwhile: Callable[[int, Any], None] | None = None,
    ) -> Done:
        """Run a program in this folder to its end; ``meanwhile`` takes its number and the file of its output."""
        order = {"words": words, "program": program, "folder": os.getcwd()}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            streams = [out.fileno() if stdout is None else stdout, err.fileno() if stderr is None else stderr]
            socket.send_fds(self._orders, [json.dumps(order).encode()], streams)
            process = int(self._orders.recv(100))
            if meanwhile is not None:
                meanwhile(process, out)
            code = int(self._orders.recv(100))
            return Done(code, *(os.pread(file.fileno(), 1 << 20, 0).decode() for file in (out, err)))


@contextmanager
def forks() -> Iterator[Forks]:
    """Start the process, and end it."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here:
        here.settimeout(120)
        with there:
            command = [sys.executable, "-c", SERVER, str(there.fileno())]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}  # as Python takes what it starts with to be
            server = subprocess.Popen(command, pass_fds=[there.fileno()], **pipes)
        yield Forks(here)
    assert server.communicate(timeout=60) == (b"", b"")
