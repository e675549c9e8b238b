"""The logical names of memstream's topics. Deployments add their prefix; no other code does."""

MESSAGES = "chat.messages"
ENDED = "chat.conversations.ended"
WINDOW_CONTROL = "memory.window-control"
REQUESTS = "memory.extraction-requests"
CANDIDATES = "memory.candidates"
COMMANDS = "memory.commands"
POLICIES = "memory.policies"
EVENTS = "memory.events"
STATE = "memory.state"
ACTIVITY = "memory.activity"
DEAD_LETTERS = "memory.dead-letters"

# Default retention of records in days; None: compaction, the latest record of each key forever.
KEPT_DAYS: dict[str, int | None] = {
    MESSAGES: 30,
    ENDED: 30,
    WINDOW_CONTROL: 7,
    REQUESTS: 7,
    CANDIDATES: 7,
    COMMANDS: 30,
    POLICIES: None,
    EVENTS: 30,
    STATE: None,
    ACTIVITY: 7,
    DEAD_LETTERS: 90,
}
