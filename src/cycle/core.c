/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core.h"

#include "pipeline.h"

#include <stdlib.h>

/* --- a branch is resolved ---------------------------------------------------------------------- */

#define EACH_WATCHER(pipeline, what, ...)                                                          \
	for (size_t i_ = 0; i_ < (pipeline)->run->watcher_count; i_++)                             \
		if ((pipeline)->run->watchers[i_]->what)                                           \
	(pipeline)->run->watchers[i_]->what((pipeline)->run->watchers[i_], __VA_ARGS__)

static void resolve(struct pipeline *pipeline)
{
	uint64_t number = pipeline->mispredicted;
	const struct flight *branch;

	/* Nothing is known of an instruction that is not dispatched yet. */
	if (!number || number > pipeline->dispatched)
		return;
	branch = flight_of(pipeline, number - 1);
	if (!branch->is_known || branch->when > pipeline->now)
		return;
	execute_forget(pipeline, number);
	pipeline->dispatched = pipeline->fetched = number;
	front_return(pipeline, branch);
	pipeline->has_moved = true;
	EACH_WATCHER(pipeline, resolved, branch, &pipeline->view);
}

/* --- retirement -------------------------------------------------------------------------------- */

/* Called when caches are warm: what was counted until now is dropped. */
static void begin_to_measure(struct pipeline *pipeline)
{
	pipeline->is_measuring = true;
	pipeline->run->counts = (struct hp_cycle_counts){ 0 };
	for (size_t i = 0; i < pipeline->run->watcher_count; i++)
		for (unsigned part = 0; part < HP_CYCLE_PARTS; part++)
			pipeline->run->watchers[i]->spent[part] = 0;
}

static bool is_done(const struct pipeline *pipeline, const struct flight *flight)
{
	return flight->is_known && flight->when <= pipeline->now;
}

static void retire(struct pipeline *pipeline)
{
	struct view *view = &pipeline->view;

	view->retired = 0;
	while (pipeline->retired < pipeline->dispatched) {
		const struct flight *flight = flight_of(pipeline, pipeline->retired);
		unsigned slots = flight->insn->timed.slots;

		if (!is_done(pipeline, flight) ||
		    (view->retired && view->retired + slots > pipeline->config->core.retire_width))
			break;
		memory_store(pipeline, flight);
		EACH_WATCHER(pipeline, retired, flight, view);
		pipeline->slots -= slots;
		pipeline->memories -= flight->loads || flight->stores;
		pipeline->stores -= flight->stores;
		pipeline->retired++;
		pipeline->passed++;
		pipeline->run->counts.instructions++;
		pipeline->has_moved = true;
		view->retired += slots;
	}
	pipeline->run->counts.slots += view->retired;
}

/* --- dispatch ---------------------------------------------------------------------------------- */

/* A store has an entry until it has left the store buffer. */
static bool lacks_store(struct pipeline *pipeline, const struct flight *flight)
{
	return flight->stores && pipeline->config->has_store_buffer &&
	       !is_perfect(pipeline, HP_CYCLE_STORE) &&
	       memory_stores(pipeline) >= pipeline->config->geometry.store_entries;
}

static bool has_room(struct pipeline *pipeline, const struct flight *flight)
{
	const struct hp_cycle_config *config = pipeline->config;
	struct view *view = &pipeline->view;

	view->lacks_queue = view->lacks_buffer = false;
	if (pipeline->retired == pipeline->dispatched)
		return true;
	view->lacks_queue = pipeline->memories + (flight->loads || flight->stores) >
			    config->lsq_entries;
	view->lacks_buffer = flight->insn->timed.is_serializing ||
			     pipeline->slots + flight->insn->timed.slots >
				     config->core.reorder_slots;
	return !view->lacks_queue && !view->lacks_buffer;
}

static void dispatch_one(struct pipeline *pipeline, struct flight *flight)
{
	struct view *view = &pipeline->view;
	unsigned slots = flight->insn->timed.slots;

	pipeline->slots += slots;
	pipeline->memories += flight->loads || flight->stores;
	pipeline->stores += flight->stores;
	execute_dispatch(pipeline, pipeline->dispatched++);
	view->dispatched_id = flight->id;
	if (flight->is_strayed)
		view->strayed += slots;
	else
		view->dispatched += slots;
	view->is_recovering &= flight->is_strayed;
	if (flight->insn->is_branch)
		EACH_WATCHER(pipeline, dispatched_branch, flight);
	pipeline->has_moved = true;
}

static void dispatch(struct pipeline *pipeline)
{
	const struct hp_cycle_config *config = pipeline->config;
	struct view *view = &pipeline->view;

	view->dispatched = view->strayed = 0;
	view->is_full = view->lacks_store = view->lacks_queue = view->lacks_buffer = false;
	while (pipeline->dispatched < pipeline->fetched) {
		struct flight *flight = flight_of(pipeline, pipeline->dispatched);
		unsigned slots = view->dispatched + view->strayed;

		if (flight->ready > pipeline->now ||
		    (slots && slots + flight->insn->timed.slots > config->core.issue_width))
			break;
		view->lacks_store = lacks_store(pipeline, flight);
		if (view->lacks_store || !has_room(pipeline, flight)) {
			view->is_full = true;
			break;
		}
		dispatch_one(pipeline, flight);
	}
	view->lacks_queue |= pipeline->memories >= config->lsq_entries;
	view->lacks_buffer |= pipeline->slots >= config->core.reorder_slots;
	view->is_full |= view->lacks_queue || view->lacks_buffer;
}

/* --- a cycle ----------------------------------------------------------------------------------- */

static uint64_t left(const struct pipeline *pipeline, uint64_t until)
{
	return until > pipeline->now ? until - pipeline->now : 0;
}

static void look_at_head(struct pipeline *pipeline)
{
	struct view *view = &pipeline->view;
	const struct flight *head = flight_of(pipeline, pipeline->retired);

	view->is_empty = pipeline->retired == pipeline->dispatched;
	view->head_is_done = !view->is_empty && is_done(pipeline, head);
	view->head_loads = !view->is_empty && head->loads;
	for (unsigned i = 0; i < 4; i++)
		view->loads[i] = left(pipeline, pipeline->loads_until[i]);
	view->divides = left(pipeline, pipeline->divides_until);
	view->head_waits = view->is_empty || view->head_is_done ? HP_CYCLE_BASE
								: execute_waits(pipeline, head);
	view->full_waits = view->head_waits == HP_CYCLE_BASE && view->lacks_store
				   ? HP_CYCLE_STORE
				   : view->head_waits;
}

static void sooner(uint64_t *next, uint64_t when, uint64_t now)
{
	if (when > now && when < *next)
		*next = when;
}

/* The next cycle in which something may happen, if nothing has happened in this one; NEVER:
 * none. */
static uint64_t next_cycle(struct pipeline *pipeline)
{
	const struct flight *head = flight_of(pipeline, pipeline->retired);
	uint64_t next = execute_next(pipeline);

	if (pipeline->retired < pipeline->dispatched && head->is_known)
		sooner(&next, head->when, pipeline->now);
	if (pipeline->mispredicted && pipeline->mispredicted <= pipeline->dispatched) {
		const struct flight *branch = flight_of(pipeline, pipeline->mispredicted - 1);

		if (branch->is_known)
			sooner(&next, branch->when, pipeline->now);
	}
	if (pipeline->dispatched < pipeline->fetched)
		sooner(&next, flight_of(pipeline, pipeline->dispatched)->ready, pipeline->now);
	if (pipeline->view.lacks_store && pipeline->drained < pipeline->stored_count)
		sooner(&next, pipeline->drains[pipeline->drained % DRAINS], pipeline->now);
	sooner(&next, pipeline->page_comes, pipeline->now);
	sooner(&next, pipeline->line_comes, pipeline->now);
	if (next != NEVER) {
		sooner(&next, head->paged, pipeline->now);
		sooner(&next, pipeline->lacks_until, pipeline->now);
		sooner(&next, front_feeds_until(pipeline), pipeline->now);
	}
	return next;
}

/* False: the model is stuck. */
static bool cycle(struct pipeline *pipeline)
{
	uint64_t next = pipeline->now + 1;

	pipeline->has_moved = false;
	resolve(pipeline);
	retire(pipeline);
	if (!pipeline->is_measuring && pipeline->passed >= pipeline->run->warming)
		begin_to_measure(pipeline);
	execute_begin(pipeline);
	dispatch(pipeline);
	front_fetch(pipeline);
	look_at_head(pipeline);
	if (!pipeline->has_moved)
		next = next_cycle(pipeline);
	if (next == NEVER)
		return false;
	EACH_WATCHER(pipeline, cycles, &pipeline->view, next - pipeline->now);
	pipeline->run->counts.cycles += next - pipeline->now;
	pipeline->now = next;
	return true;
}

/* --- life -------------------------------------------------------------------------------------- */

static void clear(struct pipeline *pipeline)
{
	hp_uarch_destroy(pipeline->uarch);
	walk_end(&pipeline->walk);
	free(pipeline->ring);
	free(pipeline->ready);
	free(pipeline->wheel);
	free(pipeline->waiters);
	free(pipeline->fills);
	free(pipeline->code_fills);
	free(pipeline->stored);
	free(pipeline);
}

static bool prepare(struct pipeline *pipeline)
{
	const struct hp_cycle_config *config = pipeline->config;
	/* Twice the slots, for instructions without a slot, and room for those on their way to
	 * dispatch. */
	size_t least = 2U * config->core.reorder_slots + config->fetch_entries +
		       (size_t)config->front_stages * config->core.issue_width;
	size_t places = 64;

	while (places < least && places < MOST_PLACES)
		places *= 2;
	pipeline->ring_mask = places - 1;
	pipeline->words = places / 64;
	pipeline->ring = calloc(places, sizeof(*pipeline->ring));
	pipeline->ready = calloc(pipeline->words, sizeof(*pipeline->ready));
	pipeline->wheel = calloc(WHEEL * pipeline->words, sizeof(*pipeline->wheel));
	pipeline->waiters = calloc(places * pipeline->words, sizeof(*pipeline->waiters));
	pipeline->fills = calloc(FILLS, sizeof(*pipeline->fills));
	pipeline->code_fills = calloc(FILLS, sizeof(*pipeline->code_fills));
	pipeline->stored = calloc(STORED, sizeof(*pipeline->stored));
	pipeline->uarch = hp_uarch_create(&config->geometry);
	pipeline->line = pipeline->window = NEVER;
	pipeline->is_decoded = true;
	pipeline->now = 1;
	return pipeline->ring && pipeline->ready && pipeline->wheel && pipeline->waiters &&
	       pipeline->fills && pipeline->code_fills && pipeline->stored && pipeline->uarch &&
	       walk_begin(&pipeline->walk, pipeline->run->trace, pipeline->run->code);
}

static struct hp_error *nothing_left(const struct core_run *run)
{
	if (!run->trace->instructions)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "it has no instruction: nothing was "
							      "simulated when it was recorded");
	if (run->most && run->most <= run->warming)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "the first %llu instructions warm caches, and only "
				       "%llu are to be run",
				       (unsigned long long)run->warming,
				       (unsigned long long)run->most);
	return hp_error_create(
		HP_ERROR_INSUFFICIENT,
		"its %llu instructions end within the first %llu, which only warm caches",
		(unsigned long long)run->trace->instructions, (unsigned long long)run->warming);
}

struct hp_error *core_run(struct core_run *run)
{
	struct pipeline *pipeline;
	struct hp_error *error = NULL;

	if (run->trace->instructions <= run->warming || (run->most && run->most <= run->warming))
		return nothing_left(run);
	pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return hp_error_create_no_memory();
	pipeline->run = run;
	pipeline->config = run->config;
	if (!prepare(pipeline)) {
		clear(pipeline);
		return hp_error_create_no_memory();
	}
	pipeline->has_step = walk_step(&pipeline->walk, &pipeline->step);
	while ((!run->most || pipeline->passed < run->most) &&
	       (pipeline->has_step || pipeline->retired < pipeline->fetched)) {
		if (cycle(pipeline))
			continue;
		error = hp_error_create(
			HP_ERROR_SYSTEM,
			"the model is stuck at instruction %llu, a defect of hpcprof",
			(unsigned long long)pipeline->passed);
		break;
	}
	if (!error && !run->counts.instructions)
		error = nothing_left(run);
	clear(pipeline);
	return error;
}
