"use strict";
// What every page of this server needs: who asks, in which language, and one way to put words on the page. Words come
// into the page as text, never as HTML: names of shops and errors of platforms are other people's.
const KEPT = "fleetdeck-token";
const words = document.body.dataset;
const byId = (name) => document.getElementById(name);

const token = {
  get() { try { return localStorage.getItem(KEPT) || ""; } catch { return this.here || ""; } },
  set(text) { this.here = text; try { text ? localStorage.setItem(KEPT, text) : localStorage.removeItem(KEPT); } catch { /* private window */ } },
};

// a link for a phone may carry the token behind the #, which no browser sends and no log of a server keeps
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  token.set(given.trim());
  history.replaceState(null, "", location.pathname + location.search);
}

async function ask(path) {
  const headers = { "Accept-Language": document.documentElement.lang };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  const stop = new AbortController();
  const late = setTimeout(() => stop.abort(), 20000);
  try {
    const answer = await fetch(path, { headers, cache: "no-store", signal: stop.signal });
    let document_ = null;
    try { document_ = await answer.json(); } catch { /* something between that speaks no JSON */ }
    return { status: answer.status, document: document_ };
  } catch {
    return { status: 0, document: null };
  } finally {
    clearTimeout(late);
  }
}

function made(name, text, kind) {
  const found = document.createElement(name);
  if (text !== undefined && text !== null) found.textContent = text;
  if (kind) found.className = kind;
  return found;
}

function tell(text) {
  byId("news").textContent = text;
  byId("news").hidden = !text;
}

function letIn(wrong) {
  byId("main").hidden = true;
  byId("entry").hidden = false;
  tell(wrong ? words.wrongToken : "");
}

byId("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(byId("token").value.trim());
  byId("token").value = "";
  byId("entry").hidden = true;
  byId("main").hidden = false;
  begin();
});

byId("forget").addEventListener("click", () => {
  token.set("");
  location.reload();
});

function entered() {
  byId("entry").hidden = true;
  byId("main").hidden = false;
  byId("forget").hidden = !token.get();
}

addEventListener("DOMContentLoaded", () => begin());
