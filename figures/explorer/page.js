// The explorer's program: filters the rows, draws them, and keeps what is chosen in the address of the page.
const DATA = JSON.parse(document.getElementById("data").textContent);
const FORM = document.getElementById("controls");
const DOWNLOAD = { id: "download", name: "Download everything", colour: "#000000", shape: "M.9,.9L.1,.9L.1,-.1L-.9,-.1L-.9,-.9L.9,-.9Z" };
const PROTOCOLS = new Map([...DATA.protocols, DOWNLOAD].map((p) => [p.id, p]));
const METRICS = new Map(DATA.metrics.map((m) => [m.key, m]));
const PRESETS = { "100 Mbit/s, 50 ms": [50, 100], "50 Mbit/s, 20 ms": [20, 50], "1 Gbit/s, 10 ms": [10, 1000], "10 Mbit/s, 80 ms": [80, 10] };
const MOST_LINES = 300;

// Rows as objects, with what does not depend on any choice.
const ROWS = DATA.rows.map((values) => Object.fromEntries(DATA.columns.map((name, i) => [name, values[i]])));
for (const row of ROWS) complete(row);

function protocolName(protocol) {
  return PROTOCOLS.get(protocol)?.name ?? protocol;
}

function complete(row) {
  row.database = row.records * row.record_bits / 8;
  row.record_bytes = row.record_bits / 8;
  row.answer_each = row.answer_s === null ? null : row.answer_s / row.queries;
  row.rate = row.answer_s ? row.database / row.answer_each : null;
  row.shape = `${row.records} ${row.record_bits}`;
  row.name = protocolName(row.protocol);
  return row;
}

function power(value) {
  const log2 = Math.log2(value);
  return value >= 1024 && Number.isInteger(log2) ? `2^${log2}` : value.toLocaleString("en");
}

// Three digits.
function significant(value) {
  if (value === 0) return "0";
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return decimals > 100 ? value.toExponential(2) : value.toFixed(decimals);
}

function scaled(value, units) {
  const [unit, factor] = units.find(([, factor]) => value >= factor) ?? units.at(-1);
  return `${significant(value / factor)} ${unit}`;
}

const WRITTEN = {
  bytes: (v) => Number.isInteger(v) && v < 1024 ? `${v} B` : scaled(v, [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]]),
  seconds: (v) => scaled(v, [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]),
  number: power,
  bits: (v) => v.toFixed(1),
  power: (v) => `2^${v.toFixed(1)}`,
  dollars: (v) => `$${significant(v)}`,
};

function written(key, value) {
  return value === null || value === undefined || Number.isNaN(value) ? "" : WRITTEN[METRICS.get(key).written](value);
}

function logarithmic(key) {
  return !["bits", "power"].includes(METRICS.get(key).written);
}

// Controls

function shapeText(row) {
  return `${power(row.records)} x ${row.record_bits % 8 ? `${row.record_bits} bit` : WRITTEN.bytes(row.record_bytes)}`;
}

function option(select, value, text) {
  select.add(new Option(text, value));
}

function fill() {
  const shapes = new Map(ROWS.map((row) => [row.shape, row]));
  const ordered = [...shapes.values()].sort((a, b) => a.database - b.database || a.record_bits - b.record_bits);
  option(FORM.shape, "", "all databases");
  for (const row of ordered) option(FORM.shape, row.shape, shapeText(row));
  option(FORM.machine, "", "all, kept apart");
  for (const machine of new Set(ROWS.map((row) => row.machine).filter(Boolean))) option(FORM.machine, machine, machine);
  option(FORM.preset, "", "as given");
  for (const name of Object.keys(PRESETS)) option(FORM.preset, name, name);
  for (const { key, name } of DATA.metrics) for (const axis of ["x", "y"]) option(FORM[axis], key, name);
  const box = document.getElementById("protocols");
  for (const { id, name, colour } of DATA.protocols) {
    const label = document.createElement("label");
    label.innerHTML = `<input type=checkbox name=protocol> <span></span>`;
    label.querySelector("input").value = id;
    label.querySelector("span").style.background = colour;
    label.append(name);
    box.append(label);
  }
}

const DEFAULTS = {
  shape: "", preset: "", ...DATA.network, stateless: false, least_security: 128, most_failure: -40, most_hint: "", most_keys: "", most_server: "", most_client: "",
  least_records: "", most_records: "", least_bytes: "", most_bytes: "",
  batches: false, parallel: false, measured: true, predicted: true, searched: true, download_all: true, machine: "", x: "traffic", y: "total", colour: "protocol", front: true,
  ...DATA.prices,
};

// What no field of the form has, and the address does: the row whose details are shown, and the column that sorts the table.
let opened = "", sorted = ["total", 1];

// A row without a record gets a short name made of all that distinguishes it.
function nameOf(row) {
  const all = [row.set, row.shape, row.status, row.machine, row.parameters].join();
  return row.id ?? `${row.protocol}-${[...all].reduce((hash, letter) => Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0, 2166136261).toString(36)}`;
}

function protocolBoxes() {
  return [...FORM.querySelectorAll("input[name=protocol]")];
}

function put() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const given = state.get(name) ?? value;
    if (FORM[name].type === "checkbox") FORM[name].checked = given === true || given === "true";
    else FORM[name].value = given;
  }
  opened = state.get("open") ?? "";
  const [by, direction] = (state.get("sort") ?? "total").split(" ");
  sorted = [by, direction ? -1 : 1];
  const hidden = new Set((state.get("without") ?? "").split(",").filter(Boolean));
  for (const box of protocolBoxes()) box.checked = !hidden.has(box.value);
}

function chosen() {
  const found = {};
  for (const name of Object.keys(DEFAULTS)) {
    const field = FORM[name];
    found[name] = field.type === "checkbox" ? field.checked : field.type === "number" ? (field.value === "" ? null : Number(field.value)) : field.value;
  }
  found.without = protocolBoxes().filter((box) => !box.checked).map((box) => box.value);
  return found;
}

function remember(state) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) if (String(state[name] ?? "") !== String(value)) words.set(name, state[name] ?? "");
  if (state.without.length) words.set("without", state.without.join(","));
  if (opened) words.set("open", opened);
  if (sorted.join() !== "total,1") words.set("sort", `${sorted[0]}${sorted[1] < 0 ? " down" : ""}`);
  history.replaceState(null, "", `#${words}`);
}

// What depends on network and prices

// As `pirlab-search` scores sets: a round trip, the bytes of query and answer and a share of the hint, the server's and the client's
// seconds, all of a whole request. Prices are of its queries, one by one.
function scored(row, state) {
  const share = (row.hint ?? 0) * row.queries / (row.serves ?? state.hint_queries ?? row.queries);
  const traffic = row.upload + row.download + share;
  const client = (row.query_s ?? 0) + (row.extract_s ?? 0);
  const total = state.round_trip / 1000 + traffic * 8 / (1e6 * state.bandwidth) + row.answer_s + client;
  const price = 1e6 / row.queries * (state.core_hour / 3600 * row.threads * row.answer_s + state.gigabyte / 1e9 * (row.download + share));
  return { ...row, traffic, traffic_each: traffic / row.queries, total, price };
}

// At each database of these rows and on each machine: the server reads the whole database, in seconds that only unit costs say.
function downloads(rows) {
  const places = new Map(rows.filter((row) => row.machine).map((row) => [`${row.shape} ${row.machine}`, row]));
  return [...places.values()].map(({ records, record_bits, machine }) => {
    const size = Math.ceil(records * record_bits / 8), costs = DATA.costs[machine];
    return complete({
      protocol: DOWNLOAD.id, set: "", records, record_bits, queries: 1, threads: 1, status: "computed", security: null, failure: null, upload: 0, parameters: null,
      download: size, hint: 0, keys: 0, serves: null, query_s: 0, answer_s: costs ? size * costs.read_s : null, extract_s: 0, setup_s: 0, client: 0,
      server: size, machine, marks: "", place: "", id: null, command: "",
    });
  });
}

function kept(state) {
  const within = (value, most, unit = 1) => most === null || value === null || value <= most * unit;
  const between = (value, least, most) => (least === null || value >= least) && within(value, most);
  const wanted = (row) => (!state.shape || row.shape === state.shape) && between(row.records, state.least_records, state.most_records)
    && between(row.record_bytes, state.least_bytes, state.most_bytes) && (!state.machine || !row.machine || row.machine === state.machine);
  const rows = ROWS.filter((row) => wanted(row) && state[row.status] && !state.without.includes(row.protocol)
    && (state.batches || row.queries === 1) && (state.parallel || row.threads === 1)
    && (!state.least_security || (row.security ?? 0) >= state.least_security)
    && (state.most_failure === null || (row.failure ?? -1e9) <= state.most_failure)
    && (!state.stateless || ((row.hint ?? 0) <= DATA.seeds && !row.serves))
    && within(row.hint, state.most_hint, 2 ** 20)
    && within(row.keys, state.most_keys, 2 ** 20)
    && within(row.server, state.most_server, 2 ** 30)
    && within(row.client, state.most_client, 2 ** 20));
  const all = state.download_all ? rows.concat(downloads(ROWS.filter(wanted))) : rows;
  return all.map((row) => scored(row, state));
}

// What no other row of the same database undercuts in both axes; of a rate more is better.
function frontOf(rows, x, y) {
  const cost = (row, key) => (key === "rate" || key === "security" ? -row[key] : row[key]);
  const ordered = [...rows].sort((a, b) => cost(a, x) - cost(b, x) || cost(a, y) - cost(b, y));
  let least = Infinity;
  return ordered.filter((row) => cost(row, y) < least && ((least = cost(row, y)), true));
}

// Showing

// How the protocols of these rows look: their `colour` or their `shape`.
function looks(rows, key) {
  const seen = [...PROTOCOLS.values()].filter(({ id }) => rows.some((row) => row.protocol === id));
  return { field: "name", type: "nominal", title: "Protocol", scale: { domain: seen.map((p) => p.name), range: seen.map((p) => p[key]) } };
}

function colours(rows, by) {
  if (by === "protocol") return looks(rows, "colour");
  return { field: by, type: "quantitative", title: METRICS.get(by).name, scale: { scheme: "viridis", type: logarithmic(by) ? "log" : "linear" } };
}

// Powers of ten; over few of them twice and five times these, too.
function ticks(values) {
  const least = Math.log10(Math.min(...values)), most = Math.log10(Math.max(...values)), steps = most - least > 3 ? [1] : [1, 2, 5];
  const powers = Array.from({ length: Math.ceil(most) - Math.floor(least) + 1 }, (_, i) => Math.floor(least) + i);
  return powers.flatMap((power) => steps.map((step) => step * 10 ** power));
}

function axis(key, rows) {
  const { name, written: form } = METRICS.get(key);
  const log = logarithmic(key);
  const label = { bytes: "format(datum.value, '~s') + 'B'", seconds: "datum.value < 1 ? format(datum.value, '~s') + 's' : format(datum.value, ',') + ' s'" }[form];
  const marks = { grid: true, ...(log && { values: ticks(rows.map((row) => row[key])) }), ...(label && { labelExpr: label }) };
  return { field: key, type: "quantitative", title: name, scale: log ? { type: "log", nice: true } : { zero: false }, axis: marks };
}

let embedded = null;

async function draw(rows, front, state) {
  document.getElementById("chart").hidden = !rows.length;
  if (!rows.length) return;
  const [x, y] = [state.x, state.y].map((key) => axis(key, rows));
  const encoding = {
    x, y, color: colours(rows, state.colour), shape: looks(rows, "shape"),
    size: { condition: { test: "datum.status === 'searched'", value: 28 }, value: 75 },
    tooltip: [{ field: "name", title: "protocol" }, { field: "set" }, { field: "status" }, { field: "text_x", title: METRICS.get(state.x).name }, { field: "text_y", title: METRICS.get(state.y).name }, { field: "text_security", title: "security, bits" }],
  };
  const points = (filled) => ({ data: { values: rows.filter((row) => (row.status === "measured") === filled) }, mark: { type: "point", filled, opacity: 0.9, strokeWidth: 1.4 }, encoding });
  const line = { data: { values: front }, mark: { type: "line", interpolate: "step-after", color: "#444", strokeDash: [5, 3], strokeWidth: 1.2 }, encoding: { x, y, detail: { field: "of" }, order: { field: state.x } } };
  // Names beside the front's points tell them apart without colours: one where the next protocol begins.
  const begin = front.filter((row, i) => row.of !== front[i - 1]?.of || row.name !== front[i - 1].name);
  const names = { data: { values: begin }, mark: { type: "text", align: "left", dx: 7, dy: -7, fontSize: 10 }, encoding: { x, y, text: { field: "name" } } };
  // The legend stands beside the chart, or below where that leaves too little.
  const room = document.getElementById("chart").clientWidth, narrow = room < 700, width = narrow ? room - 115 : Math.min(900, room - 290);
  const legend = { labelFontSize: 12, symbolSize: 90, labelLimit: 220, ...(narrow && { orient: "bottom", columns: 2 }) };
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json", width, height: 430, background: "white",
    config: { axis: { labelFontSize: 12, titleFontSize: 13 }, axisX: { titleLimit: width }, axisY: { titleLimit: 430 }, legend },
    layer: [...(front.length > 1 ? [line, names] : []), points(false), points(true)].filter((layer) => layer.data.values.length),
  };
  embedded?.finalize();
  embedded = await vegaEmbed("#chart", spec, { actions: { export: true, source: false, compiled: false, editor: false }, renderer: "svg" });
  embedded.view.addEventListener("click", (event, item) => item?.datum?.protocol && open(item.datum));
}

const HEADERS = { name: "Protocol", set: "Set", status: "Row", shape_text: "Database", queries: "Queries", threads: "Threads", total: "Time", price: "Million queries", answer_s: "Answer", upload: "Query", download: "Answer bytes", hint: "Hint, keys", server: "Server", client: "Client", setup_s: "Preprocessing", security: "Security", failure: "Failure", machine: "Machine" };

function cell(row, key) {
  if (key === "shape_text") return shapeText(row);
  if (key === "security") return row.security === null ? "" : `${written(key, row.security)}${row.marks}`;
  return METRICS.has(key) ? written(key, row[key]) : row[key] ?? "";
}

function tabulate(rows) {
  const table = document.getElementById("table"), [by, direction] = sorted;
  const value = (row) => (by === "shape_text" ? row.database : row[by]);
  const ordered = [...rows].sort((a, b) => {
    const [l, r] = [value(a), value(b)];
    return direction * (l === r ? 0 : l === null || l === undefined ? 1 : r === null || r === undefined ? -1 : l < r ? -1 : 1);
  });
  const head = document.createElement("tr");
  for (const [key, text] of Object.entries(HEADERS)) {
    const th = head.appendChild(document.createElement("th")), button = th.appendChild(document.createElement("button"));
    button.textContent = text;
    if (key === by) th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    button.onclick = () => { sorted = [key, by === key ? -direction : 1]; remember(chosen()); tabulate(rows); };
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...ordered.slice(0, MOST_LINES).map((row) => {
    const line = document.createElement("tr");
    line.tabIndex = 0;
    for (const key of Object.keys(HEADERS)) line.insertCell().textContent = cell(row, key);
    line.onclick = () => open(row);
    line.onkeydown = (event) => {
      const act = { Enter: () => open(row), " ": () => open(row), ArrowDown: () => line.nextSibling?.focus(), ArrowUp: () => line.previousSibling?.focus() }[event.key];
      if (act) { event.preventDefault(); act(); }
    };
    return line;
  }));
  document.getElementById("more").textContent = rows.length > MOST_LINES ? `The first ${MOST_LINES} of ${rows.length} rows.` : `${rows.length} rows.`;
}

function open(row) {
  opened = nameOf(row);
  remember(chosen());
  detail(row);
  document.getElementById("detail").scrollIntoView({ block: "nearest" });
}

function detail(row) {
  const box = document.getElementById("detail"), list = document.createElement("dl"), title = document.createElement("h2");
  title.textContent = `${row.name} ${row.set}`;
  const marks = [...row.marks].filter((mark) => DATA.marks[mark]).map((mark) => `${mark} ${DATA.marks[mark]}`).join("; ");
  const lines = [["Database", cell(row, "shape_text")], ["Row", row.status], ["Queries in a request", row.queries], ["Threads", row.threads], ["Machine", row.machine],
    ...DATA.metrics.filter((m) => !["records", "record_bytes"].includes(m.key)).map((m) => [m.name, written(m.key, row[m.key])]),
    ["Set", row.parameters], ["Marks", marks], ["Experiment and row", row.place], ["Record", row.id], ["File of the record", row.file]];
  for (const [name, value] of lines) if (value !== null && value !== undefined && value !== "") {
    list.appendChild(document.createElement("dt")).textContent = name;
    list.appendChild(document.createElement("dd")).textContent = value;
  }
  box.replaceChildren(title, list);
  command(box, row.status === "searched" ? "This search finds it" : "This command measures it", row.command);
  command(box, "This command prints the record", DATA.show && row.file && `${DATA.show} ${row.id}`);
  const { seconds, bytes, number } = WRITTEN;
  listed(["Phase", "Median", "First quartile", "Third quartile", "Samples"], row.phases?.map(([name, low, median, high, count]) =>
    [name, seconds(median), ...(count > 1 ? [seconds(low), seconds(high)] : ["", ""]), row.file ? number(count) : "predicted"]));
  listed(["Noise, measured", "Standard deviations to the threshold", "Samples"], row.margins?.map(([name, margin, count]) => [name, margin < 1000 ? significant(margin) : margin.toExponential(1), number(count)]));
  listed(["Memory", "Of", "Bytes"], row.held?.map(([side, name, count]) => [name, side, bytes(count)]));
  box.hidden = false;
}

function command(box, what, words) {
  if (!words) return;
  const line = box.appendChild(document.createElement("p"));
  line.textContent = `${what}: `;
  line.appendChild(document.createElement("code")).textContent = words;
}

function listed(heads, lines) {
  if (!lines?.length) return;
  const table = document.getElementById("detail").appendChild(document.createElement("table"));
  for (const head of [heads, ...lines]) {
    const line = table.insertRow();
    for (const text of head) line.appendChild(document.createElement(head === heads ? "th" : "td")).textContent = text;
  }
}

// Rows of each machine, with those of an unknown one; times of two machines are never compared.
function byMachine(rows) {
  const machines = new Set(rows.map((row) => row.machine).filter(Boolean));
  return [...machines].map((machine) => [machine, rows.filter((row) => !row.machine || row.machine === machine)]);
}

function answer(rows, state) {
  const of = rows.filter((row) => Number.isFinite(row.total));
  const lines = [];
  if (!of.length) lines.push("No row keeps these demands.");
  else if (!state.shape) lines.push(`${rows.length} rows at ${new Set(rows.map((row) => row.shape)).size} databases. Choose a database to see which protocol is fastest.`);
  else for (const [machine, own] of byMachine(of)) lines.push(`${ranking(own)} (${machine})`);
  document.getElementById("answer").replaceChildren(...lines.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
  const box = document.getElementById("search");
  box.replaceChildren();
  if (state.shape) for (const [machine] of byMachine(of)) command(box, `${known(state, machine)}This search answers the same question by predicted times`, question(state, machine));
  const refused = DATA.refused.filter(([protocol, records, bits]) => state.shape === `${records} ${bits}` && !state.without.includes(protocol));
  document.getElementById("refused").textContent = refused.length ? `No committed set serves this database: ${refused.map(([protocol, , , reason]) => `${protocolName(protocol)} (${reason})`).join("; ")}` : "";
}

// What the answer knows less of than the search that asks the same.
function known(state, machine) {
  if (!ROWS.some((row) => row.shape === state.shape && row.status === "searched" && row.machine === machine)) return "No search was made at this database: only committed sets are known here. ";
  const targets = ["least_security", "most_failure"];
  return targets.every((name) => state[name] === DEFAULTS[name]) ? "" : `The found sets are of a search for ${DEFAULTS.least_security} bits and a failure of 2^${DEFAULTS.most_failure}. `;
}

// The search for the best set of each protocol by the same demands and the machine's unit costs. It always has both targets, and no bound on stored keys.
function question(state, machine) {
  if (!DATA.costs[machine] || !state.least_security || !state.most_failure || state.most_keys !== null) return null;
  const [records, bits] = state.shape.split(" ");
  const other = (name, option) => (state[name] === DEFAULTS[name] ? [] : [option, state[name] ?? 1]);
  const most = (name, option, unit) => (state[name] === null ? [] : [option, `${state[name]}${unit}`]);
  return ["pirlab-search", "--protocol", "all", "--records", records, "--record-bits", bits, ...other("least_security", "--security"), ...other("most_failure", "--failure"),
    ...(state.stateless ? ["--stateless"] : most("most_hint", "--max-offline", "MiB")), ...most("most_server", "--max-memory", "GiB"), ...most("most_client", "--max-storage", "MiB"),
    ...other("hint_queries", "--hint-queries"), "--network", `${state.round_trip ?? 0}ms,${state.bandwidth}Mbit`, "--costs", DATA.costs[machine].file].join(" ");
}

// The protocols of one machine by their least total time, and which costs least.
function ranking(rows) {
  const best = new Map();
  for (const row of [...rows].sort((a, b) => a.total - b.total || a.answer_s - b.answer_s)) if (!best.has(row.protocol)) best.set(row.protocol, row);
  const said = (key) => (row) => `${row.name}${row.set ? ` (${row.set}, ${row.status})` : ""} ${written(key, row[key])}`;
  const [first, ...others] = [...best.values()].map(said("total"));
  const cheapest = rows.reduce((least, row) => (row.price < least.price ? row : least));
  return `Fastest from question to record: ${first}${others.length ? `; then ${others.slice(0, 3).join(", ")}` : ""}. Least price of a million queries: ${said("price")(cheapest)}`;
}

async function show() {
  const state = chosen();
  remember(state);
  const rows = kept(state);
  for (const row of rows) Object.assign(row, { text_x: written(state.x, row[state.x]), text_y: written(state.y, row[state.y]), text_security: written("security", row.security) });
  const drawn = rows.filter((row) => [state.x, state.y].every((key) => row[key] !== null && Number.isFinite(row[key]) && (!logarithmic(key) || row[key] > 0)));
  answer(rows, state);
  tabulate(rows);
  const row = rows.find((row) => nameOf(row) === opened);
  if (row) detail(row);
  else document.getElementById("detail").hidden = true;
  const fronts = state.front && state.shape ? byMachine(drawn).flatMap(([of, own]) => frontOf(own, state.x, state.y).map((row) => ({ ...row, of }))) : [];
  await draw(drawn, fronts, state);
}

fill();
put();
FORM.preset.onchange = () => {
  const found = PRESETS[FORM.preset.value];
  if (found) [FORM.round_trip.value, FORM.bandwidth.value] = found;
};
for (const field of [FORM.round_trip, FORM.bandwidth]) field.onchange = () => { FORM.preset.value = ""; };
for (const [id, checked] of [["all", true], ["none", false]]) document.getElementById(id).onclick = () => { for (const box of protocolBoxes()) box.checked = checked; show(); };
FORM.addEventListener("change", show);
FORM.addEventListener("submit", (event) => event.preventDefault());
window.addEventListener("hashchange", () => { put(); show(); });
await show();
window.shown = () => kept(chosen());
