helper_programs += tests/cfg/show_cfg
tests_cfg_show_cfg_LDADD = $(CFG_LIBS)

check_PROGRAMS += tests/cfg/test_graph
tests_cfg_test_graph_SOURCES = tests/cfg/test_graph.c tests/cfg/graphs.c tests/cfg/graphs.h
tests_cfg_test_graph_LDADD = $(CFG_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/cfg/test_excerpt
tests_cfg_test_excerpt_LDADD = $(CFG_LIBS) $(CHECK_LIBS)

dist_check_SCRIPTS += tests/cfg/golden.test tests/cfg/programs.test
EXTRA_DIST += tests/cfg/golden tests/cfg/programs
