helper_programs += tests/cfg/show_cfg
tests_cfg_show_cfg_SOURCES = tests/cfg/show_cfg.c tests/cfg/dump.h tests/cfg/dump.c
tests_cfg_show_cfg_LDADD = $(CFG_LIBS)

check_PROGRAMS += tests/cfg/test_graph tests/cfg/test_excerpt

dist_check_SCRIPTS += tests/cfg/golden.test tests/cfg/programs.test
EXTRA_DIST += tests/cfg/golden tests/cfg/programs
