check_PROGRAMS += tests/model/test_clock
tests_model_test_clock_SOURCES = tests/model/test_clock.c
tests_model_test_clock_LDADD = $(MODEL_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/model/test_epoch
tests_model_test_epoch_SOURCES = tests/model/test_epoch.c
tests_model_test_epoch_LDADD = $(MODEL_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/model/test_profile
tests_model_test_profile_SOURCES = tests/model/test_profile.c
tests_model_test_profile_LDADD = $(MODEL_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/model/test_evidence
tests_model_test_evidence_SOURCES = tests/model/test_evidence.c
tests_model_test_evidence_LDADD = $(MODEL_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/model/test_procedure_name
tests_model_test_procedure_name_SOURCES = tests/model/test_procedure_name.c
tests_model_test_procedure_name_LDADD = $(MODEL_LIBS) $(CHECK_LIBS)
