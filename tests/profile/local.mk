check_PROGRAMS += tests/profile/test_shown
