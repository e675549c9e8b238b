"""Spanish phrases of wishes to forget."""

from agents.models.offline.rules.wishes.phrases import ANY, END, GAP, REST, Phrases

OF_ES = r"(?:de|sobre|acerca de|del)"
KNOW_ES = r"(?:sabes|sabe|recuerdas|has (?:guardado|aprendido)|tienes)"
FORGET_ES = r"(?:olvid(?:a|e|ar|es|ad))"
DROP_ES = r"(?:(?:olvid|borr)(?:a|e|ar|es|ad)|elimin(?:a|e|ar|es|ad))"
MEMORY_ES = r"de tu memoria"
FACT_ES = (
    r"(?:cumpleaños|fecha de nacimiento|edad|dirección|correo|(?:número(?: de (?:teléfono|móvil|pasaporte|cuenta))?)|teléfono"
    r"|móvil|salario|sueldo|ingresos|peso|altura|talla|diagnóstico|enfermedad(?:es)?|discapacidad|medicación|medicamentos?|alergias?"
    r"|religión|fe|sexualidad|embarazo|divorcio|deudas?|empresa|apellidos?|nombre|grupo sanguíneo)"
)
MINE_ES = r"(?:mis?|nuestr[oa]s?)"
STATED_ES = r"(?:número|cifra|cantidad|nombre|dirección|contraseña|dato|detalle|información|frase|comentario|mensaje)"

SPANISH = Phrases(
    code="es",
    polite=(
        rf"(?:(?:por favor|ah|oh|ok|bueno|vale|entonces|espera|perdón|perdona|gracias|en realidad){GAP}|(?:no|y"
        rf"|pero)[,.!]\s*){{0,6}}"
        r"(?:(?:puedes|podrías|puede|podría|quiero que|me gustaría que)(?: por favor)? )?"
    ),
    everything=(
        rf"{DROP_ES} todo lo que {KNOW_ES} {OF_ES} (?:mí|mi|nosotros){END}",
        rf"{DROP_ES} todo (?:sobre|acerca de) (?:mí|mi){END}",
        rf"{DROP_ES} (?:todos )?(?:tus recuerdos|los recuerdos (?:de|sobre) (?:mí|mi)){END}",
        rf"{DROP_ES} (?:toda )?tu memoria{END}",
    ),
    that=(
        rf"{FORGET_ES} (?:eso|esto){END}",
        rf"{DROP_ES} (?:ese|este) recuerdo{END}",
        rf"{DROP_ES} lo que (?:te |le )?(?:acabo de (?:decir|contar|escribir)(?:te)?|he (?:dicho|contado|escrito)"
        rf"|dije|conté|escribí){END}",
        rf"{FORGET_ES} mi último mensaje{END}",
        rf"retiro lo (?:dicho|que dije){END}",
        rf"{DROP_ES} (?:eso|esto) {MEMORY_ES}{END}",
        rf"no (?:guardes|recuerdes|memorices) (?:eso|esto){END}",
    ),
    stated=(
        rf"(?:borr|elimin)(?:a|e|ar) (?:eso|esto){END}",
        rf"{FORGET_ES} (?:ese|esa|este|esta) {STATED_ES}{END}",
    ),
    named=(
        rf"{DROP_ES} (?:todo )?lo que (?:te )?(?:dije|he dicho|conté) {OF_ES} (?P<topic>{REST})",
        rf"(?:{FORGET_ES}|no (?:guardes|recuerdes|memorices|apuntes)) lo de(?:l| la| los| las)? (?P<topic>{REST})",
        rf"{FORGET_ES} que (?P<clause>{REST})",
        rf"{DROP_ES} (?:todo )?lo que (?:{KNOW_ES}|te (?:dije|he dicho|conté)) {OF_ES} (?P<topic>{REST})",
        rf"no (?:guardes|recuerdes|memorices|apuntes) nada (?:sobre|de|acerca de) (?P<topic>{REST})",
        rf"{DROP_ES} todo (?:sobre|acerca de) (?P<topic>{REST})",
        rf"{DROP_ES} (?P<topic>{MINE_ES} {ANY}{{1,200}}?) {MEMORY_ES}{END}",
        rf"{FORGET_ES}(?:te)?(?: de)? (?P<topic>(?:dónde|cómo|cuándo) (?:vivo|trabajo|me llamo)\b{REST}?)",
        rf"{FORGET_ES}(?:te)?(?: de)? (?P<topic>{MINE_ES} {REST})",
    ),
    denied=r"\b(?:por (?:ahora|hoy|esta vez)|hoy|esta noche)\b",
    me=r"(?:mí|mi|nosotros)",
    memory=r"(?:de|en) (?:tu|su|tus|sus) (?:memoria|notas|recuerdos|registros?|datos)",
    elsewhere=(
        r"(?:del?|en|sobre) (?:(?:el|la|los|las|mi|mis|nuestr[oa]|ese|esa|este|esta|una?) )?(?:[\w-]+ ){0,2}"
        r"(?:documentos?|diapositivas?|presentación|calendario|agenda|e?-?mails?|correos?|carta|borrador|lista|texto|tabla|código|archivos?"
        r"|carpeta|informe|ensayo|páginas?|web|teléfono|móvil|ordenador|computadora|currículum|cv|discurso|historia|artículo|resumen|plan"
        r"|receta|pedido|carrito|párrafo|capítulo|sección|notas|servidor)"
    ),
    facts=(
        rf"{DROP_ES} (?P<topic>{MINE_ES} {FACT_ES}){END}",
        rf"no (?:recuerdes|memorices) (?P<topic>{MINE_ES} [\w-]+(?: de [\w-]+)?){END}",
        rf"no (?:guardes|apuntes|registres) (?P<topic>{MINE_ES} {FACT_ES}){END}",
    ),
)
