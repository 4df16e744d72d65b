/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpfm4's tables, for every CPU model it knows on this architecture: it takes another model for
 * the machine's own from LIBPFM_FORCE_PMU. */
#include "../support.h"
#include "tree.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct hp_machine bare_machine(void)
{
	static char nowhere[] = "/nonexistent";

	return tree_machine(nowhere);
}

struct walk {
	const char *pmu;    /* only this one's */
	const char *wanted; /* an event, or NULL */
	size_t listed;
	bool found;
};

static bool ask_for(const struct hp_event_entry *entry, void *context)
{
	struct walk *walk = context;
	size_t length = strlen(walk->pmu);
	struct hp_machine machine = bare_machine();
	struct hp_event_list list = { 0 };

	if (strncmp(entry->name, walk->pmu, length) != 0 ||
	    strncmp(entry->name + length, "::", 2) != 0)
		return true;
	hp_assert_ok(hp_event_parse(entry->name, &machine, &list));
	ck_assert_uint_eq(list.count, 1);
	hp_event_list_clear(&list);
	walk->listed++;
	walk->found |= walk->wanted && !strcmp(entry->name + length + 2, walk->wanted);
	return true;
}

/* Runs the work in a process of its own, since libpfm4 cannot be started twice, and takes what it
 * writes, at most `size` bytes of it. A failure in there fails here. */
static size_t run_apart(void (*work)(int output, void *context), void *context, const char *name,
			void *result, size_t size)
{
	size_t used = 0;
	ssize_t got;
	int ends[2];
	int status;
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		work(ends[1], context);
		_exit(0);
	}
	close(ends[1]);
	while (used < size && (got = read(ends[0], (char *)result + used, size - used)) > 0)
		used += (size_t)got;
	close(ends[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "%s: status %#x", name, (unsigned int)status);
	return used;
}

static void name_cpus(int output, void *context)
{
	(void)context;
	ck_assert_int_eq(pfm_initialize(), PFM_SUCCESS);
	for (pfm_pmu_t pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.type == PFM_PMU_TYPE_CORE)
			dprintf(output, "%s\n", info.name);
	}
}

static void ask_for_all(int output, void *context)
{
	struct hp_machine machine = bare_machine();
	struct walk *walk = context;

	setenv("LIBPFM_FORCE_PMU", walk->pmu, 1);
	hp_assert_ok(hp_event_enumerate(&machine, ask_for, walk));
	ck_assert_int_eq(write(output, walk, sizeof(*walk)), (ssize_t)sizeof(*walk));
}

static struct walk walk_cpu(const char *pmu, const char *wanted)
{
	struct walk walk = { .pmu = pmu, .wanted = wanted };

	ck_assert_uint_eq(run_apart(ask_for_all, &walk, pmu, &walk, sizeof(walk)), sizeof(walk));
	return walk;
}

TEST(every_event_listed_for_any_cpu_can_be_asked_for)
{
	char names[8192] = "";
	char *rest;
	size_t cpus = 0;

	run_apart(name_cpus, NULL, "the CPUs' names", names, sizeof(names) - 1);
	for (char *name = strtok_r(names, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		ck_assert_msg(walk_cpu(name, NULL).listed > 0, "%s has no events", name);
		cpus++;
	}
	ck_assert_uint_gt(cpus, 0);
}

/* The unit masks are the vendors': AMD's PPR for family 19h, PMCx002 and PMCx0c0; Intel's event
 * lists for Cascade Lake. */
TEST(an_event_that_says_nothing_without_a_unit_mask_is_listed_with_its_masks)
{
	static const struct {
		const char *pmu;
		const char *event;
		bool listed;
	} cases[] = {
		{ "amd64_fam19h_zen4", "RETIRED_INSTRUCTIONS", true },
		{ "amd64_fam19h_zen4", "RETIRED_X87_FP_OPS", false },
		{ "amd64_fam19h_zen4", "RETIRED_X87_FP_OPS:MUL_OPS", true },
		{ "clx", "UNHALTED_CORE_CYCLES", true },
		{ "clx", "CYCLE_ACTIVITY", false },
		{ "clx", "CYCLE_ACTIVITY:STALLS_TOTAL", true },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct walk walk = walk_cpu(cases[i].pmu, cases[i].event);

		/* A library built for another architecture knows neither CPU. */
		ck_assert_msg(!walk.listed || walk.found == cases[i].listed, "%s::%s", cases[i].pmu,
			      cases[i].event);
	}
}

HP_TEST_MAIN("pmu/pfm")
