/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/compare/compare.h>

#include "judge.h"
#include "moved.h"
#include "tuning.h"

#include <math.h>
#include <string.h>

/* --- the sides, as they are shown ------------------------------------------------------------ */

static const char *command_of(struct hp_arena *arena, const struct hp_epoch_meta *meta)
{
	const char *command = NULL;

	for (size_t i = 0; meta->command_line && meta->command_line[i]; i++)
		command = sides_format(arena, "%s%s%s", command ? command : "", command ? " " : "",
				       meta->command_line[i]);
	return command;
}

static struct hp_compared_epoch show_epoch(struct hp_arena *arena,
					   const struct replicate *replicate)
{
	const struct hp_epoch_meta *meta = replicate->meta;
	double runs = (double)meta->run_count;
	struct hp_compared_epoch shown = {
		.stamp = hp_arena_strdup(arena, hp_epoch_stamp(replicate->epoch)),
		.label = meta->label ? hp_arena_strdup(arena, meta->label) : NULL,
		.start_ns = meta->start_ns,
		.runs = meta->run_count ? meta->run_count : 1,
		.work = replicate->has_work ? replicate->exposure : 0,
		.elapsed_ns = meta->run_count ? 0 : NAN,
		.cpu_ns = meta->run_count ? 0 : NAN,
		.cost = replicate->cost / replicate->exposure,
		.samples = replicate->samples,
	};

	for (size_t i = 0; i < meta->run_count; i++) {
		shown.elapsed_ns += (double)meta->runs[i].elapsed_ns / runs;
		shown.cpu_ns +=
			((double)meta->runs[i].user_ns + (double)meta->runs[i].system_ns) / runs;
	}
	return shown;
}

static struct hp_error *show_side(struct judging *judging, size_t at,
				  const struct hp_compare_epochs *epochs)
{
	struct hp_arena *arena = judging->sides->arena;
	const struct side *side = &judging->sides->at[at];
	struct hp_compared_side *shown = &judging->comparison->sides[at];
	struct hp_compared_epoch *list =
		hp_arena_array(arena, side->replicates.count, sizeof(*list));
	const struct hp_epoch_meta *first = side->replicates.at[0].meta;

	if (!list)
		return hp_error_create_no_memory();
	shown->database = hp_arena_strdup(arena, hp_db_path(epochs->db));
	shown->cpu_model = first->cpu_model ? hp_arena_strdup(arena, first->cpu_model) : NULL;
	shown->command = command_of(arena, first);
	for (size_t i = 0; i < side->replicates.count; i++) {
		list[i] = show_epoch(arena, &side->replicates.at[i]);
		if (!list[i].stamp)
			return hp_error_create_no_memory();
		shown->runs += list[i].runs;
	}
	shown->epochs = list;
	shown->epoch_count = side->replicates.count;
	shown->samples = side->samples;
	shown->period = side->cost / (double)side->samples;
	return shown->database ? NULL : hp_error_create_no_memory();
}

static struct hp_error *show_notes(struct judging *judging)
{
	judging->comparison->notes = sides_notes(judging->sides);
	judging->comparison->note_count = judging->sides->notes.count;
	return judging->comparison->notes ? NULL : hp_error_create_no_memory();
}

static void settle(struct hp_comparison *comparison, const struct sides *sides)
{
	const struct hp_compare_options *options = sides->options;

	comparison->is_relative = options->is_relative;
	comparison->least_change = options->least_change > 0 ? options->least_change : least_change;
	comparison->least_of_program = options->least_of_program > 0 ? options->least_of_program
								     : least_of_program;
	comparison->unit = sides->unit;
	comparison->event = hp_arena_strdup(sides->arena, sides->event);
	comparison->per = sides->at[HP_BASE].replicates.at[0].has_work ? "unit of work" : "run";
}

/* Corrects the costs shown for the machine's change, as the changes are. Costs of code are
 * corrected from the beginning. */
static void take_machine_off(struct hp_compared *compared, double machine)
{
	struct hp_measured *cost = &compared->side[HP_CANDIDATE].cost;

	cost->value /= machine;
	cost->low /= machine;
	cost->high /= machine;
	for (size_t i = 0; i < compared->part_count; i++)
		take_machine_off(compared->parts[i], machine);
	for (size_t i = 0; i < compared->block_count; i++)
		take_machine_off(compared->blocks[i], machine);
}

static void settle_machine(struct judging *judging)
{
	struct hp_comparison *comparison = judging->comparison;

	comparison->machine = judging_slowed(judging);
	take_machine_off(comparison->program, comparison->machine);
}

static struct hp_error *compare(struct sides *sides,
				const struct hp_compare_epochs epochs[HP_SIDES],
				struct hp_comparison *comparison)
{
	struct judging judging = {
		.sides = sides,
		.compared = epochs,
		.comparison = comparison,
	};
	struct hp_error *error = sides_open(sides, epochs);

	if (error)
		return error;
	settle(comparison, sides);
	if (!comparison->event)
		return hp_error_create_no_memory();
	error = sides_gather(sides);
	if (!error)
		error = sides_match(sides);
	comparison->is_same_build = !error && sides_are_same_build(sides);
	if (comparison->is_same_build &&
	    !sides_note(sides, "same build on both sides: the machine, the input or the settings "
			       "cause any difference, not the code"))
		error = hp_error_create_no_memory();
	if (!error)
		error = sides_match_moved(sides);
	if (!error)
		error = history_learn(sides, epochs, &judging.history);
	if (!error)
		error = judge_program(&judging);
	if (!error)
		error = judge_parts(&judging);
	if (!error)
		error = judge_verdict(&judging);
	if (!error && !sides->options->without_code)
		error = judge_details(&judging);
	if (!error)
		error = judge_callers(&judging);
	if (!error)
		settle_machine(&judging);
	for (size_t side = 0; side < HP_SIDES && !error; side++)
		error = show_side(&judging, side, &epochs[side]);
	if (!error)
		error = show_notes(&judging);
	return error;
}

struct hp_error *hp_compare(const struct hp_compare_epochs sides[HP_SIDES],
			    const struct hp_compare_options *options,
			    struct hp_comparison **comparison)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct sides opened = { .arena = arena, .options = options };
	struct hp_comparison *made = arena ? hp_arena_alloc(arena, sizeof(*made)) : NULL;
	struct hp_error *error;

	if (!made)
		return hp_error_create_no_memory();
	error = compare(&opened, sides, made);
	sides_clear(&opened);
	if (error)
		return error;
	made->arena = hp_steal(arena);
	*comparison = made;
	return NULL;
}
