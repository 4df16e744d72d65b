# SPDX-License-Identifier: GPL-2.0-or-later
# The option table (first file) into the zsh template (second file); after arguments.awk.

function action(kind) {
	if (kind ~ /\|/) {
		gsub(/\|/, " ", kind)
		return "(" kind ")"
	}
	if (kind ~ /^EPOCH/)
		return "_hpcprof_epochs"
	if (kind ~ /^EVENT/)
		return "_hpcprof_events"
	if (kind ~ /^DIR/)
		return "_files -/"
	if (kind ~ /^(FILE|PATH|IMAGE)/)
		return "_files"
	if (kind ~ /^PID/)
		return "_pids"
	return " "
}

function rest(text,    first) {
	first = kind_of_first(text)
	if (first == "COMMAND")
		return "\047(-):command:_command_names -e\047 \047*::argument:_normal\047"
	if (first ~ /\|/)
		return "\0471:action:" action(first) "\047 \047*:epoch:_hpcprof_epochs\047"
	if (first == "")
		return ""
	return "\047*:" tolower(first) ":" action(first) "\047"
}

# Inside '...[...]': the quote, the brackets and the colon are the shell's own.
function explained(text) {
	gsub(/\\/, "\\\\", text)
	gsub(/[]:[]/, "\\\\&", text)
	gsub(/\047/, "\047\\\047\047", text)
	return "[" text "]"
}

function end_command() {
	if (command != "")
		tables = tables (rest_of_command == "" ? "" : " \\\n\t\t\t" rest_of_command) \
			"\n\t\t;;\n"
}

function option(name, description, value, takes,    spec) {
	spec = name
	if (takes == "required")
		spec = spec (name ~ /^--/ ? "=" : "+")
	if (takes == "optional")
		spec = spec (name ~ /^--/ ? "=-" : "-")
	spec = "\047*" spec explained(description)
	if (takes != "none")
		spec = spec (takes == "optional" ? "::" : ":") tolower(label(value)) ":" action(value)
	tables = tables " \\\n\t\t\t" spec "\047"
}

function label(value) {
	return value ~ /\|/ ? "value" : (match(value, /^[A-Za-z]+/) ? substr(value, 1, RLENGTH) : "value")
}

BEGIN { FS = "\t" }

NR == FNR && $1 == "command" {
	end_command()
	command = $2
	rest_of_command = rest($3)
	line = command ":" $4
	gsub(/\047/, "\047\\\047\047", line)
	commands = commands "\t\t\047" line "\047\n"
	tables = tables "\t" command ")\n\t\t_arguments -s -S"
}

NR == FNR && $1 == "option" {
	if ($3 != "")
		option($3, $7, $5, $6)
	if ($4 != "")
		option($4, $7, $5, $6)
}

NR == FNR { next }

FNR == 1 { end_command() }
$0 == "@TABLES@" {
	printf "%s", tables
	next
}
$0 == "@COMMANDS@" {
	printf "%s", commands
	next
}
{ print }
