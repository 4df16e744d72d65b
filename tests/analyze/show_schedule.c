/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_schedule IMAGE [CORE...]	the graph of every procedure of a file, and the best case of
 *					every block on each core (generic-x86-64 when none is
 *					named): how many, how long it took, how much memory
 */
#include <hpcprof/analyze/schedule.h>
#include <hpcprof/cfg/cfg.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct totals {
	uint64_t procedures;
	uint64_t refused; /* procedures without a graph */
	uint64_t missing; /* edges of so many procedures */
	uint64_t undecodable;
	uint64_t blocks;
	uint64_t unscheduled; /* blocks */
	uint64_t instructions;
	uint64_t undecoded; /* instructions of blocks, in full */
	uint64_t guesses;
	double cycles;
	double longest_s; /* of one procedure */
};

struct work {
	struct hp_image *image;
	struct hp_cfg_image *shared;
	struct hp_arena *graph;
	struct hp_arena *arena; /* of one block */
	const struct hp_core **cores;
	size_t core_count;
	struct totals totals;
};

static void fail(struct hp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", error->message);
	exit(1);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_own_loop(const struct hp_cfg *cfg, uint32_t number)
{
	const struct hp_block *block = &cfg->blocks[number];

	for (uint32_t i = 0; i < block->out_count; i++)
		if (cfg->edges[block->first_out + i].to == number)
			return true;
	return false;
}

static size_t decode(struct work *work, const struct hp_cfg *cfg, const struct hp_block *block,
		     struct hp_insn *insns)
{
	const uint8_t *bytes;
	size_t size = hp_image_text(work->image, block->address, block->bytes, &bytes);
	size_t count = 0;

	for (size_t at = 0; at < size && count < block->instructions;) {
		struct hp_insn *insn = &insns[count++];

		if (!cfg->isa->decode(bytes + at, size - at, block->address.value + at, insn)) {
			work->totals.undecoded++;
			return count - 1;
		}
		at += insn->length;
	}
	return count;
}

static void schedule_block(struct work *work, const struct hp_cfg *cfg, uint32_t number)
{
	const struct hp_block *block = &cfg->blocks[number];
	struct hp_insn *insns;
	size_t count;

	hp_arena_reset(work->arena);
	insns = hp_arena_array(work->arena, block->instructions, sizeof(*insns));
	if (!insns)
		fail(hp_error_create_no_memory());
	count = decode(work, cfg, block, insns);
	work->totals.blocks++;
	work->totals.instructions += count;
	if (count == 0) {
		work->totals.unscheduled++;
		return;
	}
	for (size_t i = 0; i < work->core_count; i++) {
		struct hp_schedule_options options = {
			.machine = work->cores[i],
			.isa = cfg->isa,
			.is_loop = is_own_loop(cfg, number),
		};
		const struct hp_schedule *schedule;
		double sum = 0;

		fail(hp_schedule_create(insns, count, &options, work->arena, &schedule));
		for (size_t k = 0; k < count; k++)
			sum += schedule->rows[k].cycles;
		if (sum > 0 && fabs(sum - schedule->cycles) > 1e-6 * (1 + schedule->cycles)) {
			fprintf(stderr, "0x%" PRIx64 ": %g cycles, but %g of instructions\n",
				block->address.value, schedule->cycles, sum);
			exit(1);
		}
		work->totals.guesses += schedule->guesses;
		work->totals.cycles += schedule->cycles;
	}
}

static void take(struct work *work, const struct hp_procedure *procedure)
{
	double start = seconds();
	struct hp_cfg *cfg;
	struct hp_error *error;

	work->totals.procedures++;
	hp_arena_reset(work->graph);
	error = hp_cfg_create(work->shared, procedure, work->graph, &cfg);
	if (error) {
		fprintf(stderr, "%s\n", error->message);
		hp_error_destroy(error);
		work->totals.refused++;
		return;
	}
	work->totals.missing += cfg->missing_edges;
	work->totals.undecodable += cfg->is_undecodable;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		schedule_block(work, cfg, i);
	work->totals.longest_s = fmax(work->totals.longest_s, seconds() - start);
}

static void print(const struct totals *totals, double start)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("procedures %" PRIu64 "\nrefused %" PRIu64 "\nmissing-edges %" PRIu64
	       "\nundecodable %" PRIu64 "\nblocks %" PRIu64 "\nunscheduled %" PRIu64
	       "\ninstructions %" PRIu64 "\nundecoded %" PRIu64 "\nguesses %" PRIu64
	       "\ncycles %.0f\n",
	       totals->procedures, totals->refused, totals->missing, totals->undecodable,
	       totals->blocks, totals->unscheduled, totals->instructions, totals->undecoded,
	       totals->guesses, totals->cycles);
	printf("longest-seconds %.2f\nseconds %.2f\npeak-mebibytes %ld\n", totals->longest_s,
	       seconds() - start, usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	struct hp_image_options options = { .no_debuginfo = true };
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = argc > 1 ? argv[1] : NULL };
	const struct hp_core *cores[16] = { hp_core_named("generic-x86-64") };
	struct work work = { .cores = cores, .core_count = 1 };
	const struct hp_procedure *const *list;
	double start = seconds();
	size_t count;

	if (argc < 2 || argc > 18) {
		fprintf(stderr, "usage: show_schedule IMAGE [CORE...]\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		cores[i - 2] = hp_core_named(argv[i]);
		work.core_count = (size_t)(i - 1);
		if (!cores[i - 2]) {
			fprintf(stderr, "no core is called %s\n", argv[i]);
			return 2;
		}
	}
	work.graph = hp_arena_create();
	work.arena = hp_arena_create();
	if (!work.graph || !work.arena)
		fail(hp_error_create_no_memory());
	fail(hp_image_open(&id, &options, &work.image));
	fail(hp_cfg_image_create(work.image, &work.shared));
	hp_image_procedures(work.image, &list, &count);
	for (size_t i = 0; i < count; i++)
		if (list[i]->owner == list[i])
			take(&work, list[i]);
	/* A file without any names or extents still has code. */
	if (count == 0)
		take(&work, hp_image_procedure_at(work.image, (hp_link_address){ 0x1000 }));
	print(&work.totals, start);
	hp_cfg_image_destroy(work.shared);
	hp_image_close(work.image);
	hp_arena_destroy(work.graph);
	hp_arena_destroy(work.arena);
	return 0;
}
