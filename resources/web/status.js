"use strict";
const EVERY_MS = 10000;
const OF_SEVERITY = { dead: "bad", stuck: "bad", warning: "warning", blocked: "warning", paused: "warning" };
const OF_PROMISE = { broken: "bad", at_risk: "warning", kept: "good" };
const OF_ALERT = { critical: "bad", warning: "warning" };
let heard = 0;
let waiting = 0;

async function begin() {
  clearTimeout(waiting);
  const { status, document: told } = await ask("api/v1/status");
  if (status === 401) return letIn(Boolean(token.get()));
  entered();
  if (status === 200 && told) {
    heard = Date.now();
    tell("");
    show(told);
  } else {
    tell(status === 503 ? words.unavailable : status === 429 ? words.tooMany : status === 0 ? words.noAnswer : (told && told.detail) || words.noAnswer);
  }
  age();
  waiting = setTimeout(begin, document.hidden ? 6 * EVERY_MS : EVERY_MS);
}

function show(told) {
  const parts = [];
  parts.push(made("h1", told.headline, mood(told)));
  const numbers = made("ul", null, "numbers");
  for (const one of told.counts) {
    const cell = made("li");
    cell.append(made("b", one.number.toLocaleString(words.locale)), made("span", one.word));
    numbers.append(cell);
  }
  parts.push(numbers);
  part(parts, words.needsPerson, told.needs_person, words.nothing, (one) =>
    row(OF_SEVERITY[one.severity] || "", "", one.title, [one.text], one.since));
  if (told.more) parts.push(made("p", words.andMore.replace("{n}", told.more.toLocaleString(words.locale)), "quiet"));
  part(parts, words.alerts, told.alerts, "", (one) =>
    row(OF_ALERT[one.severity] || "", one.word, one.title, [one.extent], one.since));
  part(parts, words.promises, told.promises, words.noPromises, (one) =>
    row(OF_PROMISE[one.state] || "", one.stale ? words.stale : one.word, one.name, one.why, ""));
  byId("main").replaceChildren(...parts);
}

function mood(told) {
  if (told.state === "lost" || told.needs_person.some((one) => OF_SEVERITY[one.severity] === "bad")) return "bad";
  return told.needs_person.length ? "warning" : told.state;
}

function part(parts, title, rows, none, written) {
  if (!rows.length && !none) return;
  parts.push(made("h2", title));
  if (!rows.length) return void parts.push(made("p", none, "quiet"));
  const list = made("ul", null, "rows");
  list.append(...rows.map(written));
  parts.push(list);
}

function row(kind, word, title, lines, since) {
  const found = made("li", null, kind);
  if (word) found.append(made("span", word, "word"));
  found.append(made("b", title));
  for (const line of lines) if (line) found.append(made("p", line));
  if (since) found.append(made("p", words.since.replace("{at}", moment(since)), "quiet"));
  return found;
}

function moment(text) {
  const at = new Date(text);
  const today = at.toDateString() === new Date().toDateString();
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return at.toLocaleString(words.locale, today ? clock : { month: "short", day: "numeric", ...clock });
}

function age() {
  const seconds = heard ? Math.round((Date.now() - heard) / 1000) : -1;
  byId("main").classList.toggle("old", seconds * 1000 > 3 * EVERY_MS || (heard > 0 && !byId("news").hidden));
  const format = new Intl.RelativeTimeFormat(words.locale, { numeric: "auto" });
  byId("age").textContent = seconds < 0 ? "" : seconds < 90 ? format.format(-seconds, "second") : format.format(-Math.round(seconds / 60), "minute");
}

setInterval(age, 1000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) begin(); });
