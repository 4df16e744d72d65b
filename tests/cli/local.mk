dist_check_SCRIPTS += \
	tests/cli/check-layers.test \
	tests/cli/completion.test \
	tests/cli/events.test \
	tests/cli/main.test \
	tests/cli/man.test \
	tests/cli/perf_words.test \
	tests/cli/stat.test \
	tests/cli/readmes.test tests/cli/words.test

check_PROGRAMS += tests/cli/test_epochs
tests_cli_test_epochs_SOURCES = tests/cli/test_epochs.c tests/cli/run.h tests/db_fixture.c
tests_cli_test_epochs_LDADD = $(DB_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/cli/test_check
tests_cli_test_check_SOURCES = tests/cli/test_check.c tests/cli/run.h \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_cli_test_check_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/cli/test_stats
tests_cli_test_stats_SOURCES = tests/cli/test_stats.c tests/cli/run.h \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_cli_test_stats_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/cli/test_diff
tests_cli_test_diff_SOURCES = tests/cli/test_diff.c tests/cli/run.h \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_cli_test_diff_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)
