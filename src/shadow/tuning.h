/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of shadow windows that somebody had to choose, by subject, in the order of a window's life.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * Where it comes from:
 *	a script	which measures it, by its name in this repository
 *	a text		from which it follows, by its title or path
 *	[chosen]	nobody has measured it; scripts/sensitivity finds it by this mark
 *	[bound]		it limits memory or work where input is hostile or rare: no recording of
 *			an ordinary program reaches it, so none says what is right
 *
 * scripts/sensitivity halved and doubled the [chosen] ones, those of one purpose together (the pauses, the
 * end, moments, what is lent, losses, lengths, first guesses, cut windows, long replays, memory, code,
 * matches, the pace): one recording of each of four programs against five or more of controls, which differ
 * by up to half among themselves. Nothing moved beyond that, but with these:
 * Half of alike_ns made windows cost 3.4 instead of 1.5 %; twice moved nothing. Twice as many
 * makers, further apart (ACTIVE_MAKERS, MAKERS, window_spacing), made 26 instead of 15 windows in
 * 10 s, which counted no more of the time; half moved nothing. Half of what is read around
 * registers (REACHED_STACK_BYTES, BEFORE_POINTER_BYTES, BEHIND_POINTER_BYTES, FOLLOWED_BYTES,
 * POINTED_BYTES) made the time that windows count 6 instead of 17 %; twice moved nothing. Not
 * tried, as half or twice makes no sense: SHORTEST_SLOT_PART, most_missed, truncation_kept,
 * HUGE_PAGE_QUARTERS, CODE_EIGHTHS.
 * Those of recorded calls, guessed_area_ns, guessed_resident_ns, guessed_translating_ns and
 * LOST_DISTANCES were tried with --calls: a server and its client, and copies that lose the path; one or
 * two recordings by each value against nine of controls, whose matched samples differ by up to a quarter.
 * Half of guessed_call_ns and guessed_calls_per_ns made windows cost 4.0 instead of 1.7 %. Half and twice
 * of shortest_recorded_ns and longest_recorded_ns made hpcprof itself use 20 and 22 instead of 30 % of the
 * target's time. All others moved nothing beyond that.
 *
 * Not here: what a format, an instruction set or the kernel's interface says, sizes of buffers that
 * only divide work into pieces, and what the interface of a folder promises (HP_SHADOW_DEFAULT_PERCENT).
 */
#ifndef HPCPROF_SRC_SHADOW_TUNING_H
#define HPCPROF_SRC_SHADOW_TUNING_H

#include <stddef.h>
#include <stdint.h>

/* --- the makers of windows: shadow.c, window.c ----------------------------------------------- */

enum {
	/* Threads that make windows: while the copy of one is replayed, the next one is made. More
	 * would have copies wait for each other, as one is replayed at a time. */
	ACTIVE_MAKERS = 2, /* threads [chosen] */
	/* And with those whose copies wait for an idle CPU: each has the target's memory once. */
	MAKERS = 5, /* threads [chosen] */
	/* These look so often whether there is one. */
	WAITING_LOOK_MS = 20, /* ms of wall time [chosen] */
	/* Windows that are ready and not taken yet; further ones are dropped. Only a recorder that has
	 * stopped reaches it. */
	READY_LIMIT = 256, /* windows [bound] */
	/* A maker that waits until a window is due looks at the target's CPU time at least so
	 * often, as processes may have joined, … */
	LONGEST_SLEEP_NS = 50000000, /* ns of wall time [chosen] */
	/* … and at most so often, to take next to no CPU time itself. So do looks for new
	 * descendants, whose beginnings windows are to find, too, and at a copy's CPU time. */
	SHORTEST_PAUSE_NS = 1000000, /* ns of wall time [chosen] */
	/* After a refusal that another moment will not change (no permission, no memory). */
	REFUSED_PAUSE_MS = 500, /* ms of wall time [chosen] */
	/* When recording ends while the target runs on, a replay under way may go on for so long, during
	 * which the recorder does its last work. */
	STOP_PATIENCE_NS = 100000000, /* ns of wall time [chosen] */
	/* When it ends with the target, replays are nobody's loss: they may take this part of what the
	 * recording took, … */
	ENDED_PATIENCE_PART = 4, /* parts of the recording [chosen] */
	/* … and no more than this. Of a run of some seconds every third window was lost without. All of it is
	 * for programs with fewer windows that count than LENT_WINDOWS: one alone says little. */
	ENDED_PATIENCE_NS = 2000000000, /* ns of wall time [chosen] */
	/* Then what is still simulated is given up, and replays have this part of that time more. */
	UNSIMULATED_PATIENCE_PART = 4, /* parts of the patience [chosen] */
	/* A copy that is ended then dies within this where a CPU is to be had. */
	END_PATIENCE_NS = 100000000, /* ns of wall time [bound] */
	/* Samples are collected until the window's CPU time is used, or so many times its length
	 * has passed: a thread that hardly runs is not waited for without end. */
	SAMPLING_PATIENCE = 10, /* wall time per length of the window [bound] */
	/* A thread that is in a system call is asked again so often before the moment is given up: what has
	 * been prepared for its copy took a hundred times as long as asking. */
	HOLD_TRIES = 12, /* times [chosen] */
	/* … and behind each time it is left alone for so long. */
	HOLD_PAUSE_NS = 300000, /* ns of wall time [chosen] */
	/* A stop that takes longer than so many times the prediction, … */
	LATE_STOP_FACTOR = 2, /* times the predicted stop [chosen] */
	/* … and this on top, is broken off: others want the CPUs that read the memory. It is of all
	 * threads that may wait for the one together. */
	LATE_STOP_NS = 20000000, /* ns of the target's CPU time [bound] */
	/* Stops of a copy, each for hpcprof to translate or answer something, before its replay is
	 * given up: a bound on hpcprof's own work. */
	EXIT_LIMIT = 1048576, /* stops per replay [bound] */
};

/* --- hpcprof doctor: examine.c --------------------------------------------------------------- */

enum {
	/* The window that doctor tries: short, as it only has to work. */
	TRIAL_WINDOW_NS = 5000000, /* ns of the child's CPU time [bound] */
	/* Its budget: the child has nothing else to do, so that a window is due at once, whatever it costs. */
	TRIAL_PERCENT = 10000, /* % of the child's CPU time */
	/* Doctor waits so long for a window before it calls the machine too busy, … */
	TRIAL_PATIENCE_MS = 3000, /* ms of wall time [bound] */
	/* … and looks so often. */
	TRIAL_LOOK_MS = 20, /* ms of wall time [bound] */
};

/* --- the target's threads: threads.c --------------------------------------------------------- */

enum {
	/* Processes that are followed. */
	PROCESS_LIMIT = 1024, /* processes [bound] */
	/* Threads whose time of waiting for CPUs is read, at some ten microseconds each. */
	WAITING_LIMIT = 128, /* threads [bound] */
	/* Between two looks for new descendants, so many times what a look took: 5 % of a CPU at most. */
	LOOK_SHARE = 20, /* times the length of the look [chosen] */
};

/* --- when windows begin: budget/schedule.c, budget/price.c ------------------------------------ */

enum {
	/* A moment that was missed by more than this part of its slot, … */
	SLOT_LATE_PART = 16, /* parts of a slot [chosen] */
	/* … and by more than this, is drawn anew. No clock wakes a thread to the ns, and before the
	 * first window slots are short. */
	SLOT_LATE_NS = 10000000, /* ns of the target's CPU time [chosen] */
	/* A thread that was in the kernel is tried again within this part of its slot. With moments
	 * drawn from all of the rest, eight tries or so used up a slot. */
	SLOT_AGAIN_PART = 256, /* parts of a slot [chosen] */
	/* A slot that is over before its window may begin is lengthened by this part of it. */
	SLOT_REST_PART = 8, /* parts of a slot [chosen] */
	/* What earlier windows left over makes a slot shorter, to this part of it at least. */
	SHORTEST_SLOT_PART = 2, /* parts of a slot [chosen] */
};

/* --- what a window costs: budget/price.c ----------------------------------------------------- */

enum {
	/* Windows that may cost more than has been earned by then: one or two say little of a run. */
	LENT_WINDOWS = 3, /* windows [chosen] */
};
/* So much more, of the target's CPU time: a run that ends then has cost that; … */
static const double lent_most_share = 0.005; /* share of CPU time: half a point [chosen] */
/* … and no more than this part of the budget. Nor does any window begin before all of them cost at most so
 * much of the target's CPU time so far, if it ends right behind the window. */
static const double lent_part = 0.5; /* times the budget [chosen] */
/* A target is expected to run at least for so long: its beginning is to be seen, too. */
static const double shortest_run_ns = 3e9; /* ns of the target's CPU time [chosen] */

/* A stop whatever there is to read, before one has been measured: the upper end of what
 * scripts/bench/shadow-price prints for small stops. */
static const double guessed_fixed_ns = 500e3; /* ns per stop; scripts/bench/shadow-price */
/* Reading memory, before any was read: likewise, the upper end. */
static const double guessed_ns_per_byte = 0.5; /* ns per byte; scripts/bench/shadow-price */
/* CPU time of memory that the kernel has to give. In a VM it takes several times as long if the host has to
 * find the memory, too, which the measurement at the start may not show. So that measurement can only raise
 * this guess; copies that cost less lower it later. */
static const double guessed_fresh_ns = 2; /* ns per byte [chosen] */
/* What is measured at the start, with memory of hpcprof's own, is the best case: a target's pages
 * are scattered, and of some readings the fastest is taken. */
static const double probed_ns_factor = 2; /* times the probed ns per byte [chosen] */
/* How much a new measurement counts against those before it. Not fully: on a busy machine a reader is sent
 * away now and then for ten times what reading takes, and what was lost is charged all the same. */
static const double newest_weight = 0.3; /* share [chosen] */
/* A stop that reads less than this tells the fixed cost, one that reads more the cost per byte. */
static const uint64_t little_read_bytes = 1048576; /* bytes: 1 MiB [chosen] */
/* A sample of registers and stack, where the recorder has not measured one: an interrupt that
 * leaves a VM; on bare metal about a tenth of it. */
static const double guessed_sample_ns = 13e3; /* ns per sample [chosen] */
/* What was read has pushed the target's data out of the caches: filling them again, … */
static const double refill_ns_per_byte = 0.05; /* ns per byte [chosen] */
/* … up to the size of a last-level cache. With less memory than that, loss_by_sharing is less, too. */
static const double cpu_cache_bytes = 33554432; /* bytes: 32 MiB [chosen] */
/* A copy's CPU time per ns of its window, before one has been measured. scripts/bench/shadow-replay
 * prints 1.1 to 2.5 for hot code; what is cold and what is matched comes on top. */
static const double guessed_taken_per_ns = 3; /* ns per ns; scripts/bench/shadow-replay */
/* The first copy has its code translated, in proportion to what of its files is in memory, about. */
static const double guessed_translating_ns = 7; /* ns of CPU time per byte [chosen] */
/* Of a copy's CPU time, the part that the target loses. With a core of its own. */
static const double loss_on_own_core = 0.002; /* share of the copy's CPU time [chosen] */
/* On the other hardware thread of the target's core: half of the core's work, at the worst. */
static const double loss_in_core = 0.5; /* share of the copy's CPU time [chosen] */
/* Where the target has more data than the caches of its own core hold, a copy takes a part of the last
 * cache and of the memory's bandwidth from it. scripts/bench/shadow-price (column "a copy"): 0.3 (bzip2) to
 * 2.9 % (xz) of real programs, 5.8 % of one that does nothing but miss, up to 4 % of a loop that needs no
 * memory, which is the machine's noise. With 3 % for all, windows became too few. */
static const double loss_by_sharing = 0.01; /* share of CPU time; scripts/bench/shadow-price */

/* How long a program's moments stay alike, which makes a long window worth less than two short ones
 * (Cochran, Sampling Techniques, 1977, section 10.6: the best size of a cluster). Phases last from
 * milliseconds to minutes: with this, windows of programs with short phases and of programs with
 * long ones are each about half as dear again as the best for them. Where windows are few it is
 * short phases that are missed. */
static const double alike_ns = 300e6; /* ns of the target's CPU time [chosen] */
/* A window is no shorter than making a copy takes: on a core of its own that is not the target's time, … */
static const double shortest_on_own_core_ns = 100e6; /* ns of the target's CPU time [chosen] */
/* … on the target's core it is, and one that waits for an idle CPU has to come soon, … */
static const double shortest_in_core_ns = 30e6; /* ns of the target's CPU time [chosen] */
/* … and so it is without an idle CPU, where copies are so dear that a short run affords no longer one. */
static const double shortest_on_no_cpu_ns = 5e6; /* ns of the target's CPU time [chosen] */
/* Whoever records waits in the end for one that waits for an idle CPU. */
static const double longest_later_ns = 60e6; /* ns of the target's CPU time [chosen] */
/* Making such a copy, beside the stop and memory for it, before one was made: a process is started and its
 * registers and samples are taken in; … */
static const double guessed_making_ns = 5e6; /* ns of CPU time [chosen] */
/* … each area of the address space is mapped; … */
static const double guessed_area_ns = 25e3; /* ns of CPU time per area [chosen] */
/* … and the kernel looks at each page in memory, for secrets and for what is to be read. */
static const double guessed_resident_ns = 0.06; /* ns of CPU time per byte [chosen] */
/* Where calls are recorded each one costs two stops, and one request is like another. The first windows have
 * this length: some ten requests of a web server, whose calls cost about twice what copying does. */
static const double shortest_recorded_ns = 0.5e6; /* ns of the target's CPU time [chosen] */
/* Later windows are no longer than this, so that several fit into a short run. */
static const double longest_recorded_ns = 1e6; /* ns of the target's CPU time [chosen] */
/* Such a call, before one was recorded: on a VM, with the thread that records on the same CPU, some tens
 * of microseconds; … */
static const double guessed_call_ns = 40e3; /* ns per call [chosen] */
/* … and how many there are. */
static const double guessed_calls_per_ns = 100e-6; /* calls per ns of user CPU time [chosen] */
/* A recorded window has no more calls than what is left of the budget pays for; but always as many as are
 * expected, times this, … */
static const double most_of_expected = 2; /* times [chosen] */
/* … and these. */
static const double least_calls = 256; /* calls [chosen] */
/* Copies of the first windows (LENT_WINDOWS) cost at most this part of what making them costs: they come soon. */
static const double first_part = 0.5; /* times [chosen] */
/* Nor longer than this: one that goes wrong is then a small loss. */
static const double longest_window_ns = 800e6; /* ns of the target's CPU time [chosen] */
/* Time between windows, by what their copies take. One copy may wait while another is replayed; so
 * no more than one in a hundred comes too late for its turn, however phases differ. At 1, windows
 * of bc fell into step with its phases: shares were wrong by up to a fifth. */
static const double window_spacing = 1.25; /* times a replay [chosen] */

/* A replay is given up when it has taken so many times what whole ones have taken (phases differ), … */
static const double longest_of_taken = 4; /* times [chosen] */
/* … and this on top, for code that was not translated before; … */
static const double longest_delay_ns = 300e6; /* ns of the copy's CPU time [chosen] */
/* … before the first whole one, when nothing is translated, this. */
static const double longest_start_ns = 2e9; /* ns of the copy's CPU time [bound] */
/* Nor does it cost the target more than so many times what the window was to cost, where a CPU is idle: it
 * is little of its time. */
static const double longest_of_price = 3; /* times [chosen] */
/* Elsewhere no more than what is left of the budget, or, if that is less, so many times what the copy was to
 * cost: what is cut at just that would teach nothing of what copies take. */
static const double longest_of_cost = 1.25; /* times [chosen] */

/* The share of a window's samples that no state of the replay matched, before the first window; it
 * decides how many samples are taken behind a window so that one of them matches. */
static const double guessed_missed = 0.2; /* share of samples [chosen] */
/* What was measured of it is believed within these bounds. */
static const double least_missed = 0.01; /* share of samples [chosen] */
static const double most_missed = 0.6;	 /* share of samples [chosen] */
/* Windows in which none of the samples behind the end may match, if each missed by itself. Misses come in
 * rows, so it is more of them: one in a hundred where rows are twice as long as by chance. */
static const double often_missed = 1e-4; /* share of windows [chosen] */

enum {
	/* Memory that copies leave alone, for the rest of the machine: this part of all memory, … */
	MEMORY_RESERVE_PART = 16, /* parts of the memory [bound] */
};
/* … and no less than this. */
static const uint64_t least_memory_reserve = 67108864; /* bytes: 64 MiB [bound] */

/* --- how many want the CPUs: budget/cpu_load.c --------------------------------------------------- */

/* What was runnable earlier fades: a build starts a compiler per second or so. */
static const double load_memory_ns = 1e9; /* ns of wall time [chosen] */
/* Less idle time than this, and a copy of lowest priority would not come to its end. */
static const double load_least_idle = 0.5; /* CPUs [chosen] */
enum {
	/* Idle time is told in ticks of 10 ms: less than this says little. */
	LOAD_SHORTEST_NS = 100000000, /* ns of wall time; times(2) */
};

/* --- who waits for CPUs: budget/waits.c ------------------------------------------------------ */

/* Time without a copy that the target's usual waiting is taken from; older time fades. */
static const double remembered_calm_ns = 5e9; /* ns of wall time [chosen] */
/* Less of it says nothing about what is usual. */
static const double least_calm_ns = 20e6; /* ns of wall time [chosen] */

/* --- windows that calls cut short: budget/truncation.c --------------------------------------- */

/* A program has phases, so what earlier windows missed fades, by this factor per window. */
static const double truncation_kept = 0.9; /* per window [chosen] */
/* Of the time that windows were to cover, the share that may be missed behind calls before cut
 * windows count for ratios only. It is a bound on the error of any count (truncation.h derives it). */
static const double truncation_most_missed = 0.25; /* share of time [chosen] */
/* Of the time that windows count per cut they are at most so long: they then miss a sixth of the time that
 * is wanted (truncation.h derives it). */
static const double truncation_part = 0.4; /* times [chosen] */

/* --- copies: copy/, window_plan.c, budget/price.c, syscalls/memory_calls.c -------------------- */

enum {
	/* Mappings of a process that can be copied: vm.max_map_count is 65530 unless an
	 * administrator raises it (Documentation/admin-guide/sysctl/vm.rst of Linux). */
	AREA_LIMIT = 65536, /* mappings; the kernel's default */
	/* Files of the target that are open in hpcprof: half of a usual limit of 1024 descriptors. */
	MAPPED_FILE_LIMIT = 512, /* files [bound] */
	/* Between hpcprof and a process that descends from it; a bound for damaged /proc only. */
	GENERATION_LIMIT = 1000, /* generations [bound] */
	/* Bytes that are read, looked at, cleared or written between two looks at the clock or at an order
	 * to stop: some milliseconds. So much of the target's is worth another thread to read it, … */
	COPY_BYTES_AT_ONCE = 8388608, /* bytes: 8 MiB [chosen] */
	/* … up to so many: others want CPUs, too. */
	MOST_READERS = 4, /* threads [chosen] */
	/* A buffer of this size, and an area of memory that has so much in it, is mapped by a copy rather
	 * than written to it: … */
	LENT_LEAST_BYTES = 67108864, /* bytes: 64 MiB [chosen] */
	LENT_AREA_BYTES = 16777216,  /* bytes: 16 MiB [chosen] */
	/* … in stretches of so much at least, … */
	LENT_STRETCH_BYTES = 262144, /* bytes: 256 KiB [chosen] */
	/* … and no more than so many: a process may have 65530 mappings. */
	LENT_STRETCHES = 16384, /* stretches [bound] */
	/* What a copy uses of it, and writes to, on the way. */
	LENT_USED_BYTES = 33554432, /* bytes: 32 MiB [chosen] */
	/* More of it is not emptied for a copy: that is done by writing. */
	LENT_EMPTIED_BYTES = 4194304, /* bytes: 4 MiB [chosen] */
	/* A run of pages is cut there, so that readers have equal shares. */
	RUN_BYTES = 1048576, /* bytes: 1 MiB [chosen] */
	/* The buffer has room for what the target may allocate until it is stopped: this, … */
	SPARE_BYTES = 4194304, /* bytes: 4 MiB [chosen] */
	/* … and this part of what it has. */
	SPARE_PART = 8, /* parts of its memory [chosen] */
	/* What it has is expected from the kernel's count, which lags, and has secret pages in it. */
	EXPECTED_QUARTERS = 3, /* quarters of RssAnon [chosen] */
	/* Making room takes so long that the target may have grown meanwhile; then again, so often. */
	ROOM_TRIES = 4, /* tries [bound] */
	/* Memory for the buffer is filled in pieces of this, by a thread of the lowest priority:
	 * what it is in the midst of when it is to end takes a fraction of a ms; … */
	FILL_BYTES_AT_ONCE = 262144, /* bytes: 256 KiB [chosen] */
	/* … it is waited for so long, … */
	FILL_PATIENCE_NS = 300000000, /* ns of wall time [bound] */
	/* … and looked for so often. */
	FILL_LOOK_MS = 2, /* ms of wall time [chosen] */
	/* No more memory is looked at ahead of a stop: a look takes 0.2 to 0.5 s per GiB. */
	LOOK_MOST_MIB = 2048, /* MiB [bound] */
	/* Processes whose pages are remembered (copy/history.h): 32 bytes per page. */
	HISTORIES = 4, /* processes [bound] */
	/* A buffer this many times larger than needed is given back. */
	BUFFER_EXCESS = 4, /* times [chosen] */
	/* What reading costs is measured so often at the start; the least counts, as on a busy machine readers
	 * wait. */
	PROBES = 5, /* readings [chosen] */
	/* Of a mapped file that cannot be opened the contents are read from the target, up to here. */
	UNOPENED_FILE_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* What registers lead to, at the end of a window (copy/reached.h): bytes of the stack, … */
	REACHED_STACK_BYTES = 4096, /* bytes [chosen] */
	/* … of what a register points to: before, … */
	BEFORE_POINTER_BYTES = 128, /* bytes [chosen] */
	/* … and behind; … */
	BEHIND_POINTER_BYTES = 384, /* bytes [chosen] */
	/* … of each of these, and of the stack, the first ones are searched for pointers, … */
	FOLLOWED_BYTES = 512, /* bytes [chosen] */
	/* … of what these point to, so many are read: a line, as an object's head is, … */
	POINTED_BYTES = 64, /* bytes [chosen] */
	/* … and in all no more than this. Reading it takes a tenth of a ms. */
	REACHED_PIECES = 512,  /* pieces [bound] */
	REACHED_BYTES = 49152, /* bytes [bound] */
	/* Around the thread pointer lies what the kernel and the C library keep of a thread. */
	CONTROL_BLOCK_BYTES = 4096, /* bytes; struct pthread of glibc */
	/* A copy's stack may grow by this while it is replayed. */
	STACK_GROWTH_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* An area of a copy that is filled by so many quarters is made of huge pages, which fill faster. */
	HUGE_PAGE_QUARTERS = 3, /* quarters of the area [chosen] */
	/* A killed copy has no memory left to give back, and ends within this where a CPU is idle; … */
	REAP_PATIENCE_NS = 50000000, /* ns of wall time [bound] */
	/* … it is looked for so often, … */
	REAP_PAUSE_NS = 100000, /* ns of wall time [chosen] */
	/* … and so many may be left to be looked for later. */
	DYING_LIMIT = 8, /* copies [bound] */
};

/* Memory is read ahead where a window without that would take the budget of so much of the target's time: of
 * programs with less memory many copies crash, which costs more than it saves (copy/snapshot.h). */
static const uint64_t look_least_ns = 2000000000; /* ns of the target's CPU time [chosen] */
/* A page that was never seen to change does not change now if it has been the same for this long, … */
static const uint64_t calm_ns = 100000000; /* ns of wall time [chosen] */
/* … and one that was seen to, for this long. */
static const uint64_t calm_again_ns = 2000000000; /* ns of wall time [chosen] */

/* Page tables that are looked at entry by entry, on kernels before 6.7; more takes too long. */
static const uint64_t scan_limit_pages = 16777216; /* pages: 64 GiB [bound] */

/* --- recorded calls: window_record.c, call_pace.c, budget/recordings.c, copy/call_*.c --------- */

enum {
	/* System calls of the target that are recorded in a window: … */
	LOGGED_CALLS = 4096, /* calls [bound] */
	/* … pieces of memory that they wrote, … */
	LOGGED_PIECES = 16384, /* pieces [bound] */
	/* … and bytes in all. */
	LOGGED_BYTES = 4194304, /* bytes: 4 MiB [bound] */
	/* Its end is looked for so often, … */
	RECORDING_LOOK_NS = 5000000, /* ns of wall time [chosen] */
	/* … it may take as long as SAMPLING_PATIENCE says, and this on top: on a busy machine. */
	RECORDING_PATIENCE_NS = 250000000, /* ns of wall time [bound] */
	/* Then the kernel lets go of the target, within so many looks of SHORTEST_PAUSE_NS. */
	RELEASE_LOOKS = 20, /* looks [bound] */
	/* Programs of which it is known whether recording helps, … */
	RECORDED_PROGRAMS = 32, /* programs [bound] */
	/* … which is tried where calls end windows before this part of what they were to count, … */
	RECORDED_BELOW_PART = 2, /* parts of the window [chosen] */
	/* … and given up where so many windows in a row count nothing. */
	RECORDED_IN_VAIN = 3, /* windows [chosen] */
	/* Threads of which it is known how long a call takes where nobody stops it, … */
	PACED_THREADS = 64, /* threads [bound] */
	/* … which this many calls of theirs tell, … */
	PACE_LEAST_CALLS = 1000, /* calls [chosen] */
	/* … if the window has so many of the kind. */
	PACE_LEAST_LOGGED = 8, /* calls [chosen] */
	/* Others are told by so many hits of a breakpoint behind the most frequent one, … */
	PACE_HITS = 32, /* hits [chosen] */
	/* … which is looked for among the first, … */
	PACE_KINDS = 64, /* calls [chosen] */
	/* … within this. */
	PACE_PATIENCE_NS = 100000000, /* ns of wall time [bound] */
	/* Of a program's array of pieces so many are read at once. */
	LOGGED_IOVECS = 64, /* pieces [bound] */
	/* Fewer waits, reads and writes than this say little of a thread that has just begun. */
	OFTEN_LEAST = 16, /* times [chosen] */
	/* A thread that was found so often in calls on sockets or pipes is mostly there. */
	OFTEN_IN_CALLS = 2, /* times [chosen] */
};
/* A thread that waits so often per CPU time, once in 2 ms, would have its windows ended by that. */
static const double often_waits_per_ns = 500e-9; /* waits per ns [chosen] */
/* So would one that reads and writes so often, once in 0.2 ms, if that is not all in files. */
static const double often_transfers_per_ns = 5e-6; /* calls per ns [chosen] */
/* A hit of such a breakpoint takes less than this part of the time between two. */
static const double pace_most_hit = 0.5; /* times [chosen] */
/* A stop takes as much CPU time as this quantile of all calls: there are some that do next to nothing. */
static const double stop_quantile = 0.05; /* share of calls [chosen] */
/* A stop that takes so many times the median by the clock is none of ours: others had the CPU. */
static const uint64_t unusual_stop = 4; /* times [chosen] */

/* --- system calls of copies: syscalls/ ------------------------------------------------------- */

enum {
	/* Descriptors of the target that its copy knows. */
	DESCRIPTOR_LIMIT = 1024, /* descriptors [bound] */
	/* Positions of files that are read while the thread is held, each a read of /proc: a
	 * program with more files rarely reads them one after another. */
	POSITION_LIMIT = 48, /* files [bound] */
	/* Files that are kept open for the copy; others are opened when it reads them. */
	OPEN_LIMIT = 48, /* files [bound] */
	/* Files whose first page is kept as it was at the copy. */
	HEAD_LIMIT = 8, /* files [bound] */
	/* A call that maps more of a file ends the window: it is mapped to be used for longer. */
	MAPPED_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* So does a call that reads more at once: its work would not be done in a window. */
	READ_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* And one that reads or writes more pieces at once. */
	VECTOR_LIMIT = 64, /* pieces [bound] */
	/* And one that asks for more entries of a directory at once than the C library does. */
	ENTRIES_LIMIT_BYTES = 32768, /* bytes; glibc's opendir */
};

/* What a copy wrote is kept up to here, for it to read again. */
static const uint64_t most_written_bytes = 134217728; /* bytes: 128 MiB [bound] */

/* --- translated code: translate/, replay/engine.c, match/matcher.c ---------------------------- */

enum {
	/* The cache of translated code, counters and constants; a full one ends the window and is
	 * emptied. Memory is used as it fills. */
	DEFAULT_CACHE_BYTES = 268435456, /* bytes: 256 MiB [bound] */
	/* Of a zone of the cache, code has so many eighths; constants and counters have one each. */
	CODE_EIGHTHS = 6, /* eighths of a zone [chosen] */
	/* Within the code of a zone, the room for blocks that have checks for samples in them, … */
	COPIES_BYTES = 1048576, /* bytes: 1 MiB [chosen] */
	/* … of which one arming takes less than this. */
	ARMING_ROOM_BYTES = 262144, /* bytes: 256 KiB [chosen] */
	/* A zone has so many times that room at least, or else hpcprof says that it is too small. */
	SMALLEST_ZONE_COPIES = 8, /* times COPIES_BYTES [bound] */
	/* Code of the target that is kept to translate it from. */
	TEXT_MOST_PAGES = 16384, /* pages: 64 MiB [bound] */
	/* A block is cut there: at 15 bytes per instruction it stays below a page. */
	CODE_BLOCK_INSNS = 64, /* instructions [chosen] */
	/* Blocks that are translated at once, ahead of where the copy is: coming out of the cache
	 * costs as much as translating some ten blocks. */
	AHEAD_BLOCKS = 150, /* blocks [chosen] */
	/* Instructions behind a branch that are looked at for whether anybody reads the flags,
	 * along jumps and calls; beyond them flags are thought to be read. */
	LIVENESS_INSNS = 24, /* instructions [chosen] */
	/* Targets of an indirect branch that are compared one by one; with more it looks them up by
	 * a hash. */
	CHAIN_TARGETS = 6, /* targets [chosen] */
	/* Distances that the images of a zone may have moved by from one process to the next. */
	RELOCATE_WAYS = 8, /* distances [bound] */
};

/* Where the cache lies in a copy (place.h): as far above the heap, or below the lowest mapping, … */
static const uint64_t place_room_to_grow = 1073741824; /* bytes: 1 GiB [bound] */
/* … as far from any other mapping, … */
static const uint64_t place_guard = 65536; /* bytes: 64 KiB [bound] */
/* … and above libraries by this, as in the next process they may lie nearer: large ones begin at
 * multiples of 2 MiB. */
static const uint64_t place_room_to_shift = 8388608; /* bytes: 8 MiB [bound] */
/* What a stack above it may grow by: twice the usual limit (8 MiB, RLIMIT_STACK). */
static const uint64_t place_stack_room = 16777216; /* bytes: 16 MiB [bound] */

enum {
	/* Within this of such a place the address is random, so that code which is replayed cannot
	 * foresee it: 16 bits of it, by pages. */
	PLACE_SCATTER_BYTES = 268435456, /* bytes: 256 MiB [bound] */
	/* Groups of code, each within reach of one place, that are told apart. */
	PLACE_GROUPS = 64, /* groups [bound] */
};

/* --- paths and their simulation: simulate/, translate/, replay/engine.c, window.c ------------- */

enum {
	/* The log of a copy's path, which is handed on when it is full: a stop of the copy, some 10 us,
	 * per 64 Ki words; it stays in a second-level cache until then. */
	PATH_LOG_BYTES = 524288, /* bytes: 512 KiB [chosen] */
	/* The first instructions of each window are simulated. A second-level cache and a branch predictor
	 * are warm after 4 to 16 million; … */
	SIMULATED_INSNS = 16000000, /* instructions [chosen] */
	/* … so the first quarter is not counted. */
	WARMING_INSNS = 4000000, /* instructions [chosen] */
	/* Runs of a block until its instructions are timed one by one: each takes 300 bytes then. */
	RUNS_BEFORE_EACH = 256, /* runs [chosen] */
	/* The first windows are not simulated: two are needed for absolute counts. */
	WINDOWS_BEFORE_SIMULATION = 2, /* windows */
	/* After them simulation takes this part of what replays take: the next window waits for it, and a
	 * window that is simulated takes about twice as long. */
	SIMULATION_PART = 5, /* part of the CPU time of replays [chosen] */
	/* Pieces of the log that wait to be simulated: 2 MiB. */
	SIMULATION_QUEUE = 4, /* times PATH_LOG_BYTES [chosen] */
};

/* A copy that logs its path takes so many times as long, where that matters for which moments are
 * believed: 3.3 of bzip2. */
static const double logging_slowness = 3; /* times; tests/shadow/replay_command --log */
/* What logging may take, more than what a replay may take otherwise: SIMULATED_INSNS at 25 ns, on a
 * core that others share. */
static const uint64_t longest_logging_ns = 400000000; /* ns of the copy's CPU time [bound] */

/* --- finding the original's samples again: match/ -------------------------------------------- */

enum {
	/* Of each sample's stack, from the stack pointer upward: locals of a few frames. */
	MATCH_STACK_BYTES = 512, /* bytes [chosen] */
	/* The ring that samples come in: as much as the budget of locked memory has left, up to
	 * this. A sample is about 700 bytes; it holds 370, which come in one second. */
	MATCH_RING_MOST_PAGES = 64, /* pages; a power of two [chosen] */
	/* Samples that are waited for at the same time; which of the next ones: armed_ahead, below. */
	MATCHER_AHEAD = 8, /* samples; the length of armed_ahead */
	/* Stretches of memory that hold answers which the original may have got otherwise, such as
	 * the time, and that are not compared. Most programs keep the time in one place. */
	MATCHER_GUESSES = 16, /* stretches [bound] */
	/* Words of memory that are compared in translated code; the rest is compared outside. */
	X86_CHECK_WORDS = 8, /* words [chosen] */
	/* States that had a sample's registers, but not its stack or flags, before the sample is
	 * given up: each costs a stop of the copy. */
	FALSE_ALARMS = 100, /* states per sample [bound] */
	/* Matches that may be watched at the same time; a further one drops the oldest. */
	WATCHED_MATCHES = 12, /* matches [bound] */
	/* A match is believed when it has not come by again for so many distances of samples of the
	 * copy's own time: it may be three times slower than the original. Without, one of perl's
	 * windows had a seventieth of its instructions. */
	WATCHED_DISTANCES = 3, /* distances between samples [chosen] */
	/* A replay has lost the path when no sample's state has occurred for so many distances, from the
	 * moment where one was due: as far as armed_ahead reaches. Waiting longer costs the target what
	 * any copy does, and keeps the next one waiting. */
	LOST_DISTANCES = 32, /* distances between samples [chosen] */
	/* So many samples in a row that come too late are not all wrong: the match before them was,
	 * and is taken back. */
	MOST_LATE = 3, /* samples [chosen] */
};

/* Of the samples behind the newest match: the next few, and some further on, so that there is a way
 * back when several are missed in a row (the original was in the kernel, or elsewhere). */
static const size_t armed_ahead[MATCHER_AHEAD] = { 1, 2, 3, 4, 5, 8, 16, 32 }; /* samples */

/* Times are the copy's CPU time per time of the original, called pace. What is faster than this
 * part of the pace so far, and of the original's, is another moment: phases differ, and the
 * original's clock counted page faults that copying it caused. */
static const double least_of_pace = 0.33; /* times the pace so far, at least 1 [chosen] */
/* What is slower than so many times the pace so far, … */
static const double most_of_pace = 4; /* times the pace so far [chosen] */
/* … by this on top, … */
static const double most_delay_ns = 30e6; /* ns of the copy's CPU time [chosen] */
/* … and this for each block that was translated meanwhile (most of them ahead), is another moment. */
static const double new_block_ns = 30e3; /* ns per block [chosen] */
/* A pace above this is not believed where the path may be lost: new code makes the first one high. */
static const double slowest_pace = 6; /* pace [chosen] */
/* A match that came early is watched until its moment by the pace so far, times this. */
static const double watched_of_pace = 1.5; /* times the pace so far [chosen] */
/* The pace before any is known: see guessed_taken_per_ns, less what is cold. */
static const double likely_pace = 2; /* pace; scripts/bench/shadow-replay */

/* --- replays that do not end: replay/watchdog.c ---------------------------------------------- */

enum {
	/* A copy is stopped, too, when so many times its limit of CPU time has passed: it may wait
	 * for a CPU on a busy machine, or sleep. */
	WATCHDOG_PATIENCE = 20, /* wall time per CPU time [bound] */
};

#endif
