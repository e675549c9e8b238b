"""Word lists for comparing statements: good for English, partial for German, French, Spanish and Chinese.

Negations cover more languages: a missed negation merges a statement with its opposite.
"""


def words(text: str) -> frozenset[str]:
    """The words of a list as `normalise` writes them: with `ss` for `ß`."""
    return frozenset(text.casefold().split())


NEGATIONS = words(
    "not no never none nobody nothing neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt werent"
    " hasnt havent hadnt shouldnt wouldnt couldnt aint hardly seldom rarely barely scarcely unable lack lacks lacking"
    " nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder selten kaum"
    " ne pas jamais rien aucun aucune sans rarement"
    " nunca jamás jamas nada ningún ninguno ninguna sin tampoco raramente apenas"
    " non senza nessuno niente não nem sem nenhum nenhuma niet geen nooit zonder inte ingen inga inget aldrig ikke aldri"
    " nie bez není nemá nem nincs değil yok tidak bukan không"
    " не нет без никогда ні لا ليس لم لن नहीं मत 不 没 沒 无 無 未"
)
# Verbs that deny their object. They are no negations: they have a meaning of their own and can be negated.
DENIALS = words(
    "fail fails failed failing forget forgets forgot forgotten forgetting neglect neglects neglected neglecting"
    " pretend pretends pretended pretending deny denies denied denying decline declines declined declining"
    " vergisst vergaß vergessen versäumt versäumte leugnet leugnete oublie oublié olvida olvidó olvidado niega negó"
)

ENDINGS = words(
    "stopped stops quit quits quitting ceased former formerly ex previously cancelled canceled anymore ended"
    " aufgehört ehemals ehemalige ehemaliger früher arrêté ancien ancienne anciennement dejó antiguo antigua"
)
ENDING_PHRASES = (
    "no longer", "any more", "used to", "gave up", "given up", "broke up", "moved away", "moved out",
    "nicht mehr", "keine mehr", "kein mehr", "ya no",
)  # fmt: skip

DISLIKES = words(
    "dislike dislikes disliked hate hates hated avoid avoids avoided avoiding detest detests loathe loathes despise"
    " despises refuse refuses refused against averse"
    " hasst hasse verabscheut meidet vermeidet ablehnt déteste détester évite hait odia odio detesta evita"
)
LIKES = words(
    "like likes liked love loves loved enjoy enjoys enjoyed prefer prefers preferred adore adores want wants wanted"
    " favour favours favor favors favourite favorite fond fan"
    " mag mögen liebt bevorzugt gerne gern möchte aime adore préfère veut gusta gustan encanta ama prefiere quiere"
)

MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
WEEKDAYS = (
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "montags dienstags mittwochs donnerstags freitags samstags sonntags",
    "lundis mardis mercredis jeudis vendredis samedis dimanches",
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
)
AMBIGUOUS = words("may mars")  # "may" is also a verb, "mars" a planet: dates only next to a number
BEFORE_A_MONTH = words("in for by until since from early late next last this of bis seit im en depuis de")
OTHER_TIMES = words(
    "yesterday today tomorrow tonight morning noon afternoon evening night midnight weekend weekday weekdays daily weekly"
    " monthly yearly annually spring summer autumn winter gestern heute morgen hier demain ayer mañana"
)
NUMBERS = (
    "zero two three four five six seven eight nine ten eleven twelve",
    "null zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "zéro deux trois quatre cinq six sept huit neuf dix onze douze",
    "cero dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "zero dois três quatro cinco seis sete oito nove dez onze doze",
    "nul twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "零 两 三 四 五 六 七 八 九 十 十一 十二",
)
NUMBER_VALUES = (0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
OTHER_NUMBERS = {
    "once": 1,
    "twice": 2,
    "thrice": 3,
    "二": 2,
    "duas": 2,
    "dozen": 12,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
}

RELATIONS = words(
    "mother father mom mum dad parent parents sister brother sibling siblings wife husband spouse partner girlfriend"
    " boyfriend fiancé fiancée son daughter child children kid kids uncle aunt cousin nephew niece grandmother"
    " grandfather grandma grandpa grandson granddaughter friend boss colleague manager team neighbour neighbor"
    " roommate dog cat"
    " mutter vater schwester bruder frau mann sohn tochter kind freund freundin chef chefin kollege kollegin hund katze"
    " mère père sœur soeur frère femme mari fils fille ami amie chien chat"
    " madre padre hermana hermano esposa esposo hijo hija amigo amiga jefe jefa perro gato"
)

ANTONYMS = tuple(
    pair.split("/")
    for pair in words(
        "hot/cold warm/cold high/low higher/lower early/late earlier/later before/after morning/evening morning/night"
        " left/right east/west north/south up/down open/closed on/off enabled/disabled enable/disable allow/forbid"
        " allows/forbids allowed/forbidden accept/reject accepts/rejects accepted/rejected approved/rejected buy/sell"
        " buys/sells bought/sold rent/own rents/owns married/divorced married/single employed/unemployed"
        " vegetarian/carnivore male/female short/long shorter/longer brief/detailed concise/detailed concise/verbose"
        " formal/informal formal/casual dark/light more/less more/fewer most/least increase/decrease increased/decreased"
        " increases/decreases start/stop starts/stops started/stopped with/without indoor/outdoor indoors/outdoors"
        " public/private remote/onsite remotely/onsite introvert/extrovert always/never sometimes/never always/rarely"
        " best/worst first/last success/failure succeeded/failed passed/failed sync/async am/pm weak/strong easy/hard"
        " to/from into/out in/out inside/outside above/below over/under near/far for/against since/until all/some all/none"
        " most/few many/few older/younger better/worse all/most got/lost found/lost keep/sell"
    )
)

OPPOSITES = {
    word: frozenset(other for pair in ANTONYMS if word in pair for other in pair if other != word)
    for word in {word for pair in ANTONYMS for word in pair}
}

FUNCTION_WORDS = words(
    "a an the user users s is are was were be been being am has have had do does did of in on at to for from by with and or"
    " as that this these those it its he she they him her his their them i my me we our you your very really so too also"
    " said sagte dit dijo just still now currently who which there than then but if will would can could should may might about"
    " der die das ein eine einen einem einer ist sind war hat haben und oder mit von zu in im am für auf"
    " le la les un une des de du est sont a ont et ou avec pour dans en à au aux il elle son sa ses l d"
    " el los las una es son está están ha han y o con para por en del al su sus"
    " il lo gli i e di che o os as um uma é tem na no de het een is en van"
    " jeder jeden jede jedes each every 的 了 是 在 很 也 都 就 正 着"
)
GENERIC_SUBJECTS = words(
    "user users he she they i we it you his her their my our your this that there who someone everyone"
    " client customer person nutzer nutzers nutzerin benutzerin"
    " benutzer benutzers kunde er sie es ich wir mein meine sein seine ihr ihre"
    " utilisateur utilisatrice il elle je nous mon ma mes ses son sa usuario usuaria él ella yo mi mis su sus"
    " utente usuário usuária utilizador gebruiker"
)
ARTICLES = words(
    "the a an der die das ein eine le la les un une l el los las una il lo i gli o os as um uma de het een"
)
COMPARISONS = words(
    "but over than instead rather before after from to versus vs lieber als statt plutôt que más au aux à al del von nach"
)
# Wishes, plans and attempts: not yet true.
WISHES = words(
    "want wants wanted wish wishes hope hopes hoping plan plans planning intend intends aim aims aiming trying tries dream"
    " dreams considering thinking möchte möchten wünscht plant hofft veut voudrait souhaite prévoit espère quiere desea"
    " planea espera vuole vorrei quer wil"
)
WAS = words("was were had war waren hatte hatten était étaient avait era eran estaba tenía fue tinha foi")
IS = words("is are am has have ist sind hat haben est sont ont está tiene é tem")
# Words that restrict a statement; both texts must have the same classes of them.
SCOPES = {
    "only": words(
        "only except unless exclusively solely nur außer ausschließlich seulement sauf solo sólo excepto solamente"
    ),
    "some": words(
        "some most few several half partly sometimes occasionally almost nearly einige manche manchmal fast teilweise"
        " quelques parfois presque algunos algunas casi"
    ),
    "maybe": words("may might maybe perhaps possibly probably could unsure vielleicht könnte wahrscheinlich quizás"),
}
CLASSES = words("music language languages city country game games book books food dish company app musik stadt")
LIGHT = words(
    "go goes going get gets getting take takes taking make makes making do does doing keep keeps come comes use uses using own"
    " owns work works need needs give gives put puts spend spends macht machen geht gehen fährt nimmt nutzt va fait prend hace"
)
RELATING = words(
    "for with by from to about against under over behind into after before during without für mit von zu gegen über unter nach"
    " pour avec par contre sous sur para con por contra sobre"
)
LISTED = words("and or und oder et ou y e o 和")
# Equivalent phrases, the longer first; Chinese ones before characters are separated.
PHRASES = {
    "in charge of": "responsible for",
    "gets up": "wakes up",
    "get up": "wake up",
    "getting up": "waking up",
    "grew up": "was raised",
    "sci fi": "science fiction",
    "has to": "must",
    "have to": "must",
    "as well as": "and",
    "passed away": "died",
    "got rid of": "ditched",
    "is done with": "ditched",
    "said goodbye to": "ditched",
    "threw out": "ditched",
    "threw away": "ditched",
    "dropped out of": "quit",
    "cannot stand": "hates",
    "cant stand": "hates",
    "can not stand": "hates",
    "a lot of": "many",
}
CHINESE = {"用户": " user ", "从不": "不", "居住": "住", "一个": "", "一名": "", "一位": "", "正在": "在"}
COPULAS = words("is are was were ist sind war est sont était es son era é 是")

# By language, as alternatives of a pattern.
CONJUNCTIONS = {"en": "and|but", "de": "und|aber", "fr": "et|mais", "es": "y|e|pero"}
PREPOSITIONS = {
    "en": "to|in|with|of|for|on|at|from|against|as|about",
    "de": "gegen|in|im|mit|auf|von|vom|bei|beim|an|am|für|als|über",
    "fr": "à|au|aux|de|des|du|avec|en|dans|chez|pour|comme|sur",
    "es": "a|al|de|del|con|en|para|por|como|sobre",
}
