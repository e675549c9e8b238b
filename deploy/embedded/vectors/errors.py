"""Errors of the vector server, each with Qdrant's HTTP status."""


class VectorError(Exception):
    """Root of these errors. `status` is the HTTP status; the message goes into the body of the response."""

    status = 500


class BadInput(VectorError):
    """The request is malformed, or the engine rejects one of its values."""

    status = 400


class NoSuchCollection(VectorError):
    """The collection does not exist."""

    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(f"Not found: Collection `{name}` doesn't exist!")


class CollectionExists(VectorError):
    """A collection with this name exists."""

    status = 409

    def __init__(self, name: str) -> None:
        super().__init__(f"Wrong input: Collection `{name}` already exists!")


class NotOffered(VectorError):
    """A Qdrant feature that this server does not implement; an error is better than a different result."""

    status = 501

    def __init__(self, what: str) -> None:
        super().__init__(f"Not implemented: the embedded vector server does not offer {what}; use a Qdrant server")
