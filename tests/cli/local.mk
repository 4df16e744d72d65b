dist_check_SCRIPTS += tests/cli/main.test
