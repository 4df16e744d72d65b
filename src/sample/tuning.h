/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of sampling: how the cost of a sample is measured, how periods are drawn, how
 * large rings are, and when groups take turns.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	[chosen]	nobody has measured it; scripts/sensitivity finds it by this mark
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 *
 * Not here: what the interface promises (HP_DEFAULT_FREQUENCY_HZ, HP_FREQUENCY_CAP_HZ).
 */
#ifndef HPCPROF_SRC_SAMPLE_TUNING_H
#define HPCPROF_SRC_SAMPLE_TUNING_H

/* --- what a sample costs, measured at the start: rate.c -------------------------------------- */

/* All of it takes some 8 ms, which is most of what a short recording costs; where a sample takes 18
 * us, as in a VM, 22 ms with a clock period of 25 us, which hardly leaves time for the work
 * between. */
enum {
	/* Stretches of work with samples, and as many without; the lower quartiles are compared, as
	 * other programs only ever make a stretch longer. */
	COST_ROUNDS = 8, /* stretches [chosen] */
	/* The length of a stretch. */
	COST_STRETCH_NS = 400000, /* ns of wall time [chosen] */
	/* The period of its samples, of clocks: 8 samples per stretch, if they cost nothing; … */
	COST_PERIOD_NS = 50000, /* ns [chosen] */
	/* … and of cycles. */
	COST_PERIOD_CYCLES = 100000, /* cycles [chosen] */
};

/* --- periods: rate.c, sampler.c -------------------------------------------------------------- */

enum {
	/* Periods shorter than this are not varied: steps of 1 are too coarse. */
	SMALLEST_RANDOMISED_PERIOD = 100, /* events [chosen] */
	/* Periods vary by this part of their mean, up and down. With 2 % instead of 10 %, shares of
	 * a program of two equal phases in the rhythm of the sampling were off by 5 points, not 1. */
	PERIOD_PARTS = 10, /* parts of the mean; scripts/bench/attribution --only rhythm */
	/* The first period of an event, which threads and children may keep for all their life, by
	 * this part: so that siblings agree. */
	FIRST_PARTS = 100, /* parts of the mean [chosen] */
	/* Page faults happen too often for a sample of each, unlike the kernel's rarer events. */
	FAULTS_PER_SAMPLE = 100, /* faults [chosen] */
	/* A new period starts from nothing: what the old one had counted is forgotten, half a
	 * sample on average. Of so many samples that is 1 %. Drawn four times per second, -F 10
	 * lost half of its samples. */
	SAMPLES_BETWEEN_REDRAWS = 50, /* samples [chosen] */
	/* Descriptors that get a new period in one go, each by a system call; the others have to
	 * wait for the next tick. */
	REDRAWS_A_TIME = 64, /* descriptors [bound] */
	/* Periods up to here are told apart exactly, longer ones by classes. */
	EXACT_PERIODS = 128, /* events [chosen] */
};

/* Classes of periods: each is 9 % wide. */
static const double classes_per_octave = 8; /* classes per factor of 2 [chosen] */

/* --- rings and events: open.c, sampler.c ------------------------------------------------------ */

enum {
	/* A CPU's ring: 512 KiB, which is what an ordinary user may lock per CPU
	 * (perf_event_mlock_kb is 516: Documentation/admin-guide/sysctl/kernel.rst of Linux). */
	DEFAULT_RING_PAGES = 128, /* pages; the kernel's default limit */
	/* … or, if that is more, room for the pieces of stack that are copied in this time. Records wait
	 * for 5 ms before they are read (src/collect/tuning.h), and until hpcprof gets a CPU. With 31 ms
	 * of 16 KiB, 2.4 % of clang's samples were lost at 1 kHz, and with 8 ms 12 % of python3's at
	 * 4 kHz. A larger ring takes longer to make: the kernel clears all of it. */
	RING_STACK_MS = 100, /* ms of wall time; scripts/bench/call-paths */
	/* All rings together: on many CPUs each is smaller. */
	ALL_RINGS_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Threads that close events: closing 10,000 takes 20 ms of CPU time, and on busy CPUs each thread
	 * gets a share of its own. */
	CLOSERS = 4, /* threads; scripts/bench/duration */
	/* For so many events there is one more of them. */
	CLOSER_LEAST = 1000, /* events [chosen] */
};

/* Where deep samples are taken beside others: (threads times CPUs). Each takes a descriptor. */
enum {
	MOST_DEEP = 1024, /* descriptors [bound] */
};

/* Sizes of the stack to choose from: each size is an event per thread, CPU and event. */
enum {
	/* Where threads and children inherit them: each makes starting a process 2 us slower. */
	MOST_INHERITED = 64, /* descriptors [bound] */
	/* Of the whole system, where nothing does. */
	MOST_OF_CPUS = 1024, /* descriptors [bound] */
};

/* --- groups of events that take turns: turns.c ----------------------------------------------- */

enum {
	/* Each slice loses a sample of each of its events on average, so slices are longer than
	 * those of counting (src/count/tuning.h). */
	SHORTEST_SLICE_NS = 10000000, /* ns of wall time [chosen] */
	/* Between that and HP_MUX_LONGEST_SLICE_NS, slices are so long that turning costs this
	 * much. */
	TURN_COST_PERCENT = 1, /* % of the recorder's time [chosen] */
};

/* --- perf.data files: perf_file.c, perf_file_parts.c ------------------------------------------ */

enum {
	/* perf itself has room for no more counters than descriptors may be open. */
	PERF_FILE_MOST_EVENTS = 4096, /* events [bound] */
	/* What compressed records may come to: samples of hours; a few KB can claim any size. */
	PERF_FILE_UNPACKED_BYTES = 1073741824, /* bytes: 1 GiB [bound] */
};

#endif
