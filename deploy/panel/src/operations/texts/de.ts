/** Deutsch: Texte der Ansichten für den Betrieb. */
import type { Words } from "./en";

export const de: Words = {
  section: {
    label: "Teile des Betriebs", pipeline: "Pipeline", letters: "Abgelegte Sätze", consolidation: "Konsolidierung", retention: "Aufbewahrung", replay: "Wiederholung",
    policies: "Regelwerke", access: "Schlüssel und Protokoll",
  },
  common: {
    none: "Es gibt noch nichts", created: "Verlangt", scope: "Von", by: "Durch", status: "Stand", cancel: "Abbrechen", more: "Mehr zeigen", show: "Zeigen", back: "Zurück zur Liste",
    failed: "Es wurde nicht getan: {{reason}}", readOnly: "Dieser Schlüssel darf hier lesen und nichts ändern.", refreshed: "Gelesen {{ago}}",
  },
  pipeline: {
    hint: "Wie weit jede Stufe ist, und was aufhält. Wird alle paar Sekunden neu gelesen.", behind: "Sätze im Rückstand", upToDate: "auf dem Stand", running: "Läuft", stopped: "Kein Worker führt sie aus",
    topic: "{{topic}}: {{count}} im Rückstand", flow: "Stufen", calls: "Laufende Modellaufrufe", outbox: "Noch nicht veröffentlichte Änderungen", since: "älteste {{ago}}", letters: "Wartende abgelegte Sätze", parked: "Geparkte Anfragen",
    parkedHint: "Extraktionen, die auf Budget, einen Stapel oder einen Anbieter warten.", noParked: "Nichts ist geparkt.", lane: "Spur", reason: "Grund", requests: "Anfragen", batched: "Im Stapel", oldest: "Älteste",
    providers: "Modelle", providersHint: "Wie die Worker sie in den letzten zwei Minuten fanden.", noProviders: "Kein Worker hat in den letzten zwei Minuten etwas gemeldet.", workers: "{{count}} Worker", oneWorker: "1 Worker",
    budget: "Budget für alles", noBudget: "Es ist keine Grenze gesetzt.", budgetOf: "{{remains}} von {{of}} übrig", reserved: "{{reserved}} von laufenden Aufrufen belegt", degraded: "Nicht alles war zu erfragen", missing: "{{part}}: {{why}}",
    follow: "Einer Nachricht folgen", followHint: "Von ihrem Topic bis zu ihren Erinnerungen, mit Zeiten.", conversation: "Kennung des Gesprächs", message: "Kennung der Nachricht", followIt: "Folgen",
  },
  stage: { windows: "Fenster", archive: "Archiv", passages: "Passagen", extraction: "Extraktion", curation: "Kuration" },
  breaker: { closed: "Antwortet", open: "Wird in Ruhe gelassen", "half-open": "Wird versucht", unavailable: "Nicht erreichbar", available: "Antwortet" },
  lane: { live: "Sofort", background: "Hintergrund" },
  limit: { tokens_per_hour: "Tokens je Stunde", tokens_per_day: "Tokens je Tag", usd_per_hour: "US-Dollar je Stunde", usd_per_day: "US-Dollar je Tag" },
  part: { stages: "Rückstand der Stufen", providers: "Modelle", parked: "Geparkte Anfragen", under_way: "Laufende Arbeit", budget: "Budget", dead_letters: "Abgelegte Sätze" },
  letters: {
    hint: "Sätze, die eine Stufe nicht verarbeiten konnte, mit dem Grund. Wiederholen veröffentlicht sie unverändert dort, woher sie kamen.", empty: "Kein abgelegter Satz wartet", emptyHint: "Was eine Stufe nicht verarbeiten kann, kommt hierher.",
    emptyOther: "Kein Satz ist so", all: "Alle", status: "Was aus ihnen wurde", waiting: "Wartet", replayed: "Wiederholt", discarded: "Verworfen", any: "Alle", groups: "Stufe und Grund",
    select: "{{letter}} wählen", selectAll: "Alle gezeigten wählen", selected: "{{count}} gewählt", replay: "Wiederholen", discard: "Verwerfen", choose: "Wählen Sie einen Satz, um ihn zu sehen.", record: "Der Satz",
    replayTitle: "{{count}} Sätze noch einmal veröffentlichen?", replayHint: "Jeder geht unverändert in die Partition, aus der er kam. Was am selben Grund scheitert, kommt hierher zurück.",
    discardTitle: "{{count}} Sätze verwerfen?", discardHint: "Sie gelten als erledigt. Das Topic behält sie, bis seine Aufbewahrung endet, und sie lassen sich noch wiederholen.",
    replayedSome: "{{count}} wiederholt", discardedSome: "{{count}} verworfen", someFailed: "{{count}} gingen nicht: {{why}}", source: "Aus", noSource: "keinem Topic: er lässt sich nicht wiederholen", bytes: "{{bytes}} Bytes",
    byReference: "Der Wert war zu groß, um ihn zu behalten. Beim Wiederholen wird er aus seinem Topic gelesen.", when: "Abgelegt", scrubbed: "Zugangsdaten, die hier nicht gezeigt werden: {{count}}", cut: "Nur der Anfang wird gezeigt.", key: "Schlüssel", headers: "Kopfzeilen",
    value: "Wert", noValue: "Er hat keinen Wert.", place: "Ort", stage: "Stufe", reason: "Grund", list: "Abgelegte Sätze",
  },
  work: {
    runs: "Konsolidierungsläufe", schedules: "Zeitpläne", sweeps: "Aufräumläufe", generations: "Wiederholungen", policies: "Regelwerke", policy: "Regelwerk", progress: "Gespräche", dryRun: "Probelauf", tokens: "Tokens", cost: "US-Dollar",
    next: "Nächster", id: "Kennung", origin: "Aus", whole: "Ganz", version: "Fassung", created: "Angelegt", reinforced: "Wieder gesagt", superseded: "Ersetzt", namespaces: "Namensräume",
  },
  runStatus: { pending: "Wartet", running: "Läuft", completed: "Fertig", failed: "Gescheitert", building: "Entsteht", ready: "Bereit", cutover: "Übernommen", undone: "Zurückgenommen", discarding: "Wird verworfen" },
  origin: { "built in": "Eingebaut", file: "Datei", topic: "Topic" },
};
