"""Query parameters of lists of memories."""

from math import inf
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from agents.api.http.cursors import decode_cursor, unknown_cursor
from schemas.memories.memories import Status
from schemas.retrieval.searches import Scale, as_fraction
from sinks.memories.listing import Listing, Order, Place

# Points have no limit; values above 1,000,000 are capped.
SCALE_MAX: dict[Scale, float] = {"fraction": 1.0, "tenths": 10.0}

Label = Annotated[str, Field(min_length=1, max_length=256)]


class ListQuery(BaseModel):
    """The query parameters of a list of memories."""

    model_config = ConfigDict(frozen=True)

    namespace: Label = Field(description="The namespace, such as `app/user`.")
    kind: list[Label] = Field([], max_length=64, description="Memories of any of these kinds.")
    tag: list[Label] = Field([], max_length=64, description="Memories with any of these tags.")
    status: list[Status] = Field(
        ["active"],
        max_length=4,
        description="Memories of any of these statuses; live ones are `active`. `deleted` ones show the contents that an undo "
        "restores; `tag` does not match them.",
    )
    scale: Scale = Field("fraction", description="Scale of both importances: 0 to 1, 0 to 10, or 0 to 10,000 and more.")
    min_importance: float = Field(0.0, ge=0, le=1e9, description="Memories of at least this importance.")
    max_importance: float | None = Field(None, ge=0, le=1e9, description="Memories of at most this importance.")
    created_from: AwareDatetime | None = Field(None, description="Created at this time or later.")
    created_to: AwareDatetime | None = Field(None, description="Created before this time.")
    order: Order = Field("importance", description="Most important first, or newest first.")
    detail: Literal["short", "full"] = Field("short", description="`full` includes the long fields, `short` does not.")
    limit: int = Field(50, ge=1, le=500, description="Maximum number of entries in the response.")
    cursor: str | None = Field(
        None, max_length=2_000, description="`next` of the previous page; absent for the first page."
    )

    @model_validator(mode="after")
    def importances_fit_their_scale(self) -> Self:
        maximum = SCALE_MAX.get(self.scale, inf)
        if self.min_importance > maximum or (self.max_importance or 0) > maximum:
            raise ValueError(f"on the scale `{self.scale}` an importance is at most {maximum:g}")
        return self

    def listing(self) -> Listing:
        """Returns the database query. It asks for one more memory than `limit`, which shows whether there is another page.
        Raises Problem 422 for a cursor of another list."""
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
        """Returns the parameters that determine the contents and the order of the list."""
        return self.model_dump(mode="json", exclude={"cursor", "limit", "detail"})

    def place(self) -> Place:
        """Decodes the cursor. Raises Problem 422 for a cursor of another order."""
        place = decode_cursor(self.cursor or "", Place, self.filters())
        if isinstance(place.value, float | int) != (self.order == "importance"):
            raise unknown_cursor()
        return place
