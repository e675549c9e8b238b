"""Recognises text that addresses the memory or a model. Such a message is not extracted at all."""

import re

from agents.models.offline.rules.engine.folding import folded

MARKS = (  # in lower case, of folded texts
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules"
    r"|guidelines|directions|context|policy)\b",
    r"\b(?:ignoriere|vergiss)\b.{0,40}\b(?:anweisung\w*|regeln|vorgaben)\b",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instructions|consignes|règles)\b",
    r"\b(?:ignora|olvida)\b.{0,40}\b(?:instrucciones|reglas)\b",
    # Never `\s*` after `^` here: it would match across many empty lines from each of them (quadratic time).
    r"^[^\S\n]*+(?:#++[^\S\n]*+|\[|<++\|?/?)?(?:system|assistant|developer|tool)(?:\s++(?:prompt|message|note"
    r"|override))?\s*+(?:\]|\|?>{1,4})?\s*+[:>\]]",
    r"<\|?/?(?:system|im_start|im_end|transcript|memories|instructions?)\b",
    r"\byou are now\b|\bnew (?:system )?instructions?\b|\bsystem prompt\b|\bdeveloper mode\b"
    r"|\bjailbreak\w*",
    r"\b(?:remember|store|save|note|record|add|write)\b.{0,60}\bi(?:'m| am| have)\b.{0,20}\b"
    r"(?:admin\w*|root|superuser|owner|developer access"
    r"|unrestricted|authori[sz]ed|verified)\b",
    r"\b(?:store|save|insert|write|add)\b.{0,40}\b(?:in|into|to) (?:your|the) (?:long-term )?memor"
    r"(?:y|ies)\b",
)
INSTRUCTION = re.compile("|".join(f"(?:{mark})" for mark in MARKS), re.MULTILINE)
# A valid wish of a user; in a memory or another text, it is an instruction to the reader.
WIPE = re.compile(r"\b(?:delete|erase|wipe|forget)\b.{0,30}\b(?:all|every|your)\b.{0,20}\bmemor(?:y|ies)\b")


def instructs(text: str) -> bool:
    """Whether any part of a user's message instructs a model about its rules or its memory. Wishes to forget are allowed."""
    return INSTRUCTION.search(folded(text)) is not None


def is_injection(text: str) -> bool:
    """Whether any part of a text instructs a model, wishes to forget included. The whole text is then not trusted."""
    return instructs(text) or WIPE.search(folded(text)) is not None
