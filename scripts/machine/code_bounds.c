/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_bounds CORE          for each line of hexadecimal machine code on standard input: the best
 * case of it as a loop, what limits it, every bound, instructions not known code_bounds --cut basic
 * blocks out of the x86-64 code on standard input that use registers only and can be run anywhere:
 * hexadecimal, instructions apart code_bounds --rows CORE   for each line: shape, mnemonic, slots,
 * latency, best case of it again and again code_bounds --host        the core that this runs on
 */
#include <hpcprof/analyze/schedule.h>
#include <hpcprof/base/number.h>

#include <cpuid.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 8192, SHORTEST = 2, LONGEST = 60, MOST_CODE = 1 << 26 };

static const struct hp_isa *isa;

static const struct hp_core *host(void)
{
	unsigned a, b, c, d;
	char vendor[13] = "";
	struct hp_cpu_id id = { .vendor = vendor };

	__cpuid(0, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	__cpuid(1, a, b, c, d);
	id.family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
	id.model = (a >> 4 & 15) | (a >> 12 & 0xf0);
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		id.has_amx = d >> 24 & 1;
	}
	/* Intel: leaf 4, of which the first level's instruction cache is entry 1. */
	if (__get_cpuid_count(4, 1, &a, &b, &c, &d) && (a & 31) == 2)
		id.instruction_cache_bytes =
			((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) * (c + 1);
	return hp_core_of(&id);
}

/* --- cutting ---------------------------------------------------------------------------------- */

static bool is_harmless(const struct hp_insn *insn)
{
	static const char *const refused[] = {
		"div",	    "idiv",	 "rdtsc",  "rdpmc",  "cpuid",  "xgetbv",   "rd",
		"wr",	    "in",	 "out",	   "ins",    "outs",   "pause",	   "umwait",
		"tpause",   "std",	 "cld",	   "cli",    "sti",    "clac",	   "stac",
		"xbegin",   "xend",	 "xabort", "tile",   "ldtile", "inc_ssp",  "serialize",
		"swapgs",   "endbr",	 "lfence", "mfence", "sfence", "prefetch", "emms",
		"vzeroall", "vzeroupper"
	};
	const char *name = isa->mnemonic(insn->mnemonic);
	struct hp_register_set used = { { insn->read.bits[0] | insn->written.bits[0],
					  insn->read.bits[1] | insn->written.bits[1] } };

	if (insn->kind != HP_INSN_PLAIN || hp_register_in(&insn->written, isa->stack_pointer) ||
	    used.bits[1] >> (HP_REGISTER_X87 - 64) & 0xffffff || insn->is_repeated ||
	    (insn->memory_count && insn->operation != HP_OPERATION_ADDRESS && !insn->is_padding))
		return false;
	for (size_t i = 0; i < HP_ARRAY_COUNT(refused); i++)
		if (strncmp(name, refused[i], strlen(refused[i])) == 0 &&
		    strcmp(name, "inc") != 0 && strncmp(name, "insert", 6) != 0)
			return false;
	return true;
}

static void print_block(const uint8_t *code, const size_t *starts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			putchar(' ');
		for (size_t at = starts[i]; at < starts[i + 1]; at++)
			printf("%02x", code[at]);
	}
	putchar('\n');
}

static void cut(const uint8_t *code, size_t size)
{
	uint8_t *is_target = calloc(size + 1, 1);
	struct hp_insn insn;
	struct hp_flow flow;
	size_t starts[LONGEST + 1];
	size_t count = 0;
	bool is_good = true;

	if (!is_target)
		exit(1);
	for (size_t at = 0; at < size; at++) {
		if (!isa->flow(code + at, size - at, at, &flow))
			continue;
		if (flow.target < size)
			is_target[flow.target] = 1;
		at += flow.length - 1u;
	}
	for (size_t at = 0; at < size;) {
		bool is_insn = isa->decode(code + at, size - at, at, &insn);
		bool is_last = !is_insn || insn.kind != HP_INSN_PLAIN;

		if (is_target[at] || is_last) {
			starts[count] = at;
			if (is_good && count >= SHORTEST)
				print_block(code, starts, count);
			count = 0;
			is_good = true;
		}
		if (!is_last && !insn.is_padding) {
			is_good = is_good && count < LONGEST && is_harmless(&insn);
			if (is_good)
				starts[count++] = at;
		} else if (!is_last && count) {
			is_good = false; /* padding inside */
		}
		at += is_insn ? insn.length : 1u;
	}
	free(is_target);
}

static void cut_input(void)
{
	uint8_t *code = malloc(MOST_CODE);

	if (!code)
		exit(1);
	cut(code, fread(code, 1, MOST_CODE, stdin));
	free(code);
}

/* --- bounds ----------------------------------------------------------------------------------- */

static size_t decode_line(const char *line, struct hp_insn *insns)
{
	uint8_t bytes[LINE / 2];
	size_t size = 0;
	size_t count = 0;

	for (unsigned value; *line; line++)
		if (*line != ' ' && sscanf(line, "%2x", &value) == 1) {
			bytes[size++] = (uint8_t)value;
			line++;
		}
	for (size_t at = 0; at < size; at += insns[count++].length)
		if (count == LINE / 2 || !isa->decode(bytes + at, size - at, at, &insns[count]))
			return 0;
	return count;
}

static void print_bounds(const struct hp_schedule *schedule)
{
	static const char *const names[HP_BOUND_COUNT] = { "issue", "retire",  "fetch",
							   "ports", "divider", "recurrence" };

	printf("%.4f %s", schedule->cycles, names[schedule->limit]);
	for (unsigned bound = 0; bound < HP_BOUND_COUNT; bound++)
		printf(" %.3f", schedule->bounds[bound]);
	printf(" %u\n", schedule->guesses);
}

static void print_row(const struct hp_core *machine, const struct hp_insn *insn,
		      const struct hp_schedule *schedule)
{
	struct hp_cost cost;

	hp_core_cost(machine, NULL, insn, &cost);
	printf("%s %04x %u %u %.3f\n", isa->mnemonic(insn->mnemonic), hp_insn_shape(insn),
	       cost.slots, cost.latency, schedule->cycles);
}

int main(int count, char **arguments)
{
	bool is_rows = count > 2 && strcmp(arguments[1], "--rows") == 0;
	static struct hp_insn insns[LINE / 2];
	static char line[LINE];
	struct hp_schedule_options options = { .is_loop = true };
	struct hp_arena *arena = hp_arena_create();

	isa = hp_isa_of(EM_X86_64);
	options.isa = isa;
	if (count > 1 && strcmp(arguments[1], "--host") == 0)
		return puts(host()->name) < 0;
	if (count > 1 && strcmp(arguments[1], "--cut") == 0) {
		cut_input();
		return 0;
	}
	options.machine = count > 1 ? hp_core_named(arguments[count - 1]) : NULL;
	if (!options.machine || !arena)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		size_t known = decode_line(line, insns);
		const struct hp_schedule *schedule;

		hp_arena_reset(arena);
		if (known == 0 || hp_schedule_create(insns, known, &options, arena, &schedule))
			puts("-");
		else if (is_rows)
			print_row(options.machine, insns, schedule);
		else
			print_bounds(schedule);
	}
	hp_arena_destroy(arena);
	return 0;
}
