"""Which numbered rows a window's messages rest in, so that a row goes once none of its messages is left."""

from collections.abc import Iterable, Sequence


class Chunks:
    """`numbers` has, for each row that is there, how many messages it was written with."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self._left: dict[int, int] = {}
        self._row: dict[int, int] = {}

    def add(self, number: int, positions: Sequence[int], written: int) -> None:
        """A row that was written with so many messages holds those at these positions, and others that are gone."""
        self._row |= dict.fromkeys(positions, number)
        self.numbers[number], self._left[number] = written, len(positions)

    def remove_message(self, position: int) -> int | None:
        """A message left; the number of its row if that is empty now."""
        number = self._row.pop(position, None)
        if number is None:
            return None
        self._left[number] -= 1
        return self.drop(number) if not self._left[number] else None

    def drop(self, number: int) -> int:
        del self.numbers[number], self._left[number]
        return number

    def remaining(self, number: int) -> int:
        """How many messages of a row have not left."""
        return self._left[number]

    def clear(self) -> list[int]:
        """Forgets every row; their numbers."""
        numbers = list(self.numbers)
        self.numbers, self._left, self._row = {}, {}, {}
        return numbers

    def take_out(self, numbers: Iterable[int]) -> dict[int, list[int]]:
        """Takes rows out that are to be written anew: the positions of what is left of each."""
        taken: dict[int, list[int]] = {number: [] for number in numbers}
        for position, number in self._row.items():
            if number in taken:
                taken[number].append(position)
        for number, positions in taken.items():
            self.drop(number)
            for position in positions:
                del self._row[position]
        return taken
