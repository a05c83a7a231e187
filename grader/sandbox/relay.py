"""Between a kernel and the program that reads from it: passes bytes on, and counts them.

A kernel that runs a submission may send whatever it likes as fast as it can. ZeroMQ would collect it in the
memory of this process. So its sockets are not connected to ours: the bytes pass through here, and a kernel
that has sent more than it may is cut off.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

_PIECE = 64 * 1024  # bytes


class Relay:
    """Carries a kernel's channels, each a Unix socket in ``folder``, which only this user may enter.

    The kernel is given the open sockets of ``listening`` (by port number), the reader connects to the paths
    ``address``-PORT. ``on_flood`` is called once, when the kernel has sent more than allow() let it.
    """

    def __init__(self, folder: Path, on_flood: Callable[[], None]) -> None:
        self.address = str(folder / "reader")
        self.flooded = False
        self.listening: dict[int, socket.socket] = {}
        self._kernels = str(folder / "kernel")
        self._on_flood = on_flood
        self._left = 0
        self._servers: list[asyncio.Server] = []

    def allow(self, size: int) -> None:
        """From now on the kernel may send so many bytes."""
        self._left = size

    async def open(self, ports: list[int]) -> None:
        """Make the sockets of a channel at each port."""
        for port in ports:
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(f"{self._kernels}-{port}")
            listening.listen()
            self.listening[port] = listening
            self._servers.append(
                await asyncio.start_unix_server(self._carrier(port), f"{self.address}-{port}")
            )

    def hand_over(self) -> None:
        """Close our copies of the kernel's sockets, once it has its own."""
        for listening in self.listening.values():
            listening.close()

    def close(self) -> None:
        self._left = 0
        self.hand_over()
        for server in self._servers:
            server.close()
        for port in self.listening:
            for path in (f"{self._kernels}-{port}", f"{self.address}-{port}"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)

    def _carrier(self, port: int):
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                from_kernel, to_kernel = await asyncio.open_unix_connection(f"{self._kernels}-{port}")
            except OSError:  # the kernel has gone
                writer.close()
                return
            await asyncio.gather(
                self._pass_on(reader, to_kernel, counted=False),
                self._pass_on(from_kernel, writer, counted=True),
            )

        return carry

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counted: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(_PIECE):
                if counted and not self._take(len(piece)):
                    break
                writer.write(piece)
                await writer.drain()
        writer.close()

    def _take(self, size: int) -> bool:
        self._left -= size
        if self._left >= 0:
            return True
        if not self.flooded:
            self.flooded = True
            self._on_flood()
        return False
