/** English texts of the operators' views. They are loaded with these views. */
export const en = {
  section: {
    label: "Parts of operations", pipeline: "Pipeline", letters: "Dead letters", consolidation: "Consolidation", retention: "Retention", replay: "Replay",
    policies: "Policies", access: "Keys and audit",
  },
  common: {
    none: "There is none yet", created: "Asked for", scope: "Of", by: "By", status: "State", cancel: "Cancel", more: "Show more", show: "Show", back: "Back to the list",
    failed: "It was not done: {{reason}}", readOnly: "This key may look, and change nothing here.", refreshed: "Read {{ago}}",
  },
  pipeline: {
    hint: "How far each stage is, and what holds work up. Read again every few seconds.", behind: "records behind", upToDate: "up to date", running: "Running", stopped: "No worker runs it",
    topic: "{{topic}}: {{count}} behind", flow: "Stages", calls: "Model calls under way", outbox: "Changes not published yet", since: "oldest {{ago}}", letters: "Dead letters that wait", parked: "Parked requests",
    parkedHint: "Extraction requests that wait for budget, a batch, or a provider.", noParked: "Nothing is parked.", lane: "Lane", reason: "Reason", requests: "Requests", batched: "In a batch", oldest: "Oldest",
    providers: "Models", providersHint: "As the workers found them in the last two minutes.", noProviders: "No worker has said anything in the last two minutes.", workers: "{{count}} workers", oneWorker: "1 worker",
    budget: "Budget of all", noBudget: "No limit is set.", budgetOf: "{{remains}} of {{of}} left", reserved: "{{reserved}} reserved by calls under way", degraded: "Not everything could be asked", missing: "{{part}}: {{why}}",
    follow: "Follow one message", followHint: "From its topic to its memories, with times.", conversation: "Id of its conversation", message: "Id of the message", followIt: "Follow",
  },
  stage: { windows: "Windows", archive: "Archive", passages: "Passages", extraction: "Extraction", curation: "Curation" },
  breaker: { closed: "Answers", open: "Left alone", "half-open": "Being tried", unavailable: "Unavailable", available: "Answers" },
  lane: { live: "Live", background: "Background" },
  limit: { tokens_per_hour: "Tokens an hour", tokens_per_day: "Tokens a day", usd_per_hour: "US dollars an hour", usd_per_day: "US dollars a day" },
  part: { stages: "Lag of the stages", providers: "Models", parked: "Parked requests", under_way: "Work under way", budget: "Budget", dead_letters: "Dead letters" },
  letters: {
    hint: "Records that a stage could not process, kept with the reason. Replaying publishes them again, unchanged, to where they came from.", empty: "No dead letter waits", emptyHint: "What a stage cannot process comes here.",
    emptyOther: "No letter is like this", all: "All", status: "What became of them", waiting: "Waiting", replayed: "Replayed", discarded: "Discarded", any: "Any", groups: "Stage and reason",
    select: "Choose {{letter}}", selectAll: "Choose all that are shown", selected: "{{count}} chosen", replay: "Replay", discard: "Discard", choose: "Choose a letter to see its record.", record: "The record",
    replayTitle: "Publish {{count}} records again?", replayHint: "Each goes unchanged to the partition that it came from. What failed for the same reason comes back here.",
    discardTitle: "Discard {{count}} letters?", discardHint: "They are marked as done. The topic keeps them until its retention ends, and they can still be replayed.",
    replayedSome: "{{count}} replayed", discardedSome: "{{count}} discarded", someFailed: "{{count}} could not be: {{why}}", source: "From", noSource: "no topic: it cannot be replayed", bytes: "{{bytes}} bytes",
    byReference: "The value was too large to keep. It is read from its topic when it is replayed.", when: "Put aside", scrubbed: "Credentials were taken out of what is shown: {{count}}", cut: "Only the beginning is shown.", key: "Key", headers: "Headers",
    value: "Value", noValue: "It has no value.", place: "Place", stage: "Stage", reason: "Reason", list: "Dead letters",
  },
  work: {
    runs: "Consolidation runs", schedules: "Schedules", sweeps: "Retention sweeps", generations: "Replays", policies: "Policies", policy: "Policy", progress: "Conversations", dryRun: "dry run", tokens: "Tokens", cost: "US dollars",
    next: "Next", id: "Id", origin: "From", whole: "All of it", version: "Version", created: "Created", reinforced: "Said again", superseded: "Replaced", namespaces: "Namespaces",
  },
  runStatus: { pending: "Waiting", running: "Running", completed: "Completed", failed: "Failed", building: "Building", ready: "Ready", cutover: "Cut over", undone: "Taken back", discarding: "Being discarded" },
  origin: { "built in": "Built in", file: "A file", topic: "Its topic" },
};

export type Words = typeof en;
