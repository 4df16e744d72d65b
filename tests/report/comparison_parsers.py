# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads one format of a made-up comparison back with Python's own parsers: FORMAT KIND FILE."""
import html.parser
import json
import re
import sys
import xml.etree.ElementTree

# What comparison_sample.c calls `hostile`: as it is where bytes may stay, and as people see it.
RAW = (
    "<b>\"'&]]>|`*_[x](http://e)\\ %0A::error::a,b:c\r\n\t\x1b[31m\ufffd\ufffd"
    " </script><!-- \u2028 \uffff @all #1 $x$ \u20ac"
)
SEEN = (
    "<b>\"'&]]>|`*_[x](http://e)\\ %0A::error::a,b:c\\x0d\\n\\t\\x1b[31m\\xff\\xc3"
    " </script><!-- \\u2028 \uffff @all #1 $x$ \u20ac"
)


def check(condition, what):
    if not condition:
        sys.exit("not so: " + what)


def names(kind):
    return "sort_rows" if kind == "regression" else RAW, "sort_rows" if kind == "regression" else SEEN


def read_json(text, kind):
    document = json.loads(text)
    check(document["schema"] == "hpcprof-check/1", "the schema is hpcprof-check/1")
    check(document["verdict"] == {"hostile": "regression"}.get(kind, kind), "the verdict")
    if kind in ("pass", "insufficient"):
        check(document["findings"] == [], "there are no findings")
        check(len(document["shortages"]) == (kind == "insufficient"), "shortages")
        if kind == "insufficient":
            check(document["shortages"][0]["more_runs"] == 9, "nine more runs")
            check(document["shortages"][0]["more_samples"] is None, "samples are not known")
        return
    finding = document["findings"][1]
    check(finding["name"] == names(kind)[0], "the name is %r" % finding["name"])
    check(finding["scope"] == "procedure" and finding["image"] == "/work/repo/build/app", "scope")
    check(finding["base"]["cost"] == 310e6 and finding["candidate"]["cost"] == 403e6, "costs")
    change = finding["change"]
    check(abs(change["estimate"] - 0.3) < 1e-9, "the change is 30 %")
    check(change["low"] < change["estimate"] < change["high"], "the interval is around it")
    check(finding["code"][1]["base"]["text"] is None, "code that is new has no base")
    check(finding["code"][1]["changed"] is True, "and is changed")
    (block,) = finding["blocks"]
    check(block["scope"] == "block" and block["line"] == 104, "the block")
    check(block["extent"]["base"] == {"start": "0x1180", "end": "0x11a3"}, "where it was")
    check(block["extent"]["candidate"] == {"start": "0x2190", "end": "0x21c0"}, "where it is")
    callers = finding["callers"]
    check(callers["blame"] == "callers" and callers["through"] is None, "whose calls it is from")
    check(callers["callers"][0]["blamed"] is True, "the caller")
    check(callers["callers"][0]["of_change"]["low"] == 0.74, "its part of the change")
    check(finding["calls"][0]["ratio"]["estimate"] == 2.1, "how often it calls")
    (cause,) = finding["causes"]
    check(cause["cause"] == "branch-mispredict", "which cause grew")
    check(cause["base"]["high"] == 0.18 and cause["candidate"]["low"] == 0.41, "from what to what")
    check(document["findings"][3]["causes"] is None, "and what was not simulated")
    check(len(finding["sentences"]) == 3, "all in words")
    check(document["findings"][2]["callers"]["blame"] == "insufficient", "what is not known")
    check(document["findings"][3]["callers"] is None, "and what is not asked")
    check(document["findings"][3]["share_change"]["high"] == -0.11, "a share that shrank")
    check(document["findings"][2]["change"]["estimate"] is None, "what is new has no change")
    check(len(document["program"]["parts"]) == 3, "three images")
    check(document["base"]["epochs"][0]["runs"] == 1, "runs of an epoch")


def read_junit(text, kind):
    suites = xml.etree.ElementTree.fromstring(text)
    cases = suites.findall("testsuite/testcase")
    failures = [case for case in cases if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    suite = suites.find("testsuite")
    check(len(cases) == int(suite.get("tests")) == 12, "twelve cases, as it says")
    check(len(failures) == int(suite.get("failures")), "as many failures as it says")
    check(len(skipped) == int(suite.get("skipped")), "as many skipped as it says")
    check(len(failures) == (3 if kind in ("regression", "hostile") else 0), "failures")
    check(len(skipped) == (kind == "insufficient"), "skipped")
    if kind == "insufficient":
        check("9 more runs" in skipped[0].find("skipped").get("message"), "what would help")
    if failures:
        seen = names(kind)[1].replace("\uffff", "\ufffd")
        check(seen in failures[1].get("name"), "the name is %r" % failures[1].get("name"))
        check("+30.0 %" in failures[1].find("failure").get("message"), "the change")
        check("imul rax, rcx" in failures[1].find("failure").text, "what changed there")
        check("block 0x2190-0x21c0 of" in failures[1].find("failure").text, "in which block")


def read_sarif(text, kind):
    log = json.loads(text)
    check(log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json"), "version")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    check(run["tool"]["driver"]["name"] == "hpcprof", "the tool's name")
    check(len(run["results"]) == (3 if kind in ("regression", "hostile") else 0), "results")
    prints = set()
    for result in run["results"]:
        check(rules[result["ruleIndex"]]["id"] == result["ruleId"], "the rule is its index's")
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        uri = artifact["uri"]
        check(re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+|file:///.*", uri), "a URI: " + uri)
        check(("uriBaseId" in artifact) == (not uri.startswith("file:")), "a base where relative")
        check(location["physicalLocation"]["region"]["startLine"] >= 1, "lines count from 1")
        check(result["message"]["text"], "there is a message")
        prints.add(result["partialFingerprints"]["primaryLocationLineHash"])
    if kind == "regression":
        check(len(prints) == 3, "a fingerprint each")
        location = run["results"][1]["locations"][0]["physicalLocation"]
        check(location["artifactLocation"] == {"uri": "src/sort.c", "uriBaseId": "%SRCROOT%"}, "relative")
        check(location["region"]["startLine"] == 100, "the line")
        inner = run["results"][1]["relatedLocations"]
        check([place["id"] for place in inner] == list(range(len(inner))), "related places are numbered")
        check("block 0x2190-0x21c0 of sort_rows" in inner[0]["message"]["text"], "the block's message")
        check(inner[0]["physicalLocation"]["region"]["startLine"] == 104, "the block's line")
        check(all("relatedLocations" not in other or not other["relatedLocations"]
                  for other in run["results"] if other is not run["results"][1]), "only there")
    if kind == "hostile":
        logical = run["results"][1]["locations"][0]["logicalLocations"][0]
        check(logical["fullyQualifiedName"] == RAW, "the name")


# What the runner does with a line: the properties end at "::", then the escapes are undone.
def read_github(text, kind):
    lines = text.split("\n")
    check(lines.pop() == "" and "\r" not in text, "lines, each with its end")
    commands = []
    for line in lines:
        found = re.fullmatch(r"::(error|warning|notice) ((?:(?!::).)*)::(.*)", line)
        check(found, "a command: " + line)
        properties = dict(part.split("=", 1) for part in found.group(2).split(","))
        for name, value in properties.items():
            check(":" not in value, "no colon in " + value)
            for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
                value = value.replace(escape, character)
            properties[name] = value
        commands.append((found.group(1), properties, found.group(3)))
    kinds = {"pass": ["notice"], "insufficient": ["warning"]}.get(kind, ["error"] * 4)
    check([command[0] for command in commands] == kinds, "kinds of commands")
    if kind == "regression":
        check(commands[1][1]["file"] == "src/sort.c" and commands[1][1]["line"] == "100", "place")
        check("+30.0 %25" in commands[1][2], "percent signs are escaped")
        check("%0Ablock 0x2190-0x21c0 of sort_rows" in commands[1][2], "the block")
    if kind == "hostile":
        check(commands[1][1]["file"] == SEEN, "the file is %r" % commands[1][1]["file"])
        check(SEEN.replace("%", "%25") in commands[1][2], "the name is in the message")


def unescaped(cell):
    return re.sub(r"&#(\d+);", lambda found: chr(int(found.group(1))), cell).strip()


def read_markdown(text, kind):
    rows = [line for line in text.split("\n") if line.startswith("|")][2:]
    check(len(rows) == (4 if kind in ("regression", "hostile") else 0), "rows of the table")
    for row in rows:
        check(len(row.split("|")) == 9, "seven cells: " + row)
    if rows:
        cells = [unescaped(cell) for cell in rows[1].split("|")]
        check(names(kind)[1] in cells[2], "the name is %r" % cells[2])
        check(cells[4:6] == ["310 ms", "403 ms"], "costs")
    body = re.sub(r"\*\*|^#+ |^- |^\|[-:|]+\|$|</?sub>", "", text, flags=re.M)
    check(not re.search(r"[`*_<>\[\]@~\\$]", body), "no other markup")
    check(not re.search(r"https?:", body), "no links")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []
        self.data = {}
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        known = {"html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "dl", "dt",
                 "dd", "code", "span", "section", "div", "noscript", "ul", "li", "script", "table", "thead",
                 "tbody", "tr", "label", "input"}
        check(tag in known, "the element %s is ours" % tag)
        self.open.append(tag)
        for name, value in attributes:
            check(not name.startswith("on"), "no handlers in attributes")
            if name in ("src", "href"):
                self.addresses.append(value)
        if tag == "script":
            self.script = dict(attributes).get("id")

    def handle_data(self, data):
        key = self.script if self.open[-1:] == ["script"] else "text"
        self.data[key] = self.data.get(key, "") + data

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass


def read_html(text, kind):
    page = Page()
    page.feed(text)
    check(not page.addresses, "nothing is loaded")
    check(not re.search(r"https?://(?!e\)|www\.w3\.org/2000/svg)", text), "no addresses of elsewhere")
    check("default-src 'none'" in text, "the browser is told so")
    check(re.search(r'id="data" data-telling-factor="[0-9.]+"', text), "the script is told which intervals tell nothing")
    check(not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text), "texts stay texts")
    read_json(page.data["data"], kind)
    words = {"pass": "Pass", "insufficient": "Not enough data"}
    check(words.get(kind, "Regression") in page.data["text"], "the verdict is there without scripts")
    if kind == "hostile":
        check(SEEN.replace("\uffff", "\ufffd") in page.data["text"], "the command is text")


form, sample, path = sys.argv[1:]
with open(path, encoding="utf-8", newline="") as file:
    globals()["read_" + form](file.read(), sample)
