helper_programs += tests/db/keep_windows
tests_db_keep_windows_LDADD = $(DB_LIBS)

check_PROGRAMS += tests/db/test_access tests/db/test_bodies tests/db/test_bombs tests/db/test_care \
	tests/db/test_crash tests/db/test_damage tests/db/test_decode tests/db/test_epoch tests/db/test_evidence_sum \
	tests/db/test_excerpt \
	tests/db/test_forged tests/db/test_full_disk tests/db/test_gc tests/db/test_paths tests/db/test_shares
