/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events divided among the counters of made-up hardware: raw events whose configuration says which
 * of the counters they can be on (0x10000 | bits), cycles with a counter of their own.
 */
#include "../support.h"
#include "tree.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/groups.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 32, RAW_BASE = 0x10000 };

struct hardware {
	unsigned counters; /* general ones */
	bool no_cycles;
	bool fixed_instructions; /* have a counter of their own */
	int refuses;		 /* an errno for every raw event, 0 for none */
	size_t trials;
};

static bool is_hardware(const struct hp_event *event, uint64_t config)
{
	return event->type == PERF_TYPE_HARDWARE && (event->config & 0xffffffff) == config;
}

static unsigned mask_of(const struct hardware *hardware, const struct hp_event *event)
{
	unsigned all = (1u << hardware->counters) - 1;

	if (is_hardware(event, PERF_COUNT_HW_CPU_CYCLES))
		return hardware->no_cycles ? 0 : all | 1u << 30;
	if (is_hardware(event, PERF_COUNT_HW_INSTRUCTIONS) && hardware->fixed_instructions)
		return all | 1u << 29;
	if (event->type == PERF_TYPE_RAW && event->config >= RAW_BASE)
		return (unsigned)(event->config - RAW_BASE) & all;
	return all;
}

static bool match(const unsigned *masks, size_t which, int owner[MOST], unsigned *seen)
{
	for (unsigned i = 0; i < MOST; i++) {
		if (!(masks[which] >> i & 1) || *seen >> i & 1)
			continue;
		*seen |= 1u << i;
		if (owner[i] < 0 || match(masks, (size_t)owner[i], owner, seen)) {
			owner[i] = (int)which;
			return true;
		}
	}
	return false;
}

static bool runs(void *context, const struct hp_event *const *events, size_t count,
		 const struct hp_rotation_set *rotation_set)
{
	struct hardware *hardware = context;
	unsigned masks[MOST];
	int owner[MOST];

	(void)rotation_set;
	hardware->trials++;
	memset(owner, -1, sizeof(owner));
	for (size_t i = 0; i < count; i++) {
		unsigned seen = 0;

		masks[i] = mask_of(hardware, events[i]);
		if (!match(masks, i, owner, &seen))
			return false;
	}
	return true;
}

static int opens(void *context, const struct hp_event *event,
		 const struct hp_rotation_set *rotation_set)
{
	const struct hardware *hardware = context;

	(void)rotation_set;
	if (event->type == PERF_TYPE_RAW && hardware->refuses)
		return hardware->refuses;
	return is_hardware(event, PERF_COUNT_HW_CPU_CYCLES) && hardware->no_cycles ? ENOENT : 0;
}

struct bench {
	char *root;
	struct hp_machine machine;
	struct hp_event_list events;
	struct hp_rotation_sets rotation_sets;
};

static struct hp_error *divide(struct bench *bench, const struct tree_file *files,
			       struct hardware *hardware, uint32_t counters, const char *text)
{
	struct hp_counter_trial trial = { .opens = opens, .runs = runs, .context = hardware };
	struct hp_grouping_options options = { .counters = counters, .trial = &trial };

	*bench = (struct bench){ .root = temporary_directory() };
	tree_add(bench->root, files);
	bench->machine = tree_machine(bench->root);
	hp_assert_ok(hp_event_parse(text, &bench->machine, &bench->events));
	return hp_rotation_sets_create(&bench->events, &bench->machine, &options,
				       &bench->rotation_sets);
}

static void put_away(struct bench *bench)
{
	hp_rotation_sets_clear(&bench->rotation_sets);
	hp_event_list_clear(&bench->events);
}

/* "pmu: a b | c +always /reference event" of each rotation set, one a line. */
static char *show(const struct bench *bench)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(stream);
	for (size_t i = 0; i < bench->rotation_sets.count; i++) {
		const struct hp_rotation_set *rotation_set = &bench->rotation_sets.at[i];

		fprintf(stream, "%s%s:", i ? "\n" : "", rotation_set->pmu);
		for (uint32_t j = 0; j < rotation_set->group_count; j++) {
			fputs(j ? " |" : "", stream);
			for (uint32_t k = 0; k < rotation_set->groups[j].count; k++)
				fprintf(stream, " %s",
					bench->events.events[rotation_set->groups[j].events[k]]
						.name);
		}
		for (uint32_t j = 0; j < rotation_set->always_count; j++)
			fprintf(stream, " +%s", bench->events.events[rotation_set->always[j]].name);
		if (rotation_set->has_reference)
			fprintf(stream, " /%s", rotation_set->reference.name);
	}
	fclose(stream);
	return text;
}

TEST(events_are_divided_among_groups)
{
	static const struct {
		const char *name;
		const struct tree_file *files;
		struct hardware hardware;
		uint32_t counters;
		const char *text;
		const char *wanted;
	} rows[] = {
		{ "what fits at once is one group beside the cycles",
		  tree_sapphire_rapids,
		  { .counters = 4 },
		  0,
		  "r1000f,r1000f/name=b/,branches",
		  "cpu: r1000f b branches /cycles" },
		/* 0x10001 only goes on the first counter: first come, first served makes three. */
		{ "what does not takes turns in as few groups as there can be",
		  tree_sapphire_rapids,
		  { .counters = 2 },
		  0,
		  "r10003/name=a/,r10001/name=b/,r10001/name=c/,r10003/name=d/",
		  "cpu: a b | c d /cycles" },
		{ "an event that is the reference is counted in every group",
		  tree_sapphire_rapids,
		  { .counters = 1 },
		  0,
		  "branches,cycles,branch-misses",
		  "cpu: branches | branch-misses +cycles /cycles" },
		{ "cycles of another mode are not the reference",
		  tree_sapphire_rapids,
		  { .counters = 1 },
		  0,
		  "branches,cycles:u",
		  "cpu: branches | cycles:u /cycles" },
		{ "an event with a counter of its own is counted all the time",
		  tree_sapphire_rapids,
		  { .counters = 1, .fixed_instructions = true },
		  0,
		  "instructions,branches,branch-misses",
		  "cpu: branches | branch-misses +instructions /cycles" },
		{ "without cycles instructions are the reference",
		  tree_sapphire_rapids,
		  { .counters = 2, .no_cycles = true },
		  0,
		  "branches,branch-misses",
		  "cpu: branches | branch-misses /instructions" },
		{ "software events need no counters",
		  tree_sapphire_rapids,
		  { .counters = 1 },
		  0,
		  "page-faults,minor-faults,task-clock,branches",
		  "software: page-faults minor-faults task-clock\ncpu: branches /cycles" },
		{ "unless counters are to be few",
		  tree_sapphire_rapids,
		  { .counters = 8 },
		  2,
		  "page-faults,minor-faults,major-faults,branches,branch-misses,r1000f",
		  "software: page-faults minor-faults | major-faults\n"
		  "cpu: branch-misses | r1000f +branches /cycles" },
		{ "each kind of core has groups of its own",
		  tree_alder_lake,
		  { .counters = 1 },
		  0,
		  "branches,branch-misses",
		  "cpu_atom: cpu_atom/branches/ | cpu_atom/branch-misses/ /cycles\n"
		  "cpu_core: cpu_core/branches/ | cpu_core/branch-misses/ /cycles" },
		{ "Arm's generic, raw and named events share one PMU",
		  tree_neoverse,
		  { .counters = 4 },
		  0,
		  "branches,r1000f,armv8_pmuv3_0/l1d_cache_refill/",
		  "cpu: branches r1000f armv8_pmuv3_0/l1d_cache_refill/ /cycles" },
		{ "a group of the user's stays together if it can",
		  tree_sapphire_rapids,
		  { .counters = 2 },
		  0,
		  "r10003/name=a/,{r10003/name=b/,r10003/name=c/},r10003/name=d/",
		  "cpu: a d | b c /cycles" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct hardware hardware = rows[i].hardware;
		struct bench bench;
		char *shown;

		hp_assert_ok(
			divide(&bench, rows[i].files, &hardware, rows[i].counters, rows[i].text));
		shown = show(&bench);
		ck_assert_msg(strcmp(shown, rows[i].wanted) == 0, "%s:\n%s\nnot\n%s", rows[i].name,
			      shown, rows[i].wanted);
		free(shown);
		put_away(&bench);
	}
}

TEST(a_group_of_the_users_is_split_with_a_word_if_it_does_not_fit)
{
	struct hardware hardware = { .counters = 1 };
	struct bench bench;

	hp_assert_ok(divide(&bench, tree_sapphire_rapids, &hardware, 0,
			    "{r10003/name=b/,r10003/name=c/}"));
	ck_assert_uint_eq(bench.rotation_sets.at[0].group_count, 2);
	hp_assert_contains(bench.rotation_sets.notice, "does not fit the counters");
	put_away(&bench);
}

TEST(a_group_has_the_largest_share_of_its_events)
{
	struct hardware hardware = { .counters = 1 };
	struct bench bench;

	hp_assert_ok(divide(&bench, tree_sapphire_rapids, &hardware, 0,
			    "branches/share=3/,branch-misses"));
	ck_assert_uint_eq(bench.rotation_sets.at[0].groups[0].share, 3);
	ck_assert_uint_eq(bench.rotation_sets.at[0].groups[1].share, 0);
	put_away(&bench);
}

TEST(what_never_gets_a_counter_is_absent_and_the_others_are_counted)
{
	struct hardware hardware = { .counters = 2 };
	struct bench bench;

	hp_assert_ok(divide(&bench, tree_sapphire_rapids, &hardware, 0, "r10004,branches"));
	hp_assert_contains(bench.events.events[0].absent, "gets no counter");
	ck_assert_ptr_null(bench.events.events[1].absent);
	ck_assert_uint_eq(bench.rotation_sets.at[0].group_count, 1);
	put_away(&bench);
}

TEST(when_nothing_can_be_counted_the_first_refusal_says_why)
{
	struct hardware hardware = { .counters = 2, .refuses = ENOENT };
	struct bench bench;
	struct hp_error *error =
		divide(&bench, tree_sapphire_rapids, &hardware, 0, "r10001,r10002");

	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->class, HP_ERROR_NOT_PERMITTED);
	hp_assert_contains(error->message, "nothing can be counted", "r10001");
	hp_error_destroy(error);
	put_away(&bench);
}

TEST(what_counts_sockets_is_not_for_tasks)
{
	static const struct tree_file uncore[] = {
		{ "/sys/bus/event_source/devices/imc/type", "30\n" },
		{ "/sys/bus/event_source/devices/imc/cpumask", "0\n" },
		{ "/sys/bus/event_source/devices/imc/events/reads", "config=1\n" },
		{ NULL, NULL },
	};
	struct hardware hardware = { .counters = 2 };
	struct bench bench;

	hp_assert_ok(divide(&bench, uncore, &hardware, 0, "imc/reads/,page-faults"));
	hp_assert_contains(bench.events.events[0].absent, "use -a");
	ck_assert_uint_eq(bench.rotation_sets.count, 1);
	put_away(&bench);
}

HP_TEST_MAIN("pmu/groups")
