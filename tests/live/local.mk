# Real perf events, as whoever runs the tests and as an ordinary user. Scripts: *.test, so that
# scripts/test.sh finds them. The programs they record are compiled for reading their profiles:
# symbols, and no sanitizer.
dist_check_SCRIPTS += \
	tests/live/apart.test \
	tests/live/attach.test tests/live/attach-others.test tests/live/baits.test \
	tests/live/call-paths.test tests/live/callers.test \
	tests/live/causes.test \
	tests/live/check.test \
	tests/live/confined.test tests/live/confined-nobody.test \
	tests/live/counted.test \
	tests/live/debuginfod.test \
	tests/live/ends.test \
	tests/live/events.test \
	tests/live/export.test \
	tests/live/follows.test tests/live/frames.test tests/live/full-disk.test \
	tests/live/hostile.test \
	tests/live/images.test \
	tests/live/import.test \
	tests/live/kept.test \
	tests/live/kernel.test \
	tests/live/limits.test \
	tests/live/nameless.test \
	tests/live/optimisers.test tests/live/others.test \
	tests/live/paranoid.test tests/live/probes.test \
	tests/live/progress.test \
	tests/live/registers.test \
	tests/live/shadow.test \
	tests/live/skid.test \
	tests/live/stat.test tests/live/stat-system.test \
	tests/live/survives.test \
	tests/live/transparent.test \
	tests/live/units.test

live_programs = tests/live/aware tests/live/confined tests/live/state tests/live/work tests/live/family tests/live/generated
helper_programs += $(live_programs)
noinst_HEADERS += tests/live/burn.h
EXTRA_DIST += tests/live/live.sh tests/live/stat.sh tests/live/terminal.py

tests_live_aware_CFLAGS = -std=gnu11 $(WARNING_CFLAGS) -g
tests_live_aware_LDFLAGS = -pthread
tests_live_aware_LDADD =
tests_live_confined_CFLAGS = -std=gnu11 $(WARNING_CFLAGS)
tests_live_confined_LDFLAGS =
tests_live_confined_LDADD =
tests_live_state_CFLAGS = -std=gnu11 $(WARNING_CFLAGS)
tests_live_state_LDFLAGS =
tests_live_state_LDADD =
tests_live_work_CFLAGS = -std=gnu11 $(WARNING_CFLAGS) -g
tests_live_work_LDFLAGS = -pthread
tests_live_work_LDADD =
tests_live_family_CFLAGS = -std=gnu11 $(WARNING_CFLAGS) -g
tests_live_family_LDFLAGS =
tests_live_family_LDADD = -ldl
tests_live_generated_CFLAGS = -std=gnu11 $(WARNING_CFLAGS) -g
tests_live_generated_LDFLAGS =
tests_live_generated_LDADD =
