"""Patterns that open, continue and close a frame, built from the classes of `frames`. See `framing` for frames."""

import re

from agents.models.offline.rules.framing.frames import (
    ANOTHER,
    ARTICLE,
    CHARACTER,
    COUNTERFACTUAL,
    DATA,
    DETERMINER,
    DREAMT,
    FANTASTIC,
    FICTION,
    FICTIONAL_PLACE,
    FICTIONAL_PROPERTY,
    FIGHTER,
    FIRST_PERSON,
    FROM,
    GAME,
    I_AM,
    INVENTED,
    INVENTED_AFTER,
    IT_WAS,
    LEAVES_FRAME,
    MY,
    NOT_HUMAN,
    NOUN_CONTINUES,
    OWN_LABEL,
    PLAY,
    POINT_OF_VIEW_OF,
    POLITE,
    RIDDLE,
    ROLE_NAME,
    ROLE_PLAY_START,
    SALUTATION,
    SPEAKER_LABEL,
    SUPPOSING,
    TALE,
    TEST_DATA,
    TEXT,
    TEXT_PART,
    TRADE,
    WORK,
    WORLD,
    WRITE_REQUEST,
    WRITING,
    YOU_ARE,
    YOU_PLAY,
)

NAME = r"(?-i:[A-ZÀ-Þ])[\w'-]+"
SAID_BY = "for|by|as|from|of|über|von|für|als|aus|pour|de|comme|para|por|como"
ROLE_TEXT = r"[\w' -]{2,30}"
START = r"(?:^|[.!?:;,\n(–—-] ?)"
NO_TRADE = rf"(?!['\w]*[ -]{TRADE}\b)"  # "game industry", "novel-writing class"
# Requests to translate or edit a text, which stands before or after the request.
TEXT_WORK = re.compile(
    r"(?:^|[.!?:;,\n] ?)(?:tl;?dr\b|(?:please |pls |kindly |can you |could you |would you |I (?:want|need"
    r"|would like) you to |help me "
    r"|bitte "
    r"|kannst du |peux-tu |s'il (?:te|vous) pla[iî]t,? |por favor,? |puedes )*"
    r"(?:translat\w+|proof-?read|rewrite|rephrase|paraphrase|summari[sz]e|(?:correct|fix|check|improve"
    r"|edit) (?:the |my |this )*"
    r"(?:following|grammar|spelling|text|sentences?|paragraph|e-?mail|essay|english|german|french|spanish|:)"
    r"|how (?:do|would) (?:you|I|we) say|übersetz\w*|korrigier\w*|verbesser\w*|überarbeit\w*|lektorier\w*"
    r"|(?:diesen|den|meinen) (?:satz|text|brief) \w+|formulier\w*|umformulier\w*"
    r"|tradui[st]\w*|corrig\w+|reformul\w+|résume[rz]?|traduc\w+|traduzca|resum\w+|wie sagt man|comment dit-on|cómo se dice)\b)"
    r"|\b(?:make (?:this|it|that|my \w+) (?:sound|more|less|shorter|longer|better|funnier|friendlier)"
    r"|what'?s wrong with (?:this|my) \w+|(?:reply|respond|answer) to this (?:e-?mail|message|letter|review|comment)"
    r"|(?:is|are) (?:this|the following|these|my) "
    r"(?:sentences?|texts?|english|german|french|spanish|grammar) (?:correct|right|ok)"
    r"|(?:does|do) (?:this|that|it) sound (?:ok|okay|good|right|natural|better)|klingt das (?:so )?(?:gut|richtig|ok|natürlich)"
    r"|(?:ist|stimmt) (?:dieser|der|mein) (?:satz|text)"
    r"|(?:cette|ma) phrase est(?:-elle)? correcte|está bien (?:escrit[oa]|dicho))\b",
    re.IGNORECASE,
)
# A hypothesis, up to the end of the text.
HYPOTHESIS = re.compile(
    rf"(?:^|[.!?;\n] ?|\b(?:and|now|so|ok|okay|hey|hi)\b,? )"
    rf"(?:(?P<on>(?:please |let us |let's |lass uns |bitte )?{SUPPOSING})\b|(?:in|en|dans|im) {ANOTHER} {WORLD}\b"
    rf"|{COUNTERFACTUAL})",
    re.IGNORECASE,
)
# "In my novel I live on Mars": a statement set in a work.
SET_IN_WORK = re.compile(
    rf"(?:{START}|\b(?:and|but|so|und|aber|et|mais|y|pero) )"
    rf"(?:(?:in|inside|within|for|dans|en|pour|para|für) (?:(?P<mine>{MY})|{DETERMINER}) (?:[\w'-]+ ){{0,2}}?|im |en |in )"
    rf"{WORK}\b{NO_TRADE}",
    re.IGNORECASE,
)
# "I live on Mars in my novel", "where I am a spy": the work is named later in the sentence.
WORK_NAMED_LATER = re.compile(
    rf"\b(?:in|inside|dans|en) {MY} (?:[\w-]+ )?{WORK}\b{NO_TRADE}"
    r"|\b(?:im (?:spiel|roman|traum|rollenspiel|film|märchen)|en el (?:juego|sueño)|dans le (?:jeu|rêve)"
    r"|in the (?:game|story|dream))\b"
    rf"{NO_TRADE}"
    rf"|\b{WORK},? (?:where|in which|about (?:how|me)|wo|in de[mr]|où|dans l[ae]quel(?:le)?|que dit|donde|en (?:el|la) que"
    r"|que dice)\b",
    re.IGNORECASE,
)
# Statements about a fictional character: "My character is a smuggler", "As the narrator".
FICTIONAL_CHARACTER = re.compile(
    rf"{START}(?:and |so |also |und |et |y )?(?:(?:as|als|en tant que|como|{I_AM}) )?"
    rf"(?:(?P<mine>{MY})|the|der|die|das|le|la|l'|el) ?(?:[\w'&-]+ ){{0,2}}?{CHARACTER}\b",
    re.IGNORECASE,
)
# Announcements of a text: "Poem: ...", "first line of my book: ...", "correct this sentence: ...".
TEXT_ANNOUNCED = re.compile(
    rf"\b(?:(?P<work>{WORK}|{CHARACTER})|{TEXT})\b(?![^.!?\n:]{{0,40}}(?:préféré|favorit))[^.!?\n:]{{0,40}}(?::|\s[–—-]\s)"
    rf"(?=[^.!?\n]{{0,300}}\b{FIRST_PERSON}\b|\s*[\n\"“„«'])"
    rf"|(?:here'?s|here is|hier ist|voici|aquí (?:va|tienes)) (?:one|it|mine|{DETERMINER} (?:[\w-]+ )?{WORK})[^.!?\n]{{0,40}}:",
    re.IGNORECASE,
)
FAVOURITE = re.compile(r"\b(?:favou?rite|lieblings\w*|best|liebste\w*)(?: [\w-]+)?$", re.IGNORECASE)
# Made-up data.
MADE_UP_DATA = re.compile(
    rf"\b{INVENTED} (?:[\w-]+ ){{0,2}}?{DATA}|\b{DATA} {INVENTED_AFTER}\b|\b{TEST_DATA}\b", re.IGNORECASE
)
# "I'm writing a novel", "I had a dream": the following sentences may be part of it.
FICTION_ANNOUNCED = re.compile(
    rf"(?:\b{WRITING} (?:\w+ )?{DETERMINER} (?:[\w'-]+ ){{0,3}}?{WORK}\b{NO_TRADE}|\b{DREAMT}\b)[^.!?\n]*",
    re.IGNORECASE,
)
# "My screenplay opens like this", "here is a haiku": the rest of the message may be the work.
WORK_MENTIONED = re.compile(
    rf"\b(?:(?P<mine>{MY})|{DETERMINER}) (?:(?!favou?rite|lieblings|préféré)[\w'-]+ ){{0,2}}?{FICTION}\b"
    rf"{NO_TRADE}[^.!?…\n:/–—]*",
    re.IGNORECASE,
)
# A title alone: "Character sheet", "next chapter:".
TITLE = re.compile(
    rf"(?:[\w'-]+ ){{0,3}}?(?:{FICTION}|(?:next|nächstes?|prochain|próximo) {WORK})(?: [\w'-]+){{0,3}}[.!]*(?:$|:)",
    re.IGNORECASE,
)
OWN_WORDS = re.compile(rf"\b{FIRST_PERSON}\b", re.IGNORECASE)
# "From the point of view of a tree".
POINT_OF_VIEW = re.compile(rf"\b{POINT_OF_VIEW_OF}", re.IGNORECASE)
# "Write me a song": the following text belongs to it.
FICTION_REQUESTED = re.compile(
    rf"(?:^|[.!?\n] ?){POLITE}{WRITE_REQUEST}\b[^.!?\n:]{{0,60}}?\b"
    rf"(?:{FICTION}\b(?!['\w]*[ -](?:{TRADE}|ideas?)\b)|{TEXT} (?:(?:{SAID_BY}) {ARTICLE}|d'une?)\b)",
    re.IGNORECASE,
)
# "Short story please, about me as a knight".
FICTION_WANTED = re.compile(
    rf"(?:^|[.!?\n] ?)(?!{POLITE}(?:I|we|my|ich|mein|je|yo)\b)(?:[\w'-]+ ){{0,3}}?{FICTION}\b"
    r"(?: (?:for|für|pour|para) [\w' -]{1,20}?)?,? (?:please|pls|bitte|stp|svp|por favor)\b",
    re.IGNORECASE,
)
# "That's the first line of my thriller", after the text itself.
WAS_FICTION = re.compile(
    rf"\b{IT_WAS} (?:all |just |only |nur |bloß |juste |solo |sólo )?"
    rf"(?:{FROM} {DETERMINER} (?:[\w-]+ )?"
    rf"|(?:[\w']+ ){{0,2}}?{TEXT_PART} {FROM} ?(?:{DETERMINER} )?(?:[\w-]+ )?"
    rf"|(?:[\w']+ ){{0,2}}?{TEXT_PART} (?:meines|meiner|des|der|eines) ){FICTION}\b"
    rf"|^{FROM} {MY} (?:[\w-]+ )?{FICTION}\b[^\w]*$"
    rf"|\b(?:says|said|sagt|dit|dice) {DETERMINER} (?:[\w-]+ )?{CHARACTER}\b",
    re.IGNORECASE,
)
# Impossible statements about oneself: a being, a place or an age.
IMPOSSIBLE_SELF = re.compile(
    r"\b(?:I am|I'?m|I was|ich bin|je suis|(?:yo )?soy)(?: now| jetzt| maintenant| ahora)?"
    rf" {ARTICLE} (?:[\w-]+ ){{0,3}}?{NOT_HUMAN}(?=$|[^\w\s-]| {NOUN_CONTINUES}\b)"
    r"|\b(?:live|living|born|wohne|lebe|geboren|vis|habite|née?|vivo|nací) (?:[\w-]+ ){0,2}?"
    rf"(?:on|in|auf|sur|dans|à|en) {FICTIONAL_PLACE}\b"
    r"|\b(?:I am|I'm|ich bin|j'ai|tengo) (?:an? |ein\w* )?(?:1[3-9]\d|[2-9]\d\d|\d{4,}) (?:years|jahre|ans|años)\b",
    re.IGNORECASE,
)
# Fantasy: "My level 5 wizard", "as a vampire I", "I own a dragon".
FANTASY = re.compile(
    rf"\b(?:(?:my|mein\w*|mon|ma|mi|as an?|als|en tant que|como|playing (?:as )?(?:an?|my)) (?:[\w-]+ ){{0,3}}?{FANTASTIC}\b"
    rf"{NO_TRADE}"
    r"|(?:have|own|ride|married|habe|besitze|reite|ai|possède|tengo|monto) (?:[\w-]+ ){0,3}?"
    rf"(?:{FANTASTIC}|{FICTIONAL_PROPERTY})\b{NO_TRADE}"
    rf"|(?:my|mein\w*|mon|ma|mi) {FICTIONAL_PROPERTY}\b"
    rf"|(?:level|lvl|stufe|niveau|nivel)[ -]?\d+ (?:[\w-]+ )?(?:{FANTASTIC}|{FIGHTER})\b)",
    re.IGNORECASE,
)
TALE_BEGUN = re.compile(rf"\b{TALE}", re.IGNORECASE)  # "once upon a time"
RIDDLES = re.compile(rf"\b{RIDDLE}", re.IGNORECASE)
# A pasted or made-up dialogue: lines of several speakers.
DIALOGUE = re.compile(
    rf"(?:^|\n)[ \t]*[\w .'-]{{1,25}}:[ \t](?=[^\n]{{0,300}}\b{FIRST_PERSON}\b)[^\n]*\n+(?=[ \t]*[\w .'-]{{1,25}}:[ \t])",
    re.IGNORECASE,
)
# The same in one line: "A: where do you live? B: I live in Bath."
SPEAKER = r"(?-i:[A-ZÀ-Þ])[\w.'-]{0,14}(?: \d{1,2})?"
DIALOGUE_INLINE = re.compile(
    rf"(?:^|[.!?:] ?)(?P<one>{SPEAKER}): [^:\n]{{1,200}}?[.!?] ?(?!(?P=one)){SPEAKER}: (?=[^\n]{{0,200}}\b{FIRST_PERSON}\b)",
    re.IGNORECASE,
)
# An action of a player's character: "*draws a sword*".
ACTION = re.compile(r"^\s*\*(?!\*)\w[^*\n]{2,}\*(?!\*)|^\s*\(+ooc\b[^)\n]*\)", re.IGNORECASE)
# Sentences about a dream or a game, whoever dreams or plays.
DREAM_OR_GAME = re.compile(
    r"\b(?:dream(?:ed|t)|(?:had|have) (?:an?|the|this|such an?) (?:[\w-]+ ){0,2}dreams?(?! (?:job|home|house)\b)"
    r"|(?:weirdest"
    r"|strangest|worst|best|craziest) dream"
    r"|geträumt|träumte|im traum|j'ai (?:rêvé|fait un rêve)|he soñado|soñé|soñaba"
    rf"|in[- ]game|npc|in {GAME})\b",
    re.IGNORECASE,
)
# "My Stardew farmer", "we're playing mafia, I'm the doctor": the rest of the message is about the game.
IN_GAME = re.compile(
    rf"\b(?:my|our|in|mein\w*|im|mon|dans|mi|en|we're playing|we are playing|wir spielen|on joue à|jugamos a)"
    rf" (?:[\w-]+ )?{GAME}\b{NO_TRADE}",
    re.IGNORECASE,
)
# "From a review: I have celiac disease": a source before a colon, unless it is the speaker.
SPEECH_AFTER_LABEL = re.compile(
    rf"(?:^|[.!?…\n;] *)(?:(?:from|in|as|aus|in|als|d'|de|dans|tiré de|en|como|según|so) )?(?:{DETERMINER} "
    rf"|{DETERMINER}(?<=')|next\b|and\b|und\b|now this|as your|{GAME}\b|{SPEAKER_LABEL}\b)(?![^.!?\n:]*"
    r"\b(?:I|I'?m|I'?ve|we|ich|wir|je|nous|on|yo|favou?rite|préféré\w*|favorit\w+)\b)"
    rf"(?![^.!?\n:]*(?:\bj'|\blieblings))(?![^.!?\n:]*\b{OWN_LABEL}(?: (?:is|are|ist|sind|est|sont|es|son))? *:)"
    r"[^.!?\n:]{0,60}: *"
    rf"(?=[^\n]{{0,200}}?\b{FIRST_PERSON}\b)",
    re.IGNORECASE,
)
# The same with a bare name or title: "Jane: I am vegan", "meme be like: I have no home". Words with a participle are a
# statement ("reconversion terminée : je suis ...").
SPEECH_AFTER_NAME = re.compile(
    r"(?:^|[.!?…\n;] *)(?![^.!?\n:]{0,80}?(?:\b(?:I|I'?m|I'?ve|we|you|your|my|ich|wir|du|mein\w*|je|nous|tu"
    r"|mon|ma|mes|yo|tú|mi|mis)\b"
    rf"|\w(?:ed|ées?|és?|ad[oa]s?|id[oa]s?|ing)\b|\bge\w+t\b|(?<![\w-]){OWN_LABEL}(?![\w-])))"
    r"[^\W_][\w'’&#/-]{0,30}(?: [\w'’&#/-]{1,30}){0,6} ?(?:\([^)\n]{1,30}\) ?)?(?::|->|=>) *"
    rf"(?=[\"'“„«]?{FIRST_PERSON}\b)",
    re.IGNORECASE,
)
# A text written for another person: "Write a résumé for my friend: I worked at Shell".
WRITTEN_FOR_OTHERS = re.compile(
    rf"\b{WRITE_REQUEST}\b[^.!?\n:]{{0,60}}\b(?:for|für|pour|para) (?!me\b|myself|mich|moi|mí\b|us\b)[^.!?\n:]{{1,30}}: *"
    rf"(?=[\"'“„«]?{FIRST_PERSON}\b)",
    re.IGNORECASE,
)
LETTER = re.compile(rf"(?:^|[.!?:\n] ?)[\"'“„]?{SALUTATION}|^\s*(?:fwd?|wg|tr|rv) ?: ", re.IGNORECASE)
MUSIC_NOTES = re.compile("[♩♪♫♬🎵🎶🎤]")
# A role play, until a phrase of `FRAME_END`: "you are the king, I am your spy".
ROLE_PLAY = re.compile(
    rf"(?:{START}|\b(?:and|und|et|y|now|so|ok|okay|hey)\b,? )(?:"
    rf"{POLITE}{ROLE_PLAY_START}\b"
    rf"|{YOU_ARE} {ARTICLE} {ROLE_TEXT}[,;.]? (?:and |und |et |y |me: ?|ich: ?|moi ?: ?|yo: ?)?{I_AM} (?:{ARTICLE}\b|{NAME})"
    rf"|{I_AM} {ARTICLE} {ROLE_TEXT}[,;.]? (?:and |und |et |y )?{YOU_ARE} {ARTICLE}\b(?! (?:best|most|first|only)\b)"
    rf"|{YOU_ARE} {ARTICLE} (?:[\w-]+ )?{ROLE_NAME}(?=[.,;!:]|$)"
    rf"|(?:today|tonight|heute|aujourd'hui|hoy),? (?:{I_AM}|bin ich) {NAME}"
    rf"|{YOU_ARE} {NAME}[,;.]? (?:and |und |et |y )?{I_AM} {NAME}|{YOU_PLAY} (?:{ARTICLE}\b|{NAME})"
    rf"|{YOU_ARE} {ARTICLE} {ROLE_TEXT}[,;] (?:and |und |et |y )?(?:I|ich|moi|yo) {ARTICLE}\b)|\b(?P<play>{PLAY})\b",
    re.IGNORECASE,
)
FRAME_END = re.compile(
    rf"\b(?:{LEAVES_FRAME}|(?:stop|end|enough of) (?:the|this|with the)? ?(?:role-?play\w*|game|act\w*|story))\b",
    re.IGNORECASE,
)
ADDITION = re.compile(r"\b(?:also|too|as well|auch|aussi|también)\b", re.IGNORECASE)
# Phrases that mark the preceding text as a joke.
JOKE = re.compile(
    r"^(?:(?:lol|jk|haha\w*|no|ok|sorry|nein|non)[,.! ]+)*(?:i'?m |i was |i am |that was |it was )?(?:just "
    r"|only |obviously )*(?:kidding|joking|a joke)\b"
    r"|^(?:das )?war (?:doch |nur |natürlich )*(?:ein )?(?:scherz|witz|spaß)|^(?:non,? )?(?:je (?:plaisant"
    r"|rigol)\w+|c'était une blague)"
    r"|^(?:es|era) (?:una )?broma",
    re.IGNORECASE,
)
REPORTING_VERBS = (
    r"(?:said|says|told|tells|wrote|writes|asked|replied|texted|sang|sings|claims?|claimed|quotes?|sagte"
    r"|sagt|schrieb|meinte"
    r"|behauptet"
    r"|erzählte|fragte|a (?:dit|écrit|répondu|demandé)|disait|dit|dijo|dice|escribió|preguntó|respondió)"
)
# Reported speech, and requests to write in another's name.
HEARSAY = re.compile(
    rf"\b(?:(?!(?:I|you|we|ich|je|yo|j)\b)[^\W\d_]+) {REPORTING_VERBS}\b|\baccording to\b|\blaut \w+|\bd'après\b|\bsegún\b"
    r"|\b(?!(?:I|you|we)\b)[^\W\d_]+ (?:\w+ )?(?:goes|went|(?:was|is|were|be)(?: all| just)? like)\b[,:]?"
    rf"(?: …| [\"“']?{FIRST_PERSON}\b)"
    r"|^(?:please )?(?:write|draft|compose|create|generate)\b.{0,80}\b(?:saying|that says|telling|about|where|in which"
    r"|explaining)\b",
    re.IGNORECASE,
)
