check_PROGRAMS += tests/target/test_cpu_times tests/target/test_run_delay tests/target/test_target

tests_target_test_cpu_times_LDADD = $(TARGET_LIBS) $(CHECK_LIBS)
tests_target_test_run_delay_LDADD = $(TARGET_LIBS) $(CHECK_LIBS)
tests_target_test_target_SOURCES = tests/target/test_target.c tests/scratch.c
tests_target_test_target_LDADD = $(TARGET_LIBS) $(CHECK_LIBS)
