# A target, tests/fuzz/fuzz_NAME from fuzz_NAME.c beside this file, has its corpus in
# tests/fuzz/corpus/NAME/. Built with --enable-fuzz they are libFuzzer programs that
# `make fuzz` runs; otherwise replay.c runs each one's corpus as a test.
fuzz_targets = tests/fuzz/fuzz_analysis tests/fuzz/fuzz_cfg tests/fuzz/fuzz_counts tests/fuzz/fuzz_elf \
	tests/fuzz/fuzz_events tests/fuzz/fuzz_maps tests/fuzz/fuzz_perf_file tests/fuzz/fuzz_perf_map \
	tests/fuzz/fuzz_profile tests/fuzz/fuzz_records tests/fuzz/fuzz_schedule \
	tests/fuzz/fuzz_trace tests/fuzz/fuzz_unwind
if X86_64
fuzz_targets += tests/fuzz/fuzz_shadow
endif

if FUZZ
TARGET_MAIN = $(FUZZ_ENGINE)
EXTRA_PROGRAMS += $(fuzz_targets)
CLEANFILES += $(fuzz_targets)
else
TARGET_MAIN = tests/fuzz/libreplay.a
check_PROGRAMS += $(fuzz_targets)
check_LIBRARIES += tests/fuzz/libreplay.a
tests_fuzz_libreplay_a_SOURCES = tests/fuzz/replay.c
endif
tests_fuzz_fuzz_analysis_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_cfg_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_counts_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_elf_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_events_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_maps_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_perf_file_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_perf_map_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_profile_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_records_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_schedule_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_shadow_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_trace_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
tests_fuzz_fuzz_unwind_LDADD = $(TARGET_MAIN) $(TEST_LIBS)
noinst_HEADERS += tests/fuzz/fuzz.h tests/fuzz/graphs.h
EXTRA_DIST += tests/fuzz/corpus

# Each target runs for its time, also where one before it failed. New inputs go to the build directory;
# those worth keeping are copied to the corpus by hand.
FUZZ_SECONDS = 60
# fuzz-targets: what it runs.
.PHONY: fuzz fuzz-targets
if FUZZ
fuzz-targets: $(fuzz_targets)
fuzz: fuzz-targets
	@failed=; \
	for program in $(fuzz_targets); do \
		name=$${program##*/fuzz_}; \
		mkdir -p "tests/fuzz/found/$$name" || exit 1; \
		echo "fuzzing $$name for $(FUZZ_SECONDS) s"; \
		if "./$$program" -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix="tests/fuzz/found/" "tests/fuzz/found/$$name" \
			"$(top_srcdir)/tests/fuzz/corpus/$$name" >"$$program.log" 2>&1; then \
			tail -n 1 "$$program.log"; \
			echo "PASS: $$program"; \
		else \
			tail -n 40 "$$program.log"; \
			echo "FAIL: $$program"; \
			failed=yes; \
		fi; \
	done; \
	test -z "$$failed"
else
fuzz fuzz-targets:
	@echo 'configure with --enable-fuzz CC=clang (and --enable-asan) first' >&2; exit 1
endif
