"""Runs the local Messages server: `python -m tests.servers.messages [PORT]`, until it is interrupted.

It prints the two variables that let the SDK, and so memstream, ask it instead of Anthropic.
"""

import asyncio
import signal
import sys

from tests.servers.messages.checks import KEY
from tests.servers.messages.server import MessagesServer


async def main(port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with MessagesServer(port) as server:
        sys.stdout.write(f"export ANTHROPIC_BASE_URL={server.url} ANTHROPIC_API_KEY={KEY}\n")
        sys.stdout.flush()
        await stop.wait()
    sys.stderr.write(f"{len(server.seen)} requests answered\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
