"""Which numbered row holds which messages of a window. A row is deleted once the last of its messages left."""

from collections.abc import Iterable, Sequence


class Chunks:
    """`numbers` has, for each existing row, the number of messages that it was written with."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self._left: dict[int, int] = {}
        self._row: dict[int, int] = {}

    def add(self, number: int, positions: Sequence[int], written: int) -> None:
        """Adds a row that was written with `written` messages, of which those at `positions` are still in the window."""
        self._row |= dict.fromkeys(positions, number)
        self.numbers[number], self._left[number] = written, len(positions)

    def remove_message(self, position: int) -> int | None:
        """Notes that a message left. Returns the number of its row if the row is empty now."""
        number = self._row.pop(position, None)
        if number is None:
            return None
        self._left[number] -= 1
        return self.drop(number) if not self._left[number] else None

    def drop(self, number: int) -> int:
        del self.numbers[number], self._left[number]
        return number

    def remaining(self, number: int) -> int:
        """The number of a row's messages that are still in the window."""
        return self._left[number]

    def clear(self) -> list[int]:
        """Removes every row and returns their numbers."""
        numbers = list(self.numbers)
        self.numbers, self._left, self._row = {}, {}, {}
        return numbers

    def take_out(self, numbers: Iterable[int]) -> dict[int, list[int]]:
        """Removes rows that are to be rewritten; returns the positions of the remaining messages by row."""
        rows: dict[int, list[int]] = {number: [] for number in numbers}
        for position, number in self._row.items():
            if number in rows:
                rows[number].append(position)
        for number, positions in rows.items():
            self.drop(number)
            for position in positions:
                del self._row[position]
        return rows
