/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_parts DATABASE...
 *
 * What the parts of simulated windows took (hpcprof record --shadow --causes=always), beside what
 * `report --stack` says of them; for scripts/stack-accuracy --windows. A line per part: the window's
 * number; cycles, as measured; as predicted by penalties of the core's table, and by those that were
 * fitted to the other windows; then the cycles of each cause by the table, in the order of enum
 * hp_penalty. Last, behind "factors", those that were fitted to all windows, or 0 where the table's stay.
 */
#include <hpcprof/base/error.h>
#include <hpcprof/db/db.h>
#include <hpcprof/infer/window_parts.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void check(struct hp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "window_parts: %s\n", error->message);
	exit(2);
}

/* Adds what the epoch has; returns cycles per ns. */
static double read_epoch(struct hp_db *db, const char *stamp, struct hp_window_evidence *sum)
{
	struct hp_window_evidence evidence = { 0 };
	struct hp_error *lost = NULL;
	struct hp_epoch *epoch;
	double hz;

	check(hp_epoch_open(db, stamp, &epoch));
	check(hp_epoch_read_evidence(epoch, &evidence, &lost));
	check(lost);
	check(hp_window_evidence_add(sum, &evidence));
	hz = hp_epoch_cycles_per_unit(hp_epoch_meta(epoch), HP_UNIT_NS);
	hp_window_evidence_clear(&evidence);
	hp_epoch_close(epoch);
	return hz;
}

static void print(const hp_timed_parts *parts, const struct hp_penalties *penalties)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct hp_timed_part *part = &parts->at[i];

		printf("%zu %.0f %.0f %.0f %d", part->window, part->measured, part->by_table,
		       part->left_out, part->is_simulated);
		for (size_t j = 0; j < HP_PENALTIES; j++)
			printf(" %.0f", part->of[j]);
		putchar('\n');
	}
	printf("factors");
	for (size_t j = 0; j < HP_PENALTIES; j++)
		printf(" %.3f", penalties->is_fitted ? penalties->factors[j] : 0);
	putchar('\n');
}

int main(int count, char **paths)
{
	char all[] = "..";
	char *range[] = { all };

	for (int i = 1; i < count; i++) {
		struct hp_window_evidence sum = { 0 };
		struct hp_penalties penalties;
		hp_timed_parts parts = { 0 };
		struct hp_db *db;
		char **stamps;
		size_t stamp_count;
		double cycles_per_ns = 0;

		check(hp_db_open(paths[i], false, &db));
		check(hp_db_resolve(db, range, 1, &stamps, &stamp_count));
		for (size_t j = 0; j < stamp_count; j++)
			cycles_per_ns = read_epoch(db, stamps[j], &sum);
		for (size_t j = 0; j < sum.stratum_count; j++)
			check(hp_window_parts(&sum.strata[j], cycles_per_ns,
					      j * HP_EVIDENCE_WINDOWS, &parts));
		check(hp_penalties_fit(parts.at, parts.count, &penalties));
		print(&parts, &penalties);
		hp_vector_free(&parts);
		hp_window_evidence_clear(&sum);
		hp_db_free_stamps(stamps, stamp_count);
		hp_db_close(db);
	}
	return 0;
}
