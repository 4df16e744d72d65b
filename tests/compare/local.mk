check_PROGRAMS += tests/compare/test_statistics tests/compare/test_promises \
	tests/compare/test_history tests/compare/test_drift tests/compare/test_compare \
	tests/compare/test_moved tests/compare/test_gone tests/compare/test_inside \
	tests/compare/test_namesakes tests/compare/test_callers

# One source, built twice, and once as if by another compiler.
helper_programs += tests/compare/pair_old tests/compare/pair_new tests/compare/pair_other
tests_compare_pair_old_SOURCES = tests/compare/pair.c
tests_compare_pair_old_CFLAGS = -std=gnu11 -O2 -g
tests_compare_pair_old_LDADD =
tests_compare_pair_new_SOURCES = tests/compare/pair.c
tests_compare_pair_new_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_pair_new_LDADD =
tests_compare_pair_other_SOURCES = tests/compare/pair.c
tests_compare_pair_other_CFLAGS = -std=gnu11 -O2 -g -DNEW -DOTHER
tests_compare_pair_other_LDADD =

helper_programs += tests/compare/copies_old tests/compare/copies_new tests/compare/copies_again
tests_compare_copies_again_SOURCES = tests/compare/copies.c
tests_compare_copies_again_CFLAGS = -std=gnu11 -O2 -g -DAGAIN
tests_compare_copies_again_LDADD =
tests_compare_copies_old_SOURCES = tests/compare/copies.c
tests_compare_copies_old_CFLAGS = -std=gnu11 -O2 -g
tests_compare_copies_old_LDADD =
tests_compare_copies_new_SOURCES = tests/compare/copies.c
tests_compare_copies_new_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_copies_new_LDADD =

# One procedure in two parts, and in one.
helper_programs += tests/compare/cold_old tests/compare/cold_new
tests_compare_cold_old_SOURCES = tests/compare/cold.c tests/compare/newcomer.h
tests_compare_cold_old_CFLAGS = -std=gnu11 -O2
tests_compare_cold_old_LDFLAGS = -Wl,-S
tests_compare_cold_old_LDADD =
tests_compare_cold_new_SOURCES = tests/compare/cold.c tests/compare/newcomer.h
tests_compare_cold_new_CFLAGS = -std=gnu11 -O2 -DNEW
tests_compare_cold_new_LDFLAGS = -Wl,-S
tests_compare_cold_new_LDADD =

helper_programs += tests/compare/branches_old tests/compare/branches_new
tests_compare_branches_old_SOURCES = tests/compare/branches.c
tests_compare_branches_old_CFLAGS = -std=gnu11 -O2 -g
tests_compare_branches_old_LDADD =
tests_compare_branches_new_SOURCES = tests/compare/branches.c
tests_compare_branches_new_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_branches_new_LDADD =

helper_programs += tests/compare/branches_plain
tests_compare_branches_plain_SOURCES = tests/compare/branches.c
tests_compare_branches_plain_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_branches_plain_LDFLAGS = -Wl,-S
tests_compare_branches_plain_LDADD =

# Two sources in either order, with and without line information.
namesake_sources_ab = tests/compare/namesakes_shared.h tests/compare/namesake_a.c \
	tests/compare/namesake_b.c tests/compare/namesakes.c
namesake_sources_ba = tests/compare/namesakes_shared.h tests/compare/namesake_b.c \
	tests/compare/namesake_a.c tests/compare/namesakes.c
helper_programs += tests/compare/namesakes_ab tests/compare/namesakes_ba \
	tests/compare/namesakes_ab_plain tests/compare/namesakes_ba_plain
tests_compare_namesakes_ab_SOURCES = $(namesake_sources_ab)
tests_compare_namesakes_ab_CFLAGS = -std=gnu11 -O2 -g
tests_compare_namesakes_ab_LDADD =
tests_compare_namesakes_ba_SOURCES = $(namesake_sources_ba)
tests_compare_namesakes_ba_CFLAGS = -std=gnu11 -O2 -g
tests_compare_namesakes_ba_LDADD =
tests_compare_namesakes_ab_plain_SOURCES = $(namesake_sources_ab)
tests_compare_namesakes_ab_plain_CFLAGS = -std=gnu11 -O2
tests_compare_namesakes_ab_plain_LDFLAGS = -Wl,-S
tests_compare_namesakes_ab_plain_LDADD =
tests_compare_namesakes_ba_plain_SOURCES = $(namesake_sources_ba)
tests_compare_namesakes_ba_plain_CFLAGS = -std=gnu11 -O2
tests_compare_namesakes_ba_plain_LDFLAGS = -Wl,-S
tests_compare_namesakes_ba_plain_LDADD =

# Symbols, none, and not even unwind data.
helper_programs += tests/compare/parts_old tests/compare/parts_new \
	tests/compare/parts_old_stripped tests/compare/parts_new_stripped \
	tests/compare/parts_old_bare tests/compare/parts_new_bare
tests_compare_parts_old_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_old_CFLAGS = -std=gnu11 -O2 -fasynchronous-unwind-tables
tests_compare_parts_old_LDFLAGS = -Wl,-S
tests_compare_parts_old_LDADD =
tests_compare_parts_new_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_new_CFLAGS = $(tests_compare_parts_old_CFLAGS) -DNEW
tests_compare_parts_new_LDFLAGS = -Wl,-S
tests_compare_parts_new_LDADD =
tests_compare_parts_old_stripped_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_old_stripped_CFLAGS = $(tests_compare_parts_old_CFLAGS)
tests_compare_parts_old_stripped_LDFLAGS = -s
tests_compare_parts_old_stripped_LDADD =
tests_compare_parts_new_stripped_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_new_stripped_CFLAGS = $(tests_compare_parts_new_CFLAGS)
tests_compare_parts_new_stripped_LDFLAGS = -s
tests_compare_parts_new_stripped_LDADD =
tests_compare_parts_old_bare_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_old_bare_CFLAGS = -std=gnu11 -O2 -fno-asynchronous-unwind-tables \
	-fno-unwind-tables
tests_compare_parts_old_bare_LDFLAGS = -s
tests_compare_parts_old_bare_LDADD =
tests_compare_parts_new_bare_SOURCES = tests/compare/parts.c tests/compare/newcomer.h
tests_compare_parts_new_bare_CFLAGS = $(tests_compare_parts_old_bare_CFLAGS) -DNEW
tests_compare_parts_new_bare_LDFLAGS = -s
tests_compare_parts_new_bare_LDADD =
