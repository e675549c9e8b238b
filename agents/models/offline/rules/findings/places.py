"""Tells places from other things that people move to: "moved to Oslo" is about a home, "moved to decaf" is not."""

import re
from typing import Final

# Words after "moved to" that are no places, and the first words of such names.
NO_PLACE_LIST: Final = (
    "linux ubuntu fedora debian windows mac macos android ios iphone slack teams zoom discord signal whatsapp telegram notion"
    " obsidian jira linear github gitlab bitbucket aws azure gcp kubernetes docker postgres postgresql mysql sqlite mongodb redis"
    " kafka python go rust java kotlin typescript javascript react vue svelte premium pro basic enterprise spotify"
    " tidal deezer netflix chrome firefox vivaldi safari gmail outlook proton dropbox google microsoft apple"
    " level chapter plan option version"
    " macbook ipad kindle pixel thinkpad chromebook tesla vs vim neovim emacs excel figma trello asana confluence bluesky"
    " mastodon revolut n26 paypal sales marketing finance hr qa accounting procurement mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays mornings evenings nights decaf tea coffee water beer wine soda juice milk insulin cash solids"
    " keto lenses audiobooks part-time full-time freelance remote hybrid tears action"
)
NO_PLACES: Final = frozenset(NO_PLACE_LIST.split())
PRODUCT: Final = re.compile(r"(?!Ma?c|De|L[ae]|Van)\w*[a-z][A-Z]")  # "LibreOffice"; not "McAllen", "LaGrange"
DWELLING: Final = re.compile(
    r"\b(?:flat|apartment|[a-z]*house|houseboat|[a-z]*home|home ?town|studio|room|place|bungalow|cottage|cabin|loft|villa|condo"
    r"|dorm|caravan|trailer|farm|housing|campus|hostel|shelter|village|town|city|downtown|suburb|outskirt|country(?:side)?|state"
    r"|county|region|area|district|neighbou?rhood|street|road|lane|avenue|coast|seaside|sea|beach|island|mountain|lake|north|south"
    r"|east|west|uk|usa?|netherlands|philippines|parents)s?\b(?!-| (?:music|office|workouts?|cooking|school\w*)\b)",
    re.IGNORECASE,
)
JOB: Final = re.compile(
    r"\b(?:job|role|position|team|company|employer|firm|department|office|branch|shift|course|class|school|project|gym"
    r"|(?:first|second|third|last) place)\b",
    re.IGNORECASE,
)
CLAUSE_END: Final = re.compile(
    r"(?<!\bSt)\.(?!\d)|[,;()!?]|\s(?:since|because|with|and|until|from|for|as|last|this|next|after|when|so|but|alone|together"
    r"|again|now|today|yesterday|permanently)\b"
)
WITHIN: Final = re.compile(r" (?:in|near|by|at|on|of|outside) ")
OWNED: Final = re.compile(r"(?:an?|another|some|my|our|his|her|their) ")
THE_NAMED: Final = re.compile(r"[Tt]he(?: [A-ZÀ-Þ]\S*)+")
ACTIVITY: Final = re.compile(r"(?!beijing)\S+(?:ing|tion|ment|ware|work)s?")
# Places of several words in lower case.
OF_PLACES: Final = re.compile(
    r"(?:san|los|las|santa|sao|st|saint|fort|port|cape|rio|tel|hong|buenos|costa|sri|bad|el|la|le|den|great|(?:nor|sou)th(?:ern)?"
    r"|(?:ea|we)st(?:ern)?|new (?:york|zealand|delhi|orleans|jersey|mexico|hampshire|haven|england|castle))\b"
)


def is_product(name: str) -> bool:
    """Whether a name is certainly no place: a product, a department, a day."""
    first = name.partition(" ")[0].rstrip(".,;!")
    return first.casefold() in NO_PLACES or PRODUCT.match(first) is not None


def is_place(said: str) -> bool:
    """Whether the words after "moved to" name a place or a dwelling. A word in lower case passes for a town."""
    where = CLAUSE_END.split(said, maxsplit=1)[0].strip()
    what, *within = WITHIN.split(where, maxsplit=1)
    if JOB.search(what):
        return False
    if DWELLING.search(what):
        return True
    if OWNED.match(what):  # "a penthouse in Dubai", "their girlfriend's", not "a Tesla"
        return what.endswith(("'s", "’s")) or any(each[:1].isupper() for each in within)
    if what.lower().startswith("the "):
        return THE_NAMED.fullmatch(what) is not None and not is_product(what[4:])
    if is_product(what):
        return False
    first, _, rest = what.partition(" ")
    if first[:1].isdigit():  # "12 Mill Lane", not "20 mg"
        return rest[:1].isupper()
    if first[:1].isupper():
        return True
    return OF_PLACES.match(what) is not None if rest else ACTIVITY.fullmatch(what) is None
