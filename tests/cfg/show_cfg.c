/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * show_cfg IMAGE dump [PROCEDURE]	graphs as text
 * show_cfg IMAGE dump PROCEDURE FROM TO	the same, an indirect jump seen to go that way
 * show_cfg IMAGE time			how long all procedures take, and how large they are
 * show_cfg IMAGE edges <FILE		for each line "FROM TO" (addresses of a jump and of where it
 *					went, 0 for straight on) what the graph knows of it
 * show_cfg IMAGE graphs <FILE		for each line "ADDRESS" the graph of its procedure, with
 *					addresses
 * show_cfg IMAGE code <FILE		for each line "ADDRESS" (of an instruction that ran)
 *					whether it is in a block, and one that anything leads to
 */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static struct hp_image *open_image(const char *path)
{
	char *copy = strdup(path);
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = copy };
	struct hp_image_options options = { .no_debuginfo = true };
	struct hp_image *image;
	struct hp_error *error = hp_image_open(&id, &options, &image);

	free(copy);
	if (error) {
		fprintf(stderr, "%s\n", error->message);
		exit(1);
	}
	return image;
}

static struct hp_cfg_image *open_shared(struct hp_image *image)
{
	struct hp_cfg_image *shared;
	struct hp_error *error = hp_cfg_image_create(image, &shared);

	if (error) {
		fprintf(stderr, "%s\n", error->message);
		exit(1);
	}
	return shared;
}

static struct hp_cfg *make(struct hp_cfg_image *shared, const struct hp_procedure *procedure,
			   struct hp_arena *arena)
{
	struct hp_cfg *cfg;
	struct hp_error *error = hp_cfg_create(shared, procedure, arena, &cfg);

	if (error) {
		fprintf(stderr, "%s\n", error->message);
		hp_error_destroy(error);
	}
	return cfg;
}

/* --- dump ------------------------------------------------------------------------------------- */

static void know_jump(struct hp_cfg_image *shared, const char *from, const char *to)
{
	const struct hp_known_jump jump = { { strtoull(from, NULL, 16) },
					    { strtoull(to, NULL, 16) } };

	if (hp_cfg_image_know_jumps(shared, &jump, 1))
		exit(1);
}

static int dump(struct hp_image *image, const char *wanted, char **jump)
{
	struct hp_cfg_image *shared = open_shared(image);
	struct hp_arena *arena = hp_arena_create();
	const struct hp_procedure *const *list;
	size_t count;
	int result = wanted ? 1 : 0;

	if (jump)
		know_jump(shared, jump[0], jump[1]);

	hp_image_procedures(image, &list, &count);
	for (size_t i = 0; i < count; i++) {
		struct hp_cfg *cfg;

		if (list[i]->owner != list[i] || (wanted && strcmp(list[i]->name, wanted) != 0))
			continue;
		hp_arena_reset(arena);
		cfg = make(shared, list[i], arena);
		if (!cfg)
			continue;
		cfg_dump(cfg, stdout);
		result = 0;
	}
	hp_arena_destroy(arena);
	hp_cfg_image_destroy(shared);
	return result;
}

/* --- time ------------------------------------------------------------------------------------- */

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int measure(struct hp_image *image)
{
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct hp_cfg_image *shared = open_shared(image);
	double opened = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct hp_arena *arena = hp_arena_create();
	const struct hp_procedure *const *list;
	uint64_t sums[6] = { 0 };
	uint32_t largest = 0;
	double largest_s = 0;
	size_t procedures = 0;
	size_t count;
	struct rusage usage;

	hp_image_procedures(image, &list, &count);
	for (size_t i = 0; i < count; i++) {
		double before;
		struct hp_cfg *cfg;

		if (list[i]->owner != list[i] || list[i]->source == HP_PROCEDURE_PLT)
			continue;
		before = seconds(CLOCK_PROCESS_CPUTIME_ID);
		hp_arena_reset(arena);
		cfg = make(shared, list[i], arena);
		if (!cfg)
			continue;
		procedures++;
		sums[0] += cfg->block_count;
		sums[1] += cfg->inner_edge_count;
		sums[2] += cfg->missing_edges;
		sums[3] += cfg->unresolved_jumps;
		sums[4] += cfg->loop_count;
		for (uint32_t k = 0; k < cfg->block_count; k++)
			sums[5] += cfg->blocks[k].end == HP_END_TABLE;
		if (cfg->block_count > largest) {
			largest = cfg->block_count;
			largest_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
		}
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("procedures %zu\nblocks %" PRIu64 "\nedges %" PRIu64 "\nloops %" PRIu64 "\n"
	       "tables %" PRIu64 "\nmissing-edges %" PRIu64 "\nunresolved-jumps %" PRIu64 "\n",
	       procedures, sums[0], sums[1], sums[4], sums[5], sums[2], sums[3]);
	printf("largest-blocks %" PRIu32 "\nlargest-seconds %.3f\n", largest, largest_s);
	printf("open-seconds %.2f\nseconds %.2f\npeak-mebibytes %ld\n", opened - start,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - start, usage.ru_maxrss / 1024);
	hp_arena_destroy(arena);
	hp_cfg_image_destroy(shared);
	return 0;
}

/* --- edges ------------------------------------------------------------------------------------ */

/* Graphs that were asked for, one an owner. */
struct known {
	const struct hp_procedure *owner;
	struct hp_cfg *cfg;
	struct hp_arena *arena;
};

static struct known *known_of(struct hp_cfg_image *shared, struct known **list, size_t *count,
			      const struct hp_procedure *owner)
{
	struct known *known;

	for (size_t i = *count; i-- > 0;)
		if ((*list)[i].owner == owner)
			return &(*list)[i];
	*list = reallocarray(*list, *count + 1, sizeof(**list));
	known = &(*list)[(*count)++];
	known->owner = owner;
	known->arena = hp_arena_create();
	known->cfg = make(shared, owner, known->arena);
	return known;
}

static bool ends_with(struct hp_image *image, const struct hp_cfg *cfg,
		      const struct hp_block *block, uint64_t address)
{
	const uint8_t *bytes;
	size_t size = hp_image_text(image, block->address, block->bytes, &bytes);
	uint64_t last = block->address.value;
	struct hp_flow flow;

	for (size_t at = 0; at < size; at += flow.length) {
		last = block->address.value + at;
		if (!cfg->isa->flow(bytes + at, size - at, last, &flow))
			return false;
	}
	return last == address;
}

static bool has_edge(struct hp_image *image, const struct hp_cfg *cfg, uint64_t from, uint64_t to)
{
	uint32_t from_block = hp_cfg_block_at(cfg, (hp_link_address){ from });
	uint32_t to_block = hp_cfg_block_at(cfg, (hp_link_address){ to });
	const struct hp_block *block;

	if (from_block == HP_CFG_NONE || to_block == HP_CFG_NONE ||
	    cfg->blocks[to_block].address.value != to)
		return false;
	block = &cfg->blocks[from_block];
	if (!ends_with(image, cfg, block, from))
		return false;
	for (uint32_t i = 0; i < block->out_count; i++)
		if (cfg->edges[block->first_out + i].to == to_block)
			return true;
	return false;
}

/* in: known; flagged: not known, and the graph says that it misses edges; lacking: not known;
 * outside: to where another procedure begins; aside: into the middle of one. Beside these "none":
 * no jump, but a repeated instruction. */
static const char *judge(struct hp_image *image, const struct hp_cfg *cfg,
			 const struct hp_procedure *owner, uint64_t from, uint64_t to)
{
	const struct hp_procedure *other = hp_image_procedure_at(image, (hp_link_address){ to });

	if (cfg && has_edge(image, cfg, from, to))
		return "in";
	if (other->owner != owner)
		return other->address.value == to ? "outside" : "aside";
	return cfg && cfg->missing_edges ? "flagged" : "lacking";
}

static struct hp_flow flow_at(struct hp_image *image, uint64_t address)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(image));
	struct hp_flow flow = { 0 };
	const uint8_t *bytes;
	size_t size = hp_image_text(image, (hp_link_address){ address }, isa->longest, &bytes);

	isa->flow(bytes, size, address, &flow);
	return flow;
}

static int judge_edges(struct hp_image *image)
{
	struct hp_cfg_image *shared = open_shared(image);
	struct known *list = NULL;
	size_t count = 0;
	uint64_t from;
	uint64_t to;

	while (scanf("%" SCNx64 " %" SCNx64, &from, &to) == 2) {
		const struct hp_procedure *owner =
			hp_image_procedure_at(image, (hp_link_address){ from })->owner;
		const struct hp_cfg *cfg = known_of(shared, &list, &count, owner)->cfg;

		struct hp_flow flow = flow_at(image, from);
		const char *verdict = "none";

		if (flow.kind != HP_INSN_PLAIN)
			verdict = judge(image, cfg, owner, from, to ? to : from + flow.length);
		printf("%" PRIx64 " %" PRIx64 " %s %s\n", from, to, verdict, owner->linkage);
	}
	for (size_t i = 0; i < count; i++)
		hp_arena_destroy(list[i].arena);
	free(list);
	hp_cfg_image_destroy(shared);
	return 0;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static void print_number(const struct hp_cfg *cfg, uint32_t node)
{
	if (node < cfg->block_count)
		printf(" %" PRIu32, node);
	else
		printf(" %s", node == cfg->entry ? "entry" : "exit");
}

static void print_graph(const struct hp_cfg *cfg)
{
	printf("procedure %" PRIx64 " %s\n", cfg->procedure->address.value,
	       cfg->missing_edges ? "missing" : "whole");
	for (uint32_t i = 0; i < cfg->block_count; i++)
		printf("block %" PRIu32 " %" PRIx64 " %" PRIu32 " %" PRIu32 " %s\n", i,
		       cfg->blocks[i].address.value, cfg->blocks[i].instructions,
		       cfg->blocks[i].class, block_end_name((enum hp_block_end)cfg->blocks[i].end));
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hp_edge *edge = &cfg->edges[i];

		printf("edge");
		print_number(cfg, edge->from);
		print_number(cfg, edge->to);
		printf(" %s %" PRIu32 "\n", hp_edge_kind_name((enum hp_edge_kind)edge->kind),
		       edge->class);
	}
}

static int print_graphs(struct hp_image *image)
{
	struct hp_cfg_image *shared = open_shared(image);
	struct hp_arena *arena = hp_arena_create();
	uint64_t address;

	while (scanf("%" SCNx64, &address) == 1) {
		const struct hp_procedure *procedure =
			hp_image_procedure_at(image, (hp_link_address){ address });
		struct hp_cfg *cfg;

		hp_arena_reset(arena);
		cfg = procedure ? make(shared, procedure->owner, arena) : NULL;
		if (cfg)
			print_graph(cfg);
	}
	hp_arena_destroy(arena);
	hp_cfg_image_destroy(shared);
	return 0;
}

/* --- code ------------------------------------------------------------------------------------- */

/* in: in a block; orphan: in one that nothing known leads to; nowhere: in none; with a "?" behind
 * it where the graph says that it misses edges. */
static void judge_address(struct hp_image *image, const struct hp_cfg *cfg, uint64_t address)
{
	uint32_t number = cfg ? hp_cfg_block_at(cfg, (hp_link_address){ address }) : HP_CFG_NONE;
	const char *verdict = "nowhere";

	if (number != HP_CFG_NONE)
		verdict = cfg->blocks[number].is_orphan ? "orphan" : "in";
	printf("%" PRIx64 " %s%s %s\n", address, verdict, !cfg || cfg->missing_edges ? "?" : "",
	       hp_image_procedure_at(image, (hp_link_address){ address })->owner->linkage);
}

static int judge_code(struct hp_image *image)
{
	struct hp_cfg_image *shared = open_shared(image);
	struct known *list = NULL;
	size_t count = 0;
	uint64_t address;

	while (scanf("%" SCNx64, &address) == 1) {
		const struct hp_procedure *owner =
			hp_image_procedure_at(image, (hp_link_address){ address })->owner;

		judge_address(image, known_of(shared, &list, &count, owner)->cfg, address);
	}
	for (size_t i = 0; i < count; i++)
		hp_arena_destroy(list[i].arena);
	free(list);
	hp_cfg_image_destroy(shared);
	return 0;
}

int main(int argc, char **argv)
{
	struct hp_image *image;
	int result = 2;

	if (argc < 3) {
		fprintf(stderr,
			"usage: show_cfg IMAGE dump [PROCEDURE] | time | edges | graphs | code\n");
		return 2;
	}
	image = open_image(argv[1]);
	if (strcmp(argv[2], "dump") == 0)
		result = dump(image, argc > 3 ? argv[3] : NULL, argc > 5 ? argv + 4 : NULL);
	else if (strcmp(argv[2], "time") == 0)
		result = measure(image);
	else if (strcmp(argv[2], "edges") == 0)
		result = judge_edges(image);
	else if (strcmp(argv[2], "graphs") == 0)
		result = print_graphs(image);
	else if (strcmp(argv[2], "code") == 0)
		result = judge_code(image);
	hp_image_close(image);
	return result;
}
