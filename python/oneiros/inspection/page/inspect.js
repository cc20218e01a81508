// The page of "oneiros inspect". Texts of memories are untrusted: they reach the document as text
// nodes only, after `visible`. No string is ever parsed as HTML.
"use strict";

const LISTED = 20;
const LONGEST_PART = 160; // characters of ids, sessions and the like on one line
const COLOURS = 5;
const NEGLIGIBLE = 5e-4; // of a score: what its figures do not show
const SVG = "http://www.w3.org/2000/svg";
const NAMES = {
  lexical: "words", vector: "meaning", temporal: "time", word_pairs: "word pairs", asked_time: "asked time",
  named_time: "named time", newer_first: "newer first",
};

const byId = (id) => document.getElementById(id);
const main = byId("main");
const form = byId("search-form");

// -- text and elements ---------------------------------------------------------------------------

// As oneiros.display.escaping: C0 but for newline and tab, DEL, C1, line and paragraph separators,
// bidirectional overrides and isolates, lone surrogates.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f\u0080-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

function visible(text) {
  return String(text).replace(OBEYED, (found) => {
    const code = found.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
  });
}

function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  append(element, children);
  return element;
}

function append(parent, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    parent.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}

function put(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

// The beginning of a text. No character is cut in half: emoji are two of JavaScript's.
function shortened(text, most) {
  const characters = [...String(text)];
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : String(text);
}

// A stored text on one line, isolated from the direction of what is around it.
function stored(text, longest = LONGEST_PART) {
  return el("bdi", {}, shortened(text, longest).replace(/\s+/gu, " "));
}

function figure(value) {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5)));
}

function size(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  while (bytes >= 1024 && place < units.length - 1) { bytes /= 1024; place += 1; }
  return `${place ? bytes.toFixed(1) : bytes} ${units[place]}`;
}

const plural = (count, noun, nouns = `${noun}s`) => `${count} ${count === 1 ? noun : nouns}`;
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const words = (name) => NAMES[name] || String(name).replaceAll("_", " ");

// A line of figures or reasons that may begin with the name of a channel, after a sign.
const inWords = (line) => words(String(line).replace(/^((?:[+×÷] )?)(lexical|vector|temporal)\b/u, (_, sign, name) => sign + NAMES[name]));

// A time in ISO 8601 or in seconds, as a <time> in UTC to the minute.
function when(time) {
  if (time === null || time === undefined) return null;
  const date = new Date(typeof time === "number" ? 1000 * time : time);
  if (Number.isNaN(date.getTime())) return el("span", {}, time);
  const iso = date.toISOString();
  const [day, hour] = iso.split("T"); // years before 0 and after 9999 have six digits and a sign
  return el("time", { datetime: iso, title: iso }, `${day} ${hour.slice(0, 5)}`);
}

function value(content, field = "") {
  if (content === null || content === undefined || content.length === 0) return el("span", { class: "faint" }, "none");
  if (typeof content !== "boolean" && /(_at|_since|valid_from|valid_until)$/u.test(field)) return when(content);
  if (typeof content === "number") return figure(content);
  if (Array.isArray(content) && content.every((each) => typeof each === "string")) return content.map((each, at) => [at ? ", " : "", el("bdi", {}, each)]);
  if (typeof content === "object") return el("bdi", {}, JSON.stringify(content, null, 1));
  return el("bdi", {}, String(content));
}

// -- the server ------------------------------------------------------------------------------------

class Failure extends Error {}

async function answered(request) {
  let response;
  try {
    response = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server does not answer: it has ended. Start oneiros inspect again.");
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Failure(`The server answered ${response.status} without JSON.`);
  }
  if (!response.ok) throw new Failure(answer.error || `The server answered ${response.status}.`);
  return answer;
}

let leaving = new AbortController();

function ask(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, given] of Object.entries(parameters)) {
    for (const each of [given].flat()) {
      if (each !== null && each !== undefined && each !== "") query.append(name, each);
    }
  }
  return answered(fetch(`api/${path}?${query}`, { signal: leaving.signal }));
}

function change(path, body) {
  return answered(fetch(`api/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  }));
}

function say(text) { byId("status").textContent = visible(text); }

function fail(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof Failure)) console.error(error);
  byId("failure").hidden = false;
  byId("failure").textContent = visible(error.message);
  say("");
}

function clearFailure() { byId("failure").hidden = true; byId("failure").textContent = ""; }

// Run something that asks the server; what goes wrong is shown.
async function guarded(action, button = null) {
  clearFailure();
  if (button) button.disabled = true;
  try {
    return await action();
  } catch (error) {
    fail(error);
    return undefined;
  } finally {
    if (button) button.disabled = false;
  }
}

// -- addresses -------------------------------------------------------------------------------------

function address(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, given] of Object.entries(parameters)) {
    if (given !== null && given !== undefined && given !== "") query.append(name, given);
  }
  const written = query.toString();
  return `#/${view}${written ? `?${written}` : ""}`;
}

function place() {
  const [view, query = ""] = location.hash.replace(/^#\//u, "").split(/\?(.*)/su);
  return { view: view || "search", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

const memoryAddress = (id) => address("memory", { id });

function memoryLink(id, text) {
  return el("a", { href: memoryAddress(id), class: "open" }, text === undefined ? el("span", { class: "id" }, stored(id)) : text);
}

// -- parts of views --------------------------------------------------------------------------------

function tiles(pairs) {
  return el("dl", { class: "tiles" }, pairs.map(([name, content]) => el("div", {}, el("dt", {}, name), el("dd", {}, content))));
}

// Heads that begin with ">" stand over numbers.
function table(heads, rows, { stack = true, narrow = false, caption = null } = {}) {
  const names = heads.map((head) => head.replace(/^>/u, ""));
  const isNumber = heads.map((head) => head.startsWith(">"));
  return el("table", { class: `${stack ? "stack" : ""} ${narrow ? "narrow" : ""}` },
    caption && el("caption", {}, caption),
    el("thead", {}, el("tr", {}, names.map((name, at) => el("th", { scope: "col", class: isNumber[at] ? "number" : null }, name)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, at) =>
      el("td", { class: isNumber[at] ? "number" : null, "data-label": names[at] }, cell))))));
}

function counts(title, found, more = 0) {
  const rows = Object.entries(found).map(([name, count]) => [stored(name), String(count)]);
  return el("div", {}, table([title, ">memories"], rows, { stack: false, narrow: true }), more > 0 && el("p", { class: "faint" }, `and ${more} more`));
}

function copied(command) {
  if (!command) return null;
  const button = el("button", { type: "button", onclick: async () => {
    await navigator.clipboard.writeText(command);
    say("Copied.");
  } }, "Copy");
  return el("div", { class: "command" }, el("code", {}, command), navigator.clipboard ? button : null);
}

const whose = (memory) => [
  ["session", memory.session], ["user", memory.user], ["project", memory.project],
  ["agent", memory.agent], ["namespace", memory.namespace],
].filter(([, given]) => given);

function meta(memory) {
  const states = [
    memory.status !== "staged" && memory.status, memory.pinned && "pinned",
    memory.superseded_by && "superseded", memory.trust < 1 && `trust ${figure(memory.trust)}`,
  ].filter(Boolean);
  return el("p", { class: "meta" },
    el("span", {}, stored(memory.kind)),
    el("span", {}, when(memory.event_at || memory.created_at)),
    memory.access_count ? el("span", {}, `used ${memory.access_count}×`, memory.last_accessed_at ? [", last ", when(memory.last_accessed_at)] : "") : null,
    whose(memory).map(([name, given]) => el("span", {}, `${name} `, el("span", { class: "short" }, stored(given)))),
    states.map((state) => el("span", {}, state)),
    el("span", { class: "id short" }, stored(memory.id)));
}

function beginning(memory) {
  const text = memory.text.trim() ? memory.text : memory.id;
  const cut = memory.end < memory.length ? "…" : "";
  return [memory.title && el("strong", {}, stored(memory.title), " "), el("bdi", {}, text, cut)];
}

function listed(memory, ...rest) {
  return el("li", { class: "row" },
    el("p", { class: "text" }, el("a", { href: memoryAddress(memory.id), class: "open clamped" }, beginning(memory))),
    rest, meta(memory));
}

// Numbers that JSON has not, as infinite scores of a profile, come as null.
const rounded = (number, digits) => (number === null ? "not finite" : figure(Number(number.toPrecision(digits))));
const signed = (number) => (number === null ? rounded(number) : `${number < 0 ? "−" : "+"}${rounded(Math.abs(number), 3)}`);

function scoreBar(result, best) {
  const parts = result.parts.filter((part) => Math.abs(part.gain) >= NEGLIGIBLE * Math.abs(result.score));
  const gains = parts.filter((part) => part.gain > 0);
  const width = Math.max(best, gains.reduce((sum, part) => sum + part.gain, 0), 1e-12);
  const bar = el("div", { class: "bar", "aria-hidden": "true" });
  let lost = parts.reduce((sum, part) => sum + Math.min(part.gain, 0), 0);
  for (const part of [...gains].reverse()) { // what factors take is taken from the end
    const left = Math.max(0, part.gain + lost);
    const taken = part.gain - left;
    lost = Math.min(0, lost + part.gain);
    if (taken > 0) bar.prepend(sized("loss", taken / width));
    if (left > 0) bar.prepend(sized(fill(part), left / width));
  }
  const list = el("ul", { class: "parts" }, parts.map((part) => el("li", { class: part.gain < 0 ? "loss" : null },
    el("i", { class: part.gain < 0 ? null : fill(part), "aria-hidden": "true" }),
    `${words(part.name)} ${part.operation === "multiply" ? `× ${rounded(part.value, 4)}` : signed(part.gain)}`)));
  return [el("div", { class: "score" }, el("output", { title: `score ${result.score ?? "not finite"}` }, rounded(result.score, 4)), bar), list];
}

// A name has one colour on the whole page.
const named = new Map(["lexical", "vector", "temporal"].map((name, at) => [name, at]));

function fill(part) {
  if (!named.has(part.name)) named.set(part.name, named.size);
  return `fill-${named.get(part.name) % COLOURS}`;
}

function sized(name, share) {
  const part = el("span", { class: name });
  part.style.width = `${(100 * share).toFixed(3)}%`;
  return part;
}

function explained(shown) {
  const rows = shown.rows.map((cells) => cells.map((cell, at) => (at ? (cell === null ? "-" : figure(cell)) : inWords(cell))));
  return el("div", { class: "scroll" }, table(shown.columns.map((name, at) => (at ? `>${words(name)}` : words(name))), rows, { stack: false }));
}

// -- search ----------------------------------------------------------------------------------------

const FIELDS = ["q", "k", "profile", "kind", "status", "session", "user", "project"];
const FLAGS = ["deep_recall", "include_expired"];
const SELECTS = ["profile", "kind", "status"];

function searchParameters() {
  const found = {};
  for (const name of FIELDS) found[name] = form.elements[name].value;
  for (const name of FLAGS) found[name] = form.elements[name].checked ? "1" : "";
  if (found.k === "10") found.k = "";
  return found;
}

function fillForm(parameters) {
  for (const name of SELECTS) { // a filter of an old address, or of a value that is rare
    const select = form.elements[name];
    const given = parameters[name];
    if (given && ![...select.children].some((each) => each.value === given)) select.append(option(given));
  }
  for (const name of FIELDS) form.elements[name].value = parameters[name] || (name === "k" ? "10" : "");
  for (const name of FLAGS) form.elements[name].checked = parameters[name] === "1";
  const filters = ["kind", "status", "session", "user", "project", ...FLAGS].filter((name) => parameters[name]).length;
  byId("filter-count").textContent = filters ? `(${filters})` : "";
  if (filters) byId("filters").open = true;
}

async function searchView(parameters) {
  fillForm(parameters);
  const { q, ...rest } = parameters;
  if (!q) return listView(rest);
  say("Searching…");
  const found = await ask("search", parameters);
  const best = Math.max(0, ...found.results.map((result) => result.score));
  const summary = `${plural(found.results.length, "result")} in ${found.milliseconds.toFixed(1)} ms, profile ${found.profile}`;
  const list = el("ol", { class: "rows" }, found.results.map((result) => listed(result.memory,
    scoreBar(result, best),
    result.path.length > 1 && el("p", { class: "meta" }, "by links: ", result.path.map((id, at) => [at ? " → " : "", memoryLink(id)])),
    result.via_deep_recall && el("p", { class: "meta" }, "superseded or expired: a lower score"),
    result.explanation && el("details", {}, el("summary", {}, "Why this place"), explained(result.explanation)))));
  put(main,
    el("h1", {}, "Results for ", stored(q)),
    found.results.length ? list : el("p", {}, found.reason || "No memory is found."),
    found.notes.length && el("details", {}, el("summary", {}, "How the search went"), el("ul", {}, found.notes.map((note) => el("li", {}, note)))),
    whyNotForm(parameters));
  say(summary);
  return null;
}

function whyNotForm(parameters) {
  const input = el("input", { name: "id", id: "why-not-id", autocomplete: "off", spellcheck: "false", placeholder: "id of a memory", required: true });
  const answer = el("div", { "aria-live": "polite" });
  const asking = el("form", { onsubmit: (event) => {
    event.preventDefault();
    guarded(async () => {
      const found = await ask("why_not", { ...parameters, id: input.value });
      put(answer,
        el("p", {}, el("strong", {}, found.verdict)),
        found.lacked && found.lacked !== found.verdict && el("ul", {}, found.lacked.split("; ").map((reason) => el("li", {}, inWords(reason)))),
        found.table.rows.length > 0 && el("details", { open: !found.is_returned }, el("summary", {}, "Figures"), explained(found.table)));
    }, asking.querySelector("button"));
  } }, el("div", { class: "line" },
    el("label", { class: "grow" }, el("span", { class: "label" }, "Id"), input),
    el("button", { type: "submit" }, "Why not?")));
  return el("section", { "aria-labelledby": "why-not-title" },
    el("h2", { id: "why-not-title" }, "Why is a memory not found?"), asking, answer);
}

async function listView({ k: _k, profile: _profile, offset, ...filters }) {
  for (const flag of FLAGS) delete filters[flag];
  const start = Number(offset || 0);
  say("Reading…");
  const found = await ask("list", { ...filters, offset: start, limit: LISTED });
  const end = start + found.memories.length;
  const last = Math.max(0, Math.ceil(found.total / LISTED) - 1) * LISTED;
  const link = (text, at) => el("a", { href: address("search", { ...filters, offset: at || "" }) }, text);
  put(main,
    el("h1", {}, "The newest memories"),
    el("ol", { class: "rows" }, found.memories.map((memory) => listed(memory))),
    !found.memories.length && el("p", {}, found.total ? "The list ends before this page." : "No memory passes the filters."),
    el("p", { class: "actions" },
      start > 0 && link("Newer", Math.min(Math.max(0, start - LISTED), last)),
      end < found.total && link("Older", end)));
  say(found.memories.length ? `${start + 1} to ${end} of ${found.total}` : "");
}

// -- one memory ------------------------------------------------------------------------------------

const APART = ["text", "start", "end", "length", "title", "is_away", "restore", "id"];

async function memoryView({ id }) {
  say("Reading…");
  const memory = await ask("memory", { id });
  const future = el("section", {}, el("h2", {}, "The next dream cycle"), el("p", { class: "faint" }, "Planning…"));
  const links = el("section", {}, el("h2", {}, "Links"));
  const past = el("section", {}, el("h2", {}, "History"));
  const isNamed = memory.title.trim() !== "";
  const fields = Object.entries(memory).filter(([name, content]) => !APART.includes(name)
    && content !== null && content !== "" && !(typeof content === "object" && Object.keys(content).length === 0));
  put(main,
    el("h1", {}, isNamed ? stored(memory.title, 300) : "Memory ", !isNamed && el("span", { class: "id" }, stored(id, 300))),
    isNamed && el("p", { class: "id" }, stored(id, 1000)),
    memory.deleted_at && el("p", {}, el("strong", {}, "Deleted "), when(memory.deleted_at), "."),
    memory.superseded_by && el("p", {}, "Superseded by ", memoryLink(memory.superseded_by), "."),
    wholeText(id, memory),
    meta(memory),
    STORE.writes ? actions(id, memory) : null,
    memory.is_away && [el("p", {}, "To bring it back:"), copied(memory.restore) || el("p", {}, "engine.restore(id) in Python: the id has control characters.")],
    future, links, past,
    el("section", {}, el("h2", {}, "All fields"), el("dl", { class: "fields" }, fields.map(([name, content]) =>
      [el("dt", {}, words(name)), el("dd", {}, name === "superseded_by" ? memoryLink(content) : value(content, name))]))));
  say("");
  await Promise.all([
    filledIn(future, async () => fateParts(memory, await ask("fate", { id }))),
    filledIn(links, async () => (memory.deleted_at ? [el("p", { class: "faint" }, "Links of a deleted memory are not followed.")] : graphParts(id, await ask("graph", { id })))),
    filledIn(past, async () => historyParts(await ask("history", { id }))),
  ]);
}

// Fill a section below its heading; what fails is said in place.
async function filledIn(section, make) {
  let parts;
  try {
    parts = await make();
  } catch (error) {
    if (error.name === "AbortError") return;
    parts = [el("p", { class: "faint" }, error.message)];
  }
  put(section, section.firstElementChild, parts);
}

function wholeText(id, memory) {
  const text = el("div", { class: "whole", tabindex: "0", role: "region", "aria-label": "text", dir: "auto" }, memory.text || " ");
  let next = memory.end; // in the server's characters
  if (next >= memory.length) return text;
  const button = el("button", { type: "button", onclick: () => guarded(async () => {
    const page = await ask("text", { id, start: next });
    text.append(visible(page.text));
    next = page.end;
    if (next >= page.length) button.remove(); else label();
  }, button) });
  const label = () => { button.textContent = `Show more (${next.toLocaleString("en")} of ${memory.length.toLocaleString("en")} characters)`; };
  label();
  return [text, el("p", { class: "actions" }, button)];
}

function actions(id, memory) {
  const act = (text, run, kind = null) => el("button", { type: "button", class: kind, onclick: (event) => guarded(async () => {
    const done = await run();
    if (done === undefined) return;
    await show();
    say(done);
  }, event.currentTarget) }, text);
  if (memory.is_away) {
    return el("div", { class: "actions" }, act("Restore", async () => { await change("restore", { id }); return "Restored."; }, "main"),
      memory.deleted_at ? null : deleting(id, act));
  }
  const judge = (verdict) => act(verdict[0].toUpperCase() + verdict.slice(1), async () => {
    const found = await change("feedback", { id, verdict });
    return `Feedback is ${found.feedback} now.`;
  });
  return el("div", { class: "actions" },
    act(memory.pinned ? "Unpin" : "Pin", async () => {
      await change("pin", { id, pinned: !memory.pinned });
      return memory.pinned ? "Unpinned." : "Pinned.";
    }),
    judge("helpful"), judge("unhelpful"), judge("outdated"), deleting(id, act));
}

const deleting = (id, act) => act("Delete", async () => {
  if (!await confirmed(`Delete the memory ${shortened(id, LONGEST_PART)}? It can be restored until it is purged.`, "Delete")) return undefined;
  await change("delete", { id });
  return "Deleted.";
}, "danger");

function confirmed(question, yes) {
  const dialog = byId("question");
  byId("question-text").textContent = visible(question);
  byId("question-yes").textContent = yes;
  return new Promise((resolve) => {
    let answer = false;
    byId("question-yes").onclick = () => { answer = true; dialog.close(); };
    byId("question-no").onclick = () => dialog.close();
    dialog.onclose = () => resolve(answer);
    dialog.showModal();
    byId("question-no").focus();
  });
}

function fateParts(memory, fate) {
  const isRemoved = Boolean(fate.removal);
  const kept = memory.deleted_at ? "It is deleted already; the cycle leaves it." : "It is kept.";
  const reasons = fate.protections.length ? fate.protections : ["no rule of this cycle removes it"];
  return [
    el("div", { class: `fate ${isRemoved ? "removed" : ""}` },
      el("p", {}, el("strong", {}, isRemoved ? `It would be ${fate.removal}: ` : `${kept} `),
        isRemoved ? [fate.because, " ", el("span", { class: "code faint" }, fate.rule)]
          : !memory.deleted_at && el("span", {}, `Because: ${reasons.join("; ")}.`)),
      fate.changes.length > 0 && table(["field", "before", "after", "because"], fate.changes.map(changeCells))),
    el("p", { class: "faint" }, "Phases of the profile ", fate.profile, ", as of ", when(fate.now), ". ",
      el("a", { href: address("dreams") }, "The whole cycle")),
  ];
}

function changeCells(each) {
  return [words(each.field), value(each.before, each.field), value(each.after, each.field),
    [each.words, " ", el("span", { class: "code" }, each.rule)]];
}

function historyParts(history) {
  return history.revisions.map((revision, at) => el("article", { class: "revision" },
    el("h3", {}, at === 0 ? "Now" : "Until ", at > 0 && (when(revision.until) || "?"),
      el("span", { class: "faint" }, revision.recorded_at ? [" · recorded ", when(revision.recorded_at)] : " · older than the history")),
    revision.changes.map(differenceOf),
    revision.changes.length === 0 && el("p", { class: "faint" }, "The oldest state that is known.")));
}

function differenceOf(each) {
  if (each.pieces) {
    const tags = { same: "span", removed: "del", added: "ins" };
    return el("div", { class: "diff" }, el("span", { class: "faint" }, `${words(each.field)}: `), el("bdi", {}, each.pieces.map((piece) =>
      el(tags[piece.change], {}, piece.text, piece.end < piece.length ? "…" : ""))));
  }
  if (each.field === "embedding") return el("p", {}, el("span", { class: "faint" }, "embedding: "), "another vector");
  return el("p", {}, el("span", { class: "faint" }, `${words(each.field)}: `), value(each.before, each.field), " → ", value(each.after, each.field));
}

function graphParts(id, graph) {
  if (graph.nodes.length < 2) return [el("p", { class: "faint" }, "No links.")];
  const number = new Map(graph.nodes.map((node, at) => [node.id, at]));
  const row = (link) => {
    const [a, b] = link.ends.map((end) => number.get(end));
    return [String(Math.min(a, b)), String(Math.max(a, b)), memoryCell(graph.nodes[Math.max(a, b)]), link.kind.replaceAll("_", " "), figure(Number(link.weight.toPrecision(3))), when(link.created_at)];
  };
  const links = [...graph.links].sort((one, other) => number.get(one.ends[0]) + number.get(one.ends[1]) - number.get(other.ends[0]) - number.get(other.ends[1]));
  return [
    el("figure", {}, drawn(graph, number)),
    el("p", { class: "faint" }, `${plural(graph.nodes.length - 1, "memory", "memories")} within two links`, graph.is_cut ? "; there are more" : "", ". 0 is this memory."),
    table([">from", ">to", "memory", "kind", ">weight", "since"], links.map(row)),
  ];
}

const memoryCell = (node) => memoryLink(node.id, stored(node.label.trim() ? node.label : node.id, 80));

// Rings: this memory in the middle, its neighbours around it, theirs outside near them.
function drawn(graph, number) {
  const rings = [[], [], []];
  for (const node of graph.nodes) rings[node.hop].push(node);
  const radii = [0, rings[1].length > 14 ? 130 : 95, rings[1].length > 14 || rings[2].length > 20 ? 205 : 165];
  const spots = new Map([[graph.nodes[0].id, { x: 0, y: 0, angle: 0 }]]);
  const put = (node, hop, angle) => spots.set(node.id, { x: radii[hop] * Math.cos(angle), y: radii[hop] * Math.sin(angle), angle });
  rings[1].forEach((node, at) => put(node, 1, (2 * Math.PI * at) / rings[1].length - Math.PI / 2));
  const parent = (node) => {
    const link = graph.links.find(({ ends }) => ends.includes(node.id) && spots.has(ends[0] === node.id ? ends[1] : ends[0]) );
    return link ? spots.get(link.ends[0] === node.id ? link.ends[1] : link.ends[0]).angle : 0;
  };
  const outer = rings[2].map((node) => ({ node, angle: parent(node) })).sort((one, other) => one.angle - other.angle);
  const step = (2 * Math.PI) / Math.max(outer.length, 12);
  let last = -Infinity;
  for (const each of outer) {
    each.angle = Math.max(each.angle, last + step);
    last = each.angle;
    put(each.node, 2, each.angle);
  }
  const all = [...spots.values()];
  const bound = (pick, side) => Math[side](...all.map(pick));
  const [left, right] = [bound((spot) => spot.x, "min") - 55, bound((spot) => spot.x, "max") + 55];
  const [top, bottom] = [bound((spot) => spot.y, "min") - 22, bound((spot) => spot.y, "max") + 34];
  const width = Math.max(360, right - left); // a small graph is not blown up
  const isNamed = graph.nodes.length <= 8;
  const picture = svg("svg", { class: "graph", viewBox: `${(left + right - width) / 2} ${top} ${width} ${bottom - top}`, role: "img",
    "aria-label": `Links within two steps: ${graph.nodes.length} memories, ${graph.links.length} links. The table below lists them.` });
  for (const link of graph.links) {
    const [a, b] = link.ends.map((end) => spots.get(end));
    if (a && b) picture.append(svg("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-width": (0.75 + 2.5 * link.weight).toFixed(2), "stroke-opacity": (0.35 + 0.6 * link.weight).toFixed(2) }));
  }
  for (const node of graph.nodes) {
    const { x, y } = spots.get(node.id);
    const label = node.label.replace(/\s+/gu, " ").trim();
    picture.append(svg("g", { class: `hop-${node.hop}`, "data-id": "", onclick: () => { location.hash = memoryAddress(node.id); } },
      svg("title", {}, shortened(label, 60)), svg("circle", { cx: x, cy: y, r: node.hop ? 11 : 14 }),
      svg("text", { x, y, class: "number" }, String(number.get(node.id))),
      isNamed && svg("text", { x, y: y + 23, class: "name" }, shortened(label, 16))));
  }
  return picture;
}

// -- dream cycles ----------------------------------------------------------------------------------

async function dreamsView(parameters) {
  const profile = el("select", { name: "profile" }, el("option", { value: "" }, `of the store (${STORE.stats.profile})`), STORE.profiles.map((name) => el("option", { value: name }, name)));
  const keep = el("input", { name: "keep", placeholder: "all", size: "8", autocomplete: "off" });
  profile.value = parameters.profile || "";
  keep.value = parameters.keep || "";
  const planned = el("div", {}, el("p", { class: "faint" }, "Planning…"));
  const past = el("section", {}, el("h2", {}, "Past cycles"));
  put(main,
    el("h1", {}, "What the next dream cycle would do"),
    el("form", { onsubmit: (event) => {
      event.preventDefault();
      const wanted = address("dreams", { profile: profile.value, keep: keep.value.trim() });
      if (wanted === location.hash) show(); else location.hash = wanted;
    } }, el("div", { class: "line" },
      el("label", {}, el("span", { class: "label" }, "Phases of profile"), profile),
      el("label", {}, el("span", { class: "label" }, "Keep (0.5 or 10000)"), keep),
      el("button", { type: "submit", class: "main" }, "Plan"))),
    planned, past);
  say("Planning…");
  await Promise.all([
    (async () => {
      try {
        const plan = await ask("plan", { ...parameters, fresh: "1" });
        put(planned, cycleParts(plan), impactForm(parameters));
      } catch (error) {
        planned.replaceChildren();
        fail(error);
      }
    })(),
    filledIn(past, async () => pastParts(await ask("cycles"))),
  ]);
  say("");
}

function cycleParts(cycle) {
  if (cycle.damage) return [el("p", {}, "The report is damaged: ", cycle.damage)];
  const would = cycle.is_dry_run ? "would change" : "changed";
  const removing = cycle.rows.filter((row) => row.removal);
  const others = cycle.rows.filter((row) => !row.removal);
  const hidden = cycle.row_count - cycle.rows.length;
  const rules = cycle.phases.flatMap((phase) => phase.rules.map((rule) => [words(phase.name), [rule.words, " ", el("span", { class: "code" }, rule.rule)], String(rule.memories),
    Object.entries(rule.fields).map(([name, count]) => `${words(name)} ${count}`).join(", ")]));
  return [
    tiles([["memories", cycle.undoes ? "-" : `${cycle.live_before} → ${cycle.live_after}`], ["removed", cycle.removals], [`fields that ${would}`, String(cycle.change_count)]]),
    cycle.limit && el("p", { class: "faint" }, cycle.limit),
    removing.length > 0 && [el("h2", {}, cycle.is_dry_run ? "Would be removed" : "Removed"), el("ol", { class: "rows" }, removing.map((row) => cycleRow(row)))],
    others.length > 0 && el("details", { open: removing.length === 0 && others.length <= 30 }, el("summary", {}, `${plural(others.length, "memory", "memories")} with other changes`),
      el("ol", { class: "rows" }, others.map((row) => cycleRow(row)))),
    hidden > 0 && el("p", { class: "faint" }, `... and ${hidden} more`),
    cycle.row_count === 0 && el("p", {}, cycle.change_count ? "The report has counts only." : "No memory changes."),
    rules.length > 0 && [el("h2", {}, "By rule"), table(["phase", "what it does", ">memories", "fields"], rules)],
    cycle.left_alone.length > 0 && [el("h2", {}, "Left as they are"), table(["phase", "because", ">memories"], cycle.left_alone.map((each) => [words(each.phase), each.because, String(each.memories)]))],
    cycle.changed_since > 0 && el("p", {}, `${plural(cycle.changed_since, "memory", "memories")} changed after the plan and stayed as they are.`),
    cycle.not_restored > 0 && el("p", {}, `${plural(cycle.not_restored, "field")} changed again and stayed as they are.`),
  ];
}

function cycleRow(row) {
  const text = row.text && row.text.trim() ? row.text : row.id;
  const others = row.changes.filter((each) => !(row.removal && ["deleted_at"].includes(each.field)));
  return el("li", { class: "row" },
    el("p", { class: "text" }, el("a", { href: memoryAddress(row.id), class: "open clamped" }, el("bdi", {}, text))),
    el("p", { class: "meta" }, row.removal && el("strong", {}, row.removal), el("span", {}, row.because), el("span", { class: "code" }, row.rule), el("span", { class: "id short" }, stored(row.id))),
    copied(row.restore),
    others.length > 0 && el("details", {}, el("summary", {}, plural(others.length, "change")), table(["field", "before", "after", "because"], others.map(changeCells))));
}

function impactForm(parameters) {
  const questions = el("textarea", { rows: "3", name: "questions", spellcheck: "false" });
  const answer = el("div", { "aria-live": "polite" });
  const asking = el("form", { onsubmit: (event) => {
    event.preventDefault();
    guarded(async () => {
      say("Ranking before and after, on copies of the store…");
      const q = questions.value.split("\n").map((line) => line.trim()).filter(Boolean);
      if (!q.length) throw new Failure("questions: write at least one");
      const found = await ask("impact", { ...parameters, q });
      const lost = Object.entries(found.lost_by_rule).map(([rule, count]) => `${rule} ${count}`).join(", ") || "none";
      put(answer,
        el("p", {}, `Of the first ${found.k} results, ${percent(found.mean_overlap)} stay. Lost, by rule: ${lost}.`),
        table(["question", ">stay", "lost", "at another rank"], found.queries.map((query) => [stored(query.query), percent(query.overlap),
          query.shifts.filter((shift) => shift.is_lost).map((shift) => el("div", {}, memoryLink(shift.id), ` (stays without ${shift.undone_without})`)),
          query.shifts.filter((shift) => !shift.is_lost).map((shift) => el("div", {}, memoryLink(shift.id), ` ${shift.before ?? "-"} → ${shift.after ?? "-"}`))])));
      say("");
    }, asking.querySelector("button"));
  } },
    el("label", {}, el("span", { class: "label" }, "Questions, one a line (at most 20)"), questions),
    el("div", { class: "actions" }, el("button", { type: "submit" }, "Rank before and after")));
  return el("section", {}, el("h2", {}, "Impact on searches"), asking, answer);
}

function pastParts({ cycles, drift, interrupted }) {
  const parts = [];
  if (interrupted) parts.push(el("p", {}, `The cycle ${interrupted} was cut off by a crash; nothing of it is in the store.`));
  if (!cycles.length) return [...parts, el("p", { class: "faint" }, "No dream cycle ran on this store.")];
  parts.push(table(["cycle", "when", "by", "removed", ">fields changed", ">memories after"], cycles.map((cycle) => [
    el("a", { href: address("cycle", { id: cycle.id }), class: "open id" }, cycle.id), when(cycle.now), madeBy(cycle),
    cycle.undoes || cycle.damage ? "" : cycle.removals, cycle.damage ? "" : String(cycle.change_count), cycle.undoes || cycle.damage ? "" : String(cycle.live_after)])));
  if (drift.length) parts.push(...driftParts(drift));
  return parts;
}

function madeBy(cycle) {
  if (cycle.damage) return `damaged: ${cycle.damage}`;
  if (cycle.undoes) return ["undoes ", el("span", { class: "id" }, cycle.undoes)];
  return cycle.profile + (cycle.undone_by ? ", undone" : "");
}

function driftParts(drift) {
  const lives = (cycle) => Object.entries(cycle.half_life_days).filter(([, days]) => days !== null).slice(0, 6)
    .map(([kind, days]) => el("div", {}, stored(kind, 30), ` ${figure(Number(days.toPrecision(4)))}`));
  const line = (name, pick, format) => el("figure", {}, el("figcaption", {}, `${name}: ${format(pick(drift.at(-1)))} after the last cycle`), spark(drift.map(pick), name));
  return [
    el("h2", {}, "Drift over cycles"),
    drift.length > 1 && el("div", { class: "sparks" },
      line("live memories", (cycle) => cycle.live, String),
      line("stale share", (cycle) => cycle.stale_share, percent),
      line("concentration of use (Gini)", (cycle) => cycle.access_gini, (gini) => gini.toFixed(3))),
    table(["when", "by", ">live", ">stale", ">Gini", ">churn", "half-life, days"], [...drift].reverse().map((cycle) => [
      when(cycle.now), cycle.profile + (cycle.is_undone ? ", undone" : ""), String(cycle.live), percent(cycle.stale_share), cycle.access_gini.toFixed(3),
      cycle.churn === null ? "-" : percent(cycle.churn), lives(cycle).length ? lives(cycle) : "-"])),
    el("p", { class: "faint" }, "Stale: as long unused as what is removed. Churn: change of the 50 most recalled memories since the cycle before."),
  ].filter(Boolean);
}

function spark(values, name) {
  const top = Math.max(...values);
  const low = Math.min(...values, top === 0 ? 0 : top * 0.999);
  const points = values.map((each, at) => `${((100 * at) / (values.length - 1)).toFixed(2)},${(36 - (32 * (each - low)) / (top - low || 1)).toFixed(2)}`);
  return svg("svg", { class: "spark", viewBox: "-2 0 104 40", preserveAspectRatio: "none", role: "img", "aria-label": `${name} from ${figure(values[0])} to ${figure(values.at(-1))}` }, svg("polyline", { points: points.join(" ") }));
}

async function cycleView({ id }) {
  say("Reading…");
  const cycle = await ask("cycle", { id });
  const canUndo = STORE.writes && !cycle.undoes && !cycle.undone_by;
  const undo = el("button", { type: "button", class: "danger", onclick: () => guarded(async () => {
    if (!await confirmed(`Undo the cycle ${id}? Fields that changed again since stay as they are.`, "Undo")) return;
    const done = await change("undo", { id });
    await show();
    say(done.words);
  }, undo) }, "Undo this cycle");
  put(main,
    el("h1", {}, cycle.undoes ? "Undoing " : "Cycle ", el("span", { class: "id" }, cycle.id)),
    el("p", { class: "faint" }, "as of ", when(cycle.now), cycle.profile && `, profile ${cycle.profile}`,
      cycle.undoes && [", undoes ", el("a", { href: address("cycle", { id: cycle.undoes }) }, cycle.undoes)],
      cycle.undone_by && [", undone by ", el("a", { href: address("cycle", { id: cycle.undone_by }) }, cycle.undone_by)]),
    canUndo ? el("div", { class: "actions" }, undo) : "",
    cycleParts(cycle));
  say("");
}

// -- the store -------------------------------------------------------------------------------------

async function storeView() {
  await loadStore();
  const { stats, counts: found } = STORE;
  const answer = el("div", { "aria-live": "polite" });
  const check = (text, deep) => {
    const button = el("button", { type: "button", onclick: () => guarded(async () => {
      say("Checking…");
      const checked = await ask("check", { deep });
      say("");
      put(answer, checked.problems.length
        ? el("ul", {}, checked.problems.map((problem) => el("li", {}, problem)))
        : el("p", {}, `Clean, checked in ${checked.seconds.toFixed(2)} s${checked.deep ? ", every row" : ""}.`));
    }, button) }, text);
    return button;
  };
  const lexical = stats.lexical;
  put(main,
    el("h1", {}, "Store ", el("bdi", {}, STORE.path)),
    tiles([["memories", String(stats.memories)], ["deleted, not purged", String(stats.deleted)], ["links", String(stats.links)], ["damaged", String(stats.damaged)], ["file and log", size(stats.file_bytes)], ["lexical index in memory", size(lexical.resident_bytes)]]),
    el("dl", { class: "fields" }, [
      ["profile", stats.profile],
      ["embedder", stats.embedder ? [stored(stats.embedder), ` (${stats.embedding_dimension} numbers a vector)`] : "none: found by words alone"],
      ["vectors", `${stats.vectors}, missing for ${plural(stats.without_vector, "memory", "memories")}`],
      ["words", `${lexical.analyzer}, ${lexical.variant}, k1 ${figure(lexical.k1)}, b ${figure(lexical.b)}, half length ${figure(lexical.half_length)}`],
      ["revision", String(stats.revision)],
      ["unfinished embedding", stats.reembedding ? `${stats.reembedding.embedder}: ${stats.reembedding.done} done` : ""],
    ].filter(([, content]) => content !== "").map(([name, content]) => [el("dt", {}, name), el("dd", {}, content)])),
    el("div", { class: "counts" }, counts("kind", found.kind, STORE.kinds - Object.keys(found.kind).length), counts("status", found.status), counts("tier", found.tier)),
    el("h2", {}, "Check"),
    el("div", { class: "actions" }, check("Check", "0"), check("Check every row", "1")), answer);
  say("");
}

// -- the whole page --------------------------------------------------------------------------------

const VIEWS = { search: searchView, memory: memoryView, dreams: dreamsView, cycle: cycleView, store: storeView };
const TITLES = { search: "Search", memory: "Memory", dreams: "Dreams", cycle: "Cycle", store: "Store" };
let STORE = null;
let shownPlace = "";
let lastView = "#/search"; // the search, the plan or the store that was looked at last

async function loadStore() {
  STORE = await ask("store");
  byId("store-name").textContent = visible(STORE.path.split("/").at(-1));
  byId("store-name").title = visible(STORE.path);
  byId("mode").textContent = STORE.writes ? "changes allowed" : "read only";
  byId("mode").classList.toggle("warn", STORE.writes);
  options(form.elements.profile, STORE.profiles, `of the store (${STORE.stats.profile})`);
  options(form.elements.kind, STORE.choices.kind, "any");
  options(form.elements.status, STORE.choices.status, "current");
  for (const name of ["session", "user", "project"]) {
    byId(`${name}-values`).replaceChildren(...STORE.choices[name].map(option));
  }
}

// An option's value is exact; what it shows is harmless.
function option(each) {
  const made = el("option", {}, shortened(each, LONGEST_PART));
  made.value = each;
  return made;
}

function options(select, values, first) {
  const chosen = select.value;
  select.replaceChildren(el("option", { value: "" }, first), ...values.map(option));
  select.value = values.includes(chosen) ? chosen : "";
}

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { view, parameters } = place();
  const former = shownPlace;
  const isNew = location.hash !== former;
  shownPlace = location.hash;
  if (["search", "dreams", "store"].includes(view)) lastView = location.hash || "#/search";
  form.hidden = view !== "search";
  for (const link of document.querySelectorAll(".top nav a")) {
    const isHere = link.dataset.view === { memory: "search", cycle: "dreams" }[view] || link.dataset.view === view;
    if (isHere) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  const isKnown = Object.hasOwn(VIEWS, view);
  document.title = `${isKnown ? TITLES[view] : "Nothing here"} · Oneiros`;
  const make = isKnown ? VIEWS[view] : null;
  main.setAttribute("aria-busy", "true");
  const mine = leaving;
  await guarded(async () => {
    try {
      if (!make) throw new Failure("There is no such view.");
      if (!STORE) await loadStore();
      await make(parameters);
    } catch (error) {
      if (error.name !== "AbortError") main.replaceChildren();
      throw error;
    }
  });
  if (mine.signal.aborted) return;
  main.dataset.place = shownPlace; // a change of the address is shown a moment later
  main.setAttribute("aria-busy", "false");
  if (!isNew) return;
  const left = [...main.querySelectorAll("a.open")].find((each) => former && each.getAttribute("href") === former);
  if (left) focusRow(left); // where the reader was
  else if (view !== "search") { window.scrollTo(0, 0); main.focus({ preventScroll: true }); }
}

function submitSearch() {
  const wanted = address("search", searchParameters());
  if (wanted === location.hash) show(); else location.hash = wanted;
}

form.addEventListener("submit", (event) => { event.preventDefault(); submitSearch(); });
form.addEventListener("change", (event) => { if (event.target.matches("select, [type=checkbox]")) submitSearch(); });
byId("clear-filters").addEventListener("click", () => {
  for (const name of ["kind", "status", "session", "user", "project"]) form.elements[name].value = "";
  for (const name of FLAGS) form.elements[name].checked = false;
  submitSearch();
});
byId("keys-button").addEventListener("click", () => byId("keys").showModal());
byId("keys-close").addEventListener("click", () => byId("keys").close());
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", show);

function move(step) {
  const rows = [...main.querySelectorAll("a.open")];
  if (!rows.length) return;
  const row = document.activeElement.closest?.(".row, tr");
  const here = rows.findIndex((each) => each === document.activeElement || (row && row.contains(each)));
  const next = here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step));
  focusRow(rows[next]);
}

function focusRow(link) {
  const folded = link.closest("details:not([open])");
  if (folded) folded.open = true;
  link.focus();
  link.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => { if (form.hidden) { location.hash = "#/search"; setTimeout(() => form.elements.q.focus()); } else { form.elements.q.focus(); form.elements.q.select(); } },
  j: () => move(1),
  k: () => move(-1),
  e: () => {
    const row = document.activeElement.closest(".row") || main.querySelector(".row");
    const details = row?.querySelector("details");
    if (details) details.open = !details.open;
  },
  n: () => byId("why-not-id")?.focus(),
  1: () => { location.hash = "#/search"; },
  2: () => { location.hash = "#/dreams"; },
  3: () => { location.hash = "#/store"; },
  "?": () => byId("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
  const isField = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (isField) event.target.blur();
    else location.hash = lastView;
    return;
  }
  if (event.target === form.elements.q && event.key === "ArrowDown") {
    event.preventDefault();
    move(1);
  }
  if (isField || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

show().then(() => { if (place().view === "search" && document.activeElement === document.body) form.elements.q.focus(); });
