# SPDX-License-Identifier: GPL-2.0-or-later
# A text as a C array of strings, one for each line: compilers limit how long one string may be.
#	awk -v name=NAME -f quote.awk FILE
BEGIN {
	file = ARGV[1]
	sub(/.*\//, "", file)
	printf "/* Made from page/%s. */\nstatic const char *const %s[] = {\n", file, name
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\\&")
	gsub(/\t/, "\\t")
	printf "\t\"%s\\n\",\n", $0
}
END { print "};" }
