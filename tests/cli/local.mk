dist_check_SCRIPTS += \
	tests/cli/check-layers.test \
	tests/cli/completion.test \
	tests/cli/events.test \
	tests/cli/main.test \
	tests/cli/man.test \
	tests/cli/model.test \
	tests/cli/perf_words.test \
	tests/cli/stat.test tests/cli/stat_stalls.test \
	tests/cli/readmes.test tests/cli/words.test

check_PROGRAMS += tests/cli/test_epochs tests/cli/test_check tests/cli/test_stats \
	tests/cli/test_diff
