noinst_HEADERS += tests/db_fixture.h

check_PROGRAMS += \
	tests/db/test_access \
	tests/db/test_bodies \
	tests/db/test_bombs \
	tests/db/test_care \
	tests/db/test_crash \
	tests/db/test_damage \
	tests/db/test_epoch \
	tests/db/test_excerpt \
	tests/db/test_forged \
	tests/db/test_full_disk \
	tests/db/test_shares
tests_db_test_access_SOURCES = tests/db/test_access.c tests/db_fixture.c
tests_db_test_access_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_bodies_SOURCES = tests/db/test_bodies.c tests/db_fixture.c
tests_db_test_bodies_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_bombs_SOURCES = tests/db/test_bombs.c tests/db_fixture.c
tests_db_test_bombs_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_care_SOURCES = tests/db/test_care.c tests/db_fixture.c
tests_db_test_care_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_crash_SOURCES = tests/db/test_crash.c tests/db_fixture.c
tests_db_test_crash_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_damage_SOURCES = tests/db/test_damage.c tests/db_fixture.c
tests_db_test_damage_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_epoch_SOURCES = tests/db/test_epoch.c tests/db_fixture.c
tests_db_test_epoch_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_excerpt_SOURCES = tests/db/test_excerpt.c tests/db_fixture.c
tests_db_test_excerpt_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_forged_SOURCES = tests/db/test_forged.c tests/db_fixture.c
tests_db_test_forged_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_full_disk_SOURCES = tests/db/test_full_disk.c tests/db_fixture.c
tests_db_test_full_disk_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_shares_SOURCES = tests/db/test_shares.c tests/db_fixture.c
tests_db_test_shares_LDADD = $(DB_LIBS) $(CHECK_LIBS)
