"use strict";
/* Names come from binaries: nothing in them turns the direction of writing round. */
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const source = document.getElementById("data");
const data = JSON.parse(source.textContent, (key, value) => (typeof value === "string"
	? value.replace(unseen, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) : value));
const root = data.program;
/* An end of an interval that is so far from no change tells nothing, as in the other formats. */
const tellingFactor = Number(source.dataset.tellingFactor);
const ROW = 31, LEAST_WIDTH = 2, FULL_COLOUR = 0.25;

/* --- figures --- */
const some = x => typeof x === "number";
const digits = x => (Math.abs(x) >= 99.95 ? 0 : Math.abs(x) >= 9.995 ? 1 : 2);
function scaled(value, units) {
	let i = 0;
	while (i + 1 < units.length && Math.abs(value) < 0.9995 * units[i][0])
		i++;
	return (value / units[i][0]).toFixed(digits(value / units[i][0])) + " " + units[i][1];
}
function cost(value) {
	if (!some(value)) return "?";
	if (data.relative) return (100 * value).toFixed(digits(100 * value)) + " %";
	if (value === 0) return "0";
	if (data.unit === "ns")
		return scaled(value, [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]]);
	return scaled(value, [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]) + " " + data.unit;
}
function signed(value, text) {
	return (value < 0 ? "\u2212" : "+") + text(Math.abs(value));
}
const percent = x => signed(x, y => (100 * y).toFixed(100 * y >= 99.95 ? 0 : 100 * y >= 0.995 ? 1 : 2) + " %");
const isNew = node => node.base.cost === 0 && node.candidate.cost > 0;
const isGone = node => node.base.cost > 0 && node.candidate.cost === 0;
function change(node) {
	if (isNew(node)) return "new";
	if (isGone(node)) return "gone";
	return some(node.change.estimate) ? percent(node.change.estimate) : "?";
}
function interval(node) {
	const c = node.change;
	if (!some(c.estimate) || !some(c.low) || !some(c.high)) return "";
	if (1 + c.high <= tellingFactor) return percent(c.low) + " to " + percent(c.high);
	return 1 + c.low < 1 / tellingFactor ? "uncertain" : "at least " + percent(c.low);
}
const baseName = path => (path || "").replace(/.*\/(?=.)/, "");
const label = node => (node.scope === "program" ? "the program" : node.scope === "image" ? baseName(node.name)
	: node.scope === "line" && node.line ? baseName(node.file) + ":" + node.line : node.name);
const place = node => (node.file ? node.file + (node.line ? ":" + node.line : "") : "");
function direction(node) {
	if (!node.finding) return "even";
	return node.lost.estimate > 0 ? "worse" : "better";
}
const word = { worse: "\u25b2 slower", better: "\u25bc faster", even: "no change beyond noise" };

/* --- elements --- */
function make(tag, attributes, ...children) {
	const svg = ["svg", "g", "line", "circle", "rect", "text", "title"].includes(tag);
	const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
		: document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined) element.setAttribute(name, value);
	}
	element.append(...children.filter(child => child !== null));
	return element;
}
const at = id => document.getElementById(id);

/* --- colour: by how much, and faint where it may be noise --- */
function fill(node) {
	let by = isNew(node) ? 1 : isGone(node) ? -1 : node.change.estimate;
	if (!some(by) || node.base.cost + node.candidate.cost === 0) return "var(--even-fill)";
	by = Math.max(-1, Math.min(1, by / FULL_COLOUR));
	const name = by > 0 ? "--worse-fill" : "--better-fill";
	const strength = node.finding ? 0.35 + 0.6 * Math.abs(by) : Math.min(0.22, 0.3 * Math.abs(by));
	return "color-mix(in srgb, hsl(var(" + name + ")) " + Math.round(100 * strength) + "%, var(--even-fill))";
}

/* --- the tree: width is the mean of both sides' costs, so that parts add up --- */
let cells = [], zoomed = root, chosen = root;
const weight = node => Math.max(0, ((node.base.cost || 0) + (node.candidate.cost || 0)) / 2);
(function link(node, parent, depth) {
	node.parent = parent;
	node.depth = depth;
	for (const part of node.parts) link(part, node, depth + 1);
	node.weight = Math.max(weight(node), node.parts.reduce((sum, part) => sum + part.weight, 0));
})(root, null, 0);
function height(node) {
	return 1 + node.parts.reduce((most, part) => Math.max(most, height(part)), 0);
}
function draw() {
	const box = at("icicle"), width = box.clientWidth, ancestors = [];
	for (let node = zoomed.parent; node; node = node.parent) ancestors.unshift(node);
	cells = [];
	const place = (node, row, left, room) => {
		cells.push({ node, row, left, room });
		let x = left;
		for (const part of node.parts) {
			const wide = node.weight ? room * part.weight / node.weight : 0;
			if (wide >= LEAST_WIDTH) place(part, row + 1, x, wide);
			x += wide;
		}
	};
	ancestors.forEach((node, row) => cells.push({ node, row, left: 0, room: width }));
	place(zoomed, ancestors.length, 0, width);
	box.style.height = (ancestors.length + height(zoomed)) * ROW + "px";
	box.replaceChildren(...cells.map(cell => {
		const node = cell.node, text = label(node) + " " + change(node);
		const button = make("button", {
			type: "button", tabindex: node === chosen ? 0 : -1, "aria-current": node === chosen,
			"aria-label": node.scope + " " + label(node) + ": " + cost(node.base.cost) + " to "
				+ cost(node.candidate.cost) + ", " + change(node) + ", " + word[direction(node)],
			title: label(node) + "\n" + cost(node.base.cost) + " \u2192 " + cost(node.candidate.cost) + "  "
				+ change(node) + (interval(node) ? " (" + interval(node) + ")" : ""),
			class: node.finding ? "finding" : "",
			onclick: () => (node === chosen ? zoom(node) : choose(node, true)),
			onkeydown: event => key(event, cell),
		}, cell.room > 34 ? (node.finding ? (direction(node) === "worse" ? "\u25b2 " : "\u25bc ") : "") + text : "");
		button.style.left = cell.left + "px";
		button.style.top = cell.row * ROW + "px";
		button.style.width = Math.max(1, cell.room - 1) + "px";
		button.style.background = fill(node);
		if (cell.room < 16) button.style.padding = 0;
		cell.button = button;
		return button;
	}));
	if (!cells.some(cell => cell.node === chosen)) choose(zoomed, false);
	const path = [];
	for (let node = zoomed; node; node = node.parent) path.unshift(node);
	at("path").replaceChildren(...(zoomed === root ? [] : [make("button",
		{ type: "button", onclick: () => zoom(zoomed.parent) }, "\u2191 zoom out (Esc)")]));
}
function zoom(node) {
	zoomed = node.parts.length || !node.parent ? node : node.parent;
	chosen = node;
	draw();
	choose(node, true);
}
/* From as far out as it can be seen. */
function show(node) {
	const from = [node];
	for (let above = node.parent; above; above = above.parent) from.unshift(above);
	chosen = node;
	for (zoomed of from) {
		chosen = node;
		draw();
		if (cells.some(cell => cell.node === node)) break;
	}
	choose(node, true);
}
function key(event, cell) {
	const row = cells.filter(other => other.row === cell.row), i = row.indexOf(cell);
	const middle = cell.left + cell.room / 2;
	const near = depth => cells.filter(other => other.row === depth)
		.sort((a, b) => Math.abs(a.left + a.room / 2 - middle) - Math.abs(b.left + b.room / 2 - middle))[0];
	const first = cells.find(other => other.node.parent === cell.node);
	const target = { ArrowLeft: row[i - 1], ArrowRight: row[i + 1], ArrowUp: near(cell.row - 1),
		ArrowDown: first || near(cell.row + 1), Home: row[0], End: row[row.length - 1] }[event.key];
	if (target) choose(target.node, true);
	else if (event.key === "Enter" || event.key === " ") zoom(cell.node);
	else if (event.key === "Escape") zoom(zoomed.parent || root);
	else return;
	event.preventDefault();
}

/* --- what is chosen --- */
function fact(name, ...value) {
	return make("div", {}, make("span", {}, name), make("b", {}, ...value));
}
const sample = side => side.samples.toLocaleString("en") + " samples";
function codeTable(node) {
	const found = data.findings.find(other => same(other, node));
	if (!found || !found.code.length) return null;
	return make("div", { class: "scroll" }, make("table", { class: "code-rows" },
		make("thead", {}, make("tr", {}, ...["base", "candidate"].map(x => make("th", { class: "number" }, x)),
			make("th", {}, "line"), make("th", {}, "code (shaded where it differs)"))),
		make("tbody", {}, ...found.code.map(row => {
			const line = row.candidate.line || row.base.line;
			const old = row.base.text, now = row.candidate.text;
			return make("tr", { class: row.changed ? "changed" : "" },
				make("td", { class: "number" }, cost(row.base.cost)),
				make("td", { class: "number" }, cost(row.candidate.cost)),
				make("td", { class: "code" }, row.file ? baseName(row.file) + (line ? ":" + line : "") : ""),
				make("td", { class: "code" }, old && now && old !== now ? old + "  \u2192  " + now
					: now || (old ? old + "  (gone)" : "")));
		}))));
}
/* Whose calls the change is from. */
function callerList(node) {
	const found = data.findings.find(other => same(other, node));
	return found ? found.sentences.map(sentence => make("p", {}, sentence)) : [];
}
/* Blocks and lines inside that changed for certain themselves. */
function innerList(node) {
	const found = data.findings.find(other => same(other, node));
	if (node.scope !== "procedure" || !found) return [];
	return [...found.blocks, ...node.parts.filter(part => part.finding)].map(inner => {
		const extent = (inner.extent || {}).candidate || (inner.extent || {}).base;
		return make("p", {}, inner.scope + " ", make("code", {}, [extent ? extent.start + "\u2013" + extent.end : "",
			place(inner)].filter(Boolean).join("  ")), " ",
			cost(inner.base.cost) + " \u2192 " + cost(inner.candidate.cost) + ", ",
			make("span", { class: direction(inner) }, change(inner)));
	});
}
function choose(node, focus) {
	chosen = node;
	for (const cell of cells) {
		cell.button.tabIndex = cell.node === node ? 0 : -1;
		cell.button.setAttribute("aria-current", cell.node === node);
		if (cell.node === node && focus) cell.button.focus({ preventScroll: true });
	}
	const how = direction(node);
	at("detail").replaceChildren(
		make("h3", {}, node.scope === "program" ? "The program" : node.scope + " ",
			node.scope === "program" ? "" : make("code", {}, label(node)),
			node.former_name ? make("span", { class: "soft" }, " was " + node.former_name) : ""),
		make("p", { class: "soft code" }, [place(node), node.scope === "program" ? "" : node.image]
			.filter(Boolean).join("  \u00b7  ")),
		make("div", { class: "facts" },
			fact("base, " + sample(node.base), cost(node.base.cost)),
			fact("candidate, " + sample(node.candidate), cost(node.candidate.cost)),
			fact(interval(node) || "change", make("span", { class: how },
				change(node))),
			some(node.q) ? fact("false discovery rate", node.q.toPrecision(2)) : null,
			some(node.smallest_change) && !isNew(node) ? fact("could have been seen from", percent(node.smallest_change)) : null,
			fact("judged", make("span", { class: how },
				node.shift ? "cost moved" : word[how]))),
		...node.shifts.map(shift => make("p", {}, cost(Math.abs(shift.cost)) + (shift.cost >= 0
			? " of it came from " : " of it went to "), make("code", {}, shift.name),
			shift.why ? " (" + shift.why + ")" : "")),
		...callerList(node), ...innerList(node), codeTable(node) || "");
}

/* --- runs: each a dot --- */
function runs() {
	const sides = [data.base, data.candidate], all = sides.flatMap(side => side.epochs.map(e => e.cost)).filter(some);
	if (!all.length || data.relative) return;
	const low = Math.min(...all), high = Math.max(...all), pad = (high - low) * 0.08 || high * 0.01 || 1;
	const W = 520, left = 84, x = v => left + (W - left - 16) * (v - low + pad) / (high - low + 2 * pad);
	const picture = make("svg", { viewBox: "0 0 " + W + " 118", width: "100%", role: "img",
		"aria-label": "cost of each recorded epoch, base above candidate" });
	sides.forEach((side, row) => {
		const y = 30 + 38 * row;
		picture.append(make("text", { x: 0, y: y + 4, class: "label" }, row ? "candidate" : "base"),
			make("line", { x1: left, x2: W - 16, y1: y, y2: y, class: "axis" }),
			...side.epochs.filter(e => some(e.cost)).map(e => make("circle", { cx: x(e.cost), cy: y, r: 5.5,
				fill: row ? "var(--focus)" : "var(--even)", "fill-opacity": 0.6 },
				make("title", {}, (e.label || e.epoch) + ": " + cost(e.cost)))));
	});
	picture.append(make("text", { x: left, y: 106 }, cost(low)),
		make("text", { x: W - 16, y: 106, "text-anchor": "end" }, cost(high)));
	at("runs").append(picture);
}

/* --- findings: each an interval --- */
function intervals() {
	const shown = data.findings.filter(f => some(f.change.estimate) && some(f.change.low)).slice(0, 8);
	if (!data.relative && some(root.change.low) && !shown.some(f => f.scope === "program")) shown.unshift(root);
	if (!shown.length) return;
	const W = 520, left = 190, most = Math.max(data.min_change * 1.5,
		...shown.flatMap(f => [Math.abs(f.change.low), Math.abs(f.change.high)].map(v => Math.min(v, 2))));
	const x = v => left + (W - left - 12) * (Math.max(-most, Math.min(most, v)) + most) / (2 * most);
	const H = 26 * shown.length + 34;
	const picture = make("svg", { viewBox: "0 0 " + W + " " + H, width: "100%", role: "img",
		"aria-label": "changes with their 95 % intervals" },
		make("rect", { class: "floor", x: x(-data.min_change), width: x(data.min_change) - x(-data.min_change),
			y: 4, height: H - 30 }, make("title", {}, "changes too small to count")),
		make("line", { class: "zero", x1: x(0), x2: x(0), y1: 4, y2: H - 26 }));
	shown.forEach((f, row) => {
		const y = 20 + 26 * row, how = direction(f), text = label(f);
		picture.append(make("text", { x: 0, y: y + 4, class: "label" },
			text.length > 26 ? text.slice(0, 25) + "\u2026" : text, make("title", {}, text)),
			make("line", { x1: x(f.change.low), x2: x(f.change.high), y1: y, y2: y, stroke: "var(--" + how + ")",
				"stroke-width": 3 }),
			make("circle", { cx: x(f.change.estimate), cy: y, r: 5, fill: "var(--" + how + ")" },
				make("title", {}, change(f) + " (" + interval(f) + ")")));
	});
	picture.append(make("text", { x: x(-most), y: H - 6 }, percent(-most)),
		make("text", { x: x(0), y: H - 6, "text-anchor": "middle" }, "0"),
		make("text", { x: x(most), y: H - 6, "text-anchor": "end" }, percent(most)));
	at("intervals").append(picture);
}

/* --- the table --- */
const columns = [
	{ name: "what", text: label, by: node => label(node).toLowerCase() },
	{ name: "where", text: place, by: place },
	{ name: "base", text: node => cost(node.base.cost), by: node => node.base.cost, number: true },
	{ name: "candidate", text: node => cost(node.candidate.cost), by: node => node.candidate.cost, number: true },
	{ name: "change", text: change, by: node => (isNew(node) ? Infinity : node.change.estimate), number: true },
	{ name: "95 %", text: interval, by: node => node.change.low, number: true },
	{ name: "lost", text: node => (some(node.lost.estimate) ? signed(node.lost.estimate, cost) : "?"),
		by: node => node.lost.estimate, number: true },
	{ name: "q", text: node => (some(node.q) ? node.q.toPrecision(2) : ""), by: node => node.q, number: true },
];
const rows = [];
let leftOut = 0;
(function collect(node) {
	if (node.scope === "image") leftOut += node.parts_left_out;
	if (node.finding || node.scope === "procedure" || node === root) rows.push(node);
	node.parts.forEach(collect);
})(root);
let sorting = { column: null, down: true };
function table() {
	const wanted = at("filter").value.toLowerCase();
	const rank = node => (node === root ? 2 : node.finding ? 1 : 0);
	const shown = rows.filter(node => (label(node) + " " + place(node) + " " + (node.image || "")).toLowerCase()
		.includes(wanted));
	shown.sort((a, b) => {
		if (!sorting.column)
			return rank(b) - rank(a) || Math.abs(b.lost.estimate || 0) - Math.abs(a.lost.estimate || 0);
		const x = sorting.column.by(a), y = sorting.column.by(b);
		const known = x => x !== null && x !== undefined;
		if (known(x) !== known(y)) return known(x) ? -1 : 1;
		return (sorting.down ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0);
	});
	at("head").replaceChildren(...columns.map(column => make("th", { scope: "col", class: column.number ? "number" : "",
		"aria-sort": sorting.column === column ? (sorting.down ? "descending" : "ascending") : "none" },
		make("button", { type: "button", onclick: () => {
			sorting = { column, down: sorting.column === column ? !sorting.down : !!column.number };
			table();
			at("head").children[columns.indexOf(column)].firstChild.focus();
		} }, column.name))));
	at("rows").replaceChildren(...shown.slice(0, 500).map(node => make("tr", { class: node.finding || node === root
		? "" : "quiet" }, ...columns.map((column, i) => make("td", { class: (column.number ? "number " : "")
		+ (i === 1 ? "code" : "") }, i ? make("span", { class: i === 4 ? direction(node) : "" }, column.text(node))
		: make("button", { type: "button", onclick: () => {
			show(node);
			at("icicle").scrollIntoView({ block: "center" });
		} }, (node.finding ? (direction(node) === "worse" ? "\u25b2 " : "\u25bc ") : "") + column.text(node)))))));
	at("count").textContent = shown.length + " of " + rows.length + (shown.length > 500 ? ", 500 shown" : "")
		+ (leftOut ? "; " + leftOut + " of the cheapest are not in this page" : "");
}

at("ramp").style.background = "linear-gradient(to right, hsl(var(--better-fill)), var(--even-fill), hsl(var(--worse-fill)))";
at("filter").addEventListener("input", table);
addEventListener("resize", draw);
draw();
/* The worst finding that is not the program itself. */
const same = (a, b) => ["scope", "name", "image", "file", "line"].every(key => a[key] === b[key]);
const find = (node, wanted) => (same(node, wanted) ? node
	: node.parts.reduce((found, part) => found || find(part, wanted), null));
const worst = data.findings.find(finding => finding.scope !== "program");
choose((worst && find(root, worst)) || root, false);
runs();
intervals();
table();
