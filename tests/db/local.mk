noinst_HEADERS += tests/db/fixture.h

check_PROGRAMS += \
	tests/db/test_damage \
	tests/db/test_epoch
tests_db_test_damage_SOURCES = tests/db/test_damage.c tests/db/fixture.c
tests_db_test_damage_LDADD = $(DB_LIBS) $(CHECK_LIBS)
tests_db_test_epoch_SOURCES = tests/db/test_epoch.c tests/db/fixture.c
tests_db_test_epoch_LDADD = $(DB_LIBS) $(CHECK_LIBS)
