"""Policies: the conversations that they match, the namespaces that these feed, and the settings of the pipeline for them."""

from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct
from msgspec import field as setting

from schemas.budgets.budgets import Budget
from schemas.conversations.messages import Moment, Role, Scope
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.block_settings import BlockSettings
from schemas.policies.kinds import DEFAULT_KINDS, Kind, KindName, with_descriptions
from schemas.policies.matching import Match
from schemas.policies.namespaces import OWN_NAMESPACE, UNKNOWN, parse_name, render, require_template, shortened
from schemas.policies.triggers import Seconds, Triggers

Fraction = Annotated[float, Meta(ge=0.0, le=1.0)]
LanguageTag = Annotated[str, Meta(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$")]

# By a conversation's mode, unless the policy names one.
Style = Literal["by_mode", "neutral", "support", "coding", "companion"]


LEAST_DAYS, MOST_DAYS = 7, 90  # bounds of retention_days, unless it is 0

PersonalKind = Literal["email", "phone", "address"]


class Privacy(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Removal of personal data from texts; credentials and card numbers are always removed.

    `scrub`: kinds of personal data that memories and summaries never contain. `before_sending`: kinds that are removed from
    requests to models too, so that a model cannot tell one value from another.
    """

    scrub: tuple[PersonalKind, ...] = ()
    before_sending: bool = False

    @property
    def not_sent(self) -> tuple[PersonalKind, ...]:
        """The kinds of personal data that are not sent to models."""
        return self.scrub if self.before_sending else ()


class ProfileSettings(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings of profiles.

    - `max_tokens`: most tokens of a profile, counted as windows count, hard constraints first; 0: no profile
    """

    max_tokens: Annotated[int, Meta(ge=0, le=8_000)] = 400


class Policy(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Settings for the conversations that it matches. The first policy that matches a conversation's scope applies.

    - `priority`: policies of a higher one are tried first
    - `match`: patterns of the scope's fields; a field without a pattern matches anything
    - `namespaces`: templates of the namespaces that a conversation feeds
    - `kinds`: names, or names with description and icon; `unknown_kinds`: reject or create other kinds that a model returns
    - `style`: what to look for; `feelings`: also how users feel about it; `instructions`: additional text for the extracting
      model
    - `attributed`: also store what the assistant and tools state about the matter (documents, orders, projects, results), as
      theirs, and what was done with tools; never what they state about a person
    - `note`: one text about the whole conversation instead of single statements
    - `one_language`: language of all texts that models write, as a BCP 47 tag such as `de`; null: that of the messages
    - `extract`: false: extract nothing; messages are forgotten when they leave the context
    - `triggers`: when waiting messages are extracted
    - `min_confidence`, `min_importance`: candidates below are dropped
    - `max_text_chars`: characters of a memory's text (and at most 500 tokens); `full_text`: allow an additional full text of
      at most 4,000 tokens
    - `complete`: a model adds missing importance and short texts; otherwise importance 0.4, and a short text by rules
    - `resolve`: a model judges, once per slice and namespace, whether candidates repeat, extend or end similar memories;
      otherwise rules
    - `merge_threshold`: cosine from which a candidate is the same as a memory, on the scale of all-MiniLM-L6-v2 for every
      embedder; default: as measured for the embedding model
    - `related_memories`: similar memories that the extracting model sees
    - `on_forget_wish`: delete, end or report what a user asks to have forgotten; `on_erasure_wish`: report or erase when a
      user asks to have everything forgotten
    - `delete_tool`: models may delete memories by a tool
    - `max_memories`: live memories per namespace; beyond it two are merged or one is deleted; `max_per_conversation`:
      memories per conversation, the most important first
    - `expire_after_s`: time after which a memory expires, since it was last said
    - `local_only`: send nothing to another machine; `privacy`: removal of personal data
    - `budget`: limits for model calls per namespace; `on_spent_budget`: wait, or use providers of `auto` on this machine
      (`stay_local`)
    - `batch`: use batches for background slices, at half the price and within a day, if the provider has them
    - `share_wait_s`: longest wait, at most an hour, of a slice of fewer than `share_tokens` for others of its user and
      namespaces, if no client waits for its memories; one model call answers them all; 0: no wait
    - `slice_tokens`, `slice_bytes`: content of a slice, at least one message; `overlap_messages`: earlier messages that go
      with a slice, shortened, as context
    - `straggler_wait_s`: wait of an end event for the messages that it announces; `late_idle_s`: silence before late
      messages are extracted; `grace_s`: time until an ended or abandoned window is forgotten
    - `reask_after_s`: time until a request without an answer is sent again, doubling; `background_deadline_s`: age at which
      postponed background requests count as live
    - `window`: limits of the context; `block`: format of context blocks; `profile`: size of the profile
    - `retention_days`: days until consolidated messages leave the archive, 7 to 90; 0: never
    - `recall`: messages of users and assistants can be searched, from `recall_since` on
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
    one_language: LanguageTag | None = None
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
    share_wait_s: Annotated[float, Meta(ge=0.0, le=3_600.0)] = 5.0
    share_tokens: Annotated[int, Meta(ge=1)] = 2_000
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
        """The names of the kinds, in order."""
        return tuple(kind if isinstance(kind, str) else kind.name for kind in self.taxonomy)

    @property
    def described_kinds(self) -> tuple[Kind, ...]:
        """The kinds with their descriptions."""
        return with_descriptions(self.taxonomy)

    def namespaces_of(self, scope: Scope) -> tuple[str, ...]:
        """The namespaces that a conversation feeds, without repetitions; templates with an absent field are omitted.

        A conversation that fits no template feeds a namespace of its own, so that nothing is lost.
        """
        rendered = [render(template, scope) for template in self.namespaces]
        named = tuple(dict.fromkeys(shortened(name) for name in rendered if name is not None))
        return named or (shortened(str(render(OWN_NAMESPACE, scope))),)

    def personal_namespaces_of(self, scope: Scope) -> tuple[str, ...]:
        """Those of the namespaces that only the user of the scope feeds."""
        rendered = (render(template, scope) for template in self.namespaces if "{user_id}" in template)
        return tuple(dict.fromkeys(shortened(name) for name in rendered if name is not None))

    def recalls(self, role: Role, said_at: Moment) -> bool:
        """Whether a message can be searched as a passage."""
        since = self.recall_since
        return self.recall and role in ("user", "assistant") and (since is None or said_at >= since)

    def governs(self, namespace: str) -> bool:
        """Whether conversations that it matches can feed a namespace of this name."""
        scopes = (parse_name(template, namespace) for template in self.namespaces)
        return any(scope is not None and self.match.accepts(scope) for scope in scopes)


DEFAULT_POLICY = Policy(name="default")


class PolicySelector(Protocol):
    """Selects the policy that applies now."""

    def match(self, scope: Scope) -> Policy: ...

    def governing(self, namespace: str) -> Policy: ...

    def scopes_feeding(self, namespace: str) -> tuple[Scope, ...]: ...

    def by_name(self, name: str) -> Policy: ...


class Policies(Struct, frozen=True):
    """An ordered list of policies, with the built-in default at the end.

    `retired` policies match nothing any more, and are known by name for requests made under them.
    """

    listed: tuple[Policy, ...] = ()
    retired: tuple[Policy, ...] = ()

    def match(self, scope: Scope) -> Policy:
        return next((policy for policy in self.listed if policy.match.accepts(scope)), DEFAULT_POLICY)

    def governing(self, namespace: str) -> Policy:
        """The first policy with a template that fits the namespace, for changes without a conversation.

        The name alone decides: a policy that matches on a field outside of its template governs no namespace.
        """
        return next((policy for policy in self.listed if policy.governs(namespace)), DEFAULT_POLICY)

    def scopes_feeding(self, namespace: str) -> tuple[Scope, ...]:
        """The scopes of messages that feed a namespace, as far as its name contains them, by the templates that fit."""
        templates = (*self.governing(namespace).namespaces, OWN_NAMESPACE)
        scopes = (parse_name(template, namespace) for template in templates)
        return tuple(scope for scope in scopes if scope is not None and scope != Scope(conversation_id=UNKNOWN))

    def by_name(self, name: str) -> Policy:
        return next((policy for policy in (*self.listed, *self.retired) if policy.name == name), DEFAULT_POLICY)

    def merged_over(self, base: "Policies") -> "Policies":
        """These policies, the most specific first, then by name, before those of `base` with other names, in their order.

        A higher priority comes first in any case.
        """
        names = {policy.name for policy in self.listed}
        own = sorted(self.listed, key=lambda policy: ([-count for count in policy.match.specificity], policy.name))
        listed = [*own, *(policy for policy in base.listed if policy.name not in names)]
        return Policies(tuple(sorted(listed, key=lambda policy: -policy.priority)), self.retired)
