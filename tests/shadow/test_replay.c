/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole program, stepped instruction by instruction and replayed from the same moment: the same
 * output, exactly the counts that stepping has seen, and samples found where they were taken.
 */
#include "../support.h"

#include "tracee.h"

#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- what stepping sees ----------------------------------------------------------------------- */

enum { SAMPLE_EVERY = 1009, SAMPLES_MOST = 2048 };

struct step {
	uint64_t from, to;
};
struct trace {
	HP_VECTOR(struct step) steps; /* in order; a repeated instruction is one */
	struct hp_engine_sample samples[SAMPLES_MOST];
	uint8_t stacks[SAMPLES_MOST][TRACEE_STACK];
	size_t sampled_at[SAMPLES_MOST]; /* index of a step that is about to be made */
	size_t sample_count;
	int status; /* of its end */
};

/* A system call leaves the flags in r11: there with the one that makes it step. */
static void hide_stepping(const struct tracee *tracee, uint64_t ip,
			  struct user_regs_struct *registers)
{
	static const uint64_t trap_flag = 0x100;

	if (!(registers->r11 & trap_flag) ||
	    (ptrace(PTRACE_PEEKTEXT, tracee->pid, (void *)(uintptr_t)ip, NULL) & 0xffff) != 0x050f)
		return;
	registers->r11 &= ~trap_flag;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, tracee->pid, NULL, registers), 0);
}

static void step_through(const struct tracee *tracee, struct trace *trace)
{
	struct user_regs_struct registers;
	uint64_t ip;

	tracee_registers(tracee, &registers);
	ip = registers.rip;
	for (size_t i = 0; tracee_step(tracee, &trace->status); i++) {
		struct step step = { .from = ip };

		tracee_registers(tracee, &registers);
		/* rep: a stop for each time round */
		if (registers.rip == ip)
			continue;
		hide_stepping(tracee, ip, &registers);
		step.to = ip = registers.rip;
		ck_assert(hp_vector_push(&trace->steps, step));
		if (trace->steps.count % SAMPLE_EVERY == 0 && trace->sample_count < SAMPLES_MOST) {
			size_t sample = trace->sample_count++;

			trace->samples[sample] = tracee_sample(tracee, trace->stacks[sample]);
			trace->sampled_at[sample] = trace->steps.count;
		}
	}
}

/* How often each instruction, and each pair in a row, ran in [first, last). */
HP_ORDER_BY_TWO(by_step, struct step, from, to);

struct tally {
	struct step *steps; /* sorted. Owned */
	size_t count;
};

static struct tally tally_of(const struct trace *trace, size_t first, size_t last)
{
	struct tally tally = { .count = last - first };

	tally.steps = malloc(tally.count * sizeof(*tally.steps) + 1);
	ck_assert_ptr_nonnull(tally.steps);
	memcpy(tally.steps, trace->steps.at + first, tally.count * sizeof(*tally.steps));
	qsort(tally.steps, tally.count, sizeof(*tally.steps), by_step);
	return tally;
}

/* Steps below this one. */
static size_t rank(const struct tally *tally, struct step step)
{
	size_t low = 0, high = tally->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_step(&tally->steps[middle], &step) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t times_at(const struct tally *tally, uint64_t address)
{
	return rank(tally, (struct step){ address + 1, 0 }) -
	       rank(tally, (struct step){ address, 0 });
}

static uint64_t times_from_to(const struct tally *tally, uint64_t from, uint64_t to)
{
	return rank(tally, (struct step){ from, to + 1 }) - rank(tally, (struct step){ from, to });
}

/* --- what the engine sees --------------------------------------------------------------------- */

static uint64_t executions(const struct hp_replay *replay, uint64_t address)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < replay->block_count; i++) {
		const struct hp_window_block *block = &replay->blocks[i];

		if (address - block->address.value < block->size_bytes)
			sum += hp_window_count(block->counts);
	}
	return sum;
}

static uint64_t distance(uint64_t left, uint64_t right)
{
	return left > right ? left - right : right - left;
}

/* All of the replay's counts are those of the steps, give or take `slack`; and nothing is missing.
 */
static void assert_counts(const struct hp_replay *replay, const struct tally *tally, uint64_t slack)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < tally->count; i++)
		if (i == 0 || tally->steps[i].from != tally->steps[i - 1].from) {
			uint64_t address = tally->steps[i].from;
			uint64_t times = times_at(tally, address);

			ck_assert_msg(distance(executions(replay, address), times) <= slack,
				      "0x%lx: %lu executions, %lu steps", address,
				      executions(replay, address), times);
		}
	for (size_t i = 0; i < replay->edge_count; i++) {
		const struct hp_window_edge *edge = &replay->edges[i];
		uint64_t times = times_from_to(tally, edge->from.value, edge->to.value);

		/* The call that ended it all did not come back. */
		if (edge->from.value == replay->end_address)
			times++;
		seen += hp_window_count(edge->counts);
		ck_assert_msg(distance(hp_window_count(edge->counts), times) <= slack,
			      "0x%lx -> 0x%lx (kind %d): %lu times, %lu steps", edge->from.value,
			      edge->to.value, (int)edge->kind, hp_window_count(edge->counts),
			      times);
	}
	ck_assert_uint_gt(seen, 0);
	/* A step to somewhere else is an edge. */
	for (size_t i = 0; i < tally->count; i++) {
		struct step step = tally->steps[i];
		bool found = step.to - step.from <= 15;

		for (size_t j = 0; !found && j < replay->edge_count; j++)
			found = replay->edges[j].from.value == step.from &&
				replay->edges[j].to.value == step.to;
		ck_assert_msg(found || slack, "0x%lx -> 0x%lx: no edge", step.from, step.to);
	}
}

static void replay(const struct tracee *shadow, struct hp_engine *engine,
		   const struct hp_engine_sample *samples, size_t count, struct hp_replay *result)
{
	struct hp_engine_calls calls = { .handle = tracee_make_call };
	struct hp_engine_limits limits = { .time_ns = 60000000000 };
	struct tracee copy = *shadow;
	struct user_regs_struct registers;

	calls.context = &copy;
	tracee_map(shadow, engine);
	tracee_registers(shadow, &registers);
	hp_assert_ok(hp_engine_replay(engine, shadow->pid, &registers, samples, count, &limits,
				      &calls, result));
}

/* Natively from here: the engine has left it in front of its last call. */
static int finish(const struct tracee *shadow, const struct hp_replay *result)
{
	struct user_regs_struct registers;

	tracee_registers(shadow, &registers);
	registers.rip = result->end_address;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, shadow->pid, NULL, &registers), 0);
	return tracee_finish(shadow);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void start(struct tracee *original, struct tracee *shadows, size_t count,
		  struct trace **trace, struct hp_engine **engine)
{
	*trace = calloc(1, sizeof(**trace));
	ck_assert_ptr_nonnull(*trace);
	hp_assert_ok(hp_engine_create(&(struct hp_engine_options){ 0 }, engine));
	tracee_start(original, "replayed");
	for (size_t i = 0; i < count; i++)
		tracee_copy(original, &shadows[i]);
	step_through(original, *trace);
	ck_assert(WIFEXITED((*trace)->status));
}

static void stop(struct tracee *original, struct trace *trace, struct hp_engine *engine,
		 struct hp_replay *result)
{
	fclose(original->output);
	free(trace->steps.at);
	free(trace);
	hp_engine_destroy(engine);
	hp_replay_free(result);
}

/* What was translated for the first window is counted by the second in other ways: by then more
 * ways lead to more blocks. */
TEST(a_program_does_the_same_and_every_count_of_both_windows_is_exact)
{
	struct tracee original, shadows[2];
	struct trace *trace;
	struct hp_engine *engine;
	struct hp_replay results[2];
	struct tally tally;
	char *expected, *output;

	start(&original, shadows, HP_ARRAY_COUNT(shadows), &trace, &engine);
	expected = tracee_take_output(&original);
	tally = tally_of(trace, 0, trace->steps.count);
	for (size_t i = 0; i < 2; i++) {
		const struct hp_replay *result = &results[i];

		replay(&shadows[i], engine, NULL, 0, &results[i]);
		ck_assert_msg(result->end == HP_WINDOW_SYSTEM_CALL &&
				      result->end_detail == SYS_exit_group,
			      "ended with \"%s\" (%ld) at 0x%lx", hp_window_end_name(result->end),
			      result->end_detail, result->end_address);
		ck_assert_int_eq(finish(&shadows[i], result), trace->status);
		output = tracee_take_output(&original);
		ck_assert_str_eq(output, expected);
		ck_assert_uint_gt(strlen(output), 50);
		free(output);
		assert_counts(result, &tally, 0);
		/* The call that ended it is counted with its block, and was not stepped over. */
		ck_assert_uint_eq(result->instructions, trace->steps.count + 1);
	}
	ck_assert_uint_gt(results[0].translated, 0);
	ck_assert_uint_eq(results[1].translated, 0);
	free(tally.steps);
	free(expected);
	hp_replay_free(&results[0]);
	stop(&original, trace, engine, &results[1]);
}

/* The same program once more: its code is elsewhere, and so is what was translated from it. In some
 * runs there is another library between those that there are: not all go the same way. */
TEST(what_was_translated_goes_where_the_program_goes)
{
	static const char *const more[] = { NULL, NULL, "libz.so.1", NULL };
	struct hp_engine *engine;
	uint64_t first_ip = 0, first_translated = 0;

	hp_assert_ok(hp_engine_create(&(struct hp_engine_options){ 0 }, &engine));
	for (size_t i = 0; i < HP_ARRAY_COUNT(more); i++) {
		struct trace *trace = calloc(1, sizeof(*trace));
		struct tracee original, shadow;
		struct hp_replay result;
		struct tally tally;

		ck_assert_ptr_nonnull(trace);
		tracee_start_anywhere(&original, "replayed", more[i]);
		tracee_copy(&original, &shadow);
		step_through(&original, trace);
		tally = tally_of(trace, 0, trace->steps.count);
		replay(&shadow, engine, NULL, 0, &result);
		tracee_kill(&shadow);
		assert_counts(&result, &tally, 0);
		ck_assert_uint_eq(result.instructions, trace->steps.count + 1);
		/* Some ways depend on addresses. */
		if (i) {
			ck_assert_uint_ne(first_ip, trace->steps.at[0].from);
			ck_assert_uint_lt((more[i] == more[i - 1] ? 20 : 2) * result.translated,
					  first_translated);
		} else {
			first_ip = trace->steps.at[0].from;
			first_translated = result.translated;
		}
		free(tally.steps);
		hp_replay_free(&result);
		fclose(original.output);
		free(trace->steps.at);
		free(trace);
	}
	hp_engine_destroy(engine);
}

TEST(samples_match_where_they_were_taken)
{
	struct tracee original, shadow;
	struct trace *trace;
	struct hp_engine *engine;
	struct hp_replay result;
	struct tally tally;

	start(&original, &shadow, 1, &trace, &engine);
	ck_assert_uint_gt(trace->sample_count, 20);
	replay(&shadow, engine, trace->samples, trace->sample_count, &result);
	tracee_kill(&shadow);
	ck_assert_msg(result.end == HP_WINDOW_COMPLETE, "ended with \"%s\"",
		      hp_window_end_name(result.end));
	/* Not all: a buffer's file has other times in the copy, and some states are none of a kind.
	 */
	ck_assert_uint_gt(10 * result.matched, 8 * trace->sample_count);
	ck_assert_uint_lt(result.cuts[0], 5);
	ck_assert_uint_gt(result.cuts[result.part_count], trace->sample_count / 2);
	tally = tally_of(trace, trace->sampled_at[result.cuts[0]],
			 trace->sampled_at[result.cuts[result.part_count]]);
	/* One block at either end is half in, half out. */
	assert_counts(&result, &tally, 1);
	ck_assert_uint_lt(distance(result.instructions, tally.count), 130);
	free(tally.steps);
	stop(&original, trace, engine, &result);
}

HP_TEST_MAIN("shadow/replay")
