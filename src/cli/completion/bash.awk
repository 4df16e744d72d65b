# SPDX-License-Identifier: GPL-2.0-or-later
# The option table (first file) into the bash template (second file); after arguments.awk.

function quoted(text) {
	gsub(/\047/, "\047\\\047\047", text)
	return "\047" text "\047"
}

function end_command() {
	if (command != "")
		tables = tables "\t\toptions=" quoted(options) "\n" \
			"\t\tcase ${2:-} in\n" values "\t\tesac\n\t\t;;\n"
	options = values = ""
}

BEGIN { FS = "\t" }

NR == FNR && $1 == "command" {
	end_command()
	command = $2
	commands = commands (commands == "" ? "" : " ") command
	tables = tables "\t" command ")\n\t\tfirst=" quoted(kind_of_first($3)) \
		" others=" quoted(kind_of_others($3)) "\n"
}

NR == FNR && $1 == "option" {
	names = $3
	if ($4 != "")
		names = names (names == "" ? "" : "|") $4
	if ($3 != "")
		options = options (options == "" ? "" : " ") $3
	if ($4 != "")
		options = options (options == "" ? "" : " ") $4 ($6 == "required" ? "=" : "")
	if ($6 != "none")
		values = values "\t\t" names ") kind=" quoted($5) \
			($6 == "optional" ? " optional=yes" : "") " ;;\n"
}

NR == FNR { next }

FNR == 1 { end_command() }
$0 == "@TABLES@" {
	printf "%s", tables
	next
}
{
	gsub(/@COMMANDS@/, commands)
	print
}
