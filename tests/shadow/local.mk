if X86_64

check_PROGRAMS += tests/shadow/test_translate tests/shadow/test_engine tests/shadow/test_moments \
	tests/shadow/test_matches \
	tests/shadow/test_place tests/shadow/test_sweep tests/shadow/test_copy tests/shadow/test_buffers \
	tests/shadow/test_hold tests/shadow/test_ahead \
	tests/shadow/test_areas tests/shadow/test_reached tests/shadow/test_state_sampler \
	tests/shadow/test_schedule tests/shadow/test_price tests/shadow/test_room \
	tests/shadow/test_system_calls tests/shadow/test_file_calls tests/shadow/test_path_calls \
	tests/shadow/test_memory_calls tests/shadow/test_sandbox tests/shadow/test_rights tests/shadow/test_window \
	tests/shadow/test_recorded tests/shadow/test_window_counts \
	tests/shadow/test_replay tests/shadow/test_shadow
calls = tests/shadow/calls.c tests/shadow/calls.h
tests_shadow_test_system_calls_SOURCES = tests/shadow/test_system_calls.c $(calls)
tests_shadow_test_file_calls_SOURCES = tests/shadow/test_file_calls.c $(calls)
tests_shadow_test_path_calls_SOURCES = tests/shadow/test_path_calls.c $(calls)
tests_shadow_test_memory_calls_SOURCES = tests/shadow/test_memory_calls.c $(calls)
tests_shadow_test_recorded_SOURCES = tests/shadow/test_recorded.c tests/shadow/server.c tests/shadow/server.h \
	tests/shadow/hostile.c tests/shadow/hostile.h
replays = tests/shadow/replays.c tests/shadow/replays.h
tests_shadow_test_engine_SOURCES = tests/shadow/test_engine.c $(replays)
tests_shadow_test_moments_SOURCES = tests/shadow/test_moments.c $(replays)
tests_shadow_test_translate_SOURCES = tests/shadow/test_translate.c tests/shadow/forms.S
check_PROGRAMS += tests/shadow/test_path_log tests/shadow/test_stretches tests/shadow/test_follow \
	tests/shadow/test_reuse
tests_shadow_test_stretches_SOURCES = tests/shadow/test_stretches.c $(replays)
tests_shadow_test_path_log_SOURCES = tests/shadow/test_path_log.c tests/shadow/forms.S

helper_programs += tests/shadow/replayed tests/shadow/replay_command
# Without sanitizers, whose runtime does much of its own and dislikes ptrace.
tests_shadow_replayed_CFLAGS = -std=gnu11 $(WARNING_CFLAGS)
tests_shadow_replayed_LDFLAGS =
tests_shadow_replayed_LDADD = -lm
tests_shadow_replay_command_SOURCES = tests/shadow/replay_command.c tests/machine_geometry.h \
	tests/machine_geometry.c
tests_shadow_replay_command_LDADD = $(SHADOW_LIBS) $(CALIBRATE_LIBS) $(SHADOW_LIBS)
# Programs that attack who profiles them, where everything can be guessed.
helper_programs += tests/shadow/attack/attack
tests_shadow_attack_attack_CFLAGS = -std=gnu11 -O1 $(WARNING_CFLAGS)
tests_shadow_attack_attack_LDFLAGS = -no-pie
tests_shadow_attack_attack_LDADD =
dist_check_SCRIPTS += tests/shadow/attack/ends.test tests/shadow/attack/escape.test
endif
