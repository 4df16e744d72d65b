check_PROGRAMS += tests/profile/test_shown
tests_profile_test_shown_LDADD = $(PROFILE_LIBS) $(CHECK_LIBS)
