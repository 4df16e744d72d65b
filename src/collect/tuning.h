/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of recording that somebody had to choose: how often rings are emptied, what evidence is
 * gathered beside samples and at what price, and how much memory and time names and code take.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	a text		from which it follows, by its title or path
 *	[chosen]	nobody has measured it; scripts/sensitivity finds it by this mark
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 *	[shown]		chosen for readers; no figure depends on it
 *
 * scripts/sensitivity halved and doubled [chosen] ones, those of a line here together, in two sets of
 * recordings of four programs, with call paths and probes, beside four controls each. No figure moved
 * in both sets with
 *	the loop	ARRIVAL_NS, TICK_MEAN_MS, FIRST_TICKS_MEAN_MS, TICK_PART
 *	the end		OWN_NICE
 *	samples		SAMPLE_OVERFLOW_ENTRIES
 *	call paths	DEPTHS_ENOUGH, DEPTHS_DEEP_SAMPLES
 *			KNOWN_PLACES, MOST_FETCHED
 * In one set, branches per 100 samples went from 167 to 149 and 191 with half and twice of
 * OUTCOMES_MOST_STEPS and OUTCOMES_MOST_BRANCHES, and to 153 with half of OUTCOMES_STACK_BYTES.
 * It cannot judge depths_held and depths_held_smaller, twice of which is no share, nor
 * OUTCOMES_ALL_SAMPLES, which needs more than the 2 s that it records.
 *
 * Not here: what the interface promises (HP_DEFAULT_FLUSH_S), what the hardware says (the bytes of an
 * instruction, a line of the instruction cache, two debug registers per probe), and layouts.
 */
#ifndef HPCPROF_SRC_COLLECT_TUNING_H
#define HPCPROF_SRC_COLLECT_TUNING_H

#include <stdint.h>

/* --- the loop: loop.c, recorder.c, session.c, session_run.c ----------------------------------- */

enum {
	/* A record reaches its ring at most this long after its time; rings are merged by time up
	 * to there (ring_set.h). */
	ARRIVAL_NS = 5000000, /* ns of wall time [chosen] */
	/* Mean time between ticks, at which periods are redrawn and times read. It is also the
	 * longest time between two readings of the rings, which come earlier if a ring would be
	 * half full by then. */
	TICK_MEAN_MS = 250, /* ms of wall time [chosen] */
	/* The same at the beginning; it grows with the run, so that a short run also gets several
	 * periods. Rings are read at each tick while samples determine how much of the stack is
	 * copied. */
	FIRST_TICKS_MEAN_MS = 50, /* ms of wall time [chosen] */
	/* Ticks grow to this part of the time so far. */
	TICK_PART = 4, /* parts of the time so far [chosen] */
	/* The assumed size of a record, to predict when a ring is full: addresses of a
	 * callchain, … */
	USUAL_CALLCHAIN = 64, /* addresses [chosen] */
	/* … and branches: as many as Intel's cores record. */
	USUAL_BRANCHES = 32, /* branches; Intel 325462, LBR */
	/* The first line of progress: users who wait longer begin to wonder. */
	FIRST_PROGRESS_S = 10, /* s of wall time [shown] */
	/* Further ones. */
	PROGRESS_S = 1, /* s of wall time [shown] */
	/* Contexts of ended processes whose samples are not attributed yet; with more, samples are
	 * attributed before the next flush. */
	RETIRED_LIMIT = 1024, /* contexts [bound] */
	/* Writing call paths takes at most this part of the time, and so does writing branches. A
	 * crash loses what was recorded since then. */
	SUMS_PART = 300, /* parts of wall time; scripts/bench/long-recording */
	/* Blocks of at least this size are mapped separately: a flush has some dozens of them. */
	LARGE_BLOCK_BYTES = 262144, /* bytes: 256 KiB; scripts/bench/long-recording */
	/* The niceness of the work after sampling, if permitted; it also gets the shortest time
	 * slices, because somebody waits for it. A recording of the whole machine has both from the
	 * start: it needs little CPU time, but without delay. */
	OWN_NICE = -10, /* nice value [chosen] */
};

/* An event that counted for less than this share of its time is reported. */
static const double counted_noticeably = 0.99; /* share of time [shown] */

/* When a task begins, the kernel's clock events begin a whole period, so a task that is shorter has
 * no sample. If samples stand for less than this share of the CPU time, the profile is of the few
 * long tasks; the kernel divides the CPU time of short tasks into user and system only roughly. */
static const double short_least_sampled = 0.25; /* share of the CPU time [chosen] */
/* With less CPU time, few samples may be chance. */
static const double short_least_samples = 50; /* samples [chosen] */
/* The rate that is proposed then. */
enum { SHORT_HIGHER_RATE = 10 }; /* times the rate [chosen] */

/* --- samples: samples/ ----------------------------------------------------------------------- */

enum {
	/* The buffer that evicted entries of the hash table go to (sample_table.h has its layout). */
	SAMPLE_OVERFLOW_ENTRIES = 8192, /* entries [chosen] */
	/* Sums of samples by image and offset between two flushes: 5 MiB. At half of it they are
	 * flushed. */
	PLACED_LIMIT = 131072, /* sums [bound] */
};

/* --- processes: maps/ ------------------------------------------------------------------------ */

enum {
	/* Former address spaces of processes, kept for windows that come late. */
	PAST_LIMIT = 256, /* address spaces [bound] */
	/* Ended processes that are still known: records of theirs may come late. */
	ENDED_LIMIT = 256, /* processes [bound] */
	/* Names of commands and threads. */
	NAMES_LIMIT = 65536, /* names [bound] */
	/* Combinations of thread and CPU that are kept apart, over all processes. */
	LANES_LIMIT = 32768, /* lanes [bound] */
	/* Threads whose names are known. */
	LANE_THREADS_LIMIT = 65536, /* threads [bound] */
	/* A file of /proc about a process; the longest is maps, with some 100 bytes per mapping. */
	PROC_FILE_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
};

/* --- files and names: images/ ---------------------------------------------------------------- */

enum {
	/* Names kept per image. A file with more is hostile: then none are kept, as a part of them
	 * would mislead. */
	MOST_NAME_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Code per image that is decoded for the bodies of procedures. */
	MOST_BODY_BYTES = 2097152, /* bytes: 2 MiB [bound] */
	/* Code per image that is kept in excerpts, … */
	MOST_CODE_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* … and in all. */
	MOST_CODE_BYTES_OF_ALL = 4194304, /* bytes: 4 MiB [bound] */
	/* Files held open, so that deleted files can be read at the end, … */
	MOST_HELD = 256, /* files [bound] */
	/* … at most this part of the descriptors: counters and rings need the rest. */
	HELD_PART = 2, /* parts of RLIMIT_NOFILE [bound] */
	/* The size of a JIT compiler's map (/tmp/perf-PID.map) that is read, … */
	JIT_MAP_MIB = 64, /* MiB [bound] */
	/* … and the number of its names. */
	PERF_MAP_SYMBOLS = 1048576, /* names [bound] */
	/* A longer symbol in it is damage: no function is that long. */
	PERF_MAP_LONGEST_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Names of /proc/kallsyms, those of all modules included. */
	KERNEL_NAMES_LIMIT_BYTES = 50331648, /* bytes: 48 MiB [bound] */
	/* Notes of the kernel and of a module. */
	NOTES_LIMIT_BYTES = 65536, /* bytes: 64 KiB [bound] */
	/* The longest symbol of the kernel, if the next one is behind a gap. */
	KERNEL_LONGEST_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* The vdso: some pages. */
	VDSO_LIMIT_BYTES = 65536, /* bytes: 64 KiB [bound] */
};

/* CPU time for looking up source lines at the end. */
static const uint64_t most_line_ns = 2000000000; /* ns of CPU time [bound] */

/* --- call paths: paths/, session.c ------------------------------------------------------------ */

enum {
	/* Bytes of stack per sample at first, and if the size cannot be changed: 98 % of the paths
	 * of python3, cc1, sqlite3 and node fit. */
	PATH_STACK_BYTES = 16384, /* bytes; scripts/path-accuracy */
	/* The size of stack is chosen anew after so many samples, by these; … */
	DEPTHS_ENOUGH = 500, /* samples [chosen] */
	/* … and so much time, because phases of a program take time, however often it is sampled; … */
	DEPTHS_LEAST_NS = 500000000, /* ns of wall time; scripts/bench/call-paths */
	/* … right after a change of size, for so many samples, smaller sizes are tried with last paths
	 * that they may not have found, as those that they have found are too few; … */
	DEPTHS_NEW = 50, /* samples [chosen] */
	/* … after each size that was too small, a smaller one waits for twice as many samples as
	 * before, which doubles so often: 32,000 samples; … */
	DEPTHS_FAILURES = 6, /* times [chosen] */
	/* … with so many deep samples, older ones begin to lose weight. */
	DEPTHS_DEEP_SAMPLES = 400, /* samples [chosen] */
	/* Bytes of stack per deep sample: nearly all that a record of the kernel may hold. */
	DEEP_STACK_BYTES = 65024, /* bytes; perf_event_open(2) */
	/* The time between deep samples; other paths are completed from theirs. */
	DEEP_PERIOD_NS = 20000000, /* ns of CPU time; scripts/path-accuracy */
	/* Unwind tables in memory, in all. */
	MOST_TABLE_BYTES = 33554432, /* bytes: 32 MiB [bound] */
	/* Tables that hold a file open, to make rows when they are asked for; others are made at
	 * once. */
	MOST_INDEXED = 64, /* files [bound] */
	/* The smallest .eh_frame of such: all rows of smaller ones are made in less than a ms. */
	INDEXED_LEAST_BYTES = 65536, /* bytes: 64 KiB [chosen] */
	/* Images for which a table was looked for. */
	MOST_TABLES = 4096, /* images [bound] */
	/* Cached places of addresses (48 bytes each) and rules of offsets (32 bytes each); a power
	 * of two. Most programs' stacks contain a few hundred, a compiler's some thousands. */
	KNOWN_PLACES = 8192, /* addresses [chosen] */
	/* Threads whose last path is kept, some 2 KiB each. */
	MOST_LAST_PATHS = 512, /* threads [bound] */
	/* Frames of it whose memory is prefetched. */
	MOST_FETCHED = 64, /* frames [chosen] */
	/* With more images or series than these after a flush, the tree begins anew. */
	PATH_IMAGES_LIMIT = 4096, /* images [bound] */
	PATH_SERIES_LIMIT = 4096, /* series [bound] */
};

/* The sizes of stack that are copied with samples. scripts/bench/call-paths prints what a sample
 * costs with each; paths that 32 KiB do not hold can be joined to others. */
static const uint32_t path_stacks[] = {
	2048, 4096, 8192, PATH_STACK_BYTES, 32768, /* bytes; scripts/bench/call-paths */
};
/* The chosen size covers this share of the samples that the largest one covers: of cc1 that covers little
 * more than the 97 % that are promised; … */
static const double depths_held = 0.99; /* share of samples; scripts/path-accuracy --only cc1 */
/* … a size smaller than the present one must cover more, so that sizes do not alternate. */
static const double depths_held_smaller = 0.994; /* share of samples; the same */

/* --- branches from registers: evidence/outcomes.c, evidence/code_file.c ----------------------- */

enum {
	/* Bytes of stack per sample: contain most spilled values. */
	OUTCOMES_STACK_BYTES = 256, /* bytes [chosen] */
	/* Instructions that are interpreted behind a sample, … */
	OUTCOMES_MOST_STEPS = 256, /* instructions [chosen] */
	/* … and branches: later ones are not known. */
	OUTCOMES_MOST_BRANCHES = 16, /* branches [chosen] */
	/* Files whose code is read. */
	OUTCOMES_FILES = 64, /* files [bound] */
	/* Cached decoded instructions; a power of two. */
	OUTCOMES_CACHED = 8192, /* instructions [chosen] */
	/* Branches, and targets of indirect ones, that are summed between flushes; a power of
	 * two. */
	OUTCOMES_WAYS = 16384, /* branches and targets [chosen] */
	/* All samples of a command are followed up to this number, 8 s at 1 kHz, then every second
	 * one, from twice that number on every fourth, and so on: the shares of a branch change
	 * ever less. */
	OUTCOMES_ALL_SAMPLES = 8192, /* samples [chosen] */
	/* At least one sample in so many is followed. */
	OUTCOMES_ONE_IN = 8, /* samples; scripts/bench/long-recording */
	/* Loadable segments of a file of code. */
	CODE_FILE_SEGMENTS = 16, /* segments [bound] */
	/* Bytes of such a file that are read at a time, … */
	CODE_PIECE_BYTES = 4096, /* bytes: a page */
	/* … and pieces that are kept, of all files: half a MiB. */
	CODE_PIECES = 128, /* pieces [bound] */
};

/* --- branch records: evidence/ranges.c ------------------------------------------------------- */

enum {
	/* Stretches of straight code that are summed between flushes; a power of two. */
	RANGES_LIMIT = 8192, /* stretches [bound] */
	/* A longer stretch is a gap in the records: straight code is not that long. */
	RANGE_LONGEST_BYTES = 4096, /* bytes [bound] */
};

/* --- evidence of all kinds: evidence/ -------------------------------------------------------- */

enum {
	/* Commands with evidence of their own; all others share one, without a name. */
	EVIDENCE_COMMANDS = 256, /* commands [bound] */
};

/* --- breakpoints that count: evidence/probes.c ----------------------------------------------- */

enum {
	/* Known places, half of the slots of a hash table; a power of two. */
	PROBE_SLOTS = 1024, /* slots [bound] */
	/* Counters of samples per line of code, which show hot lines; a power of two. */
	PROBE_LINES = 4096, /* counters [chosen] */
	/* Places that are drawn until one is mapped in the thread and not too hot. */
	PROBE_TRIES = 16, /* draws [chosen] */
	/* The most hits that a breakpoint counts per moment: each takes some microseconds. */
	PROBE_MOST_HITS = 50, /* hits per moment [chosen] */
	/* A place is bursty, and avoided, if a burst ended more than one in so many moments, … */
	PROBE_MOMENTS_PER_BURST = 20, /* moments [chosen] */
	/* … and at least so many in all. */
	PROBE_ENOUGH_BURSTS = 3, /* bursts [chosen] */
	/* Hits of a breakpoint in hpcprof that measure the cost of one. */
	PROBE_COST_HITS = 200, /* hits [chosen] */
};

/* There is one moment per slot of this length, if the thread has a sample in it: otherwise it may
 * have ended, or sleep. */
static const uint64_t probe_slot_ns = 100000000; /* ns of wall time [chosen] */
/* The length of a moment. */
static const uint64_t probe_moment_ns = 20000000; /* ns of wall time [chosen] */
/* While a breakpoint is armed, some processors (AMD's Zen 4) run code in its line of the
 * instruction cache several times slower, hit or not. So the line may have at most this share of
 * the samples. */
static const double probe_most_in_line = 0.002; /* share of samples [chosen] */
/* If hits take more of the time, breakpoints disturb what they count. The cost of a hit is only
 * roughly known. */
static const double probe_most_lost = 0.3; /* share of the moment [chosen] */
/* Cost of arming and disarming a breakpoint, which interrupts the thread. */
static const double probe_arming_ns = 30000; /* ns [chosen] */
/* Each half of the hits takes at least this share of the time; otherwise they came in a burst. Of
 * random hits less than one moment in a thousand looks like one: the share is beta distributed. */
static const double probe_least_half = 0.25; /* share of the moment; beta(25, 25) */

/* --- windows of a copy: evidence/windows.c --------------------------------------------------- */

enum {
	/* Samples of time that wait for windows, which come late; a power of two. */
	WINDOWS_MOST_TICKS = 131072, /* samples [bound] */
	/* Windows that wait for the map changes of their time. */
	WINDOWS_MOST_WAITING = 64, /* windows [bound] */
	/* Blocks and edges in memory (half a KiB each) at which they are written: writing means
	 * reading, adding to and writing all that there are. A compiler has some 300,000. */
	WINDOWS_MANY_ITEMS = 524288, /* blocks and edges [bound] */
	/* While writing fails, memory may hold so many times that. */
	WINDOWS_OF_MANY = 2, /* times [bound] */
};

/* --- imported files: import.c ----------------------------------------------------------------- */

/* A larger perf.data file is refused: it is held in memory, to be put in order of time. */
enum { IMPORT_MOST_BYTES = 2000000000 }; /* bytes [bound] */

#endif
