# SPDX-License-Identifier: Apache-2.0
"""A Linux guest that boots, runs scripts and sends requests to the host."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from anemone.cosim.initramfs import Content, archive
from anemone.cosim.kernel import bootable
from anemone.cosim.server import Server
from anemone.cosim.tools import CosimError, Tools, find_tools

# Seconds. On a busy machine a kernel with checkers takes two minutes to boot.
STARTS_WITHIN, BOOTS_WITHIN, ENDS_WITHIN = 120, 600, 300
# Kernel messages that report a bug in the kernel.
_WRONG = re.compile(
    r"Oops|BUG:|WARNING:|Call Trace|general protection|refcount_t|UBSAN|blocked for more than"
)
_HERE = Path(__file__).parent

Answer = Callable[[str], str | None]


class Guest:
    """A context manager for a guest with the server's device; `run` runs scripts in it.

    others: servers of further devices, after the first on the bus. files: files in the guest
    besides busybox, by path. modules: kernel modules, as /mod/NAME.ko; a script has to insmod them.
    programs: as /bin/NAME. answers: handlers of the guest's command `ask WORD REST`, by word;
    called with the rest, they return the answer. cpus, memory (MiB): of the guest. options: further
    options of QEMU, which may override -machine and -cpu. kernel: further words of the kernel's
    command line.
    """

    def __init__(
        self,
        server: Server,
        *,
        others: Sequence[Server] = (),
        modules: Sequence[Path] = (),
        programs: Sequence[Path] = (),
        files: Mapping[str, Content] | None = None,
        answers: Mapping[str, Answer] | None = None,
        cpus: int = 1,
        memory: int = 512,
        options: Sequence[str] = (),
        kernel: str = "",
    ) -> None:
        self._tools = find_tools()
        self._servers = (server, *others)
        self.answers = dict(answers or {})
        self._files = guest_files(self._tools, modules, programs, files or {})
        self._machine = (cpus, memory, kernel)
        self._options = tuple(options)

    def __enter__(self) -> Guest:
        self._folder = tempfile.TemporaryDirectory(prefix="anemone-guest-")
        folder = Path(self._folder.name)
        self._console = folder / "console"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(folder / "ask"))
        listener.listen(1)
        root = write_root(folder, self._files)
        command = qemu_command(self._tools, self._servers, root, *self._machine)
        serial = ["-serial", f"file:{self._console}"]
        serial += ["-chardev", f"socket,id=ask,path={folder / 'ask'}", "-serial", "chardev:ask"]
        self._log = (folder / "log").open("w+")
        self._process = subprocess.Popen(
            [*command, *serial, *self._options],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
        )  # fmt: skip
        self._connection: socket.socket | None = None
        try:
            listener.settimeout(STARTS_WITHIN)
            self._connection, _ = listener.accept()
            self._received = b""
            self._until_next(BOOTS_WITHIN)
        except BaseException as e:
            logs = self._logs()
            self.__exit__(None, None, None)
            if isinstance(e, OSError):
                raise CosimError(f"QEMU does not start: {logs}") from e
            raise
        finally:
            listener.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection:
            self._connection.close()
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()

    def run(self, script: str, timeout: float = ENDS_WITHIN, check: bool = True) -> str:
        """Run a shell script. Returns its output and the kernel's meanwhile.

        Raises CosimError with the console's text if the script fails (only with `check`), takes
        longer than `timeout` seconds, or the guest ends.
        """
        before = len(self.console())
        lines = script.splitlines()
        assert self._connection is not None
        self._connection.sendall("\n".join([f"script {len(lines)}", *lines, ""]).encode())
        status = self._until_next(timeout)
        if check and status:
            raise self._wrong(f"the guest's script ended with {status}")
        return self.console()[before:]

    def console(self) -> str:
        """The console's text so far."""
        text = self._console.read_bytes() if self._console.exists() else b""
        return text.decode(errors="replace").replace("\r", "")

    def kernel_log(self, but: re.Pattern[str] | None = None) -> str:
        """The kernel's messages. Raises CosimError if one of them reports a kernel bug, except in
        the text that `but` matches.
        """
        log = self.run("dmesg")
        if found := _WRONG.search(but.sub("", log) if but else log):
            raise CosimError(f"the guest's kernel complains ({found.group()}):\n{log}")
        return log

    def _until_next(self, timeout: float) -> int:
        """Answer the guest's requests until it asks for a script. Returns the last script's
        status.
        """
        deadline = time.monotonic() + timeout
        while True:
            word, _, rest = self._line(deadline).partition(" ")
            if word == "next":
                return int(rest)
            try:
                text = self.answers[word](rest) if word in self.answers else None
                answer = f"ok {text or ''}".strip()
                if word not in self.answers:
                    answer = f"error: the host knows no {word}"
            except CosimError as e:
                answer = "error: " + " ".join(str(e).split())
            assert self._connection is not None
            self._connection.sendall(f"{answer}\n".encode())

    def _line(self, deadline: float) -> str:
        """The next line from the guest."""
        assert self._connection is not None
        while b"\n" not in self._received:
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._wrong("the guest takes too long")
            self._connection.settimeout(left)
            try:
                piece = self._connection.recv(4096)
            except TimeoutError:
                continue
            if not piece:
                raise self._wrong("the guest ended")
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace").strip()

    def _wrong(self, what: str) -> CosimError:
        return CosimError(f"{what}; {self._logs()}")

    def _logs(self) -> str:
        self._log.seek(0)
        console = "\n".join(self.console().splitlines()[-60:])
        logs = [f"QEMU: {self._log.read().strip() or 'no word'}"]
        logs += [f"server: {server.complaint()}" for server in self._servers]
        return "\n".join([*logs, "console:", console])


def guest_files(
    tools: Tools, modules: Sequence[Path], programs: Sequence[Path], files: Mapping[str, Content]
) -> dict[str, Content]:
    """The guest's files, by path."""
    return {
        "/init": _HERE / "init.sh",
        "/bin/busybox": tools.busybox,
        "/bin/ask": _HERE / "ask.sh",
        **{f"/mod/{path.name}": path for path in modules},
        **{f"/bin/{path.name}": path for path in programs},
        **files,
    }


def write_root(folder: Path, files: Mapping[str, Content]) -> Path:
    """Write the guest's root file system to a file in a folder."""
    root = folder / "root.cpio"
    root.write_bytes(archive(files, {"/bin/sh": "busybox"}))
    return root


def qemu_command(
    tools: Tools, servers: Sequence[Server], root: Path, cpus: int, memory: int, words: str = ""
) -> list[str]:
    """QEMU's command without serial ports. words: further words of the kernel's command line."""
    devices = []
    for slot, server in enumerate(servers, 1):
        # Each function is below a root port, like a card; on the root bus it would not be an
        # endpoint.
        devices += [
            "-device",
            f"pcie-root-port,id=card{slot},bus=pcie.0,chassis={slot},slot={slot}",
        ]
        devices += [
            "-device",
            f'{{"driver":"vfio-user-pci","bus":"card{slot}","x-msg-timeout":60000,'
            f'"socket":{{"path":"{server.socket}","type":"unix"}}}}',
        ]
    options = (
        "-machine q35 -accel tcg -cpu max -nodefaults -no-reboot"
        f" -display none -monitor none -smp {cpus} -m {memory}M"
        f" -object memory-backend-memfd,id=ram,size={memory}M,share=on"
        " -numa node,memdev=ram"
    )
    # panic=-1 oops=panic: an oops ends the guest, so that it is noticed. no_timer_check: on a busy
    # machine the kernel's timer check at boot may fail. mitigations, nokaslr: a shorter boot.
    append = (
        "console=ttyS0 loglevel=3 panic=-1 oops=panic no_timer_check mitigations=off nokaslr"
        f" {words}"
    )
    return [
        *tools.qemu, *shlex.split(options), *devices,
        "-kernel", str(bootable(tools.kernel)), "-initrd", str(root), "-append", append.strip(),
    ]  # fmt: skip
