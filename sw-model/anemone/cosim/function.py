# SPDX-License-Identifier: Apache-2.0
"""The BARs of the server's PCI function, accessed by vfio-user (sim/vfio/protocol.h)."""

from __future__ import annotations

import socket
import struct

import numpy as np

from anemone.cosim.server import ANSWERS_WITHIN, Server
from anemone.cosim.tools import CosimError

CONTROL, TELEMETRY = 0, 2  # BARs
_VERSION, _READ, _WRITE = 1, 9, 10
_HEADER = struct.Struct("<HHIII")  # id, command, bytes including this header, flags, error
_ACCESS = struct.Struct("<QII")  # offset, region, count
_IS_ERROR = 0x20
_MAX_MESSAGE = 1 << 20  # most bytes in a message


class Function:
    """Reads and writes BARs in place of a guest. Raises CosimError if the server is gone."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(ANSWERS_WITHIN)
        self._socket.connect(str(server.socket))
        self._ask(_VERSION, struct.pack("<HH", 0, 0) + b"{}\0")

    def close(self) -> None:
        """Disconnect; the server then resets the device."""
        self._socket.close()

    def read(self, bar: int, offset: int, words: int) -> np.ndarray:
        """Read words of 64 bits one by one in order: uint64[words]."""
        found = []
        for at in range(offset, offset + 8 * words, _MAX_MESSAGE):
            size = min(_MAX_MESSAGE, offset + 8 * words - at)
            found.append(self._ask(_READ, _ACCESS.pack(at, bar, size))[_ACCESS.size :])
        return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)

    def write(self, bar: int, offset: int, words: np.ndarray | list[int]) -> None:
        """Write words of 64 bits one by one in order."""
        content = np.asarray(words, "<u8").tobytes()
        for at in range(0, len(content), _MAX_MESSAGE):
            some = content[at : at + _MAX_MESSAGE]
            self._ask(_WRITE, _ACCESS.pack(offset + at, bar, len(some)) + some)

    def _ask(self, command: int, content: bytes) -> bytes:
        try:
            size = _HEADER.size + len(content)
            self._socket.sendall(_HEADER.pack(0, command, size, 0, 0) + content)
            _, _, size, flags, error = _HEADER.unpack(self._receive(_HEADER.size))
            answer = self._receive(size - _HEADER.size)
        except OSError as e:
            reason = self._server.complaint()
            raise CosimError(f"the server does not answer ({e}): {reason}") from e
        if flags & _IS_ERROR:
            raise CosimError(f"the server refuses command {command}: error {error}")
        return answer

    def _receive(self, size: int) -> bytes:
        parts = []
        while size:
            part = self._socket.recv(size)
            if not part:
                raise ConnectionError("it ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
