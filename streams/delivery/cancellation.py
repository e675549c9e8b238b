"""Distinguishes a requested cancellation from one that a library raises.

aiokafka's `AIOKafkaConsumer.stop()` raises CancelledError for a fetch that was created and has not begun; futures of an
ending thread are cancelled too. If such an error were taken for a cancellation of the task, it would end work that must
continue.
"""

import asyncio


def is_cancelling() -> bool:
    """Whether the running task itself was cancelled. Call it where CancelledError is caught."""
    task = asyncio.current_task()
    return task is None or bool(task.cancelling())
