"""Words that change a statement's importance, in four languages: feelings, close people, dangers, and trifles."""

from agents.models.offline.rules.engine.rule import anywhere

DEEP_FEELING = anywhere(
    r"\b(?:grie[fv]\w*|mourn\w*|panic\w*|terrified|devastated|heartbroken|depress\w*|suicid\w*|trauma\w*|died|passed away"
    r"|funeral|in love|desperate\w*|trauer\w*|panik\w*|verzweifelt\w*|gestorben|verstorben|verliebt"
    r"|deuil|panique\w*|désespér\w*|décédée?|morte?|amoureu\w+|luto|pánico|desesperad\w+|murió|falleció|enamorad\w+)\b"
)
FEELING = anywhere(
    r"\b(?:feels?|felt|feeling|happy|happiness|sad\w*|anxi\w+|afraid|fear\w*|scared|worr\w+|angry|anger|lonely|loneliness|proud"
    r"|ashamed|guilty|relieved|excited|nervous|stress\w*|upset|joy\w*|loves?|loved|hates?|hated|overwhelmed|exhausted|cried"
    r"|hurt|jealous|hopeful|hopeless"
    r"|fühlt|fühle|glücklich\w*|traurig\w*|angst|ängstlich\w*|wütend\w*|einsam\w*|stolz\w*|sorgen?|nervös\w*|gestresst\w*"
    r"|liebt|hasst|erleichtert|weint"
    r"|heureu\w+|tristes?|tristesse|anxieu\w+|peur|inquiet|inquiète|seule?|fière?|colère|stressée?|aime|déteste|soulagée?"
    r"|feliz|alegre|ansios\w+|miedo|preocupad\w+|sol[oa]|orgullos\w+|enfadad\w+|nervios\w+|estresad\w+|odia)\b"
)
CLOSE = anywhere(
    r"\b(?:wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|child(?:ren)?|kids?|son|daughter|baby|mother|father"
    r"|mom|mum|dad|parents?|brother|sister|twins?|grand(?:mother|father|ma|pa)|family|best friend|married|divorced?|wedding"
    r"|frau|mann|tochter|sohn|kind(?:er)?|mutter|vater|eltern|bruder|schwester|familie|verheiratet|geschieden|hochzeit"
    r"|femme|mari|fille|fils|enfants?|mère|père|parents|frère|sœur|famille|mariée?|divorcée?"
    r"|esposa|esposo|marido|hij[oa]s?|madre|padre|padres|herman[oa]s?|familia|casad[oa]|divorciad[oa])\b"
)
VITAL = anywhere(
    r"\b(?:allerg\w+|anaphyla\w+|diabet\w+|asthma\w*|epilep\w+|celiac|coeliac|pregnan\w+|cancer|medication|insulin|pacemaker"
    r"|wheelchair|blind|deaf|emergency|must never|never under any"
    r"|allergisch|diabetiker\w*|zöliakie|schwanger\w*|krebs|medikament\w*|notfall"
    r"|allergi\w+|diabéti\w+|diabète|cœliaque|enceinte|urgence"
    r"|alérgi\w+|asma|celíac\w+|embarazada|cáncer|emergencia)\b"
)
TRIFLING = anywhere(
    r"\b(?:weather|rain(?:ed|ing|s)?|sunny|traffic|random|trivia|lunch|breakfast|snack|wetter|regnet|sonnig|météo|pleut"
    r"|tiempo hace|llueve)\b"
)
