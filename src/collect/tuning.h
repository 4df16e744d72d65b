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
 *	call paths	DEPTHS_ENOUGH, DEPTHS_SAMPLES, DEPTHS_DEEP_SAMPLES
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
	/* A record is in its ring at most so long after its time; rings are merged by time up to
	 * there (ring_set.h). */
	ARRIVAL_NS = 5000000, /* ns of wall time [chosen] */
	/* Mean time between two ticks, which draw new periods and look at times; and the longest between
	 * two looks at the rings, which come sooner where a ring would be half full by then. */
	TICK_MEAN_MS = 250, /* ms of wall time [chosen] */
	/* The same at the beginning, from where it grows with the run: a short run gets its share
	 * of new periods, too. Rings are read as often as ticks come where the samples decide how much
	 * of the stack is copied next. */
	FIRST_TICKS_MEAN_MS = 50, /* ms of wall time [chosen] */
	/* It grows to this part of the time so far. */
	TICK_PART = 4, /* parts of the time so far [chosen] */
	/* What a record is thought to hold, for how long a ring takes to fill: of a callchain, … */
	USUAL_CALLCHAIN = 64, /* addresses [chosen] */
	/* … and of branches, which is as many as Intel's cores record. */
	USUAL_BRANCHES = 32, /* branches; Intel 325462, LBR */
	/* The first line of progress: who waits for longer begins to wonder. */
	FIRST_PROGRESS_S = 10, /* s of wall time [shown] */
	/* Further ones. */
	PROGRESS_S = 1, /* s of wall time [shown] */
	/* Contexts of ended processes whose samples wait to be attributed; with more that is done
	 * before the next flush. */
	RETIRED_LIMIT = 1024, /* contexts [bound] */
	/* Writing call paths takes at most this part of the time, and so does writing branches: a crash
	 * loses what came since. Of a compile farm that is 100 ms every 30 s. */
	SUMS_PART = 300, /* parts of wall time; scripts/bench/long-recording */
	/* Blocks of memory that are mapped each on its own: a flush has some dozens of them. */
	LARGE_BLOCK_BYTES = 262144, /* bytes: 256 KiB; scripts/bench/long-recording */
	/* What is left to do when sampling is over asks for the shortest time slices: on busy CPUs,
	 * somebody waits for it. And where it may, it goes before others: it takes some 50 ms of
	 * CPU time. So does all of a recording of the whole machine: it takes little, but at once. */
	OWN_NICE = -10, /* nice value [chosen] */
};

/* An event that counted for less than this share of its time is reported. */
static const double counted_noticeably = 0.99; /* share of time [shown] */

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
	/* Address spaces that processes had, kept for windows that come late. */
	PAST_LIMIT = 256, /* address spaces [bound] */
	/* Processes that have ended and are known yet: of a thousand that end in a second, for a
	 * quarter of one. */
	ENDED_LIMIT = 256, /* processes [bound] */
	/* Names of commands and threads. */
	NAMES_LIMIT = 65536, /* names [bound] */
	/* Threads and CPUs that are told apart within a process, in all. */
	LANES_LIMIT = 32768, /* lanes [bound] */
	/* Threads whose names are known. */
	LANE_THREADS_LIMIT = 65536, /* threads [bound] */
	/* A file of /proc about a process; the longest is maps, with some 100 bytes per mapping. */
	PROC_FILE_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
};

/* --- files and names: images/ ---------------------------------------------------------------- */

enum {
	/* Names kept of one image. More are a file's that was made to be a burden: then none is
	 * kept, as some without the others would tell a wrong story. */
	MOST_NAME_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Code of one image that is decoded for bodies of procedures, within half a second. */
	MOST_BODY_BYTES = 2097152, /* bytes: 2 MiB [bound] */
	/* Code of one image that is kept in excerpts: twice what the samples of a compiler or an
	 * interpreter are in, … */
	MOST_CODE_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* … and of all. */
	MOST_CODE_BYTES_OF_ALL = 4194304, /* bytes: 4 MiB [bound] */
	/* Files held open, so that what a program removes is found at the end; … */
	MOST_HELD = 256, /* files [bound] */
	/* … only in this part of the descriptors, as the rest is for counters and rings. */
	HELD_PART = 2, /* parts of RLIMIT_NOFILE [bound] */
	/* A map of a JIT compiler (/tmp/perf-PID.map): no more of it is read, … */
	JIT_MAP_MIB = 64, /* MiB [bound] */
	/* … nor more names than this. */
	PERF_MAP_SYMBOLS = 1048576, /* names [bound] */
	/* A longer symbol in it is damage: no real function is. */
	PERF_MAP_LONGEST_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* /proc/kallsyms, with the names of all modules. */
	KALLSYMS_LIMIT_BYTES = 50331648, /* bytes: 48 MiB [bound] */
	/* Notes of the kernel and of a module. */
	NOTES_LIMIT_BYTES = 65536, /* bytes: 64 KiB [bound] */
	/* A symbol of the kernel reaches no further, when the next one is behind a gap. */
	KERNEL_LONGEST_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* The vdso: some pages. */
	VDSO_LIMIT_BYTES = 65536, /* bytes: 64 KiB [bound] */
};

/* CPU time of looking up source lines at the end: those of a program of 100 MB with debugging
 * information take 0.3 s. */
static const uint64_t most_line_ns = 2000000000; /* ns of CPU time [bound] */

/* --- call paths: paths/, session.c ------------------------------------------------------------ */

enum {
	/* Of each sample's stack at first, and where it cannot be changed: what 98 % of the paths of
	 * python3, cc1, sqlite3 and node fit in. */
	PATH_STACK_BYTES = 16384, /* bytes; scripts/path-accuracy */
	/* So many samples say how much of the stack they need, … */
	DEPTHS_ENOUGH = 500, /* samples [chosen] */
	/* … with so many, the older ones begin to count less, … */
	DEPTHS_SAMPLES = 2000, /* samples [chosen] */
	/* … and with so many deep ones: 20 per second of CPU time. */
	DEPTHS_DEEP_SAMPLES = 400, /* samples [chosen] */
	/* Of a deep sample's stack: nearly all that a record of the kernel may hold, … */
	DEEP_STACK_BYTES = 65024, /* bytes; perf_event_open(2) */
	/* … and how often one is taken: from the whole paths that they give, others are continued. */
	DEEP_PERIOD_NS = 50000000, /* ns of CPU time; scripts/path-accuracy */
	/* Unwind tables in memory: that of libLLVM takes 2.3 MiB, of a compiler 1 MiB. */
	MOST_TABLE_BYTES = 33554432, /* bytes: 32 MiB [bound] */
	/* Tables that later recordings find in the cache: as many as this, … */
	STORED_TABLES = 64, /* files [bound] */
	/* … none larger, … */
	STORED_MOST_BYTES = 8388608, /* bytes: 8 MiB [bound] */
	/* … and only of what took longer to make than finding and reading a file does. */
	STORED_LEAST_NS = 500000, /* ns of CPU time [chosen] */
	/* Images that tables were looked for in. */
	MOST_TABLES = 4096, /* images [bound] */
	/* Addresses whose place is kept, 40 bytes each, and offsets whose rule is, 24 bytes each; a power of
	 * two. A program's stacks hold a few hundred most of the time. */
	KNOWN_PLACES = 2048, /* addresses [chosen] */
	/* Threads whose last path is known, some 2 KiB each. */
	MOST_LAST_PATHS = 512, /* threads [bound] */
	/* Of it, frames whose memory is asked for at once. */
	MOST_FETCHED = 64, /* frames [chosen] */
	/* With more images or series than these after a flush, the tree begins anew. */
	PATH_IMAGES_LIMIT = 4096, /* images [bound] */
	PATH_SERIES_LIMIT = 4096, /* series [bound] */
};

/* The sizes of the stack that are copied with samples. 2 KiB cost nothing, 8 and 16 KiB some 5 us per
 * sample, 32 KiB 20; 64 KiB would cost 35, and paths that 32 KiB do not hold can be joined to others. */
static const uint32_t path_stacks[] = {
	2048, 4096, 8192, PATH_STACK_BYTES, 32768, /* bytes; scripts/bench/call-paths */
};
/* Of the samples that the largest size holds, the chosen one holds this part; … */
static const double depths_held = 0.98; /* share of samples [chosen] */
/* … a smaller one than before must hold more, so that sizes do not change all the time. */
static const double depths_held_smaller = 0.985; /* share of samples [chosen] */

/* --- branches from registers: evidence/outcomes.c, evidence/code_file.c ----------------------- */

enum {
	/* Of each sample's stack: tells most of what was spilled, and more would only copy.
	 * Registers and this stack cost 0.5 % of the target at 4 kHz and 0.13 % at 1 kHz when they
	 * were introduced. */
	OUTCOMES_STACK_BYTES = 256, /* bytes [chosen] */
	/* Instructions that are followed behind a sample, … */
	OUTCOMES_MOST_STEPS = 256, /* instructions [chosen] */
	/* … and branches: what a program does then is known no further. */
	OUTCOMES_MOST_BRANCHES = 16, /* branches [chosen] */
	/* Files whose code is read. */
	OUTCOMES_FILES = 64, /* files [bound] */
	/* Decoded instructions that are kept; a power of two. */
	OUTCOMES_CACHED = 8192, /* instructions [chosen] */
	/* Branches, and targets of indirect ones, that are summed between two flushes; a power of
	 * two. */
	OUTCOMES_WAYS = 16384, /* branches and targets [chosen] */
	/* Of a command all samples are followed up to this number, 8 s at 1 kHz. Then every other one is,
	 * at twice that number one in four and so on: following takes two thirds of what a sample costs
	 * us, and a branch's shares change ever less. */
	OUTCOMES_ALL_SAMPLES = 8192, /* samples [chosen] */
	/* At least one in so many. */
	OUTCOMES_ONE_IN = 8, /* samples; scripts/bench/long-recording */
	/* Loadable segments of a file of code. */
	CODE_FILE_SEGMENTS = 16, /* segments [bound] */
	/* What is read of such a file at a time, … */
	CODE_PIECE_BYTES = 4096, /* bytes: a page */
	/* … and how much is kept, of all files: half a MiB. */
	CODE_PIECES = 128, /* pieces [bound] */
};

/* --- branch records: evidence/ranges.c ------------------------------------------------------- */

enum {
	/* Stretches of straight code that are summed between two flushes; a power of two. */
	RANGES_LIMIT = 8192, /* stretches [bound] */
	/* A longer one is a gap in the records: straight code is not that long. */
	RANGE_LONGEST_BYTES = 4096, /* bytes [bound] */
};

/* --- evidence of all kinds: evidence/ -------------------------------------------------------- */

enum {
	/* Commands that evidence is told apart by; the others are one, without a name. */
	EVIDENCE_COMMANDS = 256, /* commands [bound] */
};

/* --- breakpoints that count: evidence/probes.c ----------------------------------------------- */

enum {
	/* Places that are known at a time, half of the slots of a hash table; a power of two. */
	PROBE_SLOTS = 1024, /* slots [bound] */
	/* Counters of samples by line of code, to know which lines are hot; a power of two. */
	PROBE_LINES = 4096, /* counters [chosen] */
	/* Places that are drawn until one is mapped in the thread and not too hot. */
	PROBE_TRIES = 16, /* draws [chosen] */
	/* A breakpoint counts no more hits per moment: each takes some microseconds. */
	PROBE_MOST_HITS = 50, /* hits per moment [chosen] */
	/* A place is bursty, and left alone, when a burst ended more than one in so many moments, … */
	PROBE_MOMENTS_PER_BURST = 20, /* moments [chosen] */
	/* … and at least so many. */
	PROBE_ENOUGH_BURSTS = 3, /* bursts [chosen] */
	/* Hits of a breakpoint of hpcprof's own that tell what one costs. */
	PROBE_COST_HITS = 200, /* hits [chosen] */
};

/* One moment in each slot of this length, if the thread has a sample that is no older: else it may
 * have ended, or sleep; … */
static const uint64_t probe_slot_ns = 100000000; /* ns of wall time [chosen] */
/* … of this length. */
static const uint64_t probe_moment_ns = 20000000; /* ns of wall time [chosen] */
/* While a breakpoint is armed, some processors run what shares its line of the instruction cache
 * much slower, hit or not, and nothing else: six times on AMD's Zen 4, which made rates six times
 * too low. So no more samples than this share may be in the line. */
static const double probe_most_in_line = 0.002; /* share of samples [chosen] */
/* Where hits take more of the time, breakpoints disturb what they count: above some 30,000 per
 * second. What one hit takes is known by and large only. */
static const double probe_most_lost = 0.3; /* share of the moment [chosen] */
/* Arming and disarming a breakpoint, for which the thread is interrupted. */
static const double probe_arming_ns = 30000; /* ns [chosen] */
/* Either half of the hits takes at least this share of the time; else they came in a burst. Where
 * hits come at random, less than one moment in a thousand looks like one: the share is beta
 * distributed. */
static const double probe_least_half = 0.25; /* share of the moment; beta(25, 25) */

/* --- windows of a copy: evidence/windows.c --------------------------------------------------- */

enum {
	/* Samples of time that wait for windows, which come late; a power of two. */
	WINDOWS_MOST_TICKS = 131072, /* samples [bound] */
	/* Windows that wait for the map changes of their time. */
	WINDOWS_MOST_WAITING = 64, /* windows [bound] */
	/* Blocks and edges in memory, half a KiB each, with which they are written: a compiler has
	 * some 300,000, and to write them is to read, add to and write all that there are. */
	WINDOWS_MANY_ITEMS = 524288, /* blocks and edges [bound] */
	/* While writing fails there is room for so many times that. */
	WINDOWS_OF_MANY = 2, /* times [bound] */
};

/* --- imported files: import.c ----------------------------------------------------------------- */

/* A larger perf.data file is refused: it is held in memory, to be put in order of time. */
enum { IMPORT_MOST_BYTES = 2000000000 }; /* bytes [bound] */

#endif
