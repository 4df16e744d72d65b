# The layer check is a test.
dist_check_SCRIPTS += scripts/check-layers
EXTRA_DIST += \
	.ci/run \
	scripts/bench/attribution \
	scripts/bench/bench.py \
	scripts/bench/call-paths \
	scripts/bench/cfg-speed \
	scripts/bench/clock.c \
	scripts/bench/database-size \
	scripts/bench/duration \
	scripts/bench/long-recording \
	scripts/bench/idle_threads.c \
	scripts/bench/hostile-report \
	scripts/bench/kernels.c \
	scripts/bench/library.c \
	scripts/bench/measure.c \
	scripts/bench/memory.c \
	scripts/bench/pgo \
	scripts/bench/phases.c \
	scripts/bench/record-overhead \
	scripts/bench/report-speed \
	scripts/bench/self_timed.h \
	scripts/bench/shadow-budget \
	scripts/bench/shadow-overhead \
	scripts/bench/shadow-price \
	scripts/bench/shadow-replay \
	scripts/bench/shares.c \
	scripts/bench/stalls-speed \
	scripts/bench/start \
	scripts/bench/stat-overhead \
	scripts/bench/storms.c \
	scripts/bench/templates.cc \
	scripts/bench/threads.c \
	scripts/bench/turns.c \
	scripts/bench/turns.py \
	scripts/branch-record-accuracy \
	scripts/callgrind.awk \
	scripts/cfg-accuracy \
	scripts/check-accuracy \
	scripts/check/large.py scripts/check/pool.py scripts/check/programs.py \
	scripts/clock-accuracy \
	scripts/demo.sh \
	scripts/dependencies.sh \
	scripts/dependencies.txt \
	scripts/frequency-accuracy \
	scripts/frequency/absolute.py \
	scripts/frequency/again.py \
	scripts/frequency/controls.py \
	scripts/frequency/counted.py \
	scripts/frequency/evidence.py \
	scripts/frequency/judge.py \
	scripts/frequency/measure.py \
	scripts/frequency/phases.cc scripts/frequency/profiles.py \
	scripts/frequency/shapes.c \
	scripts/frequency/stacks.py scripts/frequency/subsets.py \
	scripts/frequency/workloads.py \
	scripts/path-accuracy scripts/path-callgrind scripts/path-oracle \
	scripts/paths/programs.py \
	scripts/pgo/programs.py \
	scripts/record-accuracy \
	scripts/judging/comparisons.py scripts/judging/recordings.py scripts/sensitivity \
	scripts/test.sh scripts/test-times \
	scripts/window-coverage \
	scripts/windows/inputs.py \
	scripts/windows/programs.py \
	scripts/windows/servers.py

# What demo.sh records. Not inlined, so that the report has procedures to name.
EXTRA_PROGRAMS += scripts/demo/wordcount
CLEANFILES += scripts/demo/wordcount$(EXEEXT)
scripts_demo_wordcount_CFLAGS = $(AM_CFLAGS) -g -fno-inline
scripts_demo_wordcount_LDADD =

# How ready the buffers of shadow windows are to be read into.
EXTRA_PROGRAMS += scripts/bench/first_reading
CLEANFILES += scripts/bench/first_reading$(EXEEXT)
scripts_bench_first_reading_LDADD = $(SHADOW_LIBS)

# --- looking after the source ---------------------------------------------------------------------
EXTRA_DIST += scripts/analyze scripts/analyze.h
.PHONY: format format-check analyze coverage

# tables.c is nothing but numbers, and takes clang-format gigabytes.
formatted = cd '$(srcdir)' && find src include tests scripts -name '*.[ch]' -type f \
	! -path src/isa/machine/generated/tables.c -print0 | xargs -0 clang-format
format:
	$(formatted) -i
format-check:
	$(formatted) --dry-run -Werror

analyze: $(BUILT_SOURCES)
	$(srcdir)/scripts/analyze '$(abs_top_srcdir)' '$(abs_top_builddir)'

# In a directory configured with --enable-coverage.
EXTRA_DIST += scripts/coverage
coverage:
	@test '$(COVERAGE)' = yes || { echo 'configure with --enable-coverage first' >&2; exit 1; }
	find . -name '*.gcda' -exec rm -f {} +
	-$(MAKE) $(AM_MAKEFLAGS) check
	'$(srcdir)/scripts/coverage' .

# What makes src/isa/machine/generated/tables.c, and judges the tables. Not for building or testing.
EXTRA_DIST += scripts/culprit-accuracy
EXTRA_DIST += scripts/machine-tables scripts/machine/facts.cc scripts/measure-machine scripts/model-accuracy
machine_programs = scripts/machine/form_key scripts/machine/code_bounds \
	scripts/machine/measure_code scripts/machine/measure_core
EXTRA_PROGRAMS += $(machine_programs)
CLEANFILES += $(machine_programs)
scripts_machine_code_bounds_LDADD = $(ANALYZE_LIBS)
scripts_machine_measure_code_LDADD =
scripts_machine_measure_core_SOURCES = scripts/machine/measure_core.c scripts/machine/core_tasks.c \
	scripts/machine/core_tasks.h
scripts_machine_measure_core_LDADD = $(CALIBRATE_LIBS)
scripts_machine_form_key_LDADD = $(ISA_LIBS)

# How well rotated counters count. Not for building or testing.
EXTRA_DIST += scripts/mux-accuracy scripts/mux/live scripts/mux/workloads.py \
	scripts/mux/synthesize scripts/mux/callgrind_trace scripts/mux/guest_trace \
	scripts/mux/trace_of_stat scripts/mux/traces/arm-guest
mux_programs = scripts/mux/replay scripts/mux/record_trace
EXTRA_PROGRAMS += $(mux_programs)
CLEANFILES += $(mux_programs)
scripts_mux_replay_LDADD = $(MUX_LIBS)
scripts_mux_record_trace_LDADD = $(BASE_LIBS)

# The models of src/uarch, judged with paths of real programs. Not for building or testing.
EXTRA_DIST += scripts/bench/cause-speed scripts/cause-accuracy scripts/causes/sharpness scripts/causes/time \
	scripts/causes/programs.py scripts/causes/ablations.py scripts/causes/what-if scripts/causes/real \
	scripts/causes/correlation scripts/causes/counts
EXTRA_PROGRAMS += scripts/causes/follow_lackey
CLEANFILES += scripts/causes/follow_lackey
scripts_causes_follow_lackey_LDADD = $(UARCH_LIBS)

# Stall stacks: how fast one pass is, what overlaps; their tables against public lists.
stack_programs = scripts/stack/one_pass scripts/stack/modes scripts/stack/window_parts
EXTRA_PROGRAMS += $(stack_programs)
CLEANFILES += $(stack_programs)
scripts_stack_one_pass_LDADD = $(CYCLE_LIBS)
scripts_stack_modes_LDADD = $(CYCLE_LIBS)
scripts_stack_window_parts_LDADD = $(INFER_LIBS)
EXTRA_DIST += scripts/trace-make scripts/stack-tables scripts/stack-accuracy scripts/stack/events.txt \
	scripts/stack/emulated.py scripts/stack/reference.py scripts/stack/windows.py
