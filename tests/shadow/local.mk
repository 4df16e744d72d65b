if X86_64
noinst_HEADERS += tests/shadow/copied.h tests/shadow/puppet.h tests/shadow/states.h

check_PROGRAMS += tests/shadow/test_translate
tests_shadow_test_translate_SOURCES = tests/shadow/test_translate.c tests/shadow/forms.S \
	tests/shadow/puppet.c tests/shadow/states.c
tests_shadow_test_translate_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_engine
tests_shadow_test_engine_SOURCES = tests/shadow/test_engine.c tests/shadow/puppet.c \
	tests/shadow/states.c
tests_shadow_test_engine_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_matches
tests_shadow_test_matches_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_place
tests_shadow_test_place_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_sweep
tests_shadow_test_sweep_SOURCES = tests/shadow/test_sweep.c tests/shadow/puppet.c \
	tests/shadow/states.c
tests_shadow_test_sweep_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_copy
tests_shadow_test_copy_SOURCES = tests/shadow/test_copy.c tests/shadow/copied.c
tests_shadow_test_copy_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_areas tests/shadow/test_state_sampler tests/shadow/test_schedule \
	tests/shadow/test_system_calls
tests_shadow_test_areas_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)
tests_shadow_test_state_sampler_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)
tests_shadow_test_schedule_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)
tests_shadow_test_system_calls_SOURCES = tests/shadow/test_system_calls.c \
	tests/shadow/copied.c
tests_shadow_test_system_calls_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_sandbox
tests_shadow_test_sandbox_SOURCES = tests/shadow/test_sandbox.c tests/shadow/copied.c
tests_shadow_test_sandbox_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/shadow/test_window
tests_shadow_test_window_SOURCES = tests/shadow/test_window.c tests/shadow/copied.c
tests_shadow_test_window_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)

helper_programs += tests/shadow/replayed tests/shadow/replay_command
# Without sanitizers, whose runtime does much of its own and dislikes ptrace.
tests_shadow_replayed_CFLAGS = -std=gnu11 $(WARNING_CFLAGS)
tests_shadow_replayed_LDFLAGS =
tests_shadow_replayed_LDADD = -lm
tests_shadow_replay_command_LDADD = $(SHADOW_LIBS)
# Programs that attack who profiles them, where everything can be guessed.
helper_programs += tests/shadow/attack/attack
tests_shadow_attack_attack_CFLAGS = -std=gnu11 -O1 $(WARNING_CFLAGS)
tests_shadow_attack_attack_LDFLAGS = -no-pie
tests_shadow_attack_attack_LDADD =
dist_check_SCRIPTS += tests/shadow/attack/ends.test tests/shadow/attack/escape.test
noinst_HEADERS += tests/shadow/tracee.h
check_PROGRAMS += tests/shadow/test_replay
tests_shadow_test_replay_SOURCES = tests/shadow/test_replay.c tests/shadow/tracee.c \
	tests/shadow/puppet.c
tests_shadow_test_replay_LDADD = $(SHADOW_LIBS) $(CHECK_LIBS)
endif
