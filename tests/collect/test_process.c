/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequences of map changes, as the kernel tells them, replayed. Pids are above any that a kernel
 * gives out (4194304), so that nobody's /proc interferes.
 */
#include "../support.h"

#include "../../src/collect/maps/process.h"
#include "../../src/collect/samples/sample_table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PID = 10000000, CHILD = 10000001, THREAD = 10000002 };

struct bench {
	struct images *images;
	struct processes processes;
};

static struct bench bench;

/* Nothing may be left behind: the last references go with the processes. */
static void bench_destroy(void *nothing)
{
	(void)nothing;
	processes_clear(&bench.processes);
	images_sweep(bench.images);
	ck_assert_uint_eq(images_count(bench.images), 0);
	images_destroy(bench.images);
}

SETUP
{
	bench.images = images_create();
	ck_assert_ptr_nonnull(bench.images);
	hp_assert_ok(processes_create(&bench.processes, bench.images, false, false));
	at_end(bench_destroy, NULL);
}

static void map_at(uint32_t pid, const char *path, uint64_t start, uint64_t size, uint64_t offset)
{
	struct hp_record record = {
		.kind = HP_RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.mmap = { .start = start, .size = size, .file_offset = offset, .path = path },
	};

	/* With a build-id nobody opens the file. */
	record.mmap.build_id.kind = HP_IDENTITY_BUILD_ID;
	record.mmap.build_id.size = 8;
	memcpy(record.mmap.build_id.bytes, path, strnlen(path, 8));
	ck_assert(processes_map(&bench.processes, &record));
}

static void map_file(uint32_t pid, const char *path, uint64_t start)
{
	map_at(pid, path, start, 0x10000, 0);
}

static void rename_task(uint32_t pid, uint32_t tid, const char *name, bool exec, uint64_t time_ns)
{
	struct hp_record record = {
		.kind = HP_RECORD_COMM,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
		.comm = { .name = name, .exec = exec },
	};

	ck_assert(processes_comm(&bench.processes, &record));
}

static void exec(uint32_t pid, const char *name, uint64_t time_ns)
{
	rename_task(pid, pid, name, true, time_ns);
}

/* Of /bin/`name`. */
static void exec_mapped(uint32_t pid, const char *name, uint64_t time_ns)
{
	char path[64];

	exec(pid, name, time_ns);
	snprintf(path, sizeof(path), "/bin/%s", name);
	map_file(pid, path, 0x400000);
}

static void fork_by(uint32_t parent, uint32_t parent_tid, uint32_t pid, uint32_t tid,
		    uint64_t time_ns)
{
	struct hp_record record = {
		.kind = HP_RECORD_FORK,
		.pid = pid,
		.tid = tid,
		.time_ns = time_ns,
		.fork = { .parent_pid = parent, .parent_tid = parent_tid },
	};

	ck_assert(processes_fork(&bench.processes, &record));
}

static void fork_at(uint32_t parent, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	fork_by(parent, parent, pid, tid, time_ns);
}

static void exit_at(uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct hp_record record = {
		.kind = HP_RECORD_EXIT, .pid = pid, .tid = tid, .time_ns = time_ns
	};

	processes_exit(&bench.processes, &record);
}

static uint32_t sample(uint32_t pid)
{
	const struct hp_record record = { .pid = pid, .tid = pid, .time_ns = 1 };
	uint32_t number = processes_context(&bench.processes, &record, 0, 0, 1);

	ck_assert_uint_ne(number, 0);
	return number;
}

/* Where a sample of that context falls: the path, NULL for nowhere, "" for anonymous memory. */
static const char *image_at(uint32_t context, uint64_t address)
{
	const struct mapping *mapping =
		space_find(bench.processes.contexts[context].space, address);

	if (!mapping)
		return NULL;
	return mapping->image ? mapping->image->id.path : "";
}

static const char *command_of(uint32_t context)
{
	return bench.processes.commands.text[bench.processes.contexts[context].command];
}

static struct command_times times_of(const char *command, uint64_t now_ns)
{
	return processes_times(&bench.processes, names_number(&bench.processes.commands, command),
			       now_ns);
}

static void assert_times(const char *command, uint64_t now_ns, uint64_t processes, uint64_t samples,
			 uint64_t elapsed_ns)
{
	struct command_times times = times_of(command, now_ns);

	ck_assert_uint_eq(times.processes, processes);
	ck_assert_uint_eq(times.samples, samples);
	ck_assert_uint_eq(times.elapsed_ns, elapsed_ns);
}

/* A set-user-ID program: the kernel ends its events between its name and its first mapping. */
TEST(an_exec_that_maps_nothing_is_hidden)
{
	exec_mapped(PID, "sh", 1);
	fork_at(PID, PID + 1, PID + 1, 2);
	fork_at(PID, PID + 2, PID + 2, 2);
	exec(PID + 1, "su", 3);
	exit_at(PID + 1, PID + 1, 4);
	ck_assert_uint_eq(bench.processes.hidden.count, 1);
	ck_assert_str_eq(bench.processes.commands.text[bench.processes.hidden.command], "su");
	/* One that did not execute anything, one that was over before a sample, one whose end is
	 * missing. */
	exit_at(PID + 2, PID + 2, 5);
	fork_at(PID, PID + 3, PID + 3, 6);
	exec_mapped(PID + 3, "true", 6);
	exit_at(PID + 3, PID + 3, 7);
	fork_at(PID, PID + 4, PID + 4, 8);
	exec(PID + 4, "lost", 8);
	fork_at(PID, PID + 4, PID + 4, 9);
	ck_assert_uint_eq(bench.processes.hidden.count, 1);
}

TEST(exec_empties_the_space_and_old_samples_keep_theirs)
{
	const struct mapping *mapping;
	uint32_t before, after;

	exec_mapped(PID, "sh", 1);
	before = sample(PID);
	exec(PID, "xz", 2);
	map_at(PID, "/usr/bin/xz", 0x501000, 0x2000, 0x1000);
	after = sample(PID);
	ck_assert_uint_ne(before, after);
	ck_assert_str_eq(image_at(before, 0x400010), "/bin/sh");
	ck_assert_str_eq(command_of(before), "sh");
	ck_assert_ptr_null(image_at(after, 0x400010));
	ck_assert_str_eq(image_at(after, 0x501234), "/usr/bin/xz");
	ck_assert_str_eq(command_of(after), "xz");
	mapping = space_find(bench.processes.contexts[after].space, 0x501234);
	ck_assert_uint_eq(mapping->offset + (0x501234 - mapping->start), 0x1234);
}

TEST(a_library_loaded_where_another_was_gets_the_new_samples_only)
{
	uint32_t contexts[4];
	static const char *const paths[] = { "/lib/one.so", "/lib/two.so", "/lib/one.so",
					     "/lib/one.so" };

	exec_mapped(PID, "host", 1);
	for (size_t i = 0; i < HP_ARRAY_COUNT(paths); i++) {
		/* dlclose is not announced. */
		map_file(PID, paths[i], 0x7f0000000000);
		contexts[i] = sample(PID);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(paths); i++) {
		ck_assert_str_eq(image_at(contexts[i], 0x7f0000001000), paths[i]);
		ck_assert_str_eq(image_at(contexts[i], 0x400000), "/bin/host");
	}
	ck_assert_uint_ne(contexts[0], contexts[1]);
	ck_assert_uint_ne(contexts[1], contexts[2]);
	/* The last was the same mapping again: nothing changed. */
	ck_assert_uint_eq(contexts[2], contexts[3]);
}

TEST(a_forked_child_shares_the_maps_until_either_side_maps)
{
	uint32_t parent, child;

	exec_mapped(PID, "server", 1);
	fork_at(PID, CHILD, CHILD, 2);
	parent = sample(PID);
	child = sample(CHILD);
	ck_assert_uint_ne(parent, child);
	ck_assert_ptr_eq(bench.processes.contexts[parent].space,
			 bench.processes.contexts[child].space);
	ck_assert_str_eq(command_of(child), "server");
	map_file(PID, "/lib/parent.so", 0x7f0000000000);
	map_file(CHILD, "/lib/child.so", 0x7f0000000000);
	ck_assert_str_eq(image_at(sample(PID), 0x7f0000000000), "/lib/parent.so");
	ck_assert_str_eq(image_at(sample(CHILD), 0x7f0000000000), "/lib/child.so");
	ck_assert_str_eq(image_at(sample(CHILD), 0x400000), "/bin/server");
}

TEST(a_vforked_child_that_execs_leaves_its_parent_alone)
{
	uint32_t parent;

	exec_mapped(PID, "make", 1);
	parent = sample(PID);
	fork_at(PID, CHILD, CHILD, 2);
	exec_mapped(CHILD, "cc", 3);
	ck_assert_str_eq(image_at(sample(CHILD), 0x400000), "/bin/cc");
	ck_assert_uint_eq(sample(PID), parent);
	ck_assert_str_eq(image_at(parent, 0x400000), "/bin/make");
	exit_at(CHILD, CHILD, 4);
	/* Alone in its space again, and nothing was there: no new context. */
	map_file(PID, "/lib/late.so", 0x7f0000000000);
	ck_assert_uint_eq(sample(PID), parent);
	ck_assert_str_eq(image_at(parent, 0x7f0000000000), "/lib/late.so");
}

TEST(a_process_lives_until_its_last_thread_ends)
{
	uint32_t context;

	exec_mapped(PID, "pool", 100);
	fork_at(PID, PID, THREAD, 110);
	fork_at(PID, PID, THREAD + 1, 120);
	context = sample(PID);
	exit_at(PID, PID, 200);
	exit_at(PID, THREAD, 300);
	ck_assert_uint_eq(sample(PID), context);
	ck_assert_str_eq(image_at(context, 0x400000), "/bin/pool");
	exit_at(PID, THREAD + 1, 400);
	ck_assert(bench.processes.contexts[context].retired);
	assert_times("pool", 1000, 1, 2, 300);
}

TEST(what_the_kernel_does_behind_an_end_is_of_the_process_that_ended)
{
	uint32_t late, next;

	exec_mapped(PID, "sh", 100);
	fork_at(PID, CHILD, CHILD, 110);
	exec_mapped(CHILD, "true", 120);
	exit_at(CHILD, CHILD, 220);
	late = sample(CHILD);
	ck_assert_str_eq(command_of(late), "true");
	ck_assert_str_eq(image_at(late, 0x400000), "/bin/true");
	assert_times("true", 1000, 1, 1, 100);
	/* Its contexts are freed, whatever comes. */
	processes_reap(&bench.processes);
	ck_assert_ptr_null(bench.processes.contexts[late].space);
	/* Another one of that number. */
	fork_at(PID, CHILD, CHILD, 300);
	next = sample(CHILD);
	ck_assert_str_eq(command_of(next), "sh");
	ck_assert(!bench.processes.contexts[next].retired);
	ck_assert_uint_eq(times_of("sh", 1000).processes, 2);
	ck_assert_uint_eq(times_of("true", 1000).processes, 1);
}

TEST(only_the_latest_ends_are_remembered)
{
	exec(PID, "sh", 1);
	for (uint32_t i = 0; i < 3 * ENDED_LIMIT; i++) {
		fork_at(PID, CHILD + i, CHILD + i, 2);
		if (i % 2)
			sample(CHILD + i);
		exit_at(CHILD + i, CHILD + i, 3);
	}
	ck_assert_uint_eq(bench.processes.count, 1 + ENDED_LIMIT);
	ck_assert_str_eq(command_of(sample(CHILD + 3 * ENDED_LIMIT - 1)), "sh");
}

TEST(exec_leaves_one_thread)
{
	exec(PID, "old", 1);
	fork_at(PID, PID, THREAD, 2);
	fork_at(PID, PID, THREAD + 1, 3);
	exec(PID, "new", 10);
	exit_at(PID, PID, 20);
	ck_assert_uint_eq(times_of("new", 1000).elapsed_ns, 10);
}

TEST(a_pid_used_again_without_a_known_end_is_a_new_process)
{
	uint32_t old, new;

	exec_mapped(PID, "parent", 1);
	fork_at(PID, CHILD, CHILD, 100);
	exec(CHILD, "first", 200);
	map_file(CHILD, "/bin/first", 0x600000);
	old = sample(CHILD);
	fork_at(PID, CHILD, CHILD, 500);
	new = sample(CHILD);
	ck_assert_uint_ne(old, new);
	ck_assert_str_eq(image_at(old, 0x600000), "/bin/first");
	ck_assert_ptr_null(image_at(new, 0x600000));
	ck_assert_str_eq(image_at(new, 0x400000), "/bin/parent");
	ck_assert_str_eq(command_of(new), "parent");
	ck_assert_uint_eq(times_of("first", 1000).elapsed_ns, 300);
}

TEST(the_leader_names_the_process_and_threads_do_not)
{
	uint32_t before, after;

	exec(PID, "java", 1);
	before = sample(PID);
	rename_task(PID, THREAD, "GC thread", false, 2);
	ck_assert_uint_eq(sample(PID), before);
	ck_assert_str_eq(command_of(before), "java");
	rename_task(PID, PID, "gradle", false, 3);
	after = sample(PID);
	ck_assert_str_eq(command_of(before), "java");
	ck_assert_str_eq(command_of(after), "gradle");
}

TEST(times_are_summed_over_the_processes_of_a_command)
{
	exec(PID, "sh", 1000);
	for (uint32_t i = 0; i < 3; i++) {
		fork_at(PID, CHILD + i, CHILD + i, 2000);
		exec(CHILD + i, "cc", 3000);
		for (uint32_t j = 0; j <= i; j++)
			sample(CHILD + i);
	}
	exit_at(CHILD, CHILD, 3100);
	exit_at(CHILD + 1, CHILD + 1, 3200);
	/* Two ended, after 100 and 200; one still runs at 4000. */
	assert_times("cc", 4000, 3, 6, 100 + 200 + 1000);
	assert_times("sh", 4000, 1, 0, 3000);
}

TEST(a_child_sampled_before_its_exec_counts_under_both_names)
{
	exec(PID, "sh", 1000);
	fork_at(PID, CHILD, CHILD, 2000);
	sample(CHILD);
	exec(CHILD, "ls", 2500);
	sample(CHILD);
	sample(CHILD);
	exit_at(CHILD, CHILD, 2700);
	exit_at(PID, PID, 3000);
	assert_times("sh", 9000, 2, 1, 2000 + 500);
	assert_times("ls", 9000, 1, 2, 200);
}

TEST(each_stream_of_a_process_has_its_own_context)
{
	const struct hp_record record = { .pid = PID, .tid = PID, .time_ns = 1 };
	uint32_t contexts[300];

	exec(PID, "x", 1);
	for (uint32_t i = 0; i < HP_ARRAY_COUNT(contexts); i++)
		contexts[i] = processes_context(&bench.processes, &record, 0, i, 1);
	for (uint32_t i = 0; i < HP_ARRAY_COUNT(contexts); i++) {
		ck_assert_uint_ne(contexts[i], 0);
		ck_assert_uint_eq(bench.processes.contexts[contexts[i]].stream, i);
		ck_assert_uint_eq(processes_context(&bench.processes, &record, 1, i, 1),
				  contexts[i]);
	}
}

static const struct lane *lane_of(uint32_t tid, int cpu, uint32_t *context)
{
	const struct hp_record record = { .pid = PID, .tid = tid, .time_ns = 9 };

	*context = processes_context(&bench.processes, &record, cpu, 0, 1);
	ck_assert_uint_ne(*context, 0);
	return &bench.processes.lanes.at[bench.processes.contexts[*context].lane];
}

static void tell_apart(bool per_thread, bool per_cpu)
{
	bench.processes.lanes.per_thread = per_thread;
	bench.processes.lanes.per_cpu = per_cpu;
	exec(PID, "x", 1);
}

TEST(threads_have_contexts_and_names_of_their_own_when_asked_for)
{
	const char *const *names;
	uint32_t contexts[4];

	tell_apart(true, false);
	names = (const char *const *)bench.processes.commands.text;
	fork_by(PID, PID, PID, PID + 1, 0);
	ck_assert_str_eq(names[lane_of(PID + 1, 0, &contexts[0])->thread], "x");
	rename_task(PID, PID + 1, "worker", false, 0);
	names = (const char *const *)bench.processes.commands.text;
	ck_assert_str_eq(names[lane_of(PID + 1, 0, &contexts[1])->thread], "worker");
	ck_assert_uint_eq(lane_of(PID + 1, 5, &contexts[2])->tid, PID + 1);
	ck_assert_uint_eq(lane_of(PID + 1, 5, &contexts[2])->cpu, 0);
	ck_assert_uint_eq(lane_of(PID, 0, &contexts[3])->tid, PID);
	ck_assert_uint_ne(contexts[0], contexts[1]);
	ck_assert_uint_eq(contexts[1], contexts[2]);
	ck_assert_uint_ne(contexts[2], contexts[3]);
	/* The process's own name is not its thread's. */
	ck_assert_uint_eq(bench.processes.contexts[contexts[1]].command,
			  bench.processes.contexts[contexts[3]].command);
	/* One that a named thread starts is called like it. */
	fork_by(PID, PID + 1, PID, PID + 2, 0);
	ck_assert_str_eq(names[lane_of(PID + 2, 0, &contexts[0])->thread], "worker");
}

TEST(cpus_have_contexts_of_their_own_when_asked_for)
{
	uint32_t contexts[3];

	tell_apart(false, true);
	ck_assert_uint_eq(lane_of(PID, 0, &contexts[0])->cpu, 1);
	ck_assert_uint_eq(lane_of(PID + 1, 0, &contexts[1])->tid, 0);
	ck_assert_uint_eq(lane_of(PID, 7, &contexts[2])->cpu, 8);
	ck_assert_uint_eq(contexts[0], contexts[1]);
	ck_assert_uint_ne(contexts[0], contexts[2]);
	/* All of them end with the process. */
	exit_at(PID, PID, 10);
	ck_assert_uint_eq(bench.processes.retired, 2);
}

TEST(threads_beyond_the_bound_are_not_told_apart)
{
	uint32_t context;

	tell_apart(true, false);
	for (uint32_t tid = 1; tid < LANES_LIMIT; tid++)
		ck_assert_uint_eq(lane_of(PID + tid, 0, &context)->tid, PID + tid);
	ck_assert_uint_eq(bench.processes.lanes.refused, 0);
	ck_assert_uint_eq(lane_of(PID + LANES_LIMIT, 0, &context)->tid, 0);
	ck_assert_uint_eq(lane_of(PID + LANES_LIMIT + 1, 0, &context)->tid, 0);
	ck_assert_uint_eq(bench.processes.lanes.refused, 2);
	ck_assert_uint_eq(lane_of(PID + 1, 0, &context)->tid, PID + 1);
}

TEST(retired_contexts_are_recycled_after_a_reap_and_not_before)
{
	uint32_t first, second;

	fork_at(PID, CHILD, CHILD, 1);
	first = sample(CHILD);
	exit_at(CHILD, CHILD, 2);
	ck_assert_uint_eq(bench.processes.retired, 1);
	fork_at(PID, CHILD, CHILD, 3);
	second = sample(CHILD);
	ck_assert_uint_ne(first, second);
	ck_assert_ptr_nonnull(bench.processes.contexts[first].space);
	processes_reap(&bench.processes);
	ck_assert_uint_eq(bench.processes.retired, 0);
	ck_assert_ptr_null(bench.processes.contexts[first].space);
	ck_assert_ptr_nonnull(bench.processes.contexts[second].space);
	ck_assert_uint_eq(sample(PID), first);
}

TEST(a_process_twice_missing_from_the_system_is_dropped)
{
	uint32_t gone, here;

	gone = sample(PID);
	here = sample((uint32_t)getpid());
	processes_reap(&bench.processes);
	ck_assert_ptr_nonnull(bench.processes.contexts[gone].space);
	processes_reap(&bench.processes);
	ck_assert_ptr_null(bench.processes.contexts[gone].space);
	ck_assert_ptr_nonnull(bench.processes.contexts[here].space);
}

TEST(a_process_that_ran_before_us_is_looked_up)
{
	uint32_t context;
	const char *path;

	ck_assert(processes_adopt(&bench.processes, (uint32_t)getpid(), 1));
	context = sample((uint32_t)getpid());
	path = image_at(context, (uint64_t)(uintptr_t)&tell_apart);
	ck_assert_ptr_nonnull(path);
	ck_assert_str_eq(strrchr(path, '/'), "/test_process");
	ck_assert_str_eq(command_of(context), "test_process");
}

TEST(the_end_of_an_unknown_process_and_mappings_of_the_kernel_are_no_news)
{
	struct hp_record kernel = {
		.kind = HP_RECORD_MMAP,
		.pid = UINT32_MAX,
		.mmap = { .start = 1ull << 63, .size = 4096, .path = "[kernel.kallsyms]_text" },
	};

	exit_at(PID, PID, 1);
	ck_assert(processes_map(&bench.processes, &kernel));
	ck_assert_ptr_null(bench.processes.by_pid);
}

TEST(memory_without_a_file_has_no_image)
{
	static const char *const names[] = { "//anon",	       "[anon:jit]",	   "[heap]",
					     "[stack]",	       "/dev/zero",	   "/SYSV00000000",
					     "anon_inode:[x]", "[anon_shmem:code]" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++)
		map_file(PID, names[i], 0x100000 * (i + 1));
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++)
		ck_assert_str_eq(image_at(sample(PID), 0x100000 * (i + 1)), "");
}

TEST(a_mapping_of_no_size_or_past_the_end_of_memory_is_ignored)
{
	map_at(PID, "/bin/x", 0x1000, 0, 0);
	map_at(PID, "/bin/x", UINT64_MAX - 0xfff, 0x2000, 0);
	map_at(PID, "/bin/x", 0x1000, UINT64_MAX, 0);
	ck_assert_uint_eq(bench.processes.contexts[sample(PID)].space->count, 0);
}

/* --- more contexts than the sample table's entries can name ----------------------------------- */

enum { MANY = 70000 };

static void take_counts(struct sample_table *table, uint32_t *by_process)
{
	for (size_t i = 0; i < table->overflow_count; i++) {
		const struct sampled *entry = &table->overflow[i];
		uint32_t pid = bench.processes.contexts[entry->context].pid;

		ck_assert_uint_eq(entry->address, 0x400000 + pid % 3);
		by_process[pid - CHILD] += entry->count;
	}
	table->overflow_count = 0;
}

TEST(samples_of_70000_live_processes_are_told_apart)
{
	uint32_t *by_process = calloc(MANY, sizeof(*by_process));
	struct sample_table table;

	ck_assert(by_process && sample_table_create(&table));
	exec_mapped(PID, "parent", 1);
	for (uint32_t i = 0; i < MANY; i++)
		fork_at(PID, CHILD + i, CHILD + i, 2);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = round; i < MANY; i++) {
			uint32_t pid = CHILD + i;

			if (sample_table_add(&table, sample(pid), 0x400000 + pid % 3))
				take_counts(&table, by_process);
		}
	}
	while (!sample_table_drain(&table))
		take_counts(&table, by_process);
	take_counts(&table, by_process);
	ck_assert_uint_gt(bench.processes.context_count, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_uint_eq(by_process[i], i < 2 ? i + 1 : 3);
	sample_table_clear(&table);
	free(by_process);
}

HP_TEST_MAIN("collect/process")
