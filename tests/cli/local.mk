dist_check_SCRIPTS += \
	tests/cli/check-layers.test \
	tests/cli/completion.test \
	tests/cli/events.test \
	tests/cli/main.test \
	tests/cli/man.test \
	tests/cli/stat.test

check_PROGRAMS += tests/cli/test_epochs
tests_cli_test_epochs_SOURCES = tests/cli/test_epochs.c tests/db_fixture.c
tests_cli_test_epochs_LDADD = $(DB_LIBS) $(CHECK_LIBS)
