"""Reasons why a message stays in context or leaves it: one word for programs, one sentence for people."""

from typing import Final, get_args

from schemas.conversations.windows import Reason, ReasonToStay

SENTENCES: Final[dict[Reason, str]] = {
    "system_prompt": "The system prompt always stays.",
    "recent": "It is one of the most recent messages, which always stay.",
    "with_recent": "It belongs together with one of the most recent messages.",
    "error_pair": "It is an error or its correction, which are kept longest.",
    "marked_important": "It is marked important, by its sender or later.",
    "directive": "It says how things are to be done from now on.",
    "framing": "It says what the current task is about, or how it is to be done.",
    "current_task": "It belongs to the current task, and there was room.",
    "fits": "There was room.",
    "completed_task": "It belonged to a completed task.",
    "oldest": "It was the oldest that could leave.",
    "least_important": "It was the least important that could leave.",
    "last_resort": "It was removed only because nothing else was left to remove.",
    "repeated": "It is a system prompt that was sent again, or there were too many system prompts.",
    "cleared": "The conversation was cleared by hand.",
}
STAYED: Final[frozenset[Reason]] = frozenset(get_args(ReasonToStay))
