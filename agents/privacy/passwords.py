"""Patterns of passwords, PINs and seed phrases: a word that names one, a link ("is", ":", or nothing), then the value.

The group `sure` tells the kinds of links apart. After ":" or "=" nearly any value is a password; after "is", a value that
ends the clause or looks random; after nothing, only a value that looks random. Quantifiers are possessive or bounded, so
matching takes bounded time at each start.
"""

import re

NAMES = (
    r"(?:pass(?:word|wd|phrase|code)|passwort|kennwort|wachtwoord|contraseña|lösenord(?:et)?|adgangskode|salasana"
    r"|парол[ьяеюё]м?|パスワード|密码|密碼|口令|비밀번호|암호|كلمة المرور|mot de passe"
    r"|(?<=[a-z])(?-i:Pass|Pwd)|(?:wpa[23]?|wi-?fi|wlan|network)[ -]?key"
    r"|(?<![^\W_])(?:pwd?|psw|psk|pass|mdp|clave|senha|has[łl]o|heslo|şifre(?:m|si)?|parola(?:m)?))(?![A-Za-zÀ-ɏЀ-ӿ])(?:[_-]?\d\b)?"
)
# Each match of NAMES has one of these in its casefolded text, which is much faster to search than the pattern is. None has a
# letter that IGNORECASE takes for more characters than casefold does: i, and the Cyrillic о.
NAME_WORDS = (
    *("pass", "pw", "psw", "psk", "key", "kennwort", "wachtwoord", "contraseña", "lösenord", "adgangskode", "salasana"),
    *("пар", "パスワード", "密码", "密碼", "口令", "비밀번호", "암호", "كلمة المرور"),
    *("mdp", "clave", "senha", "hasło", "haslo", "heslo", "ş", "parola"),
)
OF = (
    r"(?:\s++(?:for|of|at|on|to|from|für|zum|zur|von|vom|du|de|del|de la|do|da|di|pour|от|для|к|voor|van|till|для)"
    r"(?:\s++(?!is\b|was\b)[\w@.'’-]{1,30}+){1,3}?)?"
)
# Other words between the name and the link: then the value must look random.
LOOSELY = r"(?P<loose>(?:\s++\w{1,20}+){1,3}?)"
IS = r"(?:is|was|(?:will |to )?be|heißt|sera|c['’]est|sarà|ist|war|lautet|est|es|era|è|é|to|jest|je|är|er|on|это)(?=\s|:)"
MARK = r"(?:\s*+[\"']?\s*+(?:=>|->|:=|→|[:=：>])|\s*+(?:は|が|是|为|為))"
# Characters between a link and its value, and the end of a quoted value.
BEFORE = " \t\r\n\"'`"
MARKS = (":", "=", "：", ">", "→", "は", "が", "是", "为", "為")
VALUE = (
    r"(?:(?P<quote>[\"'`]|\*\*)(?P<quoted>(?![\s),+])(?:(?!(?P=quote))[^\n]){1,200}+)(?=(?P=quote))"
    r"|(?P<bare>(?![(\[{<])[^\s\"'`,;<。、，]{2,200}+))"
)
NAMED = re.compile(
    rf"(?P<keep>{NAMES}(?:(?:{OF}|{LOOSELY})(?:\s*+{IS}\s*+:|\s*+{IS}\s++|{MARK})|(?P<nothing>{OF}(?:\s++(?:[-–—]\s++)?|[는은이가]\s*+)))"
    rf"\s*+){VALUE}",
    re.IGNORECASE,
)
# "use x as the password", but not "1Password as the password manager".
AS_NAMED = re.compile(
    rf"(?<!\S)(?P<secret>[^\s,;]{{5,64}}+)(?P<rest>\s++(?:as|als|comme|como|come)\s++(?:\w{{1,12}}+\s++){{0,2}}?{NAMES}"
    r"(?!\s*+manager))",
    re.IGNORECASE,
)
PAIR = re.compile(
    r"(?P<keep>\b(?:credentials?|creds|login|zugangsdaten|identifiants|credenciales|credenziali)\b(?:\s*+:|\s++(?:are|is|sind"
    r"|sont|son|sono))?\s++[\w.@+-]{1,64}+(?:\s*+[/|:]\s*+))(?P<secret>[^\s,;]{3,64}+)",
    re.IGNORECASE,
)
# Patterns that always contain a password.
CERTAIN = (
    re.compile(
        r"(?P<keep>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{0,60}+:)(?P<secret>[^\s/]{1,200})(?P<rest>@)", re.IGNORECASE
    ),
    re.compile(r"(?P<keep>\b(?:jdbc:oracle:\w{2,5}+:|sqlplus\s++)\w{1,40}+/)(?P<secret>[^\s@/]{1,100}+)(?P<rest>@)"),
    re.compile(r"(?P<keep>\b(?:mysql\w{0,8}+|mariadb)\s[^\n|;]{0,120}?\s-p)(?P<secret>[^\s'\"-][^\s'\"]{2,60}+)"),
    re.compile(
        r"(?P<keep>\b(?:sshpass|docker login|7z|unzip|zip)\s[^\n|;]{0,80}?\s-[pP]\s*+[\"']?)(?P<secret>[^\s'\"-][^\s'\"]{2,60}+)"
    ),
    re.compile(
        r"(?P<keep>\s(?:-u|--user|--proxy-user)[\s=]{1,2}[\"']?[^\s:\"'/]{1,64}+:)(?P<secret>[^\s\"'$/][^\s\"']{2,100}+)"
    ),
    re.compile(r"(?P<keep>\becho\s++[\"']?)(?P<secret>[^\s|\"']{3,100}+)(?P<rest>[\"']?\s?\|\s?sudo\s[^\n]{0,20}?-S)"),
    re.compile(r"(?P<keep>\bredis-cli\s[^\n|;]{0,80}?-a\s++)(?P<secret>[^\s'\"-][^\s'\"]{2,60}+)"),
    re.compile(r"(?P<keep>\bWIFI:(?:[STHR]:[^;\n]{0,64}+;){0,4}+P:)(?P<secret>[^;\n]{1,64}+)"),
    re.compile(r"(?P<keep>\"_?auth\"\s*+:\s*+\")(?P<secret>[A-Za-z0-9+/=]{16,}+)"),
)
# Each match of CERTAIN has one of these in its casefolded text.
CERTAIN_WORDS = (
    *("://", "jdbc:oracle", "sqlplus", "mysql", "mariadb", "sshpass", "docker login", "7z", "zip", "-u"),
    *("--proxy-user", "echo", "redis-cli", "wifi:", 'auth"'),
)
PIN = re.compile(
    r"(?P<keep>(?<![^\W_])(?:pin|cvv2?|cvc2?|otp|tan|mfa code|(?:verification|security|sms|login|2fa|confirmation) code"
    r"|your (?:[\w-]{1,20}+ )?code"
    r"|(?:door|gate|alarm|entry|lock|safe|one-time) code|código de \w{1,15}|code de \w{1,15}"
    r"|code pin|codice|bestätigungscode)\b(?:[ -](?:number|code|nummer))?[\"']?"
    r"(?:\s++(?:for|of|to|der|meiner|für|zur|de|du|del|da|di)(?:\s++[\w-]{1,20}+){1,3}?)?"
    r"(?:\s*+[:=]\s*+|\s++(?:is|ist|lautet|est|es|è|é|to)\b\s*+:?\s*+)[\"'`]?)(?P<secret>\d{3,8})\b"
    r"|(?P<keep_cvv>\b(?:cv[vc]2?|(?:security|verification) code)\s++)(?P<cvv>\d{3,8})\b",
    re.IGNORECASE,
)
CODE_FIRST = re.compile(
    r"(?P<keep>\bG-|\b)(?P<secret>\d{4,8})(?P<rest>\s++(?:is your|ist dein|ist Ihr|est votre|es tu|es su)\b"
    r"[^.\n]{0,40}?\bcode\b)",
    re.IGNORECASE,
)
SEED_PHRASE = re.compile(
    r"(?P<keep>\b(?:(?:seed|recovery|mnemonic|backup|wallet)(?:\s++(?:phrase|words))|mnemonic)\b\s*+(?:[:=]|is\b|are\b)\s*+[\"'`]?)"
    r"(?P<secret>(?:[a-z]{3,8}+[ ,]{1,2}){11,23}+[a-z]{3,8}+)",
    re.IGNORECASE,
)

# Words after "password is" or "password:" that are no password.
TALK_WORDS = (
    "not too wrong incorrect correct invalid valid expired required missing reset weak strong stored managed set the "
    "in a an on never always still now being at must should can will same safe secure unsafe secret private hidden "
    "encrypted hashed changed updated sent shown probably maybe my your his her their our its this that also just "
    "only so very really long short easy hard fine okay ok good bad old new empty blank optional needed forgotten "
    "lost gone here there below above leaked saved unknown ready working case falsch abgelaufen leider nicht zu sehr "
    "richtig vergessen sicher unsicher geheim das dein mein kurz lang leer gesetzt geändert weg incorrecta incorrecto "
    "incorrecte expirée expiré trop très pas mauvais faux oublié perdu le la les el un una une de que muy no "
    "sbagliata sbagliato scaduta troppo errada errado verkeerd złe niepoprawne fel yanlış неверный не забыл none null "
    "true false nil undefined str string bytes bool int text varchar char input type field prompt label any object "
    "self config settings env environment"
)
TALK = frozenset(TALK_WORDS.split())
# Code that reads a password, and variable names.
FETCHED = re.compile(
    r"[A-Za-z_][A-Za-z_.]{0,80}[(\[].*|[A-Za-z_]+(?:\.[A-Za-z_]+)+|(?:your|my|the)[-_].*|%(?:\w|\(.*|\w+%)|\\[ux].*"
    r"|\$[A-Z_]{3,}|\$[\{(].*",
    re.DOTALL,
)
# Characters that more often end the sentence than the password.
BEHIND = ".?)]"
MADE_UP = re.compile(r"(?=.*[^\W\d_])(?=.*[\d!#$%^&*+=?@~]|.*[a-zß-ÿ]\w*[A-Z]).{5,}", re.DOTALL)
CLAUSE_ENDS = re.compile(r"\s*+(?:$|[.,;!?)\n](?!\w)|です|입니다)")


def is_password(match: re.Match[str]) -> bool:
    """Whether the value of a `NAMED` match is a password, not a remark about passwords or code that reads one."""
    value = match["quoted"] or match["bare"].rstrip(BEHIND)
    if (
        len(value) < 3
        or value.casefold() in TALK
        or FETCHED.fullmatch(value)
        or re.fullmatch(NAMES, value, re.IGNORECASE)
    ):
        return False
    if match["loose"]:
        return bool(MADE_UP.fullmatch(value))
    if match["quoted"]:
        return match["nothing"] is None or bool(MADE_UP.fullmatch(value))
    if match["keep"].rstrip(BEFORE).endswith(MARKS):
        return True
    if match["nothing"] is not None:
        return bool(MADE_UP.fullmatch(value))
    return bool(MADE_UP.fullmatch(value) or CLAUSE_ENDS.match(match.string, match.start("bare") + len(value)))
