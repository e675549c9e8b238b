/** English. The other catalogues have the same keys; TypeScript says which are missing. */
export const en = {
  nav: {
    insights: "Insights", data: "Export and erase",     profile: "Profile", conversations: "Conversations", live: "Live", operations: "Operations", label: "Views", memories: "Memories", skip: "Skip to the content", signOut: "Sign out", namespace: "Namespace",
    chooseNamespace: "Choose a namespace", noNamespace: "No namespace has this in its name", settings: "Display",
    theme: "Theme", language: "Language", open: "Show the list",
  },
  theme: { system: "As the system", light: "Light", dark: "Dark" },
  signIn: {
    title: "Sign in", key: "Key", show: "Show the key", hint: "A key made by memstream keys create. It stays in this tab and is forgotten with it.",
    send: "Sign in", refused: "The server knows no such key, or it is revoked or expired.", unreachable: "The server does not answer.",
  },
  state: {
    loading: "Loading", failed: "This could not be loaded", again: "Try again", offline: "The server does not answer. It may be restarting.",
    forbidden: "This key may not see that.", missing: "There is nothing here of that name. It may have been deleted.", request: "Request {{id}}",
    degraded: "Part of the search did not answer, so there may be more than what is shown.",
  },
  list: {
    search: "Search memories and what was said", searchLabel: "Search", clear: "Clear the search", create: "New memory", filters: "Filters", kinds: "Kinds", status: "Status",
    order: "Order", byImportance: "Most important first", byNewest: "Newest first", count: "{{count}} memories", countOne: "1 memory", countOf: "{{shown}} of {{count}}",
    least: "Importance from", any: "any", tag: "Tag {{tag}}", removeTag: "Remove the tag filter", reset: "Reset filters", label: "Memories", results: "Results",
    empty: "Nothing is remembered here yet", emptyHint: "Memories appear a few seconds after a conversation says something worth keeping.",
    noMatch: "No memory matches these filters", noMatchHint: "Take a filter away to see more.", nothingFound: "Nothing was found",
    nothingFoundHint: "Try other words, or search what was said as well.", chooseHint: "Choose a namespace to see what is remembered.",
    both: "Both", memories: "Memories", said: "What was said", tier: "Search in", moreTags: "{{count}} more tags",
  },
  status: { active: "Live", superseded: "Replaced", expired: "Expired", deleted: "Deleted" },
  kind: { fact: "Fact", preference: "Preference", decision: "Decision", plan: "Plan", insight: "Insight", goal: "Goal", skill: "Skill", event: "Event", relationship: "Relationship", constraint: "Constraint", emotion: "Emotion", pattern: "Pattern", context: "Context", achievement: "Achievement" },
  band: { trivial: "trivial", casual: "casual", notable: "notable", important: "important", "very important": "very important", critical: "critical", maximum: "maximum" },
  role: { user: "User", assistant: "Assistant", system: "System", tool: "Tool" },
  memory: {
    importance: "Importance", importanceOf: "Importance {{tenths}} of 10, {{band}}", confidence: "Confidence", confidenceOf: "{{percent}} confident", reinforced: "Said again",
    reinforcedTimes: "said again {{count}} times", reinforcedOnce: "said again once", pinned: "Pinned", age: "Said", validFrom: "Holds from", validUntil: "Held until", stored: "Stored", changed: "Changed",
    happens: "Happens", expires: "Expires", by: "Found by", language: "Language", tags: "Tags", attributed: "On the word of", reads: "Read", readTimes: "{{count}} times", once: "once", version: "Version", id: "Id",
    context: "Context", fullText: "Full text", close: "Close", choose: "Choose a memory to see where it comes from.", copy: "Copy the id", copied: "Copied",
  },
  tabs: { sources: "Sources", versions: "History", related: "Related", timeline: "Time line", about: "About" },
  sources: {
    none: "This memory has no source message: it was made by hand.", gone: "This message is not in the archive any more, or this key may not read its conversation.",
    inConversation: "In the conversation {{id}}", source: "Source", earlier: "Earlier messages", later: "Later messages",
  },
  versions: {
    undo: "Take this change back", by: "by {{actor}}", before: "Before", after: "After", unchanged: "No field that is shown here changed.",
    created: "Created", updated: "Edited", merged: "Merged", reinforced: "Said again", superseded: "Replaced", deleted: "Deleted", restored: "Restored", expired: "Expired", compacted: "Compacted", purged: "Erased",
  },
  field: { text: "Text", kind: "Kind", importance: "Importance", confidence: "Confidence", tags: "Tags", status: "Status", valid_from: "Holds from", valid_until: "Held until", pinned: "Pinned", context: "Context", full_text: "Full text", expires_at: "Expires" },
  related: {
    none: "Nothing else here is linked with it or near in meaning.", near: "Near in meaning", linked: "Linked", supersedes: "Replaces", superseded_by: "Replaced by", refines: "Tells more of",
    refined_by: "Told more of by", relates: "About the same", similarity: "{{percent}} similar", degraded: "Similar memories cannot be looked up at the moment.",
  },
  timeline: { hint: "What held when, as far as it was said.", this: "This memory", since: "Holds since {{from}}", held: "Held from {{from}} until {{until}}" },
  found: { why: "Why it was found", meaning: "meaning {{score}}", words: "words {{score}}", relevance: "Relevance", importance: "Importance", recency: "Recency", reinforcement: "Said again", remembered: "Remembered as", notRemembered: "No memory holds this", score: "Score {{score}}" },
  edit: {
    create: "New memory", edit: "Edit", editTitle: "Edit the memory", text: "What is to be remembered", kind: "Kind", tags: "Tags", tagsHint: "Separated by commas", importance: "Importance", reason: "Reason",
    reasonHint: "Kept with the version. Optional.", save: "Save", cancel: "Cancel", pin: "Pin", unpin: "Unpin", remove: "Delete", undo: "Undo",
    textMissing: "Write what is to be remembered.", stale: "Somebody else changed this memory meanwhile. Close this form to see the new version.",
    saved: "Saved", created: "Remembered", known: "This was known already, and is reinforced", removed: "The memory is deleted", restored: "The change is taken back", pinned: "Pinned", unpinned: "Unpinned",
    pending: "Accepted: it will be carried out shortly", rejected: "It was not done: {{reason}}", failed: "It was not done: {{reason}}", notifications: "Notifications", dismiss: "Dismiss",
  },
  profile: {
    title: "In the system prompt", hint: "What a system prompt is told about these people, whatever is asked.", empty: "There is no profile yet", emptyHint: "Constraints, standing wishes, names, work and pinned memories make one.",
    tokens: "{{tokens}} of {{most}} tokens", leftOut: "{{count}} lines had no room.", from: "from memory {{number}}", asRead: "As the model reads it",
  },
  part: { constraint: "Always to be heeded", language: "Language", name: "Name", pinned: "Pinned", role: "Work", wish: "Wish" },
  block: {
    title: "Context block", hint: "What a prompt would be given for a message.", message: "A message of the user", example: "What may I not eat?", show: "Show", empty: "Nothing would be told.", inIt: "What is in it",
    memory: "Memory", ofTokens: "{{tokens}} tokens", memories_left_out: "{{count}} memories had no room", messages_left_out: "{{count}} recent messages had no room", said_left_out: "{{count}} passages had no room",
    memories_known: "{{count}} memories say nothing but what the conversation says already",
  },
  insights: {
    tokens: "Tokens", dollars: "US dollars", live: "Live memories", readShare: "Ever read", reads: "Reads", cost: "US dollars in all", costEach: "US dollars a memory", overTime: "Over time", span: "Days shown", days: "{{count}} days", nothing: "Nothing happened in these days", changes: "Memories",
    asTable: "As a table", day: "Day (UTC)", calls: "Calls", most: "at most {{count}} a day", costly: "What memories cost", noCosts: "No call of a model is on record for memories here.", costOf: "{{cost}} US dollars, {{tokens}} tokens", largest: "Largest namespaces",
  },
  map: {
    title: "Map", label: "Map of memories", tooFew: "A map needs three memories with vectors.", explained: "{{count}} memories. The plane shows {{share}} of what tells their meanings apart.", help: "Similar memories lie near to each other. Choose one by a click or with the arrow keys; plus and minus zoom, Enter opens it.",
    nearer: "Zoom in", farther: "Zoom out", near: "Near to it",
  },
  data: {
    export: "Export", exportHint: "Every memory of this namespace as a file of JSON Lines, replaced and expired ones too.", withVersions: "With all that each memory ever was", exportNow: "Export", exporting: "Exporting",
    of: "{{done}} of {{all}}", exported: "{{count}} memories are saved.", stopped: "Stopped. Nothing was saved.", stop: "Stop", failed: "It failed: {{reason}}",
    import: "Import", importHint: "Brings memories of an export into {{namespace}}. Those that are there already stay as they are.", file: "File of JSON Lines", importNow: "Import", importing: "Importing", chooseFile: "Choose a file.",
    sending: "Sending the file", carriedOut: "{{lines}} lines read, {{done}} of {{all}} carried out", stoppedImport: "Stopped. What was sent by then stays.",
    imported: "{{lines}} lines: {{accepted}} brought in, {{skipped}} no longer live, {{rejected}} refused.", line: "Line {{line}}: {{reason}}",
  },
  erase: {
    title: "Erase for good", hint: "Nothing brings it back: memories, versions, vectors and what was said go everywhere. To take back a single memory, delete it instead.", what: "What is to be erased", namespace: "This namespace, {{name}}", user: "A user, everywhere",
    conversation: "A conversation", userId: "Id of the user", app: "App (optional)", tenant: "Tenant (optional)", people: "App and tenant say whom the id means where it means several people.", look: "Show what would go", notYours: "This key may not erase this namespace.",
    foreseen: "What would go", more: "There is more than was looked at.", type: "Type {{name}} to confirm", now: "Erase for good", running: "Erasing", refused: "It was refused.",
    receipt: "Receipt", complete: "Erased", going: "Being erased", pending: "being done", inNamespace: "{{memories}} memories, {{versions}} versions, {{vectors}} vectors", kept: "{{count}} stay, because others said them as well.",
    remains: "What remains in topics, and until when", keep: "Save the receipt",
  },
  erased: { memories: "Memories", versions: "Versions", vectors: "Vectors", answers: "Cached answers", parked_requests: "Parked requests", messages: "Messages", windows: "Windows", conversations: "Conversations", resting: "Memories that rest on it, of which those stay that others said as well" },
  live: {
    following: "Following", paused: "Paused: {{count}} came meanwhile", broken: "The stream broke off; trying again", pause: "Pause", resume: "Go on", fromBeginning: "Show earlier events", events: "Events",
    empty: "Nothing has happened since you opened this view", emptyHint: "Changes of memories appear here as they happen.", noText: "Its content is not told again.", erased: "Memories of this namespace were erased",
    calls: "Model calls, last day", tokens: "Tokens, last day", cost: "US dollars, last day", remains: "Left of {{limit}}",
  },
  conversation: {
    shown: "What a model sees",     window: "Token window", choose: "Choose a conversation to see what is in its context.", id: "Id of a conversation", find: "Open a conversation by its id", none: "No memory here comes from a conversation",
    noneHint: "Open one by its id.", source: "1 source message", sources: "{{count}} source messages", phase: "State", policy: "Policy", feeds: "Feeds", model: "Model", messages: "Messages", prunings: "What left the context", pruned: "Pruned",
    inContext: "In context", follow: "Follow", extracted: "Extracted", waiting: "Waiting", neverPruned: "No message has left the context.", left: "{{count}} messages left", tokensFell: "{{before}} → {{after}} tokens",
    used: "{{percent}}% of the context used: {{tokens}} of {{most}} tokens", inWindow: "{{count}} of {{of}} messages in context", prunedCount: "{{count}} pruned", rule: "How it is decided what leaves",
  },
  context: {
    empty: "A model would be shown nothing of it", billed: "{{tokens}} of at most {{most}} tokens, as they are expected to be billed", missing: "{{count}} messages of the context are not in the archive any more.", leftOut: "{{count}} messages had no room", shortened: "shortened",
  },
  window: {
    flush: "Extract what waits", prune: "Prune now", clear: "Clear the context", clearTitle: "Clear the context of this conversation?",
    clearHint: "Everything said so far but system prompts leaves the context. What is remembered of it stays, and so do the messages in the archive. It can be undone for ten minutes.",
    clearTakes: "{{messages}} messages are in context; {{tokens}} tokens leave.", cleared: "The context was cleared. That can be undone until {{time}}.", restore: "Undo the clear", restoreSent: "The context will be brought back",
    flushSent: "What waits will be extracted", pruneSent: "The context will be pruned", clearSent: "The context will be cleared",
  },
  phase: { new: "New", open: "Open", ended: "Ended", forgotten: "Closed" },
  level: { ok: "In order", warning: "Filling up", aggressive: "Nearly full" },
};

export type Texts = typeof en;
