/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The front end: fetches the path, and wrong paths behind mispredicted branches. */
#include "pipeline.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { WINDOW = 32 };

static void forget_line(struct pipeline *pipeline)
{
	pipeline->line = pipeline->window = NEVER;
}

/* --- code -------------------------------------------------------------------------------------- */

static void ask(struct pipeline *pipeline, const struct insn *insn, uint64_t line)
{
	unsigned events = hp_uarch_fetch(pipeline->uarch, insn->address, insn->length) &
			  ~pipeline->config->ignores;
	unsigned page = memory_page_cycles(pipeline, events, HP_CYCLE_ITLB);

	if (pipeline->config->geometry.decoded.ways)
		pipeline->is_decoded =
			!(events & (HP_UARCH_DECODED_MISS | HP_UARCH_DECODED_UNKNOWN));
	if (line == pipeline->line)
		return;
	pipeline->line = line;
	memory_count(pipeline, HP_CYCLE_ITLB, page);
	pipeline->page_comes = pipeline->now + page;
	pipeline->line_comes =
		memory_fetch(pipeline, line, events, pipeline->page_comes, &pipeline->line_waits);
	pipeline->is_behind_miss |= pipeline->line_comes > pipeline->now;
}

/* Whether the instruction can be fetched in this cycle, in which one line can be. */
static bool is_there(struct pipeline *pipeline, const struct insn *insn, bool is_first)
{
	uint64_t end = insn->next - 1;
	bool is_new = end / LINE != pipeline->line;

	if (end / WINDOW == pipeline->window)
		return true;
	pipeline->window = end / WINDOW;
	ask(pipeline, insn, end / LINE);
	pipeline->has_moved = true;
	return pipeline->line_comes <= pipeline->now &&
	       (is_first || !is_new || pipeline->config->fetches_all);
}

static void wait_for_code(struct pipeline *pipeline)
{
	struct view *view = &pipeline->view;

	view->code_waits = pipeline->now < pipeline->page_comes ? HP_CYCLE_ITLB
								: pipeline->line_waits;
	view->code_lacks = view->code_waits;
	pipeline->lacks_until = pipeline->line_comes + pipeline->config->front_stages;
	if (!view->is_strayed)
		view->last_event = view->code_waits;
}

/* --- branches ---------------------------------------------------------------------------------- */

/* True: what follows is at another address. */
static bool follow_branch(struct pipeline *pipeline, struct flight *flight, uint64_t number)
{
	const struct insn *insn = flight->insn;
	const struct step *step = &pipeline->step;
	bool is_taken = insn->kind != HP_UARCH_CONDITIONAL || step->next != insn->next;
	unsigned events;

	if (!step->has_next)
		return true;
	events = hp_uarch_branch(pipeline->uarch, insn->address, insn->next, insn->kind, is_taken,
				 step->next);
	pipeline->run->counts.branches++;
	if (!(events & (HP_UARCH_MISPREDICTED | HP_UARCH_BRANCH_UNKNOWN)) ||
	    is_perfect(pipeline, HP_CYCLE_BRANCH))
		return is_taken;
	pipeline->run->counts.mispredicts++;
	flight->is_mispredicted = true;
	pipeline->mispredicted = number + 1;
	pipeline->view.is_strayed = true;
	pipeline->wrong = insn->kind != HP_UARCH_CONDITIONAL ? hp_uarch_predicted(pipeline->uarch)
			  : is_taken			     ? insn->next
							     : insn->target;
	hp_uarch_stray(pipeline->uarch);
	return true;
}

static bool guess_branch(struct pipeline *pipeline, const struct insn *insn)
{
	pipeline->wrong = hp_uarch_guess(pipeline->uarch, insn->address, insn->next, insn->kind,
					 insn->target);
	return pipeline->wrong != insn->next;
}

/* --- an instruction ---------------------------------------------------------------------------- */

/* True: the next instruction cannot be fetched in the same cycle. */
static bool take_path(struct pipeline *pipeline, struct flight *flight, uint64_t number)
{
	bool turns = false;

	memory_follow(pipeline, &pipeline->step, flight);
	hp_uarch_retire(pipeline->uarch, 1);
	if (flight->insn->is_branch)
		turns = follow_branch(pipeline, flight, number);
	pipeline->has_step = walk_step(&pipeline->walk, &pipeline->step);
	return turns;
}

static bool take_wrong(struct pipeline *pipeline, struct flight *flight)
{
	flight->is_strayed = true;
	pipeline->wrong = flight->insn->next;
	return flight->insn->is_branch && guess_branch(pipeline, flight->insn);
}

/* When it leaves the fetch buffer, from which each cycle takes as many slots as are dispatched. */
static uint64_t decode(struct pipeline *pipeline, unsigned slots)
{
	if (pipeline->decodes < pipeline->now) {
		pipeline->decodes = pipeline->now;
		pipeline->decodes_slots = 0;
	}
	if (pipeline->decodes_slots &&
	    pipeline->decodes_slots + slots > pipeline->config->core.issue_width) {
		pipeline->decodes++;
		pipeline->decodes_slots = 0;
	}
	pipeline->decodes_slots += slots;
	return pipeline->decodes;
}

static bool take(struct pipeline *pipeline, const struct insn *insn)
{
	uint64_t number = pipeline->fetched++;
	struct flight *flight = flight_of(pipeline, number);
	bool turns;

	memset(flight, 0, offsetof(struct flight, sources));
	flight->insn = insn;
	flight->id = ++pipeline->fetched_ids;
	flight->row = pipeline->view.row;
	flight->ready = decode(pipeline, insn->timed.slots) + pipeline->config->front_stages;
	flight->is_behind_miss = pipeline->is_behind_miss;
	pipeline->view.fetched_id = flight->id;
	pipeline->is_behind_miss = false;
	pipeline->has_moved = true;
	turns = pipeline->view.is_strayed ? take_wrong(pipeline, flight)
					  : take_path(pipeline, flight, number);
	if (insn->is_branch) {
		pipeline->view.row++;
		for (size_t i = 0; i < pipeline->run->watcher_count; i++)
			if (pipeline->run->watchers[i]->fetched_branch)
				pipeline->run->watchers[i]->fetched_branch(
					pipeline->run->watchers[i], flight);
	}
	if (turns)
		forget_line(pipeline);
	return turns && !pipeline->config->fetches_all;
}

/* --- a cycle ----------------------------------------------------------------------------------- */

static bool has_room(const struct pipeline *pipeline)
{
	const struct hp_cycle_config *config = pipeline->config;

	return pipeline->fetched - pipeline->dispatched <
		       (uint64_t)config->front_stages * config->core.issue_width +
			       config->fetch_entries &&
	       pipeline->fetched - pipeline->retired <= pipeline->ring_mask;
}

static const struct insn *next_insn(const struct pipeline *pipeline)
{
	if (pipeline->view.is_strayed)
		return cycle_code_at(pipeline->run->code, pipeline->wrong);
	return pipeline->has_step ? pipeline->step.insn : NULL;
}

uint64_t front_feeds_until(const struct pipeline *pipeline)
{
	bool is_full = pipeline->decodes_slots >= pipeline->config->core.issue_width;

	return pipeline->decodes + is_full;
}

/* Whether the stages after the buffer are full, or more was fetched recently than they could
 * take. */
static bool is_fed(const struct pipeline *pipeline)
{
	const struct hp_cycle_config *config = pipeline->config;

	return pipeline->now < front_feeds_until(pipeline) ||
	       pipeline->fetched - pipeline->dispatched >=
		       (uint64_t)config->front_stages * config->core.issue_width;
}

void front_fetch(struct pipeline *pipeline)
{
	const struct hp_cycle_config *config = pipeline->config;
	unsigned width = config->fetches_all	? UINT_MAX
			 : pipeline->is_decoded ? config->fetch_width
						: config->core.decode_width;

	pipeline->view.code_waits = HP_CYCLE_BASE;
	if (pipeline->now >= pipeline->lacks_until)
		pipeline->view.code_lacks = HP_CYCLE_BASE;
	for (unsigned i = 0;
	     i < width && pipeline->line_comes <= pipeline->now && has_room(pipeline); i++) {
		const struct insn *insn = next_insn(pipeline);

		if (!insn || !is_there(pipeline, insn, i == 0) || take(pipeline, insn))
			break;
	}
	if (pipeline->line_comes > pipeline->now)
		wait_for_code(pipeline);
	pipeline->view.is_fed = is_fed(pipeline);
}

void front_return(struct pipeline *pipeline, const struct flight *branch)
{
	hp_uarch_rejoin(pipeline->uarch);
	forget_line(pipeline);
	pipeline->line_comes = pipeline->page_comes = pipeline->now;
	pipeline->lacks_until = 0;
	pipeline->decodes = pipeline->decodes_slots = 0;
	pipeline->is_behind_miss = false;
	pipeline->mispredicted = 0;
	pipeline->view.row = branch->row + 1;
	pipeline->view.is_strayed = false;
	pipeline->view.is_recovering = true;
	pipeline->view.last_event = HP_CYCLE_BRANCH;
}
