/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modes [-n INSTRUCTIONS] [-i INTERVAL] TRACE...
 *
 * Azimi, Stumm, Wisniewski 2005, table 3: whether stalls, charged to what completion waits for, are
 * distributed over a program as if nothing overlapped. Each trace (hpcprof record --trace) runs on
 * the reference core three times: as it is; with one instruction dispatched in a cycle (S); in order
 * as well, each beginning when the one before has retired (I). By source, the Kullback-Leibler
 * distance from the first distribution over intervals of so many instructions to the other two. An
 * interval without such stalls counts as one cycle, or the distance would be infinite.
 *
 * "-": the source stalls for less than once in 10000 instructions. Target: below 0.2 in 80 % of the
 * entries. Exit status 1 if it is missed.
 */
#include "../../src/cycle/accountings.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODES = 3, INTERVALS_MOST = 4096, WARMING = 1000000 };
static const double least_stalls = 1e-4; /* cycles per instruction */
static const double target_distance = 0.2, target_share = 80;

static const struct source {
	const char *name;
	enum hp_cycle_part parts[2];
} sources[] = {
	{ "code cache", { HP_CYCLE_L1I, HP_CYCLE_L2I } },
	{ "data cache", { HP_CYCLE_L2D, HP_CYCLE_L2D } },
	{ "translation", { HP_CYCLE_ITLB, HP_CYCLE_DTLB } },
	{ "latency", { HP_CYCLE_UNITS, HP_CYCLE_UNITS } },
	{ "misprediction", { HP_CYCLE_BRANCH, HP_CYCLE_BRANCH } },
};
enum { SOURCES = HP_ARRAY_COUNT(sources) };

/* Charges as POWER5 does, and notes what was charged after each interval. */
struct noting {
	struct watcher watcher; /* first: what is called */
	struct watcher power5;
	uint64_t retired, interval;
	size_t count; /* of intervals */
	double cycles[SOURCES][INTERVALS_MOST];
};

static void check(struct hp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "modes: %s\n", error->message);
	exit(2);
}

static void note_cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	struct noting *noting = (struct noting *)watcher;

	noting->power5.cycles(&noting->power5, view, count);
}

static void note_retired(struct watcher *watcher, const struct flight *flight,
			 const struct view *view)
{
	struct noting *noting = (struct noting *)watcher;

	(void)flight;
	(void)view;
	if (++noting->retired % noting->interval)
		return;
	if (noting->retired > WARMING && noting->count < INTERVALS_MOST) {
		for (size_t i = 0; i < SOURCES; i++) {
			const enum hp_cycle_part *parts = sources[i].parts;

			noting->cycles[i][noting->count] = noting->power5.spent[parts[0]];
			if (parts[1] != parts[0])
				noting->cycles[i][noting->count] += noting->power5.spent[parts[1]];
		}
		noting->count++;
	}
	memset(noting->power5.spent, 0, sizeof(noting->power5.spent));
}

static void set_mode(unsigned mode, struct hp_cycle_config *config)
{
	check(hp_cycle_config_named("eyerman2006", config));
	if (mode > 0)
		config->core.issue_width = 1;
	config->is_in_order = mode > 1;
}

static void run(const struct hp_trace *trace, unsigned mode, uint64_t most, struct noting *noting)
{
	struct watcher *const watchers[] = { &noting->watcher };
	struct hp_cycle_config config;
	struct cycle_code code;
	struct core_run run = {
		.trace = trace,
		.config = &config,
		.code = &code,
		.watchers = watchers,
		.watcher_count = 1,
		.most = most + WARMING,
	};

	set_mode(mode, &config);
	check(cycle_code_create(trace, &config, &code));
	noting->watcher = (struct watcher){ .cycles = note_cycles, .retired = note_retired };
	power5_create(&noting->power5);
	check(core_run(&run));
	cycle_code_clear(&code);
}

/* NAN: it stalls too seldom. */
static double distance(const struct noting *from, const struct noting *to, size_t source)
{
	size_t count = from->count < to->count ? from->count : to->count;
	double all_from = 0, all_to = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		all_from += from->cycles[source][i];
		all_to += fmax(to->cycles[source][i], 1);
	}
	if (!count || all_from < least_stalls * (double)(count * from->interval))
		return NAN;
	for (size_t i = 0; i < count; i++) {
		double p = from->cycles[source][i] / all_from;
		double q = fmax(to->cycles[source][i], 1) / all_to;

		sum += p > 0 ? p * log(p / q) : 0;
	}
	return sum;
}

struct tally {
	unsigned entries, near;
};

static void print_entry(double value, struct tally *tally)
{
	if (isnan(value)) {
		printf("       -");
		return;
	}
	printf(" %7.2f", value);
	tally->entries++;
	tally->near += value < target_distance;
}

static void print_trace(const char *path, const struct noting *noting, struct tally *tally)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	printf("%-20.*s", (int)strcspn(name, "."), name);
	for (size_t i = 0; i < SOURCES; i++)
		for (unsigned mode = 1; mode < MODES; mode++)
			print_entry(distance(&noting[0], &noting[mode], i), tally);
	putchar('\n');
	fflush(stdout);
}

static void look_at(const char *path, uint64_t most, uint64_t interval, struct tally *tally)
{
	struct noting *noting = calloc(MODES, sizeof(*noting));
	struct hp_trace *trace;
	uint8_t *bytes;
	size_t size;

	if (!noting)
		exit(2);
	check(hp_file_read_at(AT_FDCWD, path, SIZE_MAX, &bytes, &size));
	check(hp_trace_open(bytes, size, &trace));
	for (unsigned mode = 0; mode < MODES; mode++) {
		noting[mode].interval = interval;
		run(trace, mode, most, &noting[mode]);
	}
	print_trace(path, noting, tally);
	hp_trace_close(trace);
	free(bytes);
	free(noting);
}

static uint64_t number(const char *text)
{
	uint64_t value;

	if (hp_parse_u64(text, &value) && value)
		return value;
	fprintf(stderr, "modes: '%s' is no number from 1\n", text);
	exit(2);
}

int main(int count, char **arguments)
{
	uint64_t most = 20000000, interval = 100000;
	struct tally tally = { 0, 0 };
	double share;
	int option;

	while ((option = getopt(count, arguments, "n:i:")) != -1) {
		if (option == '?')
			return 2;
		*(option == 'n' ? &most : &interval) = number(optarg);
	}
	printf("%-20s", "KL-distance");
	for (size_t i = 0; i < SOURCES; i++)
		printf(" %15s", sources[i].name);
	printf("\n%-20s", "to single, in order");
	for (size_t i = 0; i < SOURCES; i++)
		printf(" %7s %7s", "S", "I");
	putchar('\n');
	for (int i = optind; i < count; i++)
		look_at(arguments[i], most, interval, &tally);
	share = tally.entries ? 100.0 * tally.near / tally.entries : 0;
	printf("below %.1f: %u of %u entries, %.0f %%  >= %.0f  %s\n", target_distance, tally.near,
	       tally.entries, share, target_share, share >= target_share ? "met" : "MISSED");
	return share >= target_share ? 0 : 1;
}
