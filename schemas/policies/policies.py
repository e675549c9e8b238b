"""Policies: which conversations they apply to, which namespaces those feed, and the settings of the way through."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal, Protocol
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct
from msgspec import field as setting

from schemas.budgets.budgets import Budget
from schemas.conversations.messages import Moment, Role, Scope
from schemas.conversations.window_settings import WindowSettings
from schemas.memories.kinds import DEFAULT_KINDS, Kind, KindName, with_descriptions
from schemas.policies.namespaces import OWN_NAMESPACE, UNSAID, read_back, render, require_template, shortened
from schemas.profile.profile_settings import ProfileSettings
from schemas.retrieval.block_settings import BlockSettings

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
Seconds = Annotated[float, Meta(gt=0.0)]

WILD = frozenset("*?[")

# By a conversation's mode, unless the policy names one.
Style = Literal["by_mode", "neutral", "support", "coding", "companion"]


class Match(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Shell patterns (`*`, `?`, `[...]`) per field; a field without a pattern matches anything, also its absence."""

    tenant_id: str | None = None
    app_id: str | None = None
    agent_id: str | None = None
    mode: str | None = None

    def accepts(self, scope: Scope) -> bool:
        patterns = (
            (self.tenant_id, scope.tenant_id),
            (self.app_id, scope.app_id),
            (self.agent_id, scope.agent_id),
            (self.mode, scope.mode),
        )
        return all(
            pattern is None or (value is not None and fnmatchcase(value, pattern)) for pattern, value in patterns
        )

    @property
    def specificity(self) -> tuple[int, int]:
        """How many fields it wants to be something, and how many of them to be exactly so."""
        given = [pattern for pattern in (self.tenant_id, self.app_id, self.agent_id, self.mode) if pattern is not None]
        return len(given), sum(WILD.isdisjoint(pattern) for pattern in given)


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Schedule(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A time of day in a time zone, on some weekdays or on all. Raises ValueError for a time zone that is not known."""

    at: Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    weekdays: tuple[Weekday, ...] = ()
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        try:
            ZoneInfo(self.time_zone)
        except (KeyError, OSError, ValueError) as exc:
            raise ValueError(f"time_zone {self.time_zone!r} is not known: name one like Europe/Lisbon") from exc


class Triggers(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What asks for the extraction of what was said; whichever comes first. A flush by hand always does.

    `on_end`: the conversation ended. `on_exchange`: the assistant answered the user. `after_tokens`: so many tokens wait.
    `idle_s`: so long nothing was said. `age_s`: the oldest waiting message is so old. `schedule`: at its times. Whatever is
    left is asked for once nothing was said for `abandoned_s`, so that every message is extracted in the end.
    """

    on_end: bool = True
    on_exchange: bool = False
    after_tokens: Annotated[int, Meta(ge=1)] | None = None
    idle_s: Seconds | None = None
    age_s: Seconds | None = None
    schedule: Schedule | None = None
    abandoned_s: Seconds = 86_400.0


LEAST_DAYS, MOST_DAYS = 7, 90  # that the archive keeps messages, where it does not for ever

PersonalKind = Literal["email", "phone", "address"]


class Privacy(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is taken out of texts; credentials and card numbers always are.

    `scrub`: the kinds of personal data of which nothing is stored in memories and summaries. `before_sending`: of which no
    model is told either, so that none can tell one from another.
    """

    scrub: tuple[PersonalKind, ...] = ()
    before_sending: bool = False

    @property
    def not_sent(self) -> tuple[PersonalKind, ...]:
        """The kinds of personal data that no model is sent."""
        return self.scrub if self.before_sending else ()


class Policy(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings of one kind of conversation. The first policy that matches a conversation's scope applies.

    Those of a higher `priority` come first. `kinds` are names, or names with a description and an icon; what a model calls
    otherwise, and no kind can stand for, is rejected or becomes a kind, as `unknown_kinds` says. A candidate below
    `min_confidence` or `min_importance` is dropped.
    A memory's text has at most `max_text_chars` characters, and 500 tokens; with `full_text` it may have a full text beside it,
    of at most 4,000 tokens. With `complete` a model is asked for the importance and the short text that a memory came without;
    else it has importance 0.4, and a short text made by rules. With `resolve` a model is asked, once for the candidates of a
    slice and namespace, what they are to the memories near them: the same, more, or their end; else rules alone tell. `style`
    says what is looked for; with `feelings` that is also how users feel about what they tell. `instructions` are
    further words to the model that extracts: another version of the policy tries other ones, by a replay. With `attributed` what
    the assistant and tools state about the matter (documents, orders, projects, results) is kept as well, as theirs, and what was
    done with tools; nothing that they say about a person. With `note` a conversation is told as a whole, in one text, instead
    of statement by statement. What a user asks to have forgotten is deleted, or ended, which leaves it readable, or only told of,
    as `on_forget_wish` says; who asks to have everything forgotten is erased, or that is only told of, as
    `on_erasure_wish` says. With `delete_tool` models may delete memories by a tool.
    A slice is at most `slice_tokens` and `slice_bytes` of content, and at least one message; the ends of the
    `overlap_messages` before it go with it, so that an answer is understood without its question. An end event waits
    `straggler_wait_s` for the messages it announces; late messages are extracted after `late_idle_s` of silence; a request
    without an answer is asked again after `reask_after_s`, doubling; background work that was put off counts as live after
    `background_deadline_s`, so that it is done in the end; with `batch` background slices are asked about in batches, at half
    the price and within a day, if the provider has them; a window that ended or was abandoned is forgotten after `grace_s`.
    `window` says what stays in context, `block` how memories are told to a model, `profile` what a prompt always knows;
    without `extract` nothing is extracted, and a message is forgotten once it has left the context. From `merge_threshold` on
    a candidate may be folded into a memory without a model's word: a cosine as all-MiniLM-L6-v2 has them, whatever embeds; by
    default what was measured of the embedding model. `budget` is what each of its namespaces may spend on models; where one is
    spent, work waits (`on_spent_budget: wait`), or is for those providers of `auto` that stay on this machine (`stay_local`).
    What is `local_only` is sent to no other machine. Each namespace has at most `max_memories` live memories: one more, and
    two are merged or one goes. A conversation makes at most `max_per_conversation` of them, the most important of what it
    says first. A memory expires `expire_after_s` after it was last said. `retention_days` after it was archived a message that
    was consolidated leaves the archive: 7 to 90 days, 0 for never. With `recall` what users and assistants say can be searched
    as it was said, from `recall_since` on where that is given.
    """

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    version: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 1
    priority: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    match: Match = Match()
    namespaces: tuple[str, ...] = ("{app_id}/{user_id}",)
    taxonomy: tuple[KindName | Kind, ...] = setting(default=DEFAULT_KINDS, name="kinds")
    unknown_kinds: Literal["reject", "create"] = "reject"
    style: Style = "by_mode"
    instructions: Annotated[str, Meta(max_length=4_000)] = ""
    feelings: bool = False
    attributed: bool = False
    note: bool = False
    on_forget_wish: Literal["delete", "end", "report"] = "delete"
    on_erasure_wish: Literal["report", "erase"] = "report"
    delete_tool: bool = False
    full_text: bool = False
    complete: bool = True
    resolve: bool = False
    max_text_chars: Annotated[int, Meta(ge=20, le=4_000)] = 200
    min_confidence: Fraction = 0.3
    min_importance: Fraction = 0.0
    merge_threshold: Fraction | None = None
    max_memories: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    max_per_conversation: Annotated[int, Meta(ge=1)] | None = None
    expire_after_s: Seconds | None = None
    extract: bool = True
    local_only: bool = False
    triggers: Triggers = Triggers()
    window: WindowSettings = WindowSettings()
    block: BlockSettings = BlockSettings()
    profile: ProfileSettings = ProfileSettings()
    privacy: Privacy = Privacy()
    budget: Budget = Budget()
    on_spent_budget: Literal["wait", "stay_local"] = "wait"
    related_memories: Annotated[int, Meta(ge=0)] = 8
    overlap_messages: Annotated[int, Meta(ge=0, le=20)] = 2
    slice_tokens: Annotated[int, Meta(ge=100)] = 8_000
    slice_bytes: Annotated[int, Meta(ge=1_000)] = 524_288
    straggler_wait_s: Seconds = 30.0
    late_idle_s: Seconds = 30.0
    grace_s: Seconds = 86_400.0
    reask_after_s: Seconds = 3_600.0
    background_deadline_s: Seconds = 86_400.0
    batch: bool = False
    retention_days: Annotated[int, Meta(ge=0, le=MOST_DAYS)] = 0
    recall: bool = True
    recall_since: Moment | None = None

    def __post_init__(self) -> None:
        if 0 < self.retention_days < LEAST_DAYS:
            raise ValueError(
                f"retention_days is {self.retention_days} and must be {LEAST_DAYS} to {MOST_DAYS}, or 0 to keep for ever"
            )
        for number, template in enumerate(self.namespaces):
            require_template(template, number)
        names = [name.casefold() for name in self.kinds]
        if repeated := [name for name in self.kinds if names.count(name.casefold()) > 1]:
            raise ValueError(f"kinds has {repeated[0]!r} more than once: name each kind once, whatever its case")
        if self.extract and not names and self.unknown_kinds == "reject":
            raise ValueError(
                "kinds is empty, so every memory would be rejected: name some, or set unknown_kinds to create"
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of the kinds, in their order."""
        return tuple(kind if isinstance(kind, str) else kind.name for kind in self.taxonomy)

    @property
    def described_kinds(self) -> tuple[Kind, ...]:
        """The kinds with what is known of them."""
        return with_descriptions(self.taxonomy)

    def namespaces_of(self, scope: Scope) -> tuple[str, ...]:
        """The namespaces a conversation feeds, without repeats; templates that name an absent field are left out.

        A conversation that fits no template feeds a namespace of its own, so that nothing said is lost.
        """
        rendered = [render(template, scope) for template in self.namespaces]
        named = tuple(dict.fromkeys(shortened(name) for name in rendered if name is not None))
        return named or (shortened(str(render(OWN_NAMESPACE, scope))),)

    def personal_namespaces_of(self, scope: Scope) -> tuple[str, ...]:
        """Of those the ones that only the user of the scope feeds."""
        rendered = (render(template, scope) for template in self.namespaces if "{user_id}" in template)
        return tuple(dict.fromkeys(shortened(name) for name in rendered if name is not None))

    def recalls(self, role: Role, said_at: Moment) -> bool:
        """Whether a message can be searched as it was said."""
        since = self.recall_since
        return self.recall and role in ("user", "assistant") and (since is None or said_at >= since)

    def governs(self, namespace: str) -> bool:
        """Whether conversations it applies to can feed a namespace of this name."""
        scopes = (read_back(template, namespace) for template in self.namespaces)
        return any(scope is not None and self.match.accepts(scope) for scope in scopes)


DEFAULT_POLICY = Policy(name="default")


class PolicySelector(Protocol):
    """Whoever knows the policies that apply now."""

    def match(self, scope: Scope) -> Policy: ...

    def governing(self, namespace: str) -> Policy: ...

    def scopes_feeding(self, namespace: str) -> tuple[Scope, ...]: ...

    def by_name(self, name: str) -> Policy: ...


class Policies(Struct, frozen=True):
    """An ordered list of policies; the built-in default stands at its end.

    `retired` ones match nothing any more: they are still known by name, for what was asked under them.
    """

    listed: tuple[Policy, ...] = ()
    retired: tuple[Policy, ...] = ()

    def match(self, scope: Scope) -> Policy:
        return next((policy for policy in self.listed if policy.match.accepts(scope)), DEFAULT_POLICY)

    def governing(self, namespace: str) -> Policy:
        """The first policy with a template that the namespace can come from, for what no conversation brought.

        As far as the name says: a policy that matches on a field which is not in its template governs none.
        """
        return next((policy for policy in self.listed if policy.governs(namespace)), DEFAULT_POLICY)

    def scopes_feeding(self, namespace: str) -> tuple[Scope, ...]:
        """What a namespace's name tells of the messages that feed it, by the templates that it can come from."""
        templates = (*self.governing(namespace).namespaces, OWN_NAMESPACE)
        scopes = (read_back(template, namespace) for template in templates)
        return tuple(scope for scope in scopes if scope is not None and scope != Scope(conversation_id=UNSAID))

    def by_name(self, name: str) -> Policy:
        return next((policy for policy in (*self.listed, *self.retired) if policy.name == name), DEFAULT_POLICY)

    def merged_over(self, beneath: "Policies") -> "Policies":
        """These, by how strictly they match, then by name, before those of `beneath`, in their order, that have other names.

        A higher priority comes first in any case.
        """
        names = {policy.name for policy in self.listed}
        own = sorted(self.listed, key=lambda policy: ([-count for count in policy.match.specificity], policy.name))
        listed = [*own, *(policy for policy in beneath.listed if policy.name not in names)]
        return Policies(tuple(sorted(listed, key=lambda policy: -policy.priority)), self.retired)
