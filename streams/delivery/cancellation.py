"""Telling a cancellation that was asked for from one that comes from within.

aiokafka's `AIOKafkaConsumer.stop()` raises CancelledError when a fetch was created and has not begun; futures of a thread that
ends are cancelled too. Taken for a cancellation of the task, such a one would end work quietly that nobody told to end.
"""

import asyncio


def is_cancelling() -> bool:
    """Whether somebody cancelled the running task itself; to be asked where CancelledError is caught."""
    task = asyncio.current_task()
    return task is None or bool(task.cancelling())
