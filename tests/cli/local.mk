dist_check_SCRIPTS += \
	tests/cli/check-layers.test \
	tests/cli/completion.test \
	tests/cli/events.test \
	tests/cli/main.test \
	tests/cli/man.test
