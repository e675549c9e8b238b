"""Namespace names: rendered from a conversation's fields by a policy's template, and parsed back. No value can reach into
another namespace."""

import re
from collections.abc import Sequence
from hashlib import blake2b
from urllib.parse import unquote

from schemas.conversations.messages import Scope
from schemas.policies.shadows import is_reserved

OWN_NAMESPACE = "conversation/{conversation_id}"  # for a conversation that fits no template
UNKNOWN = "-"  # stands for a field that is not known, such as one missing in a namespace's name
LONGEST_NAMESPACE = 256  # characters, as for every identifier

REACHING = re.compile(r"[/%{}~\x00-\x1f\x7f]")
FIELD = re.compile(r"([^{]*)\{(\w*)\}")

EVERY_FIELD = Scope(conversation_id="c", tenant_id="t", app_id="a", user_id="u", agent_id="g", mode="m")


def require_template(template: str, number: int) -> None:
    """Raises ValueError for a template with a field that conversations do not have, or without any."""
    try:
        rendered = render(template, EVERY_FIELD)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as exc:
        fields = ", ".join("{" + name + "}" for name in EVERY_FIELD.__struct_fields__)
        raise ValueError(
            f"namespaces[{number}] is {template!r} ({exc}): name fields of a conversation: {fields}"
        ) from exc
    if not rendered:
        raise ValueError(f"namespaces[{number}] is empty: name fields of a conversation, as in {{app_id}}/{{user_id}}")
    if is_reserved(rendered):
        raise ValueError(f"namespaces[{number}] is {template!r}: this prefix is reserved; choose another one")


def shortened(name: str) -> str:
    """A name within the length of an identifier: a hash replaces the end of a longer one."""
    if len(name) <= LONGEST_NAMESPACE:
        return name
    digest = blake2b(name.encode(), digest_size=16).hexdigest()
    return f"{name[: LONGEST_NAMESPACE - len(digest) - 1]}~{digest}"


def quote_part(value: str) -> str:
    """Escapes characters that would reach into another namespace (`/`, `%`, `~`, braces, control characters)."""
    return REACHING.sub(lambda found: f"%{ord(found[0]):02X}", value)


def render(template: str, scope: Scope) -> str | None:
    """`{app_id}/{user_id}` with the scope's values; None if one of them is absent.

    Raises KeyError for a template with a field that a scope does not have.
    """
    fields = {name: getattr(scope, name) for name in scope.__struct_fields__}
    used = [name for name in fields if "{" + name + "}" in template]
    if any(not fields[name] for name in used):
        return None
    return template.format_map({name: quote_part(str(fields[name])) for name in used})


def parse_name(template: str, namespace: str) -> Scope | None:
    """The scope that a namespace's name contains; None if the template does not fit the name."""
    said: set[str] = set()
    pattern = ""
    for text, field in FIELD.findall(template + "{}"):
        pattern += re.escape(text)
        if field:
            pattern += f"(?P={field})" if field in said else f"(?P<{field}>[^/]+)"
            said.add(field)
    found = re.fullmatch(pattern, namespace)
    if found is None:
        return None
    values = {field: unquote(value) for field, value in found.groupdict().items()}
    return Scope(**{"conversation_id": UNKNOWN} | values)


def colliding(templates: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of a template with `{user_id}` and one without it that can render one name: a person's namespace and a shared
    one of the same name would be one namespace."""
    personal = [each for each in templates if "{user_id}" in each]
    shared = [each for each in templates if each not in personal]
    return [(own, all_feed) for own in personal for all_feed in shared if fits(own, all_feed)]


def fits(template: str, other: str) -> bool:
    """Whether names of the other template fit the template: "{user_id}" fits "{app_id}", and "user/{user_id}" does not."""
    name = render(other, EVERY_FIELD)
    return name is not None and parse_name(template, name) is not None
