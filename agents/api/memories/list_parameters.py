"""Query parameters of lists of memories."""

from math import inf
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from agents.api.http.cursors import decode_cursor, unknown_cursor
from schemas.retrieval.searches import Scale, as_fraction
from sinks.memories.listing import Listing, Order, Place

# Of the scales that end; points above 1,000,000 count as so many.
MOST: dict[Scale, float] = {"fraction": 1.0, "tenths": 10.0}

Label = Annotated[str, Field(min_length=1, max_length=256)]


class ListQuery(BaseModel):
    """Rejects unknown parameters, so that a misspelt filter is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: Label = Field(description="The namespace, such as `app/user`.")
    kind: list[Label] = Field([], max_length=64, description="Memories of any of these kinds.")
    tag: list[Label] = Field([], max_length=64, description="Memories with any of these tags.")
    status: list[Literal["active", "superseded", "expired"]] = Field(
        ["active"], max_length=4, description="Memories of any of these; live ones are `active`."
    )
    scale: Scale = Field(
        "fraction", description="What the two importances are said in: 0 to 1, 0 to 10, 0 to 10,000 and more."
    )
    min_importance: float = Field(0.0, ge=0, le=1e9, description="Of at least this importance.")
    max_importance: float | None = Field(None, ge=0, le=1e9, description="Of at most this importance.")
    created_from: AwareDatetime | None = Field(None, description="Created then or later.")
    created_to: AwareDatetime | None = Field(None, description="Created before.")
    order: Order = Field("importance", description="What comes first: the most important, or the newest.")
    detail: Literal["short", "full"] = Field("short", description="Without the long parts, or with them.")
    limit: int = Field(50, ge=1, le=500, description="How many at most.")
    cursor: str | None = Field(None, max_length=2_000, description="`next` of the page before; none for the first.")

    @model_validator(mode="after")
    def importances_fit_their_scale(self) -> Self:
        most = MOST.get(self.scale, inf)
        if self.min_importance > most or (self.max_importance or 0) > most:
            raise ValueError(f"on the scale `{self.scale}` an importance is at most {most:g}")
        return self

    def listing(self) -> Listing:
        """One more than asked for tells whether there is another page. Raises Problem 422 for a foreign cursor."""
        return Listing(
            namespace=self.namespace,
            statuses=tuple(self.status),
            kinds=tuple(self.kind),
            tags=tuple(self.tag),
            least_importance=as_fraction(self.min_importance, self.scale),
            most_importance=1.0 if self.max_importance is None else as_fraction(self.max_importance, self.scale),
            created_from=self.created_from,
            created_to=self.created_to,
            order=self.order,
            after=self.place() if self.cursor else None,
            limit=self.limit + 1,
        )

    def filters(self) -> dict[str, Any]:
        """All that decides what is in the list, and in which order."""
        return self.model_dump(mode="json", exclude={"cursor", "limit", "detail"})

    def place(self) -> Place:
        """Raises Problem 422 for a cursor that is none of this order."""
        found = decode_cursor(self.cursor or "", Place, self.filters())
        if isinstance(found.value, float | int) != (self.order == "importance"):
            raise unknown_cursor()
        return found
