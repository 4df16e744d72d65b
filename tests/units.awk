# SPDX-License-Identifier: GPL-2.0-or-later
#
# awk -v top=DIRECTORY -f units.awk <LISTS: of each line, NAME PATH FILE.c..., PATH-1.c, PATH-2.c, ... are written,
# each of which includes as many of the files (below DIRECTORY) as can be in one unit: neither they nor headers of
# ours that they include give two things one name. A unit that is there already is left as it is. Prints
# `override NAME := PATH-1.o PATH-2.o ...`. To start a compiler and to read headers takes it several times as long
# as to compile the code of a file. Names are found by how a line of ours begins: one that is missed stops the
# compiler, no more.

# take NAME [EXTERNAL]: what PATH calls so. External names mean the same everywhere.
function take(name, external) {
	if (name == "")
		return
	names[path, ++count[path]] = name
	meant[path, count[path]] = external ? "external" : path
}
# The word in LINE that this follows.
function before(pattern,    name) {
	if (!match(line, "[A-Za-z_0-9]+ ?" pattern))
		return ""
	name = substr(line, RSTART, RLENGTH - 1)
	sub(/ $/, "", name)
	return name
}
# The capitals of LINE, but for values and comments.
function take_enumerators(    text) {
	text = line
	gsub(/= [^,}]*|\/?\*.*/, "", text)
	while (match(text, /[A-Z][A-Z_0-9]+/)) {
		take(substr(text, RSTART, RLENGTH))
		text = substr(text, RSTART + RLENGTH)
	}
}
# DIRECTORY/../NAME without the dots
function plain(name) {
	while (sub(/[^\/]+\/\.\.\//, "", name))
		;
	return name
}

# What a file names, and which of our headers it includes.
function scan(file,    in_enum, folder, i, part) {
	if (file in count)
		return
	path = file
	count[file] = included[file] = 0
	folder = file
	sub(/[^\/]*$/, "", folder)
	while ((getline line <(top "/" file)) > 0) {
		if (line ~ /^#include "/) {
			split(line, part, "\"")
			includes[file, ++included[file]] = plain(folder part[2])
		} else if (line ~ /^#include <hpcprof/) {
			split(line, part, /[<>]/)
			includes[file, ++included[file]] = "include/" part[2]
		} else if (line ~ /^# *define /) {
			sub(/^# *define /, "", line)
			sub(/[^A-Za-z_0-9].*/, "", line)
			take(line)
			macros[file] = macros[file] "#undef " line "\n"
			continue
		}
		if (line ~ /^(static |typedef )?(const )?enum/ && line ~ /\{/)
			in_enum = 1
		if (in_enum) {
			take_enumerators()
			if (line ~ /\}/)
				in_enum = 0
		}
		if (line ~ /^(static |typedef )?(const )?(struct|union|enum) ([a-z_0-9]+ )?\{/) {
			if (line !~ /(struct|union|enum) \{/)
				take("tag " before("[{]"))
			continue
		}
		gsub(/__attribute__\(\([^)]*\)*/, "", line)
		if (line ~ /^(static|[A-Z]+) /)
			take(before("[[(=;]"))
		else if (line ~ /^[a-z]/ && line !~ /^typedef/)
			take(before("[[(=]"), 1)
		if (line ~ /^typedef .*;$/)
			take(before(";"))
		if (line ~ /^\}.*[;{]$/)
			take(before("[;=[]"))
		if (line ~ /^[A-Z_]+\(/) {
			sub(/^[A-Z_]+\(/, "", line)
			take(before("[,)]"))
		}
	}
	close(top "/" file)
	for (i = 1; i <= included[file]; i++)
		scan(includes[file, i])
}

# Whether what the file and its headers name is new in the unit, or the same; when TAKING it is put there.
function fits(file, unit, taking,    i, key) {
	if ((file, walk) in seen)
		return 1
	seen[file, walk] = 1
	for (i = 1; i <= count[file]; i++) {
		key = unit SUBSEP names[file, i]
		if (taking)
			meaning[key] = meant[file, i]
		else if (key in meaning && meaning[key] != meant[file, i])
			return 0
	}
	for (i = 1; i <= included[file]; i++)
		if (!fits(includes[file, i], unit, taking))
			return 0
	return 1
}

# write FILE TEXT: unless it is that.
function write(file, text,    old) {
	while ((getline line <file) > 0)
		old = old line "\n"
	close(file)
	if (old != text)
		printf "%s", text >file
	close(file)
}

{
	printf "override %s :=", $1
	for (i = 3; i <= NF; i++) {
		scan($i)
		number = 1
		for (walk++; !fits($i, $2 "-" number); walk++)
			number++
		walk++
		unit = $2 "-" number
		fits($i, unit, 1)
		# Macros of one file are none of another's, nor of headers before it.
		text[unit] = text[unit] macros[$i] "#include \"" $i "\"\n" macros[$i]
	}
	for (number = 1; (unit = $2 "-" number) in text; number++) {
		write(unit ".c", text[unit])
		printf " %s.o", unit
	}
	print ""
}
