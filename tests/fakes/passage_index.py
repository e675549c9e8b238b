"""The archive and the passage index of one conversation in memory, for the indexer, `reindex` and the reader alike."""

from collections.abc import Collection, Sequence
from typing import Any

from schemas.conversations.messages import Scope
from schemas.passages.passages import Passage, speaker_of
from sinks.archive.messages import ArchivedMessage
from sinks.archive.participants import Participant
from sinks.passages.numbering import MessageKey, message_key
from sinks.passages.renewal import IndexedMessage, IndexedPassage
from sinks.passages.store import PassageText, Piece


class FakePassageIndex:
    """Rows without vectors. `window` has the fields of the conversation's window, if it is projected."""

    def __init__(self, messages: Sequence[ArchivedMessage], window: Scope | None = None) -> None:
        self.archived = {message_key(each): each for each in messages}
        self.window = window
        self.rows: dict[str, Piece] = {}

    async def of(self, conversations: Collection[str]) -> list[Participant]:
        """As `Participants.of`."""
        first: dict[str, Participant] = {}
        for each in self.archived.values():
            if (user_id := each.message.user_id) is not None:
                place = {"partition": each.partition, "position": each.position, "said_at": each.message.timestamp}
                first.setdefault(user_id, Participant(scope=Scope.of(each.message), **place))  # type: ignore[arg-type]
        return list(first.values())

    participants = of

    async def known(self, keys: Collection[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
        return {(each.namespace, *message_key(each.archived)) for each in self.rows.values()} & set(keys)

    async def store(self, pieces: Sequence[Piece], vectors: Any) -> int:
        new = {each.passage_id: each for each in reversed(pieces) if each.passage_id not in self.rows}
        self.rows |= new
        return len(new)

    async def texts(self, passage_ids: Collection[str], *, with_content: bool = True) -> dict[str, PassageText]:
        return {each: self._text(self.rows[each]) for each in passage_ids if each in self.rows}

    def _text(self, row: Piece) -> PassageText:
        message, archived = row.archived.message, row.archived
        passage = Passage(
            passage_id=row.passage_id,
            namespace=row.namespace,
            conversation_id=message.conversation_id,
            message_id=message.message_id,
            role=message.role,
            speaker=speaker_of(message),
            said_at=message.timestamp,
            text=message.content,
            piece=row.piece,
            name=message.name,
        )
        return PassageText(
            passage=passage,
            scope=Scope.of(message),
            namespaces=tuple(dict.fromkeys(each.namespace for each in self._of(message_key(archived)))),
            partition=archived.partition,
            position=archived.position,
            window=self.window,
            digest=row.digest,
            clean_under=row.clean_under,
        )

    def _of(self, key: MessageKey) -> list[Piece]:
        return [each for each in self.rows.values() if message_key(each.archived) == key]

    async def messages(self, after: MessageKey, limit: int) -> list[IndexedMessage]:
        keys = sorted({message_key(each.archived) for each in self.rows.values()})
        return [IndexedMessage(self.archived[key], self.window) for key in keys if key > after][:limit]

    async def indexed(self, keys: Sequence[MessageKey]) -> dict[MessageKey, list[IndexedPassage]]:
        fields = IndexedPassage.__struct_fields__
        return {
            key: [IndexedPassage(**{name: getattr(row, name) for name in fields}) for row in self._of(key)]
            for key in keys
        }

    async def replace(self, key: MessageKey, partition: int, pieces: Sequence[Piece]) -> int:
        self.rows = {passage_id: row for passage_id, row in self.rows.items() if message_key(row.archived) != key}
        return await self.store(pieces, None)

    async def mark_current(self, pieces: Sequence[Piece]) -> None:
        self.rows |= {each.passage_id: each for each in pieces}

    async def remove_unknown(self, page: int) -> int:
        return 0

    async def exists(self) -> bool:
        return True

    async def ensure_collection(self) -> None: ...

    async def ids_without_point(self, passage_ids: Collection[str]) -> set[str]:
        return set()
