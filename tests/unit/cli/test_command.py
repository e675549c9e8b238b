"""A command that fails writes one line to standard error."""

import subprocess
import sys
from textwrap import dedent

COMMAND = dedent(
    """
    import logging

    from deploy.cli.command import command, one_command
    from schemas.errors import Misconfigured

    async def read_topic():
        logging.getLogger("aiokafka.consumer.fetcher").warning("Failed fetch messages from 1: RequestTimedOutError")
        raise Misconfigured("the topic does not exist: run `memstream topics create`")

    cli = one_command()
    cli.command()(command(read_topic))
    cli()
    """
)


def test_an_argument_that_is_not_utf_8_is_wrong_usage():
    words = [sys.executable, "-m", "deploy.cli.main", "search", b"caf\xe9", "-n", "app/ada"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("memstream: an argument is not UTF-8")


def test_repeated_attempts_of_the_kafka_client_add_no_lines_to_a_commands_error():
    done = subprocess.run([sys.executable, "-c", COMMAND], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "memstream: the topic does not exist: run `memstream topics create`\n"
