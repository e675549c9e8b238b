"""The vector server's refusals, each with the HTTP status Qdrant would answer."""


class VectorError(Exception):
    """Root: `status` is the HTTP status, the message goes into Qdrant's error body."""

    status = 500


class BadInput(VectorError):
    """The request is malformed, or the engine rejects a value in it."""

    status = 400


class NoSuchCollection(VectorError):
    """The named collection is not there."""

    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(f"Not found: Collection `{name}` doesn't exist!")


class CollectionExists(VectorError):
    """A collection of that name is already there."""

    status = 409

    def __init__(self, name: str) -> None:
        super().__init__(f"Wrong input: Collection `{name}` already exists!")


class NotOffered(VectorError):
    """Qdrant has it, this subset does not: better refused than silently different."""

    status = 501

    def __init__(self, what: str) -> None:
        super().__init__(f"Not implemented: the embedded vector server does not offer {what}; use a Qdrant server")
