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
 * scripts/sensitivity halved and doubled the [chosen] ones, those of one purpose together: one recording of
 * each of four programs against five or more of controls, which differ by up to half among themselves. What
 * moved by more:
 *	half of alike_ns: windows cost 3.4 instead of 1.5 %
 *	twice ACTIVE_MAKERS, MAKERS, window_spacing: 26 instead of 15 windows in 10 s, for the same time
 *	half of REACHED_STACK_BYTES, BEFORE_POINTER_BYTES, BEHIND_POINTER_BYTES, FOLLOWED_BYTES,
 *	POINTED_BYTES: windows count 6 instead of 17 % of the time
 * With --calls (a server with its client, and copies that lose the path), one or two recordings against four
 * or more of controls: those of recorded calls, guessed_area_ns, guessed_resident_ns,
 * guessed_translating_ns, LOST_DISTANCES, new_block_ns, slowest_pace. What moved:
 *	half of guessed_call_ns and guessed_calls_per_ns: windows cost 4.0 instead of 1.7 %
 *	shortest_recorded_ns and longest_recorded_ns: hpcprof uses 20 (half), 22 (twice) instead of 30 %
 *	half of slowest_pace: absolute counts of 75 instead of 100 % of the programs
 * Not tried, as half or twice makes no sense: SHORTEST_SLOT_PART, most_missed, truncation_kept,
 * HUGE_PAGE_QUARTERS, CODE_EIGHTHS.
 *
 * Not here: what a format, an instruction set or the kernel's interface says, sizes of buffers that
 * only divide work into pieces, and what the interface of a folder promises (HP_SHADOW_DEFAULT_PERCENT).
 */
#ifndef HPCPROF_SRC_SHADOW_TUNING_H
#define HPCPROF_SRC_SHADOW_TUNING_H

#include <stddef.h>
#include <stdint.h>

/* --- the makers of windows: shadow.c, window.c, copy/cut_call.c ------------------------------ */

enum {
	/* Threads that make windows: while the copy of one is replayed, the next one is made. More
	 * would wait for each other, as one copy is replayed at a time. */
	ACTIVE_MAKERS = 2, /* threads [chosen] */
	/* The same, with those whose copies wait for an idle CPU: each has the target's memory. */
	MAKERS = 8, /* threads; scripts/window-coverage --programs redis --size 12 */
	/* What the buffer of each active maker has before the target starts, which costs the target
	 * nothing: less than LENT_LEAST_BYTES, as smaller buffers have huge pages, … */
	FIRST_BUFFER_BYTES = 66060288, /* bytes: 63 MiB; scripts/window-coverage, xz -T2 */
	/* … if that is at most this part of the free memory. */
	FIRST_BUFFER_PART = 32, /* parts of the free memory [chosen] */
	/* Waiting copies look for an idle CPU at this interval, one for all. */
	WAITING_LOOK_MS = 20, /* ms of wall time [chosen] */
	/* Windows that are ready and not yet taken. Only a recorder that has stopped reaches
	 * this. */
	READY_LIMIT = 256, /* windows [bound] */
	/* A waiting maker looks at the target's CPU time this often, as processes may join, … */
	LONGEST_SLEEP_NS = 50000000, /* ns of wall time [chosen] */
	/* … but not more often than this, which also limits other looks in a loop. */
	SHORTEST_PAUSE_NS = 1000000, /* ns of wall time [chosen] */
	/* The pause after a refusal that will not change soon (no permission, no memory). */
	REFUSED_PAUSE_MS = 500, /* ms of wall time [chosen] */
	/* If the target runs on at the end of recording, a replay may continue for this long. */
	STOP_PATIENCE_NS = 100000000, /* ns of wall time [chosen] */
	/* If the target has ended, replays may take this part of the recording's duration, … */
	ENDED_PATIENCE_PART = 4, /* parts of the recording [chosen] */
	/* … at most this; all of this while fewer than LENT_WINDOWS windows count, as short runs
	 * would otherwise lose windows. */
	ENDED_PATIENCE_NS = 2000000000, /* ns of wall time [chosen] */
	/* Then the simulation is given up, and replays have this part of that time more. */
	UNSIMULATED_PATIENCE_PART = 4, /* parts of the patience [chosen] */
	/* A killed copy dies within this time if it gets a CPU. */
	END_PATIENCE_NS = 100000000, /* ns of wall time [bound] */
	/* Samples are taken for at most so many times the window's length. */
	SAMPLING_PATIENCE = 10, /* wall time per length of the window [bound] */
	/* Tries to hold a thread that is in a system call. A try costs far less than preparing the
	 * copy did, which a refusal wastes. */
	HOLD_TRIES = 40, /* times; scripts/window-coverage --programs nginx --size 4 */
	/* The pause after each try. */
	HOLD_PAUSE_NS = 300000, /* ns of wall time [chosen] */
	/* The rest of a call that a stop has cut short is done within this time, or left to the
	 * program: see cut_call.h. A pipe that somebody reads has room again by then. */
	CUT_PATIENCE_NS = 500000000, /* ns of wall time [chosen] */
	/* Until then it is looked at this often. */
	CUT_PAUSE_NS = 20000, /* ns of wall time [chosen] */
	/* A stop is given up after the predicted time times this, plus LATE_STOP_NS. */
	LATE_STOP_FACTOR = 2, /* times the predicted stop [chosen] */
	/* Others may want the CPUs that read. Summed over all threads that the stop may delay. */
	LATE_STOP_NS = 20000000, /* ns of the target's CPU time [bound] */
	/* Stops of a copy, to translate or answer something: limits hpcprof's own work. */
	EXIT_LIMIT = 1048576, /* stops per replay [bound] */
};

/* --- hpcprof doctor: examine.c --------------------------------------------------------------- */

enum {
	/* The window that doctor tries is short, as it only has to work. */
	TRIAL_WINDOW_NS = 5000000, /* ns of the child's CPU time [bound] */
	/* Its budget: the child has nothing else to do, so a window is due at once at any price. */
	TRIAL_PERCENT = 10000, /* % of the child's CPU time */
	/* Doctor waits this long for a window before it calls the machine too busy. */
	TRIAL_PATIENCE_MS = 3000, /* ms of wall time [bound] */
	/* It looks for the window at this interval. */
	TRIAL_LOOK_MS = 20, /* ms of wall time [bound] */
};

/* --- the target's threads: threads.c --------------------------------------------------------- */

enum {
	/* Processes that are followed. */
	PROCESS_LIMIT = 1024, /* processes [bound] */
	/* Threads whose waiting time for CPUs is read; each takes a read of /proc. */
	WAITING_LIMIT = 128, /* threads [bound] */
	/* Time between looks for descendants, per time that a look takes: 5 % of a CPU at most. */
	LOOK_SHARE = 20, /* times the length of the look [chosen] */
};

/* --- when windows begin: budget/schedule.c, budget/price.c ------------------------------------ */

enum {
	/* A moment missed by more than this part of its slot, and SLOT_LATE_NS, is drawn anew. */
	SLOT_LATE_PART = 16, /* parts of a slot [chosen] */
	/* No clock wakes a thread to the ns, and slots are short before the first window. */
	SLOT_LATE_NS = 10000000, /* ns of the target's CPU time [chosen] */
	/* A thread in the kernel is tried again within this part of its slot. With moments drawn
	 * from all of the rest, a few tries would use up a slot. */
	SLOT_AGAIN_PART = 256, /* parts of a slot [chosen] */
	/* A slot that is over before its window may begin is lengthened by this part. */
	SLOT_REST_PART = 8, /* parts of a slot [chosen] */
	/* A slot is shortened by what earlier windows left over, at most to this part. */
	SHORTEST_SLOT_PART = 2, /* parts of a slot [chosen] */
};

/* --- what a window costs: budget/price.c ----------------------------------------------------- */

enum {
	/* The first windows may cost more than has been earned: one or two say little of a run. */
	LENT_WINDOWS = 3, /* windows [chosen] */
};
/* They may cost this much more of the target's CPU time, if the run ends then, … */
static const double lent_most_share = 0.005; /* share of CPU time: half a point [chosen] */
/* … but at most this part of the budget. A window begins only if all of them cost at most this
 * share of the target's CPU time so far, if that ended right behind it. */
static const double lent_part = 0.5; /* times the budget [chosen] */
/* A target is expected to run for at least this time: its beginning is to be seen, too. */
static const double shortest_run_ns = 3e9; /* ns of the target's CPU time [chosen] */

/* Any stop, before one was measured: the upper end of what the script prints for small stops. */
static const double guessed_fixed_ns = 500e3; /* ns per stop; scripts/bench/shadow-price */
/* Reading memory, before any was read: likewise the upper end. */
static const double guessed_ns_per_byte = 0.5; /* ns per byte; scripts/bench/shadow-price */
/* CPU time of memory that the kernel provides. A VM may take several times as long if the host has
 * to provide it, too, which the measurement at the start may not show. So that measurement can only
 * raise this guess; copies that cost less lower it later. The first buffers tell what memory in huge
 * pages takes. */
static const double guessed_fresh_ns = 2; /* ns per byte [chosen] */
/* The measurement at the start, with hpcprof's own memory, is the best case: a target's pages are
 * scattered, and the fastest of several readings counts. */
static const double probed_ns_factor = 2; /* times the probed ns per byte [chosen] */
/* The weight of a new measurement. Not 1: on a busy machine a reader sometimes loses the CPU for
 * ten times what reading takes; that loss is charged in any case. */
static const double newest_weight = 0.3; /* share [chosen] */
/* What is guessed of reading, or measured at the start, counts like a stop that reads so much: on a VM
 * the same stop may take five times as long a second later, so one slow stop must not stand for all. */
static const double guess_worth_bytes = 67108864; /* bytes: 64 MiB [chosen] */
/* A stop that reads less measures the fixed cost, one that reads more the cost per byte. */
static const uint64_t little_read_bytes = 1048576; /* bytes: 1 MiB [chosen] */
/* Less memory that was made tells nothing of its cost per byte: it ends within a huge page, and starting
 * the thread takes time, too. */
static const uint64_t least_filled_bytes = 16777216; /* bytes: 16 MiB [chosen] */
/* A sample of registers and stack, if the recorder has not measured one: an interrupt that leaves a
 * VM; about a tenth of it on bare metal. */
static const double guessed_sample_ns = 13e3; /* ns per sample [chosen] */
/* The cost of refilling the caches after a stop, per byte that was read, … */
static const double refill_ns_per_byte = 0.05; /* ns per byte [chosen] */
/* … up to the size of a last-level cache. With less memory, loss_by_sharing is lower, too. */
static const double cpu_cache_bytes = 33554432; /* bytes: 32 MiB [chosen] */
/* A copy's CPU time per ns of its window, before it was measured. scripts/bench/shadow-replay
 * prints 1.1 to 2.5 for hot code; cold code and matching are added. */
static const double guessed_taken_per_ns = 3; /* ns per ns; scripts/bench/shadow-replay */
/* Translating the code for the first copy, per byte of the target's files in memory. */
static const double guessed_translating_ns = 7; /* ns of CPU time per byte [chosen] */
/* The part of a copy's CPU time that the target loses. On a core of its own. */
static const double loss_on_own_core = 0.002; /* share of the copy's CPU time [chosen] */
/* On the other hardware thread of the target's core: half of the core's work at the worst. */
static const double loss_in_core = 0.5; /* share of the copy's CPU time [chosen] */
/* If the target's data exceeds its core's caches, a copy takes a part of the last cache and of the
 * memory's bandwidth. scripts/bench/shadow-price (column "a copy") prints 0.3 (bzip2) to 2.9 % (xz)
 * for real programs, 5.8 % for one that only misses, up to 4 % for a loop without memory accesses,
 * which is noise. 3 % for all would allow too few windows. */
static const double loss_by_sharing = 0.01; /* share of CPU time; scripts/bench/shadow-price */

/* How long moments of a program stay alike, which makes a long window worth less than two short
 * ones (Cochran, Sampling Techniques, 1977, section 10.6: the best size of a cluster). Phases
 * last from milliseconds to minutes: with this value, windows cost about half more than the best
 * ones for programs with short phases and with long phases. If windows are few, short phases are
 * missed. */
static const double alike_ns = 300e6; /* ns of the target's CPU time [chosen] */
/* The shortest window: as long as making a copy takes, where that is not the target's time, … */
static const double shortest_on_own_core_ns = 100e6; /* ns of the target's CPU time [chosen] */
/* … where it is, and if the copy waits for an idle CPU, as it should come soon, … */
static const double shortest_in_core_ns = 30e6; /* ns of the target's CPU time [chosen] */
/* … and without an idle CPU, as a short run can then afford no longer one. */
static const double shortest_on_no_cpu_ns = 5e6; /* ns of the target's CPU time [chosen] */
/* The longest window whose copy waits for an idle CPU: the recorder waits for it at the end. */
static const double longest_later_ns = 60e6; /* ns of the target's CPU time [chosen] */
/* Making such a copy, before one was made: starting a process, setting its registers; … */
static const double guessed_making_ns = 5e6; /* ns of CPU time [chosen] */
/* … mapping each area of the address space; … */
static const double guessed_area_ns = 15e3; /* ns of CPU time per area [chosen] */
/* … and looking at each page in memory for secrets and for what to read. */
static const double guessed_resident_ns = 0.06; /* ns of CPU time per byte [chosen] */
/* Where calls are recorded each one costs two stops, and one request is like another. The first windows have
 * this length: some ten requests of a web server, whose calls cost about twice what copying does. */
static const double shortest_recorded_ns = 0.5e6; /* ns of the target's CPU time [chosen] */
/* Later windows are no longer than this, so that several fit into a short run, … */
static const double longest_recorded_ns = 1e6; /* ns of the target's CPU time [chosen] */
/* … or, where calls are seldom, than recording them costs this part of the stop (--programs
 * node,postgres). */
static const double calls_part = 0.25; /* times the stop; scripts/window-coverage */
/* A recorded call, before one was measured: on a VM, with the recording thread on the same CPU. */
static const double guessed_call_ns = 40e3; /* ns per call [chosen] */
/* How many calls there are, before it was measured. */
static const double guessed_calls_per_ns = 100e-6; /* calls per ns of user CPU time [chosen] */
/* A recorded window has the calls that the budget pays for; at least this times the expected, … */
static const double most_of_expected = 2; /* times [chosen] */
/* … and at least this many. */
static const double least_calls = 256; /* calls [chosen] */
/* Copies of the first windows cost at most this part of making them, so that they come soon. */
static const double first_part = 0.5; /* times [chosen] */
/* The longest window: a failure of one is then a small loss. */
static const double longest_window_ns = 800e6; /* ns of the target's CPU time [chosen] */
/* The time between windows, as a multiple of a replay. While one copy is replayed another may wait,
 * so hardly any comes too late for its turn, whatever the phases. At 1, windows would synchronise
 * with programs that repeat themselves. */
static const double window_spacing = 1.25; /* times a replay [chosen] */

/* A replay is given up after so many times what complete ones took (phases differ) … */
static const double longest_of_taken = 4; /* times [chosen] */
/* … plus this, for code that was not translated before; … */
static const double longest_delay_ns = 300e6; /* ns of the copy's CPU time [chosen] */
/* … before the first complete one, when nothing is translated, after this. */
static const double longest_start_ns = 2e9; /* ns of the copy's CPU time [bound] */
/* A replay costs at most this times the window's price, if a CPU is idle: it is little, … */
static const double longest_of_price = 3; /* times [chosen] */
/* … else the rest of the budget, or, if less, this times the expected cost: what is ended at just
 * that would teach nothing. */
static const double longest_of_cost = 1.25; /* times [chosen] */

/* The share of a window's samples that no state of the replay matches, before the first window. It
 * decides how many samples are taken after a window so that one of them matches. */
static const double guessed_missed = 0.2; /* share of samples [chosen] */
/* A measured share is limited to these bounds. */
static const double least_missed = 0.01; /* share of samples [chosen] */
static const double most_missed = 0.6;	 /* share of samples [chosen] */
/* The share of windows in which no sample after the end matches, if each missed independently.
 * Misses come in rows, so it is one in a hundred if rows are twice as long as by chance. */
static const double often_missed = 1e-4; /* share of windows [chosen] */

enum {
	/* Memory that copies leave for the rest of the machine: this part of all memory, … */
	MEMORY_RESERVE_PART = 16, /* parts of the memory [bound] */
};
/* … and at least this. */
static const uint64_t least_memory_reserve = 67108864; /* bytes: 64 MiB [bound] */

/* --- how many want the CPUs: budget/cpu_load.c --------------------------------------------------- */

/* Time over which runnable threads are averaged: a build starts about one compiler per second. */
static const double load_memory_ns = 1e9; /* ns of wall time [chosen] */
/* With less idle time, a copy of the lowest priority would not reach its end. */
static const double load_least_idle = 0.5; /* CPUs [chosen] */
enum {
	/* Idle time is counted in ticks of 10 ms: shorter intervals say little. */
	LOAD_SHORTEST_NS = 100000000, /* ns of wall time; times(2) */
};

/* --- who waits for CPUs: budget/waits.c ------------------------------------------------------ */

/* The time without a copy over which the target's usual waiting is averaged. */
static const double remembered_calm_ns = 5e9; /* ns of wall time [chosen] */
/* With less of it the usual waiting is unknown. */
static const double least_calm_ns = 20e6; /* ns of wall time [chosen] */

/* --- windows that calls cut short: budget/truncation.c --------------------------------------- */

/* The weight of earlier windows decreases by this factor per window, as programs have phases. */
static const double truncation_kept = 0.9; /* per window [chosen] */
/* The share of the intended time that calls may cut off before cut windows count for ratios only: a
 * bound on the error of any count (truncation.h derives it). */
static const double truncation_most_missed = 0.25; /* share of time [chosen] */
/* Length of windows per time counted between cuts: a sixth is then missed (truncation.h). */
static const double truncation_part = 0.4; /* times [chosen] */

/* --- copies: copy/, window_plan.c, budget/price.c, syscalls/memory_calls.c -------------------- */

enum {
	/* Mappings of a process that can be copied: vm.max_map_count is 65530 unless an
	 * administrator raises it (Documentation/admin-guide/sysctl/vm.rst of Linux). */
	AREA_LIMIT = 65536, /* mappings; the kernel's default */
	/* Files of the target open in hpcprof: half of a usual limit of 1024 descriptors. */
	MAPPED_FILE_LIMIT = 512, /* files [bound] */
	/* Generations between hpcprof and a descendant; only damaged /proc reaches it. */
	GENERATION_LIMIT = 1000, /* generations [bound] */
	/* Bytes that are read, compared or written between looks at the clock (some ms), and that
	 * are worth one more reading thread. */
	COPY_BYTES_AT_ONCE = 8388608, /* bytes: 8 MiB [chosen] */
	/* The most reading threads: others want CPUs, too. */
	MOST_READERS = 4, /* threads [chosen] */
	/* A copy maps a buffer of this size instead of writing it, … */
	LENT_LEAST_BYTES = 67108864, /* bytes: 64 MiB [chosen] */
	/* … for areas of memory with so much in it, … */
	LENT_AREA_BYTES = 16777216, /* bytes: 16 MiB [chosen] */
	/* … in stretches of at least this size, … */
	LENT_STRETCH_BYTES = 262144, /* bytes: 256 KiB [chosen] */
	/* … and at most so many: a process may have 65530 mappings. */
	LENT_STRETCHES = 16384, /* stretches [bound] */
	/* The part of it that a copy is expected to use and write to. */
	LENT_USED_BYTES = 33554432, /* bytes: 32 MiB [chosen] */
	/* The longest run of pages, and what a reader takes at a time, so that all end together: some
	 * tenths of a ms. */
	RUN_BYTES = 1048576, /* bytes: 1 MiB [chosen] */
	/* The buffer has room for what the target may allocate before the stop: this, … */
	SPARE_BYTES = 4194304, /* bytes: 4 MiB [chosen] */
	/* … plus this part of its memory. */
	SPARE_PART = 8, /* parts of its memory [chosen] */
	/* Expected share of the kernel's count, which lags and includes secret pages. */
	EXPECTED_QUARTERS = 3, /* quarters of RssAnon [chosen] */
	/* How often room is made again, as the target may grow meanwhile. */
	ROOM_TRIES = 4, /* tries [bound] */
	/* The buffer is filled in pieces of this size by a thread of the lowest priority: a piece
	 * takes at most some 2 ms, so that the thread ends soon when asked to. */
	FILL_BYTES_AT_ONCE = 262144, /* bytes: 256 KiB [chosen] */
	/* The longest wait for that thread, … */
	FILL_PATIENCE_NS = 300000000, /* ns of wall time [bound] */
	/* … and the interval at which it is looked at. */
	FILL_LOOK_MS = 2, /* ms of wall time [chosen] */
	/* The most memory that is read ahead of a stop: more takes too long. */
	LOOK_MOST_MIB = 2048, /* MiB [bound] */
	/* The longest time of it: what was read first would be old. */
	LOOK_PATIENCE_NS = 2000000000, /* ns of wall time [bound] */
	/* Pages on each side of a page that changes, which the stop reads, too; or a quarter of them,
	 * or a quarter of that, so that these are at most … */
	FARTHEST_REACH = 16, /* pages; scripts/window-coverage --programs rustc --size 12 */
	/* … this many times what changes, and as much again for each copy that was misled. */
	NEAR_TIMES = 1, /* times [chosen] */
	/* Processes whose pages are remembered (copy/history.h): 32 bytes per page. */
	HISTORIES = 4, /* processes [bound] */
	/* A buffer this many times larger than needed is released. */
	BUFFER_EXCESS = 4, /* times [chosen] */
	/* Measurements of reading at the start; the fastest counts, as others use the machine. */
	PROBES = 5, /* readings [chosen] */
	/* The most of a mapped file that is read from the target if the file cannot be opened. */
	UNOPENED_FILE_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* What is read at the end of a window (copy/reached.h): bytes of the stack, … */
	REACHED_STACK_BYTES = 4096, /* bytes [chosen] */
	/* … bytes before where a register points to, … */
	BEFORE_POINTER_BYTES = 128, /* bytes [chosen] */
	/* … and behind it. */
	BEHIND_POINTER_BYTES = 384, /* bytes [chosen] */
	/* Bytes before where a register points to that may be the frames of interpreted callers: forty
	 * of Lua and of Python, as a program that computes fib(40) has. */
	CALLERS_BYTES = 6144, /* bytes [chosen] */
	/* The first bytes of each of these, and of the stack, are searched for pointers. */
	FOLLOWED_BYTES = 512, /* bytes [chosen] */
	/* Bytes read where these pointers point to: a line, such as the head of an object. */
	POINTED_BYTES = 64, /* bytes [chosen] */
	/* The limits of all this. */
	REACHED_PIECES = 512,	/* pieces [bound] */
	REACHED_BYTES = 147456, /* bytes [bound] */
	/* The bytes around the thread pointer that the kernel and the C library keep per thread. */
	CONTROL_BLOCK_BYTES = 4096, /* bytes; struct pthread of glibc */
	/* How far a copy's stack may grow during the replay. */
	STACK_GROWTH_BYTES = 1048576, /* bytes: 1 MiB [bound] */
	/* An area filled by so many quarters is made of huge pages, which fill faster. */
	HUGE_PAGE_QUARTERS = 3, /* quarters of the area [chosen] */
	/* A killed copy, which has no memory left, ends within this if a CPU is idle; … */
	REAP_PATIENCE_NS = 50000000, /* ns of wall time [bound] */
	/* … it is looked for at this interval, … */
	REAP_PAUSE_NS = 100000, /* ns of wall time [chosen] */
	/* … and so many may be left for later. */
	DYING_LIMIT = 8, /* copies [bound] */
};

/* Memory is read ahead if a window would otherwise take the budget of so much of the target's time.
 * With less memory, many copies crash, which costs more than it saves (copy/snapshot.h). */
static const uint64_t look_least_ns = 2000000000; /* ns of the target's CPU time [chosen] */
/* A page that never changed is not expected to change if it was the same for this long, … */
static const uint64_t calm_ns = 100000000; /* ns of wall time [chosen] */
/* … and one that was seen to, for this long. */
static const uint64_t calm_again_ns = 2000000000; /* ns of wall time [chosen] */

/* Page tables that are read entry by entry, on kernels before 6.7; more takes too long. */
static const uint64_t scan_limit_pages = 16777216; /* pages: 64 GiB [bound] */

/* --- recorded calls: window_record.c, call_pace.c, budget/recordings.c, copy/call_*.c --------- */

enum {
	/* Limits of a recorded window: system calls, … */
	LOGGED_CALLS = 4096, /* calls [bound] */
	/* … pieces of memory that they wrote, … */
	LOGGED_PIECES = 16384, /* pieces [bound] */
	/* … and bytes in all. */
	LOGGED_BYTES = 4194304, /* bytes: 4 MiB [bound] */
	/* The interval at which its end is looked for. */
	RECORDING_LOOK_NS = 5000000, /* ns of wall time [chosen] */
	/* It may take this longer than SAMPLING_PATIENCE says, on a busy machine. */
	RECORDING_PATIENCE_NS = 250000000, /* ns of wall time [bound] */
	/* The kernel then releases the target within so many looks of SHORTEST_PAUSE_NS. */
	RELEASE_LOOKS = 20, /* looks [bound] */
	/* Programs for which it is known whether recording helps. */
	RECORDED_PROGRAMS = 32, /* programs [bound] */
	/* … which is tried where calls end windows before this part of what they were to count, … */
	RECORDED_BELOW_PART = 2, /* parts of the window [chosen] */
	/* Recording is given up after so many windows in a row that counted nothing, … */
	RECORDED_IN_VAIN = 3, /* windows [chosen] */
	/* … or were cut before this part of what they were to count. */
	RECORDED_VAIN_PART = 10, /* parts of the window [chosen] */
	/* A program that is recorded because a call has cut a window is tried without after so many
	 * windows, after twice as many if that was cut, too, … */
	RECORDED_BEFORE_TRIAL = 4, /* windows [chosen] */
	/* … and so on, so often. */
	RECORDED_TRIALS = 4, /* times [chosen] */
	/* Threads whose time per call without stops is known, … */
	PACED_THREADS = 64, /* threads [bound] */
	/* … from at least this many calls, … */
	PACE_LEAST_CALLS = 1000, /* calls [chosen] */
	/* … if the window has so many of the kind. */
	PACE_LEAST_LOGGED = 8, /* calls [chosen] */
	/* Otherwise so many hits of a breakpoint behind the most frequent call tell it, … */
	PACE_HITS = 32, /* hits [chosen] */
	/* … which is looked for among the first calls of the window, … */
	PACE_KINDS = 64, /* calls [chosen] */
	/* … within this time. */
	PACE_PATIENCE_NS = 100000000, /* ns of wall time [bound] */
	/* Entries of a program's array of pieces that are read at once. */
	LOGGED_IOVECS = 64, /* pieces [bound] */
	/* Fewer waits, reads and writes than this say little of a thread that has just begun. */
	OFTEN_LEAST = 16, /* times [chosen] */
	/* A thread found so often in calls on sockets or pipes is there most of the time. */
	OFTEN_IN_CALLS = 2, /* times [chosen] */
};
/* A thread that waits so often per CPU time, once in 2 ms, would have its windows ended by that. */
static const double often_waits_per_ns = 500e-9; /* waits per ns [chosen] */
/* So would one that reads and writes so often, once in 0.2 ms, if that is not all in files. */
static const double often_transfers_per_ns = 5e-6; /* calls per ns [chosen] */
/* With so much of the program's own time per call its stops change that time little, by some
 * microseconds beyond what is subtracted: it is known. */
static const double seldom_call_ns = 100e3; /* ns of user CPU time per call [chosen] */
/* A hit of such a breakpoint takes less than this part of the time between two hits: what a hit takes
 * is known within a tenth, and its error counts one and a half times. */
static const double pace_most_hit = 0.75; /* times [chosen] */
/* The CPU time of a stop is this quantile of all calls, as some calls do almost nothing. */
static const double stop_quantile = 0.05; /* share of calls [chosen] */
/* No stop takes more of the thread's CPU time than this: where all calls take more, they do work. */
static const uint64_t most_stop_ns = 20000; /* ns of CPU time [bound] */
/* A stop that takes so many times the median, by the clock, was delayed by other threads. */
static const uint64_t unusual_stop = 4; /* times [chosen] */

/* --- system calls of copies: syscalls/ ------------------------------------------------------- */

enum {
	/* Descriptors of the target that its copy knows. */
	DESCRIPTOR_LIMIT = 1024, /* descriptors [bound] */
	/* Positions of files that are read while the thread is held, each by a read of /proc:
	 * programs with more files rarely read them one after another. */
	POSITION_LIMIT = 48, /* files [bound] */
	/* Files that are kept open for the copy; others are opened when it reads them. */
	OPEN_LIMIT = 48, /* files [bound] */
	/* Files whose first page is kept as it was at the copy. */
	HEAD_LIMIT = 8, /* files [bound] */
	/* A call ends the window if it maps more of a file, to be used for longer, … */
	MAPPED_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* … if it reads more at once, as the window could not contain the work on it, … */
	READ_LIMIT_BYTES = 67108864, /* bytes: 64 MiB [bound] */
	/* … if it reads or writes more pieces at once, … */
	VECTOR_LIMIT = 64, /* pieces [bound] */
	/* … or if it asks for more entries of a directory at once than the C library does. */
	ENTRIES_LIMIT_BYTES = 32768, /* bytes; glibc's opendir */
};

/* The most of what a copy writes that is kept for it to read again. */
static const uint64_t most_written_bytes = 134217728; /* bytes: 128 MiB [bound] */

/* --- translated code: translate/, replay/engine.c, match/matcher.c ---------------------------- */

enum {
	/* The cache of translated code, used as it fills; a full one ends the window. */
	DEFAULT_CACHE_BYTES = 268435456, /* bytes: 256 MiB [bound] */
	/* Eighths of a zone of the cache for code; constants and counters have one each. */
	CODE_EIGHTHS = 6, /* eighths of a zone [chosen] */
	/* Room in the code of a zone for blocks with checks for samples. */
	COPIES_BYTES = 1048576, /* bytes: 1 MiB [chosen] */
	/* One arming takes less than this of it. */
	ARMING_ROOM_BYTES = 262144, /* bytes: 256 KiB [chosen] */
	/* The smallest zone, as a multiple of that room; hpcprof rejects smaller ones. */
	SMALLEST_ZONE_COPIES = 8, /* times COPIES_BYTES [bound] */
	/* Code of the target that is kept for translation. */
	TEXT_MOST_PAGES = 16384, /* pages: 64 MiB [bound] */
	/* The longest block: at 15 bytes per instruction it stays below a page. */
	CODE_BLOCK_INSNS = 64, /* instructions [chosen] */
	/* Blocks translated at once: leaving the cache costs as much as translating some ten. */
	AHEAD_BLOCKS = 60, /* blocks [chosen] */
	/* Instructions behind a branch that are searched for a reader of the flags, along jumps and
	 * calls; beyond them flags are assumed to be read. */
	LIVENESS_INSNS = 24, /* instructions [chosen] */
	/* Targets of an indirect branch that are compared; further ones are found by a hash. */
	CHAIN_TARGETS = 6, /* targets [chosen] */
	/* Distances by which the images of a zone may move from one process to the next. */
	RELOCATE_WAYS = 8, /* distances [bound] */
};

/* The cache in a copy (place.h): so far above the heap or below the lowest mapping, … */
static const uint64_t place_room_to_grow = 1073741824; /* bytes: 1 GiB [bound] */
/* … so far from any other mapping, … */
static const uint64_t place_guard = 65536; /* bytes: 64 KiB [bound] */
/* … so far above libraries, which may move: large ones begin at multiples of 2 MiB, … */
static const uint64_t place_room_to_shift = 8388608; /* bytes: 8 MiB [bound] */
/* … and below a stack, which may grow by this: twice the usual limit (8 MiB, RLIMIT_STACK). */
static const uint64_t place_stack_room = 16777216; /* bytes: 16 MiB [bound] */

enum {
	/* The address is random in this range (16 bits, by pages): code must not predict it. */
	PLACE_SCATTER_BYTES = 268435456, /* bytes: 256 MiB [bound] */
	/* Groups of code, each within reach of one place, that are distinguished. */
	PLACE_GROUPS = 64, /* groups [bound] */
};

/* --- paths and their simulation: simulate/, translate/, replay/engine.c, window.c ------------- */

enum {
	/* The log of a copy's path, which is passed on when full: one stop of the copy, some 10 us,
	 * per 64 Ki words. It stays in a second-level cache until then. */
	PATH_LOG_BYTES = 524288, /* bytes: 512 KiB [chosen] */
	/* So many instructions of each window are simulated: the simulation takes longer than the
	 * replay does, and of more windows with less each more of a program is seen, … */
	SIMULATED_INSNS = 8000000, /* instructions [chosen] */
	/* … of which this part warms the models, and is not counted, … */
	STRETCH_WARMING_PART = 4, /* part of a stretch [chosen] */
	/* … nor timed, which would take longer than all else, but for this part of it: what fills queues and
	 * the memory of renamed pairs, … */
	TIMED_WARMING_PART = 16, /* part of the warming [chosen] */
	/* … in so many stretches: code that a program comes to later in a window is simulated, too. What
	 * a second-level cache has then is often unknown (simulate/reuse.h); predictors keep what they have
	 * learnt. */
	SIMULATED_STRETCHES = 4, /* stretches; scripts/cause-accuracy --sharpness */
	/* A trace is of a long path rather than of several short ones: one stretch of each window, with
	 * so many instructions. */
	TRACED_INSNS = 16000000, /* instructions [chosen] */
	/* Runs of a block before its instructions are timed one by one (300 bytes each): compilers run
	 * most of their blocks seldom. */
	RUNS_BEFORE_EACH = 32, /* runs [chosen] */
	/* The first windows are not simulated: two are needed for absolute counts. */
	WINDOWS_BEFORE_SIMULATION = 2, /* windows */
	/* Then the simulation takes this part of the time of replays: the next window waits for it,
	 * and a simulated window takes about twice as long. */
	SIMULATION_PART = 5, /* part of the CPU time of replays [chosen] */
	/* Pieces of the log that wait to be simulated: 2 MiB. */
	SIMULATION_QUEUE = 4, /* times PATH_LOG_BYTES [chosen] */
};

/* Where a second level's blocks probably are is judged by the access that uses them, and by so many uses as all
 * accesses have on average: one or two of its own tell little. */
static const double usual_uses = 4; /* uses [chosen] */

/* Slowdown of a copy that logs its path, to judge its moments: 3.3 for bzip2. */
static const double logging_slowness = 3; /* times; tests/shadow/replay_command --log */
/* Time that logging may add to a replay: SIMULATED_INSNS at 50 ns, on a shared core. */
static const uint64_t longest_logging_ns = 400000000; /* ns of the copy's CPU time [bound] */

/* --- finding the original's samples again: match/, syscalls/system_calls.c, window_counts.c ----- */

enum {
	/* Bytes of each sample's stack, from the stack pointer upward: some ten frames, as one call of a
	 * recursive function is like another in its own frame. With 512 most windows of such a program
	 * are taken for rounds. */
	MATCH_STACK_BYTES = 2048, /* bytes; scripts/window-coverage --programs sbcl */
	/* The ring for samples: the rest of the budget of locked memory, up to this. A sample has
	 * about 2.3 KB; the ring holds 110, those of a third of a second. */
	MATCH_RING_MOST_PAGES = 64, /* pages; a power of two [chosen] */
	/* Samples that are waited for at the same time; armed_ahead, below, says which. */
	MATCHER_AHEAD = 8, /* samples; the length of armed_ahead */
	/* Stretches of memory that are not compared, as they hold answers that the original may
	 * have got differently, such as the time. Most programs keep the time in one place. */
	MATCHER_GUESSES = 16, /* stretches [bound] */
	/* Times that the copy was told: what it computed from them is not compared either. */
	TOLD_TIMES = 16, /* times [bound] */
	/* Integers below that are counters and flags rather than times. */
	LEAST_TOLD_TIME = 10000, /* ms, us or ns [chosen] */
	/* What a function of the vdso writes below the stack pointer of its caller. The copy makes a
	 * system call instead, so what is left there later does not tell states apart either. */
	VDSO_FRAME_BYTES = 256, /* bytes [chosen] */
	/* Words of memory that translated code compares; the rest is compared outside. */
	X86_CHECK_WORDS = 8, /* words [chosen] */
	/* States with the registers only of a sample, before it is given up: each is a stop. */
	FALSE_ALARMS = 100, /* states per sample [bound] */
	/* Matches that are watched at the same time; a further one drops the oldest. */
	WATCHED_MATCHES = 12, /* matches [bound] */
	/* A match is believed if it has not recurred for so many distances of samples, in the
	 * copy's own time: the copy may be that many times slower than the original. Otherwise it
	 * may be an earlier moment. */
	WATCHED_DISTANCES = 3, /* distances between samples [chosen] */
	/* A program runs in rounds if the states of so many samples occurred again, later than a match
	 * is watched. One or two may have states that tell nothing. */
	ROUND_SAMPLES = 3, /* samples [chosen] */
	/* A replay is lost after so many distances without a match, from when one was due: as far
	 * as armed_ahead reaches. Waiting costs what any copy does, and delays the next one. */
	LOST_DISTANCES = 32, /* distances between samples [chosen] */
	/* After so many late samples in a row, the match before them is taken back as wrong. */
	MOST_LATE = 3, /* samples [chosen] */
};
/* What conversions to a double lose of a time. */
static const double told_time_error = 1e-14; /* share [chosen] */

/* The samples behind the newest match that are armed: the next few, and some later ones, to find
 * the path again after a gap (the original was in the kernel, or elsewhere). */
static const size_t armed_ahead[MATCHER_AHEAD] = { 1, 2, 3, 4, 5, 8, 16, 32 }; /* samples */

/* Pace is the copy's CPU time per time of the original. A match that is faster than this part of
 * the pace so far (at most slowest_pace), and of the original's, is another moment: phases differ,
 * and the original's clock includes page faults caused by copying. */
static const double least_of_pace = 0.33; /* times the pace so far, at least 1 [chosen] */
/* A match is another moment if it is later than so many times the pace so far, … */
static const double most_of_pace = 4; /* times the pace so far [chosen] */
/* … plus this, … */
static const double most_delay_ns = 30e6; /* ns of the copy's CPU time [chosen] */
/* … plus this for each block that was translated meanwhile (most of them ahead). */
static const double new_block_ns = 30e3; /* ns per block [chosen] */
/* No core executes more: fused pairs count as two. */
static const double most_instructions_per_ns = 64; /* instructions per ns [bound] */
/* A pace above this is not believed if the path may be lost, or a match seems too early: new code makes
 * the first one high. */
static const double slowest_pace = 6; /* pace [chosen] */
/* An early match is watched until its moment by the pace so far, times this. */
static const double watched_of_pace = 1.5; /* times the pace so far [chosen] */
/* The pace before any is known: see guessed_taken_per_ns, without cold code. */
static const double likely_pace = 2; /* pace; scripts/bench/shadow-replay */

/* --- replays that do not end: replay/watchdog.c ---------------------------------------------- */

enum {
	/* A copy is stopped after so many times its CPU time: it may wait for a CPU, or sleep. */
	WATCHDOG_PATIENCE = 20, /* wall time per CPU time [bound] */
};

#endif
