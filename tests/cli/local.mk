dist_check_SCRIPTS += tests/cli/main.test
dist_check_SCRIPTS += tests/cli/check-layers.test
