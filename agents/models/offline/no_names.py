"""Tells names of people from other capitalised words: states, kinds of people, nationalities, places and groups."""

import re
from typing import Final

from agents.models.dates.words import MONTHS, WEEKDAYS
from agents.models.offline.rules.framing.frames import ROLE_NAME, SPEAKER_LABEL
from agents.models.offline.rules.lasting_instructions.instructions import names_state
from agents.models.offline.rules.tables.english_preferences import LANGUAGES
from agents.models.offline.rules.tables.finer_kinds import PEOPLE

LISTED: Final = frozenset(
    word
    for words in (
        *WEEKDAYS.values(),
        *MONTHS.values(),
        # pronouns, titles, and words about the message
        "me myself us you him her them mine it he she they we this that here there again speaking hello hi hey",
        "ich mich wir du ihr dich euch moi nous toi vous yo nosotros tú usted todo todos nada nadie nobody somebody someone",
        "my your mein meine dein deine mon ma ton ta mi tu su mr mrs ms dr prof doctor herr frau monsieur madame señor señora",
        "okay ok fine good great bad sorry back new done urgent broken over important ready easy hard true false live perfect",
        "wieder nur endlich estoy vamos",
        # states and occasions
        "deaf sick ill tired hungry single married divorced retired unemployed autumn fall spring summer winter",
        "christmas easter halloween thanksgiving hanukkah diwali eid weihnachten ostern noël pâques navidad",
        # people, groups and departments
        "everyone everybody all both folks guys people team group staff crew office family class company management board",
        "support sales marketing accounting finance billing logistics legal security reception helpdesk service hr it",
        "mama papa mami papi mutti vati oma opa schatz liebling mutter vater leute alle gruppe familie büro",
        "maman mamie papi chéri chérie équipe tous toutes famille mamá papá abuela abuelo equipo familia cariño",
        "newbie beginner dev developer engineer driver writer artist freelancer vet",
        # religions
        "christian catholic protestant orthodox buddhist sikh jew atheist christ katholik protestant chrétien católico católica",
        # nationalities
        "american canadian mexican cuban brazilian chilean argentinian argentine colombian peruvian venezuelan latino latina",
        "british brit scottish scot welsh irish swiss austrian belgian norwegian swede dane finn finnish icelandic greek czech",
        "slovak slovenian croatian serbian bosnian albanian bulgarian romanian hungarian ukrainian estonian latvian lithuanian",
        "moroccan algerian tunisian egyptian nigerian kenyan ghanaian ethiopian african european asian arab arabic kurd kurdish",
        "turk iranian persian iraqi israeli syrian lebanese afghan pakistani indian nepali thai vietnamese korean filipino",
        "indonesian malaysian singaporean australian kiwi texan californian londoner berliner",
        "deutscher deutsche österreicher österreicherin schweizer schweizerin türke türkin französin franzose",
        "français française anglais anglaise allemand allemande canadien canadienne marocain marocaine belge suisse italien",
        "italienne espagnol espagnole algérien algérienne tunisien tunisienne",
        "español española inglés inglesa alemán alemana francés francesa mexicano mexicana chileno chilena argentino argentina",
        "colombiano colombiana peruano peruana cubano cubana venezolano venezolana marroquí",
        # places
        "london manchester birmingham leeds liverpool bristol glasgow edinburgh dublin england scotland wales ireland britain uk",
        "boston chicago seattle dallas houston denver miami detroit toronto montreal vancouver california texas florida canada",
        "usa us america mexico brazil chile india china japan korea australia europe asia africa kenya israel turkey greece",
        "berlin hamburg münchen munich köln cologne frankfurt stuttgart leipzig dresden bremen hannover wien vienna zürich",
        "zurich basel bern genf germany deutschland austria österreich switzerland schweiz bayern",
        "paris lyon marseille toulouse nantes bordeaux lille strasbourg rennes genève bruxelles brussels montréal londres france",
        "madrid barcelona sevilla bilbao málaga zaragoza granada soria lima bogotá santiago spain españa méxico colombia perú",
        "rome roma milan milano lisbon lisboa amsterdam prague tokyo istanbul moscow delhi mumbai dubai singapore italy portugal",
    )
    for word in words.split()
)
KINDS: Final = re.compile(rf"(?:{PEOPLE}|{LANGUAGES}|{ROLE_NAME}|{SPEAKER_LABEL})", re.IGNORECASE)


def is_name(words: str) -> bool:
    """Whether no capitalised word is known to be something else than a name. A place that is not listed passes for a name."""
    return not names_state(words) and not any(
        word.lower() in LISTED or KINDS.fullmatch(word) is not None for word in words.split()
    )
