# SPDX-License-Identifier: GPL-2.0-or-later
# Read before bash.awk and zsh.awk: what a command's arguments are, from how its --help writes them.

# "[list [EPOCH...]] rm EPOCH..." begins with one of the words in small letters: "list|rm".
function words_of(text,    parts, count, i, words, found) {
	gsub(/[][|]/, " ", text)
	count = split(text, parts, /[ \t]+/)
	for (i = 1; i <= count; i++)
		if (parts[i] ~ /^[a-z]+$/) {
			words = words (found++ ? "|" : "") parts[i]
		}
	return found > 1 ? words : ""
}

function kind_of_first(text) {
	if (words_of(text) != "")
		return words_of(text)
	if (text ~ /EPOCH|BASE/)
		return "EPOCH"
	if (text ~ /PATTERN|EVENT/)
		return "EVENT"
	if (text ~ /CMD|COMMAND/)
		return "COMMAND"
	if (text ~ /FILE|TRACE/)
		return "FILE"
	return ""
}

function kind_of_others(text,    first) {
	first = kind_of_first(text)
	if (first == "COMMAND")
		return "FILE"
	return first ~ /\|/ ? "EPOCH" : first
}
