"""French phrases of wishes to forget."""

from agents.models.offline.rules.wishes.phrases import ANY, END, GAP, REST, Phrases

OF_FR = r"(?:sur|de|d'|à propos de|au sujet de|concernant)"
KNOW_FR = r"(?:tu sais|vous savez|tu as (?:retenu|enregistré|appris)|vous avez (?:retenu|enregistré))"
FORGET_FR = r"(?:oublie[zrs]?|oubliez)"
DROP_FR = r"(?:oublie[zrs]?|efface[zrs]?|supprime[zrs]?)"
MEMORY_FR = r"de (?:ta|votre) mémoire"
FACT_FR = (
    r"(?:anniversaire|date de naissance|âge|adresse(?: mail)?|(?:numéro|n°)(?: de (?:téléphone|portable|passeport|compte|sécu))?"
    r"|salaire|revenus?|poids|taille|pointure|diagnostic|maladie|handicap|médicaments?|allergies?|religion|foi|sexualité|grossesse"
    r"|divorce|dettes?|employeur|nom(?: de famille)?|prénom|groupe sanguin)"
)
MINE_FR = r"(?:mon|ma|mes|notre|nos)"
STATED_FR = (
    r"(?:chiffre|nombre|numéro|nom|adresse|montant|somme|mot de passe|détail|information|phrase|remarque|message)"
)

FRENCH = Phrases(
    code="fr",
    polite=(
        r"(?:(?:s'il (?:te|vous) pla[iî]t|stp|svp|non|ah|oh|ok|bon|alors|et|mais|attends?|pardon|désolée?|merci|en "
        r"fait|finalement)"
        rf"{GAP}){{0,6}}"
        r"(?:(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu peux|vous pouvez|veuillez|je (?:veux|voudrais"
        r"|souhaite) que tu)"
        r"(?: s'il (?:te|vous) pla[iî]t,?)? )?"
    ),
    everything=(
        rf"{DROP_FR} tout ce que {KNOW_FR} {OF_FR} ?(?:moi|nous){END}",
        rf"{DROP_FR} tout (?:sur|de) moi{END}",
        rf"{DROP_FR} (?:tous )?(?:(?:tes|vos) souvenirs|les souvenirs (?:de|sur) moi){END}",
        rf"(?:efface[zrs]?|vide[zrs]?) (?:ta|votre) mémoire{END}",
    ),
    that=(
        rf"{FORGET_FR} (?:ça|ca|cela|ceci){END}",
        rf"{DROP_FR} ce souvenir{END}",
        rf"n'enregistre[zs]? pas (?:ça|cela){END}",
        rf"{DROP_FR} ce que j'ai (?:dit|raconté|écrit){END}",
        rf"{DROP_FR} ce que je (?:viens de (?:te |vous )?(?:dire|raconter|écrire)|(?:t'ai|vous ai) (?:dit|raconté"
        rf"|écrit)){END}",
        rf"{FORGET_FR} mon dernier message{END}",
        rf"je retire ce que j'ai dit{END}",
        rf"{DROP_FR} (?:ça|cela) {MEMORY_FR}{END}",
        rf"ne (?:retiens|retenez|gardez?|mémorisez?|notez?|enregistrez?|conservez?) pas (?:ça|cela)(?: en mémoire)?{END}",
    ),
    stated=(
        rf"(?:efface[zrs]?|supprime[zrs]?) (?:ça|cela){END}",
        rf"{FORGET_FR} (?:ce|cet|cette) {STATED_FR}{END}",
    ),
    named=(
        rf"{DROP_FR} (?:de (?:ta|votre) mémoire )?(?:le fait )?que (?P<clause>(?:j'|je\b|nous\b|{MINE_FR}\b){REST})",
        rf"{DROP_FR} (?:tout )?ce que (?:j'ai|je t'ai|je vous ai) (?:dit|raconté|écrit) {OF_FR} ?(?P<topic>{REST})",
        rf"ne (?:garde|retiens|retenez|gardez|mémorise|note) rien (?:sur|de|à propos de) (?P<topic>{REST})",
        rf"{FORGET_FR} (?:le truc|l'affaire) (?:de|du|avec|sur) ?(?P<topic>{REST})",
        rf"{DROP_FR} (?:l'histoire|cette histoire) (?:de|du|avec|sur) ?(?P<topic>[^,.;!?]{{1,80}})",
        rf"{DROP_FR} (?:tout )?ce que (?:{KNOW_FR}|je (?:t'ai|vous ai) dit) {OF_FR} ?(?P<topic>{REST})",
        rf"{DROP_FR} tout (?:sur|à propos de) (?P<topic>{REST})",
        rf"{DROP_FR} (?P<topic>{MINE_FR} {ANY}{{1,200}}?) {MEMORY_FR}{END}",
        rf"{FORGET_FR} (?P<topic>(?:où|comment|qui|quand) (?:j'|je\b){REST})",
        rf"{FORGET_FR} (?P<topic>{MINE_FR} {REST})",
    ),
    denied=r"\b(?:pour (?:l'instant|aujourd'hui|ce soir)|aujourd'hui|ce soir)\b",
    me=r"(?:moi|nous)",
    memory=r"(?:de|dans) (?:(?:ta|votre) mémoire|(?:tes|vos) (?:notes|souvenirs|données))",
    elsewhere=(
        r"(?:de|du|des|dans|sur) ?(?:(?:le|la|les|l'|mon|ma|mes|notre|ce|cet|cette|un|une) ?)?(?:[\w-]+ ){0,2}"
        r"(?:documents?|diapos?|présentation|calendrier|agenda|e?-?mails?|courriels?|lettre|brouillon|liste|texte|tableau|code|fichiers?"
        r"|dossier|rapport|dissertation|pages?|site|téléphone|ordinateur|cv|discours|histoire|article|résumé|plan|recette|commande|panier"
        r"|paragraphe|chapitre|section|notes|serveur)"
    ),
    facts=(
        rf"{DROP_FR} (?P<topic>{MINE_FR} {FACT_FR}){END}",
        rf"ne (?:retiens|retenez|mémorisez?) pas (?P<topic>{MINE_FR} [\w'-]+(?: de [\w'-]+)?){END}",
        rf"(?:ne (?:gardez?|notez?|conservez?) pas|n'enregistre[zs]? pas) (?P<topic>{MINE_FR} {FACT_FR}){END}",
    ),
)
