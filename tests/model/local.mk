check_PROGRAMS += tests/model/test_clock tests/model/test_epoch tests/model/test_profile \
	tests/model/test_evidence tests/model/test_grouped tests/model/test_procedure_name tests/model/test_paths
