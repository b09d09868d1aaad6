# SPDX-License-Identifier: Apache-2.0
"""The Verilated expander as a process that QEMU connects to (sim/vfio)."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

import numpy as np

from anemone.backends.rtl.builder import compile_simulator, elaborate
from anemone.backends.rtl.simulators import expander, vfio_server
from anemone.cosim.tools import CosimError
from anemone.hardware.geometry import Geometry

STARTS_WITHIN = 20  # seconds
ANSWERS_WITHIN = 300  # seconds; a trace takes some microseconds per row


def build_server(geometry: Geometry, ratio: int = 0) -> Path:
    """The server's program, built if necessary. Without flat memory mode it uses the replay's
    SystemVerilog.
    """
    server = vfio_server(geometry, ratio)
    verilog = elaborate(server if ratio else expander(geometry))
    return compile_simulator(server, verilog, server.folder)


def rows(addresses: np.ndarray, writes: np.ndarray | int = 0) -> np.ndarray:
    """Accesses in the format of `inject`. addresses: device byte addresses."""
    return addresses.astype("<u8") << np.uint64(1) | np.asarray(writes, dtype="<u8")


class Server:
    """A context manager that runs the server. QEMU connects to `socket`.

    host_base, host_size: the device memory's range in the guest, in bytes; None for the server's
    default. memory, ways, granularity: the CXL registers that report this range, and its
    interleaving; telemetry_in_memory: where the device reports its telemetry region
    (sim/vfio/options.cpp). ring: accesses also come through the file of this name
    (sim/vfio/ring.h). ratio: far lines per near line; above 0 enables flat memory mode. Raises
    CosimError.
    """

    def __init__(
        self,
        geometry: Geometry | None = None,
        host_base: int | None = None,
        host_size: int | None = None,
        ring: bool = False,
        ratio: int = 0,
        memory: str | None = None,
        ways: int | None = None,
        granularity: int | None = None,
        telemetry_in_memory: bool = False,
    ) -> None:
        self.geometry = geometry or Geometry()
        self._program = build_server(self.geometry, ratio)
        self._options: list[str] = []
        for option, value in {
            "--host-base": host_base, "--host-size": host_size, "--memory": memory,
            "--ways": ways, "--granularity": granularity,
        }.items():  # fmt: skip
            if value is not None:
                self._options += [option, str(value)]
        if telemetry_in_memory:
            self._options.append("--telemetry-in-memory")
        self._with_ring = ring
        self.ring: Path | None = None

    def __enter__(self) -> Server:
        # A short name, because the length of a socket's path is limited.
        self._folder = tempfile.TemporaryDirectory(prefix="anemone-vfio-")
        self.folder = Path(self._folder.name)
        self.socket, self.control = self.folder / "vfio", self.folder / "control"
        if self._with_ring:
            self.ring = self.folder / "ring"
            self._options += ["--ring", str(self.ring)]
        self._log = (self.folder / "log").open("w+")
        self._process = subprocess.Popen(
            [self._program, "--socket", self.socket, "--control", self.control, *self._options],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )  # fmt: skip
        self._injecting: Client | None = None
        try:
            self._client = self._connect()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()

    def command(self, line: str) -> dict:
        """Send a command line (sim/vfio/commands.h). Returns the server's answer."""
        self._client.send(line)
        return self._answer(self._client)

    def status(self) -> dict:
        return self.command("status")

    def inject(self, accesses: np.ndarray) -> None:
        """Make accesses (`rows`) and wait until all are answered. The guest continues meanwhile."""
        self.command(f"trace {self._file(accesses)}")

    def start(self, accesses: np.ndarray) -> None:
        """Start to make accesses; call `wait` before the next ones."""
        path = self._file(accesses)
        self._injecting = Client(self.control)
        self._injecting.send(f"trace {path}")

    def _file(self, accesses: np.ndarray) -> Path:
        if self._injecting:
            raise CosimError("accesses are being injected: wait() for them first")
        path = self.folder / "trace"
        accesses.astype("<u8", copy=False).tofile(path)
        return path

    def wait(self) -> None:
        """Wait until all started accesses are answered."""
        if self._injecting:
            client, self._injecting = self._injecting, None
            self._answer(client)
            client.close()

    def _connect(self) -> Client:
        deadline = time.monotonic() + STARTS_WITHIN
        while True:
            try:
                return Client(self.control)
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise CosimError(f"the server does not start: {self.complaint()}") from None
                time.sleep(0.02)

    def _answer(self, client: Client) -> dict:
        try:
            answer = client.receive()
        except OSError as e:
            raise CosimError(f"the server does not answer ({e}): {self.complaint()}") from e
        if "error" in answer:
            raise CosimError(f"the server: {answer['error']}")
        return answer

    def complaint(self) -> str:
        """The server's log."""
        self._log.seek(0)
        return self._log.read().strip() or "no word"


class Client:
    """A connection to the server's control socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(ANSWERS_WITHIN)
        self._file = self._socket.makefile("r")

    def send(self, line: str) -> None:
        self._socket.sendall(f"{line}\n".encode())

    def receive(self) -> dict:
        """The next answer. Raises OSError."""
        line = self._file.readline()
        if not line:
            raise ConnectionError("it ended")
        return json.loads(line)

    def close(self) -> None:
        self._file.close()
        self._socket.close()
