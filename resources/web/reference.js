"use strict";
// What can be asked, out of the server's own description: no script, style or font from elsewhere is needed to read it.
async function begin() {
  const { status, document: told } = await ask("api/v1/openapi.json");
  if (status === 401) return letIn(Boolean(token.get()));
  entered();
  if (status !== 200 || !told) return tell((told && told.detail) || words.noAnswer);
  tell("");
  document.body.classList.add("wide");
  const parts = [made("h1", `${told.info.title} ${told.info.version}`), made("p", told.info.description)];
  const sections = new Map();
  for (const [path, methods] of Object.entries(told.paths)) {
    for (const [method, one] of Object.entries(methods)) {
      const tag = (one.tags || [""])[0];
      if (!sections.has(tag)) sections.set(tag, []);
      sections.get(tag).push(route(told, method.toUpperCase(), path, one));
    }
  }
  for (const [tag, rows] of sections) parts.push(made("h2", tag), ...rows);
  byId("main").replaceChildren(...parts);
}

function route(told, method, path, one) {
  const found = made("details");
  const head = made("summary");
  head.append(made("code", `${method} ${path}`), document.createTextNode(` ${one.summary || ""}`));
  found.append(head);
  if (one.description) found.append(made("p", one.description, "quiet"));
  const rows = (one.parameters || []).filter((each) => each.in !== "header" || each.name === "last-event-id")
    .map((each) => [each.name, kind(told, each.schema), each.description || each.schema.description || ""]);
  const body = one.requestBody && one.requestBody.content["application/json"];
  const filled = {};
  if (body) {
    for (const [name, each] of Object.entries(fields(told, body.schema))) {
      rows.push([name, kind(told, each), each.description || ""]);
      if (each.default === undefined) filled[name] = sample(told, each);
    }
  }
  if (rows.length) {
    const table = made("table");
    for (const row of rows) {
      const line = made("tr");
      const name = made("td");
      name.append(made("code", row[0]));
      line.append(name, made("td", row[1]), made("td", row[2]));
      table.append(line);
    }
    found.append(table);
  }
  const line = [`curl -H "Authorization: Bearer $TOKEN"`];
  if (method !== "GET") line.push(`-X ${method} -H 'Content-Type: application/json' -d '${JSON.stringify(filled)}'`);
  line.push(`'${location.origin}${path}'`);
  found.append(made("pre", line.join(" \\\n  ")));
  return found;
}

const meant = (told, schema) => (schema && schema.$ref ? told.components.schemas[schema.$ref.split("/").pop()] : schema) || {};

function fields(told, schema) {
  const found = meant(told, schema);
  const some = found.anyOf && found.anyOf.map((one) => meant(told, one)).find((one) => one.properties);
  return found.properties || (some && some.properties) || {};
}

function kind(told, schema) {
  const found = meant(told, schema);
  if (found.enum) return found.enum.join(" | ");
  if (found.anyOf) return found.anyOf.map((one) => kind(told, one)).join(" | ");
  return found.type === "array" ? `[${kind(told, found.items)}]` : found.type || "";
}

function sample(told, schema) {
  const found = meant(told, schema);
  return { string: "…", integer: found.minimum || 1, number: 1, boolean: true, array: [], object: {} }[found.type] ?? null;
}
