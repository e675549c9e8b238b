"""Converts an English first-person clause to the third person: "I don't like my desk" becomes "User does not like their
desk"."""

import re

CONTRACTIONS = (
    (r"\bI'm\b", "I am"),
    (r"\bim\b(?= )", "I am"),
    (r"\bcan'?t\b", "cannot"),
    (r"\bwo(?:n't|nt)\b", "will not"),
    (r"\b(\w+)n't\b", r"\1 not"),
    (r"\b(do|does|did|have|had|was|is|are|would|could|should)nt\b", r"\1 not"),
    (r"\b(I|we|they|you)'?ve\b", r"\1 have"),
    (r"\b(I|we|they|you|he|she|it)'ll\b", r"\1 will"),
    (r"\b(we|they|you)'re\b", r"\1 are"),
    (r"\blet's\b", "let us"),
    (r"\b(I|we|they|you|he|she)'d\b", r"\1 would"),
    (r"\b(it|that|he|she|what|there|here)'s\b", r"\1 is"),
    (r"\b(today|tomorrow|tonight|yesterday)'s (?=(?:the|a|an|my|our|going)\b)", r"\1 is "),
    (r"\bgonna\b", "going to"),
    (r"\bgotta\b", "have to"),
    (r"\bwanna\b", "want to"),
)
CONTRACTED = re.compile(r"'|\b(?:im|ive|cant|wont|gonna|gotta|wanna|\w+nt)\b", re.IGNORECASE)
EXPANSIONS = tuple((re.compile(pattern, re.IGNORECASE), whole) for pattern, whole in CONTRACTIONS)
# Beginnings of sentences without "I" that are no requests: "moved to Bath", "still taking 50 mg".
DROPPED = re.compile(
    r"^((?:(?:also|finally|just|recently|already|still|now|currently|only|officially) )*)(?:"
    r"(?P<did>moved|got (?=promoted|married|divorced|engaged|hired|fired|laid|rid|an?\b|my\b|the new)|started|stopped|signed"
    r"|bought|sold|switched|joined|became|finished|graduated|retired|adopted"
    r"|changed (?=jobs?\b|my\b|from\b|to\b)|lost|broke (?=up|my)"
    r"|cancelled|canceled|handed in|gave up|picked up|took up|met|won)"
    r"|(?P<do>taking|working (?=as|at|for|in|on)|living (?=in|with|at|alone)|studying|learning|moving (?=to|in|out)"
    r"|training|planning"
    r"|expecting|dating|renting|allergic to|scared of|terrified of|afraid of)) (?!(?:of|by|is|are|was|out|with it|means)\b)",
    re.IGNORECASE,
)
# "Tom and I moved to Bath" is "I moved to Bath with Tom"; not "Tom and I are brothers", nor the first word of any sentence.
COMPANION = re.compile(
    r"^(?P<who>my (?:(?!and\b)\w+ )?\w+|(?!(?:yes|no|ok(?:ay)?|well|thanks|sure|right|true|also|great|nice|cool|hi|hey|yeah"
    r"|yep|today|tomorrow|yesterday|sometimes|now|then|still|haha|lol|exactly|agreed|same|work|done|good|fine|wow|oh)\b)(?-i:[A-Z])\w+)"
    r" and I (?P<said>(?:(?:split|broke|met) up|got (?:engaged|divorced))?)"
    r"(?P<rest>(?!(?:are|were|am|have been|both|each)\b)[^,;.!?]*?)(?=[,;.!?]|$| (?:and|but|because|so|since)\b)",
    re.IGNORECASE,
)
ADVERBS_WORDS = (
    "really absolutely definitely always usually generally mostly still also currently now just actually "
    "strongly only particularly especially often totally personally never recently finally already both "
    "sometimes probably rarely mainly typically long since no longer yet quite truly simply greatly almost ever even too once "
    "first somehow kinda sorta normally honestly basically literally constantly occasionally seldom"
)
ADVERBS = frozenset(ADVERBS_WORDS.split())
UNCHANGED_WORDS = (
    "will would can cannot could should must may might shall was had did went bought became got grew took "
    "made left chose quit lost found met ran wrote began brought built came drove ate fell felt flew gave "
    "held kept knew led learnt said saw sold sent slept spoke spent stood taught told thought understood "
    "woke won wore used broke hired heard rode swam sang drank hid shot threw tore bit blew dug drew forgot stole stuck born"
)
UNCHANGED = frozenset(UNCHANGED_WORDS.split())
IRREGULAR = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
ENDS_IN_ED_WORDS = "need feed speed embed breed seed"
ENDS_IN_ED = frozenset(ENDS_IN_ED_WORDS.split())
COORDINATED = (
    "love hate like prefer enjoy dislike work live use play speak have am do need want run write "
    "drink eat study teach cannot go"
)
COORDINATION = re.compile(rf"\b(and|but|so|because) ((?:also |now )?)({COORDINATED.replace(' ', '|')})\b")
FAMILY = re.compile(
    r"\b(?:wife|husband|kids?|child(?:ren)?|baby|bab(?:y|ies)|daughters?|sons?|wedding|honeymoon"
    r"|holidays?|vacation|house|apartment|flat|married"
    r"|parents|dog|cat|puppy|school|family)\b",
    re.IGNORECASE,
)
# "We" at work is a team; any other "we" is a group of people.
WORK = re.compile(
    r"\b(?:team|us(?:e|es|ing)|deploy\w*|releas\w*|ship\w*|merg\w*|migrat\w*|standardi\w+|sprints?|customers?|clients?|works?"
    r"|servers?|database|code|codebase|builds?|tests?|projects?|api|company|software|launch\w*|staging|production)\b",
    re.IGNORECASE,
)
# Each member of a family has what the family has: "we have a daughter" is "User has a daughter".
SHARED = re.compile(r"we (?:have|adopted|got|had|bought)\b", re.IGNORECASE)
OWN_GROUP = re.compile(r"our (?:team|family)\b", re.IGNORECASE)  # not "The team's team"
OTHERS = "User and others"
PRONOUNS = (
    (r"\bI am\b", "they are"),
    (r"\bI was\b", "they were"),
    (r"\bI\b", "they"),
    (r"\bmyself\b", "themselves"),
    (r"\bmine\b", "theirs"),
    (r"\bmy\b", "their"),
    (r"\bme\b", "them"),
    (r"\b[Ww]e\b", "they"),
    (r"\b[Oo]urselves\b", "themselves"),
    (r"\b[Oo]urs\b", "theirs"),
    (r"\b[Oo]ur\b", "their"),
    (r"\bus\b", "them"),
    (r"\byou are\b", "the assistant is"),
    (r"\b[Yy]our\b", "the assistant's"),
    (r"\b[Yy]ou\b", "the assistant"),
)
REPLACED = tuple((re.compile(pattern), other) for pattern, other in PRONOUNS)


def expanded(sentence: str) -> str:
    """The sentence without contractions, so that rules need one form of each verb."""
    if CONTRACTED.search(sentence):
        for pattern, whole in EXPANSIONS:
            sentence = pattern.sub(whole, sentence)
    sentence = COMPANION.sub(with_companion, DROPPED.sub(with_subject, sentence, count=1), count=1)
    return re.sub(r"^i\b|(?<=[\s,])i\b(?!\.)", "I", sentence)


def with_subject(found: re.Match[str]) -> str:
    said = found[0][:1].lower() + found[0][1:]
    return f"I {said}" if found["did"] else f"I am {said}"


def with_companion(found: re.Match[str]) -> str:
    who = re.sub(r"^My\b", "my", found["who"])
    if found["said"]:
        return f"I {found['said']} with {who}{found['rest']}"
    return f"I {found['rest']} with {who}" if found["rest"] else found[0]


def third_person(clause: str) -> str:
    """The clause about "User" (for "we": with others, or for a team), with its negation, tense and details."""
    word, _, rest = clause.partition(" ")
    subject = subject_of(word.lower(), clause)
    if subject is None:
        return pronouns(clause)
    rest = rest.removeprefix("also ")
    if word.lower() in ("i", "we") and subject != OTHERS:
        rest = conjugated(rest)
    return f"{subject} {pronouns(rest)}"


def subject_of(word: str, clause: str) -> str | None:
    if word == "we" and FAMILY.search(clause):
        return "User" if SHARED.match(clause) else "User's family"
    if OWN_GROUP.match(clause):
        return "User's"
    group = "family" if FAMILY.search(clause) else "team"
    we = "User's team" if WORK.search(clause) else OTHERS
    return {"i": "User", "my": "User's", "we": we, "our": f"The {group}'s"}.get(word)


def pronouns(text: str) -> str:
    for pattern, other in REPLACED:
        text = pattern.sub(other, text)
    return text


def conjugated(predicate: str) -> str:
    """The predicate of "I" or "we" in the third person singular, coordinated verbs included."""
    if predicate.startswith("split up "):  # over, whatever its form says
        return predicate
    words = predicate.split(" ")
    at = next((index for index, word in enumerate(words) if word.lower() not in ADVERBS), 0)
    words[at] = third_person_verb(words[at])
    return COORDINATION.sub(lambda found: coordinated(found), " ".join(words))


def coordinated(found: re.Match[str]) -> str:
    """ "and hates" for "and hate", but not in "likes to swim and run", where the verb is an infinitive."""
    if " to " in found.string[: found.start()]:
        return found[0]
    return f"{found[1]} {found[2]}{third_person_verb(found[3])}"


def third_person_verb(verb: str) -> str:
    lowered = verb.lower().rstrip(",;:")
    if lowered in IRREGULAR:
        return IRREGULAR[lowered]
    if lowered in UNCHANGED or (lowered.endswith("ed") and lowered not in ENDS_IN_ED):
        return verb
    if lowered.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
