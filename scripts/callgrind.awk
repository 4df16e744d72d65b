# SPDX-License-Identifier: GPL-2.0-or-later
#
# What callgrind saw, without its many forms. The file must have been written with --dump-instr=yes
# --compress-pos=no --compress-strings=no; --collect-jumps=yes adds the jumps. Out come, for each
# file that code ran in, addresses as `objdump -d` prints them:
#
#	ob N PATH
#	i N ADDRESS EXECUTIONS		of an instruction in file N
#	j N FROM TO TAKEN		of a jump; 0x0 is straight on, of a conditional one that was
#					ever taken
#	c N FROM TO CALLS		of a call within the file, or of a jump that goes to where
#					callgrind thinks that another function begins
#
# An instruction occurs once for each function that callgrind thinks it belongs to: summed up. The
# line behind `calls=` is what the callee cost, not an execution; the line behind a jump says where
# it starts. Of conditional jumps it leaves out the copies that were never taken, so that straight on
# is what is left of the executions.

function number_of(path) {
	if (!(path in numbers)) {
		numbers[path] = ++count
		paths[count] = path
	}
	return numbers[path]
}

# Programs of valgrind's own, and code that is in no file, are nobody's.
/^ob=/ {
	path = substr($0, 4)
	in_file = path ~ /^\// && path !~ /\/valgrind\//
	object = in_file ? number_of(path) : 0
	next
}
!in_file { next }
/^0x/ { executed[object " " $1] += $3; next }
# The file of the callee, of the next call only.
/^cob=/ { elsewhere = substr($0, 5) != path; next }
/^calls=/ {
	split($0, part, /[= ]/)
	getline
	gone[object " " $1] += part[2]
	if (!elsewhere)
		called[object " " $1 " " part[3]] += part[2]
	elsewhere = 0
	next
}
/^jump=|^jcnd=/ {
	conditional = /^jcnd/
	split($0, part, /[= \/]/)
	target = part[conditional ? 4 : 3]
	getline
	if (conditional)
		branches[object " " $1] = 1
	gone[object " " $1] += part[2]
	if (part[2] > 0)
		jumped[object " " $1 " " target] += part[2]
	next
}

END {
	for (object = 1; object <= count; object++)
		print "ob", object, paths[object]
	for (key in executed)
		printf "i %s %.0f\n", key, executed[key]
	for (key in branches)
		if (executed[key] > gone[key])
			printf "j %s 0x0 %.0f\n", key, executed[key] - gone[key]
	for (key in called)
		printf "c %s %.0f\n", key, called[key]
	for (key in jumped)
		printf "j %s %.0f\n", key, jumped[key]
}
