"""The words that open a frame, by class, in English, German, French and Spanish. `framing` says what a frame is.

A class lists what belongs to it, so that a new word is a new entry and not a new pattern.
"""

from collections.abc import Iterable
from typing import Final


def any_of(*lists: str) -> str:
    """Alternatives out of lists that are divided by white space; `_` stands for a space within one."""
    words: Iterable[str] = (word.replace("_", " ") for each in lists for word in each.split())
    return f"(?:{'|'.join(words)})"


DETERMINER: Final = any_of(
    "my our the this that an? another his her their some",
    r"mein\w* unser\w* dies\w* der die das dem den ein\w*",
    "mon ma mes notre nos le la les cet? cette une? ton ta",
    "mi mis nuestr[oa] el este esta un una tu",
)
# What somebody makes up, and nothing else: a text of this kind speaks for itself.
MADE_UP: Final = any_of(
    "novels? novellas? (?:short_|fairy_|bedtime_|horror_|love_|ghost_)?stor(?:y|ies) (?:fairy_)?tales? fables? poems? "
    "poetry haikus? limericks? sonnets? rhymes? ballads? songs? lyrics raps? verses? screenplays? "
    r"scripts?(?=_for_(?:an?|my|the)_\w*(?:film|movie|play)) monologues? sketch(?:es)? skits? musicals? comics? "
    "mangas? fan-?_?fic(?:tion)?s? fiction backstor(?:y|ies) parod(?:y|ies) sitcom role-?_?plays? "
    "fantasy_(?:world|story|novel) thriller odes? hymns? jingles? acrostics? librettos? arias? legends? manuscripts? "
    "text_adventures? headcanons? self-?inserts? novelettes? elegy",
    r"roman\w* erzählung\w* kurzgeschichte\w* (?:\w+)?geschichten? märchen\w* fabeln? gedichte?s? haiku reime?n? "
    r"lied(?:er|text\w*)? songtext\w* balladen? strophen? hörspiel\\w* legenden? manuskript\\w* ode hymne drehbuch\w* "
    r"theaterstück\w* monolog\w* sketch krimis? rollenspiel\w* fanfiction",
    "romans? nouvelles?(?=_(?:où|dans|en|à|:)) contes? fables? poèmes? chansons? paroles_de_chanson scénarios? "
    "monologues? odes? hymnes? ballades? légendes? couplets? manuscrits? saynètes? bandes? fan-?fics? fanfictions? "
    "jeux?_de_rôles?",
    "novelas? relatos? cuentos? fábulas? poemas? canci(?:ón|ones) letras?_de_(?:una_)?canci(?:ón|ones) guion(?:es)? "
    "guión monólogos? odas? himnos? baladas? leyendas? coplas? manuscritos? historietas? juegos?_de_rol",
)
# The same where a determiner and what is said make it plain: "in my book I am a spy", and not "I bought a book".
_ALSO_WORK: Final = any_of(
    "stor(?:y|ies) scripts? scenes? dialogues? chapters? plots? (?:video_?|board_?|card_?|computer_?)?games? "
    "campaigns? d&d dnd rpgs? larps? play-?throughs? dreams? nightmares? scenarios? simulations? movies? films? "
    "books? plays? series episodes? worlds?_i_made_up universe(?=_where)",
    r"buch\w* spiel\w* kampagne traum träumen szene\w* film\w* serie kapitel stück handlung",
    "livre jeu rêve cauchemar film série scène chapitre pièce histoire campagne intrigue",
    "libro juego sueño pesadilla película serie escena capítulo obra historia campaña trama",
)
WORK: Final = f"(?:{MADE_UP}|{_ALSO_WORK})"
# Behind these a work is a trade or a place: "in the game industry".
TRADE: Final = any_of(
    r"club studios? company shop store industry business design\w* develop\w* test\w* festival school theat\w+ nights? "
    r"group fair publish\w* library market engine project\w* team course class tournament adaptation review\w* "
    r"collection recommendation\w*",
)
# Whoever a work is about.
FIGURE: Final = any_of(
    "(?:main_|player_)?characters? protagonists? narrators? hero(?:ine)?s? villains? antagonists? avatars? personas? "
    "alter_egos? npcs? oc",
    r"\w*figur(?:en)? protagonist(?:in)? \w*held(?:in)? erzähler(?:in)? charakter bösewicht avatar",
    "personnages? héros héroïne narrat(?:eur|rice) protagoniste avatar",
    "personajes? protagonista héroe heroína narrador villano avatar",
)
# A text that is looked at, rather than said.
TEXT: Final = any_of(
    "sentences? phrases? lines? paragraphs? passages? letters? texts? essays? tweets? captions? speech toast adverts? "
    "headlines? slogans? drafts? openings? prompts? examples? samples? templates? dictation riddles? jokes? sayings? "
    "proverbs? quotes? translations? testimonials? case_stud(?:y|ies) vignettes? (?:exam|essay|test)_questions? "
    "user_stor(?:y|ies) blurbs? obituar(?:y|ies) eulog(?:y|ies) (?:diary|journal)_entr(?:y|ies) cover_letters? "
    "press_release postcards? monologue scenario",
    r"s[äa]tze?n? satz zeilen? abs[äa]tze? absatz brief texte?s? aufsatz zitat\w* entwurf anfang beispiel\w* witz\w* "
    "sprichwort spruch übersetzung fallbeispiel tagebucheintrag anschreiben postkarte szenario",
    "phrases? lignes? paragraphes? lettre textes? rédaction citation brouillon début exemple dictée blague proverbe "
    "devise traduction réplique étude_de_cas journal_intime lettre_de_motivation carte_postale",
    "frases? líneas? párrafos? carta textos? redacción cita borrador comienzo principio ejemplo dictado chiste refrán "
    "lema traducción caso_(?:práctico|clínico) entrada_de_diario carta_de_presentación postal",
)
# What says of data that nobody's are.
INVENTED: Final = any_of(
    "fake dummy made-?_?up fictional fictitious fictive placeholder mock imaginary invented",
    r"erfunden\w* fiktiv\w* ausgedacht\w*",
    "fictifs? fictives? inventée?s? imaginaires? fausse?s?",
    "ficticios? ficticias? inventad[oa]s? imaginari[oa]s?",
)
DATA: Final = any_of(
    "data users? profiles? customers? persons? people bios? names? records? accounts? r[eé]sum[eé]s? cvs? personas? "
    "examples? texts? reviews? entr(?:y|ies) inputs? stor(?:y|ies) identit(?:y|ies) patients? interviews? "
    "conversations? dialogues? calls?",
    r"daten profile? person\w* kund\w* nutzer\w* lebensl[aä]uf\w* namen? bewertung\w*",
    "données profils? personnes? clients? noms? avis",
    "datos perfil(?:es)? personas? clientes? nombres? reseñas?",
)
INVENTED_BEHIND: Final = any_of(
    "fictifs? fictives? inventée?s? imaginaires? d'exemple",
    "ficticios? ficticias? inventad[oa]s? imaginari[oa]s? de_(?:prueba|ejemplo)",
)
TEST_DATA: Final = any_of(
    "(?:sample|example|test|lorem)_(?:data|users?|profiles?|customers?|records?|inputs?|persons?|people|sentences?|texts?|bios?)",
    r"(?:beispiel|test|platzhalter)(?:daten|person\w*|profil\w*|text\w*|s[äa]tz\w*|kund\w*|nutzer\w*)",
)
ASKING_TO_MAKE: Final = any_of(
    "write draft compose make_up invent create generate continue tell give finish come_up_with "
    "help_me_(?:to_)?(?:write|with|finish) turn_this_into",
    r"schreib\w* erfinde\w* erzähl\w* dichte\w* reime\w* verfass\w* denk_dir setz\w* mach\w* hilf_mir",
    r"écri(?:s|vez|vons)(?:-moi)? invente\w*(?:-moi)? raconte\w*(?:-moi)? rédige\w*(?:-moi)? compose\w*(?:-moi)? "
    r"continue\w* aide-moi",
    r"escr[ií]b\w+ inventa\w* cu[eé]nta\w* redacta\w* comp[oó]n\w* contin[uú]a\w* ayúdame haz(?:me)? crea",
)
POLITE: Final = (
    "(?:"
    + any_of(
        "please pls kindly now ok okay hey hi so can_you could_you would_you will_you i_(?:want|need|would_like)_you_to "
        "let_us let's",
        "bitte kannst_du könntest_du lass_uns jetzt also s'il_(?:te|vous)_pla[iî]t peux-tu pouvez-vous por_favor puedes "
        "podrías vamos_a",
    )
    + ",? )*"
)
# How parts are given out.
PLAYING: Final = any_of(
    "pretend_to_be let's_play (?:let's|let_us|can_we|i_want_to)_(?:practi[cs]e|rehearse|simulate|act_out) let_us_play "
    "(?:wanna|want_to)_play be_(?:my|an?|the) pretend_(?:that_)?you role-?play(?:ing)? act_as act_like "
    "play_the_(?:role|part) play_my",
    "(?:stay|answer|speak|reply|remain)_in_character "
    "(?:speak|talk|answer|reply|write)(?:_to_me)?_(?:as_if_you_were|like_an?|in_the_voice)",
    "(?:speak|talk|answer|reply|write)_from_the_(?:point_of_view|perspective)",
    "spiel(?:e|en_wir)?_(?:mal_|jetzt_)?(?:meine?n?|den|die|das|eine?n?|wir) tu_so_als "
    r"(?:lass_uns|wir|ich_will|ich_möchte)_(?:\\w+_)?(?:üben|proben|nachspielen) übe_mit_mir "
    r"sei_(?:mein\w*|ein\w*|der|die|das) spielen_wir (?:ein_)?rollenspiel in_der_rolle",
    r"(?:antworte|sprich|schreib\w*|rede)(?:_mir|_mit_mir)?_(?:als_wärst_du|aus_(?:der_)?sicht) "
    "ich_spiele_(?:jetzt_|mal_)?(?:den|die|das)",
    "wir_spielen_ein_rollenspiel",
    "joue(?:z|ons)?_(?:le_rôle|un|une|mon|ma) on_joue (?:entraînons-nous|on_s'entraîne|on_répète|simulons) jouons "
    "sois_(?:mon|ma|un|une|le|la) fais_comme_si faisons_semblant je_joue_le_rôle dans_le_rôle dans_la_peau "
    "tu_joues_le_rôle",
    "(?:parle|réponds|écris)(?:-moi)?_(?:comme_si_tu_étais|du_point_de_vue)",
    "haz_de vamos_a_jugar (?:practiquemos|ensayemos|simulemos|vamos_a_practicar) sé_(?:mi|un|una|el|la) juguemos "
    "actúa_como finge_que yo_hago_de tú_haces_de en_el_papel "
    "(?:habla|responde|escribe)_(?:como_si_fueras|desde_el_punto_de_vista)",
)
ARTICLE: Final = any_of(
    "the an? my your der die das den eine?n? meine?n? deine?n? le la une? mon ma ton ta el un una mi tu",
)
YOU_ARE: Final = any_of(
    "you_are you're you'll_be you_be tu_es toi,?_tu_es vous_êtes du_bist sie_sind tú_eres eres tú",
)
I_AM: Final = any_of(
    "i_am i'm i'll_be i_will_be (?:moi,?_)?je_suis moi,?_suis ich_bin yo_soy soy",
)
YOU_PLAY: Final = any_of(
    "(?:you|you'll|you_will)_play du_spielst tu_joues tú_haces_de",
)
# Beings that nobody is, and places where nobody lives.
FANTASTIC: Final = any_of(
    "(?:half-|wood_)?el(?:f|ves) (?:half-)?orcs? dwar(?:f|ves) wizards? sorcerer(?:ess)?(?:es)? warlocks? mages? "
    "paladins? vampires? werewol(?:f|ves) goblins? mermaids? unicorns? zombies? ghouls? cyborgs? superhero(?:es)? "
    "time_travell?ers? dragons?",
    "elfen? orks? zwerge? zauberer(?:in)? magier(?:in)? vampire? werw[oö]lfe? drachen? kobolde? meerjungfrau(?:en)? "
    "einh[oö]rner? superheld(?:in)?(?:en)?",
    "elfes? orques? magicien(?:ne)?s? sorci(?:er|ère)s? loups?-garous? lutins? sirènes? licornes? super-?héros",
    "elfos? orcos? magos? brujas? vampiros? hombres?_lobo dragones? dragón duendes? hadas? sirenas? unicornios? "
    "superhéroes?",
)
_THINGS: Final = any_of(
    r"troll fairy ghost alien android demon angel immortal robot talking_\w+ cat dog stone tree river mountain cloud "
    "lighthouse king queen emperor",
    "fee gespenst geist außerirdischer? roboter katze kater hund stein baum fluss leuchtturm könig(?:in)? "
    "kaiser(?:in)?",
    "nain fée fantôme extraterrestre démon chat chien pierre arbre fleuve phare roi reine",
    "hada fantasma extraterrestre demonio gato perro piedra árbol río faro rey reina",
)
NO_PERSON: Final = f"(?:{FANTASTIC}|{_THINGS})"
# What nobody owns.
NO_PROPERTY: Final = any_of(
    r"kingdoms? throne space_?ships? starships? time_machines? lightsabers? magic_\w+ spells? potions? minions "
    "dungeons? galax(?:y|ies)",
    r"königreich thron raumschiffe? zeitmaschine zaubers\w+ zaubertr[aä]nke?",
    "royaume trône vaisseau_spatial machine_à_remonter baguette_magique",
    "reino trono nave_espacial máquina_del_tiempo varita_mágica",
)
NOWHERE: Final = any_of(
    "mars venus jupiter saturn neptune pluto the_moon another_planet "
    "a_(?:space_?(?:ship|station)|starship|distant_planet) middle-?_?earth hogwarts narnia westeros gotham",
    "dem_(?:mars|mond|jupiter|saturn|pluto) der_venus einem_(?:fremden_|anderen_)?(?:planeten|raumschiff) "
    "einer_raumstation mittelerde",
    r"(?:la_)?(?:lune|planète_\w+) vénus (?:une_autre|un_autre)_planète un_vaisseau_spatial poudlard",
    "(?:la_)?luna marte otro_planeta una_nave_espacial",
)
# What says that a frame is left, or that something else is talked of.
LEFT: Final = any_of(
    "real_life irl in_reality in_real_life out_of_character ooc back_to_reality seriously_now on_a_serious_note "
    "by_the_way btw anyway unrelated off-?_?topic on_another_note different_(?:topic|question) "
    "(?:another|other|new)_(?:topic|question) back_to_(?:me|us|work|real) as_for_me about_me_though for_real "
    "speaking_of_me",
    "im_ernst im_echten_leben in_echt ende_des_spiels genug_gespielt zurück_zu übrigens apropos anderes_thema "
    "andere_frage nebenbei was_mich_(?:angeht|betrifft) ich_selbst ich_persönlich",
    "sérieusement fini_de_jouer dans_la_vraie_vie au_fait sinon autre_(?:sujet|question|chose) à_part_ça quant_à_moi "
    "en_vrai moi-même",
    "en_serio en_la_vida_real se_acabó_el_juego por_cierto otra_(?:cosa|pregunta) cambiando_de_tema en_cuanto_a_mí "
    "a_propósito volviendo_a yo_mism[oa]",
)

# Somebody speaks of themselves.
FIRST_PERSON: Final = any_of(
    r"i i'm i've my me we our ich mein\w* mich wir unser\w* je j' mon ma mes moi nous yo mi mis soy estoy tengo vivo "
    "trabajo nací era fui somos vivimos",
)
OF_MINE: Final = any_of(
    r"my our this mein\w* unser\w* dies\w* mon ma notre cet? cette mi nuestr[oa] este esta",
)
SUPPOSING: Final = any_of(
    "imagine picture_this pretend suppose assume act_as act_like role-?play play_the_(?:role|part) say(?:_that)?_i "
    "you_are_now hypothetically theoretically what_if",
    "stell_dir_vor stellen_wir_uns_vor (?:mal_)?angenommen gesetzt_den_fall tu_so nehmen_wir_(?:mal_)?an "
    "sagen_wir(?:_mal)? was_wäre",
    "imagin(?:ons|ez) supposons admettons mettons_que disons_que fais_comme_si et_si",
    "imagina(?:te)? imagínate supongamos supón pongamos_que digamos_que haz_como_si y_si qué_pasaría",
)
OTHER: Final = any_of(
    "another a_past a_parallel an_alternate einem_anderen einem_früheren una?_otr[oa] otr[oa] une?_autre",
)
LIFE: Final = any_of(
    "life universe world timeline leben universum vida universo vie univers",
)
# What says of words before it what they were.
IT_WAS: Final = any_of(
    "(?:that|this|it|those|these)(?:'s|_is|_was|_are|_were) das_(?:ist|war|wäre|sind) (?:es|dies)_(?:ist|war) "
    "c'(?:est|était) ce_sont es era son",
)
OUT_OF: Final = any_of(
    r"from for in out_of part_of of aus für von in tiré\w*_d[eu'] extrait\w*_d[eu'] pour dans de du para del",
)
PIECE: Final = any_of(
    "lines? verses? sentences? opening beginning start ending plot chapter scene",
    "s[aä]tze? zeilen? anfang beginn ende kapitel szene strophe",
    "phrases? lignes? début fin chapitre scène couplet",
    "frases? líneas? principio comienzo final capítulo escena estrofa",
)
# What may stand behind a noun without being part of it: "a vampire from Prague", and not "a ghost writer".
GOES_ON: Final = any_of(
    "and who from of in with named called on at living und der die aus von mit auf namens et qui de du dans avec sur "
    "y que con en llamad[oa]",
)

# Somebody tells that they make something up, or have dreamt: what comes next may be it.
MAKING: Final = any_of(
    "writing working_on drafting composing making_up developing rehearsing "
    "(?:i|we)_(?:wrote|write|made_up|invented|started|began|drafted)",
    "schreibe schreiben verfasse erfinde dichte probe arbeite_an habe arbeiten_an",
    "j'écris j'ai_écrit je_travaille_sur on_écrit nous_écrivons j'invente",
    "escribo escribiendo he_escrito escribimos trabajo_en he_inventado invento",
)
DREAMT: Final = any_of(
    r"dream(?:ed|t)(?!_of_\w+ing) "
    r"(?:had|have)_(?:an?|the|this|such_an?|another)_(?:[\w-]+_){0,2}(?:dream|nightmare)s?(?!_(?:job|home|house))",
    r"(?:weird|strange|crazy|wild|bad|funny)\w*_dreams?",
    r"geträumt träumte (?:hatte|habe)_(?:einen|so_einen|den|diesen)_(?:\w+_)?(?:alb)?traum",
    r"j'ai_(?:rêvé|fait_un_(?:\w+_)?(?:rêve|cauchemar)) (?:he_soñado|soñé|soñaba) tuve_(?:un|una)_(?:sueño|pesadilla)",
)
SEEN_AS: Final = any_of(
    "from_the_(?:perspective|point_of_view|pov|viewpoint)_of pov: in_the_voice_of in_the_first_person in_first_person",
    "aus_(?:der_)?(?:sicht|perspektive)_(?:von|des|der|eine[sr]) in_der_ich-form in_der_ersten_person",
    "du_point_de_vue_d[eu'] à_la_première_personne dans_la_peau_d[eu']",
    "desde_(?:la_perspectiva|el_punto_de_vista)_de en_primera_persona",
)

# How tales, riddles and sums begin or end.
TALE: Final = any_of(
    "once_upon_a_time dear_diary story_?time long,?_long_ago "
    r"(?:it_is|it's|the_year_is)_(?:the_year_)?(?:2[1-9]\d\d|[3-9]\d{3}|1[0-8]\d\d)\b",
    "es_war_einmal liebes_tagebuch wir_schreiben_das_jahr",
    "il_était_une_fois cher_journal nous_sommes_en_l'an",
    "érase_una_vez había_una_vez querido_diario corre_el_año",
)
RIDDLE: Final = any_of(
    r"(?:what|who)_am_i(?=\W*$) how_(?:many|much)_[^.?\n]{0,40}(?:left|do_i_have|in_total) (?:was|wer)_bin_ich(?=\W*$) "
    r"wie_viele?_[^.?\n]{0,40}übrig",
    r"(?:qui|que)_suis-je combien_[^.?\n]{0,40}reste ¿?qui[eé]n_soy(?=\W*$) ¿?qu[eé]_soy(?=\W*$) "
    r"cuánt[oa]s?_[^.?\n]{0,40}quedan",
)

# Trades that only a level makes those of a game.
FIGHTER: Final = any_of(
    "rogue bard cleric druid ranger knight warrior archer monk krieger dieb barde schurke voleur guerrier pícaro "
    "bardo guerrero",
)
