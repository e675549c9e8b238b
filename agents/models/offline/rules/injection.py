"""Recognises text that addresses the memory instead of telling about the speaker: such a message is not remembered at all."""

import re

MARKS = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules"
    r"|guidelines|directions|context|policy)\b",
    r"\b(?:ignoriere|vergiss)\b.{0,40}\b(?:anweisung\w*|regeln|vorgaben)\b",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instructions|consignes|règles)\b",
    r"\b(?:ignora|olvida)\b.{0,40}\b(?:instrucciones|reglas)\b",
    # Never `\s*` behind `^` here: it would start at each of many empty lines and cross all that follow.
    r"^[^\S\n]*+(?:#++[^\S\n]*+|\[|<++\|?/?)?(?:system|assistant|developer|tool)(?:\s++(?:prompt|message|note"
    r"|override))?\s*+(?:\]|\|?>{1,4})?\s*+[:>\]]",
    r"<\|?/?(?:system|im_start|im_end|transcript|memories|instructions?)\b",
    r"\byou are now\b|\bnew (?:system )?instructions?\b|\bsystem prompt\b|\bdeveloper mode\b"
    r"|\bjailbreak\w*",
    r"\b(?:remember|store|save|note|record|add|write)\b.{0,60}\bI(?:'m| am| have)\b.{0,20}\b"
    r"(?:admin\w*|root|superuser|owner|developer access"
    r"|unrestricted|authori[sz]ed|verified)\b",
    r"\b(?:store|save|insert|write|add)\b.{0,40}\b(?:in|into|to) (?:your|the) (?:long-term )?memor"
    r"(?:y|ies)\b",
)
INSTRUCTION = re.compile("|".join(f"(?:{mark})" for mark in MARKS), re.IGNORECASE | re.MULTILINE)
# A user may ask for it, as a wish; in a memory, or in anybody else's words, it is an order to whoever reads it.
WIPE = re.compile(
    r"\b(?:delete|erase|wipe|forget)\b.{0,30}\b(?:all|every|your)\b.{0,20}\bmemor(?:y|ies)\b", re.IGNORECASE
)


def instructs(text: str) -> bool:
    """True when any part of a user's message tells a model what to do with its rules or its memory, but for forgetting."""
    return INSTRUCTION.search(text) is not None


def is_injection(text: str) -> bool:
    """True when any part of the message does so; the honest remainder is not worth the risk."""
    return instructs(text) or WIPE.search(text) is not None
