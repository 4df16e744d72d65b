/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow_lackey misses I1 D1 LL (each BYTES,WAYS,LINE, as valgrind's cachegrind has them)
 * follow_lackey branches [INSTRUCTIONS] follow_lackey speed [INSTRUCTIONS]
 *
 * Has the models of src/uarch follow the path of a program, as valgrind's lackey writes it on
 * standard input (--trace-mem=yes). `misses` prints what cachegrind counts, a name and a number a
 * line, and so does `branches`, from a predictor that begins cold. `speed` prints how many the
 * models follow in a second of CPU time: a name, instructions, events, seconds of the best of three
 * rounds after one that fills the models.
 *
 * The trace has no branches. Where the path leaves the next address there was one: it is a call if
 * it stores 8 bytes and a return if it loads 8 and has one byte, conditional if it sometimes goes
 * on, and indirect if it has several targets. Conditional branches that are never taken are not
 * seen.
 */
#include <hpcprof/uarch/path.h>

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct line {
	char kind; /* I, L, S, M */
	uint64_t address;
	uint32_t bytes;
};

/* " L 1ffe80,8"; false at the end. Lines of valgrind itself are skipped. */
static bool read_line(struct line *line)
{
	static char text[256];

	while (fgets(text, sizeof(text), stdin)) {
		char *end;

		if (text[0] == 'I')
			line->kind = 'I';
		else if (text[0] == ' ' && text[1] && strchr("LSM", text[1]))
			line->kind = text[1];
		else
			continue;
		line->address = strtoull(text + 3, &end, 16);
		line->bytes = *end == ',' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
		return true;
	}
	return false;
}

/* --- misses ----------------------------------------------------------------------------------- */

static struct hp_uarch_sets parse_cache(const char *text, uint32_t *line_bytes)
{
	unsigned bytes, ways, line;

	if (sscanf(text, "%u,%u,%u", &bytes, &ways, &line) != 3 || ways == 0 || line == 0)
		errx(2, "%s is not BYTES,WAYS,LINE", text);
	*line_bytes = line;
	return (struct hp_uarch_sets){ bytes / ways / line, ways };
}

static void count_misses(char **arguments)
{
	enum {
		I1 = HP_UARCH_L1I_MISS | HP_UARCH_L1I_UNKNOWN,
		D1 = HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN,
		LL = HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN,
	};
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	uint64_t instructions = 0, i1 = 0, d1 = 0, il = 0, dl = 0, data = 0;
	struct hp_uarch *uarch;
	struct line line;

	geometry.l1i = parse_cache(arguments[0], &geometry.line_bytes);
	geometry.l1d = parse_cache(arguments[1], &geometry.line_bytes);
	geometry.l2 = parse_cache(arguments[2], &geometry.line_bytes);
	geometry.l2_is_inclusive = false;
	uarch = hp_uarch_create(&geometry);
	if (!uarch)
		errx(2, "no models of this geometry");
	while (read_line(&line)) {
		unsigned events;

		if (line.kind == 'I') {
			events = hp_uarch_fetch(uarch, line.address, line.bytes);
			instructions++;
			i1 += (events & I1) != 0;
			il += (events & LL) != 0;
			continue;
		}
		events = hp_uarch_access(uarch, 0, line.address, line.bytes,
					 line.kind == 'S' ? HP_UARCH_STORE : HP_UARCH_LOAD);
		data++;
		d1 += (events & D1) != 0;
		dl += (events & LL) != 0;
	}
	hp_uarch_destroy(uarch);
	printf("instructions %" PRIu64 "\ndata %" PRIu64 "\nI1 %" PRIu64 "\nD1 %" PRIu64
	       "\nLLi %" PRIu64 "\nLLd %" PRIu64 "\n",
	       instructions, data, i1, d1, il, dl);
}

/* --- the path kept ---------------------------------------------------------------------------- */

/* What is known of an instruction. */
struct place {
	uint64_t ip, target;
	bool leaves, goes_on, has_targets, stores, loads;
	uint32_t bytes;
};

enum { PLACES = 1 << 20 };
static struct place *places;

static struct place *place_of(uint64_t ip)
{
	size_t at = (ip * UINT64_C(0x9e3779b97f4a7c15)) >> 44;

	for (size_t tries = 0; tries < PLACES; tries++, at = (at + 1) & (PLACES - 1))
		if (places[at].ip == ip || places[at].ip == 0) {
			places[at].ip = ip;
			return &places[at];
		}
	errx(1, "too much code");
}

static struct line *lines;
static size_t line_count;

static void keep(uint64_t most)
{
	size_t room = 0;
	uint64_t instructions = 0;
	struct place *place = NULL;
	struct line line;

	while (read_line(&line)) {
		if (line.kind == 'I' && ++instructions > most)
			break;
		if (line_count == room) {
			room = room ? room * 2 : 1 << 20;
			lines = realloc(lines, room * sizeof(*lines));
			if (!lines)
				errx(1, "out of memory");
		}
		lines[line_count++] = line;
		if (line.kind != 'I') {
			if (place && line.bytes == 8)
				*(line.kind == 'S' ? &place->stores : &place->loads) = true;
			continue;
		}
		if (place && place->ip + place->bytes == line.address) {
			place->goes_on = true;
		} else if (place) {
			place->has_targets |= place->leaves && place->target != line.address;
			place->leaves = true;
			place->target = line.address;
		}
		place = place_of(line.address);
		place->bytes = line.bytes;
	}
	if (line_count == 0)
		errx(1, "no trace on standard input");
}

static enum hp_uarch_branch_kind kind_of(const struct place *place)
{
	if (place->goes_on)
		return HP_UARCH_CONDITIONAL;
	if (place->loads && place->bytes == 1)
		return HP_UARCH_RETURN;
	if (place->stores)
		return place->has_targets ? HP_UARCH_CALL_INDIRECT : HP_UARCH_CALL;
	return place->has_targets ? HP_UARCH_JUMP_INDIRECT : HP_UARCH_JUMP;
}

/* --- the path as a recorder would hand it over ------------------------------------------------ */

enum step_kind { STEP_ACCESS, STEP_FETCH, STEP_BRANCH };

struct step {
	uint64_t ip, address; /* of a stretch: its begin; of a branch: its target */
	uint32_t bytes;	      /* of a branch: its own */
	uint8_t step, kind;
	bool taken;
	uint8_t instructions; /* of a stretch */
};

static struct step *steps;
static size_t step_count;
static uint64_t instruction_count, counts[STEP_BRANCH + 1];

static void add_step(const struct step *step)
{
	steps[step_count++] = *step;
	counts[step->step]++;
}

/* The end of a stretch of code; what it accessed stands before it. */
static void end_stretch(uint64_t begin, const struct place *last, unsigned instructions,
			uint64_t next)
{
	uint64_t end = last->ip + last->bytes;

	add_step(&(struct step){ .address = begin,
				 .bytes = (uint32_t)(end - begin),
				 .step = STEP_FETCH,
				 .instructions = (uint8_t)instructions });
	if (last->leaves)
		add_step(&(struct step){ .ip = last->ip,
					 .address = next,
					 .bytes = last->bytes,
					 .step = STEP_BRANCH,
					 .kind = (uint8_t)kind_of(last),
					 .taken = next != end });
}

static void make_steps(void)
{
	const struct place *place = NULL;
	unsigned instructions = 0;
	uint64_t begin = 0;

	steps = calloc(line_count * 3, sizeof(*steps));
	if (!steps)
		errx(1, "out of memory");
	for (size_t i = 0; i < line_count; i++) {
		const struct line *line = &lines[i];

		if (line->kind != 'I') {
			if (place)
				add_step(&(struct step){ .ip = place->ip,
							 .address = line->address,
							 .bytes = line->bytes,
							 .step = STEP_ACCESS,
							 .kind = line->kind == 'S'
									 ? HP_UARCH_STORE
									 : HP_UARCH_LOAD });
			continue;
		}
		if (place && (place->leaves || place->ip + place->bytes != line->address ||
			      instructions == 200)) {
			end_stretch(begin, place, instructions, line->address);
			instructions = 0;
		}
		if (instructions == 0)
			begin = line->address;
		place = place_of(line->address);
		instructions++;
		instruction_count++;
	}
}

/* --- branches --------------------------------------------------------------------------------- */

static void count_branches(void)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	uint64_t executed[HP_UARCH_RETURN + 1] = { 0 };
	uint64_t mispredicted[HP_UARCH_RETURN + 1] = { 0 };

	if (!uarch)
		errx(1, "out of memory");
	for (size_t i = 0; i < step_count; i++) {
		const struct step *step = &steps[i];

		if (step->step != STEP_BRANCH)
			continue;
		executed[step->kind]++;
		mispredicted[step->kind] += hp_uarch_branch(uarch, step->ip, step->ip + step->bytes,
							    (enum hp_uarch_branch_kind)step->kind,
							    step->taken, step->address) != 0;
	}
	hp_uarch_destroy(uarch);
	printf("instructions %" PRIu64 "\nBc %" PRIu64 "\nBcm %" PRIu64 "\nBi %" PRIu64
	       "\nBim %" PRIu64 "\nBr %" PRIu64 "\nBrm %" PRIu64 "\n",
	       instruction_count, executed[HP_UARCH_CONDITIONAL],
	       mispredicted[HP_UARCH_CONDITIONAL],
	       executed[HP_UARCH_JUMP_INDIRECT] + executed[HP_UARCH_CALL_INDIRECT],
	       mispredicted[HP_UARCH_JUMP_INDIRECT] + mispredicted[HP_UARCH_CALL_INDIRECT],
	       executed[HP_UARCH_RETURN], mispredicted[HP_UARCH_RETURN]);
}

/* --- speed ------------------------------------------------------------------------------------ */

/* Returns a sum of the answers, so that none is left out. */
static unsigned follow(struct hp_uarch *uarch, unsigned wanted)
{
	unsigned sum = 0;

	for (size_t i = 0; i < step_count; i++) {
		const struct step *step = &steps[i];

		if (!(wanted >> step->step & 1))
			continue;
		switch ((enum step_kind)step->step) {
		case STEP_ACCESS:
			sum += hp_uarch_access(uarch, step->ip, step->address, step->bytes,
					       (enum hp_uarch_access_kind)step->kind);
			break;
		case STEP_FETCH:
			hp_uarch_retire(uarch, step->instructions);
			sum += hp_uarch_fetch(uarch, step->address, step->bytes);
			break;
		case STEP_BRANCH:
			sum += hp_uarch_branch(uarch, step->ip, step->ip + step->bytes,
					       (enum hp_uarch_branch_kind)step->kind, step->taken,
					       step->address);
			break;
		}
	}
	return sum;
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void time_models(const char *name, unsigned wanted)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch = hp_uarch_create(&geometry);
	volatile unsigned sum;
	uint64_t events = 0;
	double best = 0;

	if (!uarch)
		errx(1, "out of memory");
	for (unsigned i = 0; i <= STEP_BRANCH; i++)
		events += wanted >> i & 1 ? counts[i] : 0;
	for (unsigned round = 0; round < 16; round++) {
		double begin = cpu_seconds();
		double took;

		sum = follow(uarch, wanted);
		took = cpu_seconds() - begin;
		if (round > 0 && (best == 0 || took < best))
			best = took;
	}
	(void)sum;
	printf("%s %" PRIu64 " %" PRIu64 " %.4f\n", name, instruction_count, events, best);
	hp_uarch_destroy(uarch);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "misses") == 0) {
		count_misses(argv + 2);
		return 0;
	}
	if (argc < 2 || argc > 3 ||
	    (strcmp(argv[1], "speed") != 0 && strcmp(argv[1], "branches") != 0))
		errx(2, "usage: follow_lackey misses I1 D1 LL | branches | speed [INSTRUCTIONS]");
	places = calloc(PLACES, sizeof(*places));
	if (!places)
		errx(1, "out of memory");
	keep(argc == 3 ? strtoull(argv[2], NULL, 10) : 8000000);
	make_steps();
	if (strcmp(argv[1], "branches") == 0) {
		count_branches();
		return 0;
	}
	time_models("caches", 1 << STEP_ACCESS | 1 << STEP_FETCH);
	time_models("predictor", 1 << STEP_BRANCH);
	time_models("all", 1 << STEP_ACCESS | 1 << STEP_FETCH | 1 << STEP_BRANCH);
	return 0;
}
