/** Deutsch. */
import type { Texts } from "./en";

export const de: Texts = {
  nav: {
    insights: "Einblicke", data: "Export und Tilgung",     profile: "Profil", conversations: "Gespräche", live: "Live", operations: "Betrieb", label: "Ansichten", memories: "Erinnerungen", skip: "Zum Inhalt springen", signOut: "Abmelden", namespace: "Namensraum",
    chooseNamespace: "Namensraum wählen", noNamespace: "Kein Namensraum enthält das im Namen", settings: "Anzeige",
    theme: "Farben", language: "Sprache", open: "Liste zeigen",
  },
  theme: { system: "Wie das System", light: "Hell", dark: "Dunkel" },
  signIn: {
    title: "Anmelden", key: "Schlüssel", show: "Schlüssel zeigen", hint: "Ein Schlüssel von memstream keys create. Er bleibt in diesem Tab und wird mit ihm vergessen.",
    send: "Anmelden", refused: "Der Server kennt diesen Schlüssel nicht, oder er ist widerrufen oder abgelaufen.", unreachable: "Der Server antwortet nicht.",
  },
  state: {
    loading: "Wird geladen", failed: "Das konnte nicht geladen werden", again: "Noch einmal versuchen", offline: "Der Server antwortet nicht. Vielleicht startet er gerade neu.",
    forbidden: "Das darf dieser Schlüssel nicht sehen.", missing: "Hier gibt es nichts mit diesem Namen. Vielleicht wurde es gelöscht.", request: "Anfrage {{id}}",
    degraded: "Ein Teil der Suche hat nicht geantwortet; vielleicht gibt es mehr, als hier steht.",
  },
  list: {
    search: "Erinnerungen und Gesagtes durchsuchen", searchLabel: "Suche", clear: "Suche leeren", create: "Neue Erinnerung", filters: "Filter", kinds: "Arten", status: "Zustand",
    order: "Reihenfolge", byImportance: "Wichtigste zuerst", byNewest: "Neueste zuerst", count: "{{count}} Erinnerungen", countOne: "1 Erinnerung", countOf: "{{shown}} von {{count}}",
    least: "Wichtigkeit ab", any: "beliebig", tag: "Schlagwort {{tag}}", removeTag: "Schlagwort entfernen", reset: "Filter zurücksetzen", label: "Erinnerungen", results: "Treffer",
    empty: "Hier ist noch nichts gemerkt", emptyHint: "Erinnerungen erscheinen wenige Sekunden, nachdem ein Gespräch etwas Merkenswertes enthält.",
    noMatch: "Keine Erinnerung passt zu diesen Filtern", noMatchHint: "Nehmen Sie einen Filter weg, um mehr zu sehen.", nothingFound: "Nichts gefunden",
    nothingFoundHint: "Versuchen Sie andere Wörter, oder suchen Sie auch in dem, was gesagt wurde.", chooseHint: "Wählen Sie einen Namensraum, um zu sehen, was gemerkt ist.",
    both: "Alles", memories: "Erinnerungen", said: "Gesagtes", tier: "Suchen in", moreTags: "{{count}} weitere Schlagwörter",
  },
  status: { active: "Gültig", superseded: "Ersetzt", expired: "Abgelaufen", deleted: "Gelöscht" },
  kind: { fact: "Tatsache", preference: "Vorliebe", decision: "Entscheidung", plan: "Plan", insight: "Einsicht", goal: "Ziel", skill: "Fähigkeit", event: "Ereignis", relationship: "Beziehung", constraint: "Bedingung", emotion: "Gefühl", pattern: "Muster", context: "Zusammenhang", achievement: "Erfolg" },
  band: { trivial: "belanglos", casual: "beiläufig", notable: "bemerkenswert", important: "wichtig", "very important": "sehr wichtig", critical: "entscheidend", maximum: "höchste" },
  role: { user: "Nutzer", assistant: "Assistent", system: "System", tool: "Werkzeug" },
  memory: {
    importance: "Wichtigkeit", importanceOf: "Wichtigkeit {{tenths}} von 10, {{band}}", confidence: "Sicherheit", confidenceOf: "{{percent}} sicher", reinforced: "Wiederholt",
    reinforcedTimes: "{{count}}-mal wiederholt", reinforcedOnce: "einmal wiederholt", pinned: "Angeheftet", age: "Gesagt", validFrom: "Gilt ab", validUntil: "Galt bis", stored: "Gespeichert", changed: "Geändert",
    happens: "Geschieht", expires: "Läuft ab", by: "Gefunden von", language: "Sprache", tags: "Schlagwörter", attributed: "Auf das Wort von", reads: "Gelesen", readTimes: "{{count}}-mal", once: "einmal", version: "Version", id: "Kennung",
    context: "Zusammenhang", fullText: "Ganzer Text", close: "Schließen", choose: "Wählen Sie eine Erinnerung, um zu sehen, woher sie kommt.", copy: "Kennung kopieren", copied: "Kopiert",
  },
  tabs: { sources: "Quellen", versions: "Verlauf", related: "Verwandtes", timeline: "Zeitachse", about: "Angaben" },
  sources: {
    none: "Diese Erinnerung hat keine Quelle: Sie wurde von Hand gemacht.", gone: "Diese Nachricht ist nicht mehr im Archiv, oder dieser Schlüssel darf ihr Gespräch nicht lesen.",
    inConversation: "Im Gespräch {{id}}", source: "Quelle", earlier: "Frühere Nachrichten", later: "Spätere Nachrichten",
  },
  versions: {
    undo: "Diese Änderung zurücknehmen", by: "von {{actor}}", before: "Vorher", after: "Nachher", unchanged: "Kein hier gezeigtes Feld hat sich geändert.",
    created: "Angelegt", updated: "Bearbeitet", merged: "Zusammengeführt", reinforced: "Wiederholt", superseded: "Ersetzt", deleted: "Gelöscht", restored: "Wiederhergestellt", expired: "Abgelaufen", compacted: "Verdichtet", purged: "Getilgt",
  },
  field: { text: "Text", kind: "Art", importance: "Wichtigkeit", confidence: "Sicherheit", tags: "Schlagwörter", status: "Zustand", valid_from: "Gilt ab", valid_until: "Galt bis", pinned: "Angeheftet", context: "Zusammenhang", full_text: "Ganzer Text", expires_at: "Läuft ab" },
  related: {
    none: "Nichts anderes hier ist damit verknüpft oder ähnlich.", near: "Ähnlich", linked: "Verknüpft", supersedes: "Ersetzt", superseded_by: "Ersetzt durch", refines: "Ergänzt",
    refined_by: "Ergänzt durch", relates: "Vom selben", similarity: "{{percent}} ähnlich", degraded: "Ähnliche Erinnerungen lassen sich gerade nicht nachschlagen.",
  },
  timeline: { hint: "Was wann galt, soweit es gesagt wurde.", this: "Diese Erinnerung", since: "Gilt seit {{from}}", held: "Galt von {{from}} bis {{until}}" },
  found: { why: "Warum gefunden", meaning: "Bedeutung {{score}}", words: "Wörter {{score}}", relevance: "Passt", importance: "Wichtigkeit", recency: "Neuheit", reinforcement: "Wiederholt", remembered: "Gemerkt als", notRemembered: "Keine Erinnerung hält das fest", score: "Wert {{score}}" },
  edit: {
    create: "Neue Erinnerung", edit: "Bearbeiten", editTitle: "Erinnerung bearbeiten", text: "Was gemerkt werden soll", kind: "Art", tags: "Schlagwörter", tagsHint: "Durch Kommas getrennt", importance: "Wichtigkeit", reason: "Grund",
    reasonHint: "Wird bei der Version festgehalten. Freiwillig.", save: "Speichern", cancel: "Abbrechen", pin: "Anheften", unpin: "Lösen", remove: "Löschen", undo: "Rückgängig",
    textMissing: "Schreiben Sie, was gemerkt werden soll.", stale: "Jemand anderes hat diese Erinnerung inzwischen geändert. Schließen Sie das Formular, um die neue Version zu sehen.",
    saved: "Gespeichert", created: "Gemerkt", known: "Das war schon bekannt und gilt als wiederholt", removed: "Die Erinnerung ist gelöscht", restored: "Die Änderung ist zurückgenommen", pinned: "Angeheftet", unpinned: "Gelöst",
    pending: "Angenommen: Es wird gleich ausgeführt", rejected: "Nicht ausgeführt: {{reason}}", failed: "Nicht ausgeführt: {{reason}}", notifications: "Mitteilungen", dismiss: "Schließen",
  },
  profile: {
    title: "Im Systemprompt", hint: "Was ein Systemprompt über diese Menschen erfährt, was immer gefragt wird.", empty: "Es gibt noch kein Profil", emptyHint: "Es entsteht aus Bedingungen, Wünschen, Namen, Arbeit und angehefteten Erinnerungen.",
    tokens: "{{tokens}} von {{most}} Tokens", leftOut: "{{count}} Zeilen hatten keinen Platz.", from: "aus Erinnerung {{number}}", asRead: "Wie das Modell es liest",
  },
  part: { constraint: "Immer zu beachten", language: "Sprache", name: "Name", pinned: "Angeheftet", role: "Arbeit", wish: "Wunsch" },
  block: {
    title: "Kontextblock", hint: "Was ein Prompt zu einer Nachricht bekäme.", message: "Eine Nachricht des Nutzers", example: "Was darf ich nicht essen?", show: "Zeigen", empty: "Es würde nichts gesagt.", inIt: "Was darin steht",
    memory: "Erinnerung", ofTokens: "{{tokens}} Tokens", memories_left_out: "{{count}} Erinnerungen hatten keinen Platz", messages_left_out: "{{count}} neue Nachrichten hatten keinen Platz", said_left_out: "{{count}} Stellen hatten keinen Platz",
    memories_known: "{{count}} Erinnerungen sagen nur, was das Gespräch schon sagt",
  },
  insights: {
    tokens: "Tokens", dollars: "US-Dollar", live: "Gültige Erinnerungen", readShare: "Je gelesen", reads: "Gelesen", cost: "US-Dollar insgesamt", costEach: "US-Dollar je Erinnerung", overTime: "Im Lauf der Zeit", span: "Gezeigte Tage", days: "{{count}} Tage", nothing: "In diesen Tagen geschah nichts", changes: "Erinnerungen",
    asTable: "Als Tabelle", day: "Tag (UTC)", calls: "Aufrufe", most: "höchstens {{count}} am Tag", costly: "Was Erinnerungen kosten", noCosts: "Für Erinnerungen hier ist kein Modellaufruf verzeichnet.", costOf: "{{cost}} US-Dollar, {{tokens}} Tokens", largest: "Größte Namensräume",
  },
  map: {
    title: "Karte", label: "Karte der Erinnerungen", tooFew: "Eine Karte braucht drei Erinnerungen mit Vektoren.", explained: "{{count}} Erinnerungen. Die Ebene zeigt {{share}} dessen, was ihre Bedeutungen unterscheidet.", help: "Ähnliche Erinnerungen liegen nahe beieinander. Wählen Sie eine mit einem Klick oder den Pfeiltasten; Plus und Minus vergrößern und verkleinern, Enter öffnet sie.",
    nearer: "Vergrößern", farther: "Verkleinern", near: "In der Nähe",
  },
  data: {
    export: "Export", exportHint: "Jede Erinnerung dieses Namensraums als Datei mit JSON-Zeilen, auch ersetzte und abgelaufene.", withVersions: "Mit allem, was jede Erinnerung je war", exportNow: "Exportieren", exporting: "Wird exportiert",
    of: "{{done}} von {{all}}", exported: "{{count}} Erinnerungen sind gesichert.", stopped: "Angehalten. Nichts wurde gesichert.", stop: "Anhalten", failed: "Das ist gescheitert: {{reason}}",
    import: "Import", importHint: "Bringt Erinnerungen eines Exports in {{namespace}}. Was schon da ist, bleibt, wie es ist.", file: "Datei mit JSON-Zeilen", importNow: "Importieren", importing: "Wird importiert", chooseFile: "Wählen Sie eine Datei.",
    sending: "Die Datei wird gesendet", carriedOut: "{{lines}} Zeilen gelesen, {{done}} von {{all}} ausgeführt", stoppedImport: "Angehalten. Was bis dahin gesendet war, bleibt.",
    imported: "{{lines}} Zeilen: {{accepted}} übernommen, {{skipped}} nicht mehr gültig, {{rejected}} abgelehnt.", line: "Zeile {{line}}: {{reason}}",
  },
  erase: {
    title: "Endgültig tilgen", hint: "Nichts bringt es zurück: Erinnerungen, Versionen, Vektoren und Gesagtes verschwinden überall. Um eine einzelne Erinnerung zurückzunehmen, löschen Sie sie stattdessen.", what: "Was getilgt werden soll", namespace: "Dieser Namensraum, {{name}}", user: "Ein Nutzer, überall",
    conversation: "Ein Gespräch", userId: "Kennung des Nutzers", app: "App (freiwillig)", tenant: "Mandant (freiwillig)", people: "App und Mandant sagen, wen die Kennung meint, wo sie mehrere meint.", look: "Zeigen, was verschwände", notYours: "Dieser Schlüssel darf diesen Namensraum nicht tilgen.",
    foreseen: "Was verschwände", more: "Es gibt mehr, als angesehen wurde.", type: "Zur Bestätigung {{name}} eingeben", now: "Endgültig tilgen", running: "Wird getilgt", refused: "Es wurde abgelehnt.",
    receipt: "Beleg", complete: "Getilgt", going: "Wird getilgt", pending: "noch im Gange", inNamespace: "{{memories}} Erinnerungen, {{versions}} Versionen, {{vectors}} Vektoren", kept: "{{count}} bleiben, weil andere sie auch gesagt haben.",
    remains: "Was in Topics bleibt, und bis wann", keep: "Beleg sichern",
  },
  erased: { memories: "Erinnerungen", versions: "Versionen", vectors: "Vektoren", answers: "Gespeicherte Antworten", parked_requests: "Geparkte Anfragen", messages: "Nachrichten", windows: "Fenster", conversations: "Gespräche", resting: "Erinnerungen, die darauf beruhen; davon bleiben die, die auch andere sagten" },
  live: {
    following: "Läuft mit", paused: "Angehalten: {{count}} kamen inzwischen", broken: "Der Strom ist abgebrochen; neuer Versuch", pause: "Anhalten", resume: "Weiter", fromBeginning: "Frühere Ereignisse zeigen", events: "Ereignisse",
    empty: "Seit dem Öffnen dieser Ansicht ist nichts geschehen", emptyHint: "Änderungen an Erinnerungen erscheinen hier, sobald sie geschehen.", noText: "Der Inhalt wird nicht noch einmal gesagt.", erased: "Erinnerungen dieses Namensraums wurden getilgt",
    calls: "Modellaufrufe, letzter Tag", tokens: "Tokens, letzter Tag", cost: "US-Dollar, letzter Tag", remains: "Rest von {{limit}}",
  },
  conversation: {
    shown: "Was ein Modell sieht",     window: "Tokenfenster", choose: "Wählen Sie ein Gespräch, um zu sehen, was in seinem Kontext ist.", id: "Kennung eines Gesprächs", find: "Gespräch nach Kennung öffnen", none: "Keine Erinnerung hier kommt aus einem Gespräch",
    noneHint: "Öffnen Sie eines nach seiner Kennung.", source: "1 Quellnachricht", sources: "{{count}} Quellnachrichten", phase: "Zustand", policy: "Richtlinie", feeds: "Speist", model: "Modell", messages: "Nachrichten", prunings: "Was den Kontext verließ", pruned: "Entfernt",
    inContext: "Im Kontext", follow: "Verfolgen", extracted: "Ausgewertet", waiting: "Wartet", neverPruned: "Keine Nachricht hat den Kontext verlassen.", left: "{{count}} Nachrichten gingen", tokensFell: "{{before}} → {{after}} Tokens",
    used: "{{percent}} % des Kontexts belegt: {{tokens}} von {{most}} Tokens", inWindow: "{{count}} von {{of}} Nachrichten im Kontext", prunedCount: "{{count}} entfernt", rule: "Wie entschieden wird, was geht",
  },
  context: {
    empty: "Ein Modell bekäme nichts davon gezeigt", billed: "{{tokens}} von höchstens {{most}} Tokens, wie sie wohl berechnet werden", missing: "{{count}} Nachrichten des Kontexts sind nicht mehr im Archiv.", leftOut: "{{count}} Nachrichten hatten keinen Platz", shortened: "gekürzt",
  },
  window: {
    flush: "Wartendes auswerten", prune: "Jetzt kürzen", clear: "Kontext leeren", clearTitle: "Den Kontext dieses Gesprächs leeren?",
    clearHint: "Alles bisher Gesagte außer Systemanweisungen verlässt den Kontext. Was davon gemerkt ist, bleibt, und die Nachrichten bleiben im Archiv. Zehn Minuten lang lässt es sich zurücknehmen.",
    clearTakes: "{{messages}} Nachrichten sind im Kontext; {{tokens}} Tokens gehen.", cleared: "Der Kontext wurde geleert. Das lässt sich bis {{time}} zurücknehmen.", restore: "Leeren zurücknehmen", restoreSent: "Der Kontext wird zurückgebracht",
    flushSent: "Wartendes wird ausgewertet", pruneSent: "Der Kontext wird gekürzt", clearSent: "Der Kontext wird geleert",
  },
  phase: { new: "Neu", open: "Offen", ended: "Beendet", forgotten: "Geschlossen" },
  level: { ok: "In Ordnung", warning: "Füllt sich", aggressive: "Fast voll" },
};
