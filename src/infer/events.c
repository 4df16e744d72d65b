/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events.h"

#include "event_weights.h"
#include "images.h"
#include "rare_events.h"
#include "tuning.h"

#include <hpcprof/base/search.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts by window, weighted (event_weights.h). The parts of a simulated window are added up, which saves
 * memory. */
struct by_windows {
	double counts[HP_EVIDENCE_WINDOWS];
};

struct simulated_block {
	uint64_t address;
	uint32_t bytes;
	struct by_windows runs;
	double counted; /* the same, in all, without weights */
};

struct event {
	uint64_t address;
	uint8_t kind; /* enum hp_event_kind */
	int64_t value;
	struct by_windows counts;
};

struct timed {
	uint64_t address;
	bool is_block;
	uint64_t resizes; /* sizes of the simulated core; 0: its own */
	double cycles[HP_LANES];
};

struct image_events {
	HP_VECTOR(struct simulated_block) blocks; /* by address */
	HP_VECTOR(struct event) events;		  /* by address, then kind */
	HP_VECTOR(struct timed) timed;		  /* by address */
	uint32_t longest;			  /* longest block, in bytes */
	double windows;				  /* number of windows in the recording */
	struct hp_pace pace;			  /* how events per run differ between them */
	struct rare_events rare;		  /* how often what was not seen happens */
	uint64_t resizes;			  /* sizes of the core that is asked for */
};

void events_destroy(struct image_events *events)
{
	if (!events)
		return;
	hp_vector_free(&events->blocks);
	hp_vector_free(&events->events);
	hp_vector_free(&events->timed);
	free(events);
}

/* --- making ----------------------------------------------------------------------------------- */

static struct by_windows by_windows(const struct hp_counted *item,
				    const double weights[HP_EVIDENCE_GROUPS])
{
	struct by_windows sums = { 0 };

	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		sums.counts[i / HP_WINDOW_PARTS] +=
			(weights ? weights[i] : 1) * (double)item->counts[i];
	return sums;
}

/* What is known of a window as a whole, not of its parts, and not weighted. */
static bool is_of_window(unsigned kind)
{
	return kind == HP_EVENT_STRIDE || kind == HP_EVENT_LINES || kind == HP_EVENT_PAGES ||
	       kind == HP_EVENT_MET;
}

static bool add_cycles(struct image_events *events, const struct hp_counted *item, uint64_t address)
{
	struct timed timed = {
		.address = address,
		.is_block = item->kind != HP_COUNTED_CYCLES,
		.resizes = item->kind == HP_COUNTED_RESIZED_CYCLES ? item->to.value : 0,
	};

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		timed.cycles[lane] = (double)item->counts[lane];
	return hp_vector_push(&events->timed, timed);
}

static bool add_item(struct image_events *events, const struct hp_counted *item, uint64_t address,
		     const double weights[HP_EVIDENCE_GROUPS])
{
	unsigned kind = (unsigned)(item->kind - HP_COUNTED_EVENT);
	struct simulated_block block = {
		.address = address,
		.bytes = item->bytes,
		.runs = by_windows(item, weights),
		.counted = (double)hp_sum_of_items(item, 1, 0),
	};
	struct event event = {
		.address = address,
		.kind = (uint8_t)kind,
		.value = (int64_t)item->to.value,
		.counts = by_windows(item, is_of_window(kind) ? NULL : weights),
	};

	if (item->kind >= HP_COUNTED_CYCLES)
		return add_cycles(events, item, address);
	if (item->kind != HP_COUNTED_BLOCK)
		return hp_vector_push(&events->events, event);
	if (block.bytes > events->longest)
		events->longest = block.bytes;
	return hp_vector_push(&events->blocks, block);
}

HP_ORDER_BY(compare_blocks, struct simulated_block, address);

static int compare_events(const void *left, const void *right)
{
	const struct event *a = left;
	const struct event *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->kind != b->kind || a->kind != HP_EVENT_STRIDE)
		return (a->kind > b->kind) - (a->kind < b->kind);
	return (a->value > b->value) - (a->value < b->value);
}

static int compare_timed(const void *left, const void *right)
{
	const struct timed *a = left;
	const struct timed *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->is_block != b->is_block)
		return a->is_block - b->is_block;
	return (a->resizes > b->resizes) - (a->resizes < b->resizes);
}

/* Merges the strata's entries of one place. */
static void merge_timed(struct image_events *events)
{
	struct timed *all = events->timed.at;
	size_t kept = 0;

	if (!events->timed.count)
		return;
	qsort(all, events->timed.count, sizeof(*all), compare_timed);
	for (size_t i = 1; i < events->timed.count; i++) {
		if (compare_timed(&all[kept], &all[i]) != 0) {
			all[++kept] = all[i];
			continue;
		}
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			all[kept].cycles[lane] += all[i].cycles[lane];
	}
	events->timed.count = kept + 1;
}

static struct hp_error *make(struct hp_inference *inference, const struct hp_loaded_part *part,
			     uint32_t image, struct image_events *events)
{
	struct hp_windows *windows = &inference->windows;
	const struct hp_window_evidence *sum = &windows->sum;

	if (!windows->event_weights)
		windows->event_weights = event_weights_make(windows);
	if (!windows->event_weights)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		if (!hp_profiles_matches(inference->profiles->options->comm, stratum->command))
			continue;
		for (size_t j = 0; j < stratum->event_count; j++) {
			const struct hp_counted *item = &stratum->events[j];
			hp_link_address address;

			if (item->image == image &&
			    hp_image_link_address(part->file, item->at, &address) &&
			    !add_item(events, item, address.value, windows->event_weights[i]))
				return hp_error_create_no_memory();
		}
	}
	if (events->blocks.count)
		qsort(events->blocks.at, events->blocks.count, sizeof(*events->blocks.at),
		      compare_blocks);
	if (events->events.count)
		qsort(events->events.at, events->events.count, sizeof(*events->events.at),
		      compare_events);
	merge_timed(events);
	return NULL;
}

static double windows_of(const struct hp_window_evidence *sum)
{
	return (double)(hp_window_evidence_counted(sum).windows +
			hp_window_evidence_relative(sum).windows);
}

/* --- of one instruction ------------------------------------------------------------------------ */

/* Weights are relative: those of an instruction are scaled so that it keeps the runs that were counted. */
struct instruction {
	struct hp_grouped runs;
	double scale; /* of its counts */
};

static void add_windows(struct hp_grouped *into, const struct by_windows *more, double scale)
{
	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++)
		into->counts[i] += scale * more->counts[i];
}

static struct instruction instruction_at(const struct image_events *events, uint64_t address)
{
	uint64_t start = address >= events->longest ? address - events->longest : 0;
	size_t i = hp_bisect(k, events->blocks.count, events->blocks.at[k].address < start);
	struct instruction insn = { .scale = 1 };
	double counted = 0;

	for (; i < events->blocks.count && events->blocks.at[i].address <= address; i++)
		if (address - events->blocks.at[i].address < events->blocks.at[i].bytes) {
			add_windows(&insn.runs, &events->blocks.at[i].runs, 1);
			counted += events->blocks.at[i].counted;
		}
	if (counted > 0)
		insn.scale = counted / hp_grouped_sum(&insn.runs);
	for (size_t j = 0; j < HP_EVIDENCE_WINDOWS; j++)
		insn.runs.counts[j] *= insn.scale;
	return insn;
}

/* Events of one program share its windows and their data: all together tell no more than one, and of another
 * one no more than they are alike. */
struct hp_pace events_pace_of(const struct hp_paces *paces)
{
	double own = paces->weights > 0
			     ? fmin(paces->freedom / paces->weights, hp_paces_freedom(paces))
			     : 0;
	double logs = own > 0 ? own * paces->logs / paces->weights : 0;

	return (struct hp_pace){
		exp((logs + events_freedom * log(events_deviation * events_deviation)) /
		    (own + events_freedom)),
		own + events_freedom,
	};
}

/* Windows differ, and those that were seen might have been a few more or less by chance. */
struct events_range events_range_of(const struct hp_grouped *counts, const struct hp_grouped *runs,
				    double windows, const struct hp_pace *pace)
{
	struct hp_grouped_ratio ratio = hp_grouped_pace(counts, runs, windows, pace);
	double seen = hp_grouped_sum(counts), all = hp_grouped_sum(runs);
	double most = seen + 1 + HP_NORMAL_90 * sqrt(seen + 1);
	double least = seen - HP_NORMAL_90 * sqrt(seen);
	double factor = seen > 0 && isfinite(ratio.deviation)
				? exp(HP_NORMAL_90 * ratio.deviation / ratio.value)
				: 1;

	return (struct events_range){
		fmax(0, fmin(least / all, ratio.value / factor)),
		fmax(most / all, ratio.value * factor),
		ratio.value * factor,
	};
}

/* What is unknown because the models begin cold. */
static bool is_of_first(unsigned kind)
{
	static const uint8_t kinds[] = {
		HP_EVENT_L1_UNKNOWN,   HP_EVENT_L2_UNKNOWN,    HP_EVENT_DTLB_UNKNOWN,
		HP_EVENT_TLB2_UNKNOWN, HP_EVENT_L1I_UNKNOWN,   HP_EVENT_L2I_UNKNOWN,
		HP_EVENT_ITLB_UNKNOWN, HP_EVENT_TLB2I_UNKNOWN, HP_EVENT_WALK_UNKNOWN,
	};

	return memchr(kinds, (int)kind, sizeof(kinds)) != NULL;
}

static void take_range(const struct image_events *events, const struct hp_grouped *counts,
		       const struct hp_grouped *runs, unsigned kind, struct hp_happened *happened)
{
	struct events_range range = events_range_of(counts, runs, events->windows, &events->pace);

	/* Each window meets a line or page for the first time, whatever chance does. */
	if (is_of_first(kind) && hp_grouped_sum(counts) > 0)
		range.high = range.as_met;
	happened->least[kind] = range.low;
	happened->most[kind] = range.high;
}

/* Sums up one kind of event of the instruction, and moves `i` past it. */
static struct hp_grouped take_kind(const struct image_events *events,
				   const struct instruction *insn, size_t *i)
{
	const struct event *first = &events->events.at[*i];
	double scale = is_of_window(first->kind) ? 1 : insn->scale;
	struct hp_grouped counts = { 0 };

	for (; *i < events->events.count && compare_events(&events->events.at[*i], first) == 0;
	     ++*i)
		add_windows(&counts, &events->events.at[*i].counts, scale);
	return counts;
}

/* Learns from all events of the image how events per run differ between windows: code that is the same
 * in each may meet other data. */
static void learn_pace(struct image_events *events)
{
	struct hp_paces paces = { 0 };

	for (size_t i = 0; i < events->events.count;) {
		const struct event *event = &events->events.at[i];
		struct instruction insn = instruction_at(events, event->address);
		struct hp_grouped counts = take_kind(events, &insn, &i);

		if (event->kind < HP_EVENT_STRIDED)
			hp_paces_add(&paces, &counts, &insn.runs, events->windows,
				     hp_grouped_sum(&counts));
	}
	events->pace = events_pace_of(&paces);
}

/* Blocks stand for lines of code, of which each has one at least. */
static void expose_code(struct image_events *events)
{
	for (size_t i = 0; i < events->blocks.count; i++) {
		struct instruction insn;

		if (i && events->blocks.at[i - 1].address == events->blocks.at[i].address)
			continue;
		insn = instruction_at(events, events->blocks.at[i].address);
		for (unsigned kind = 0; kind < HP_EVENT_KINDS; kind++)
			if (rare_events_of_code(kind))
				rare_events_expose(&events->rare, kind, &insn.runs);
	}
}

/* Learns how often what was not seen happens. */
static void learn_rare(struct image_events *events)
{
	expose_code(events);
	for (size_t i = 0; i < events->events.count;) {
		const struct event *event = &events->events.at[i];
		struct instruction insn = instruction_at(events, event->address);
		struct hp_grouped counts = take_kind(events, &insn, &i);

		rare_events_meet(&events->rare, event->kind, &counts, &insn.runs);
	}
}

struct hp_error *events_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			   const struct image_events **events)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct inferred_image *inferred = &inference->images[part->image->index];
	struct hp_error *error = NULL;

	if (!inferred->events && part->file && part->image->id.kind == HP_IMAGE_FILE) {
		inferred->events = calloc(1, sizeof(*inferred->events));
		if (!inferred->events)
			return hp_error_create_no_memory();
		inferred->events->windows = windows_of(sum);
		inferred->events->resizes = inference->options->resizes;
		for (uint32_t i = 0; i < sum->image_count && !error; i++)
			if (hp_image_id_compare(&sum->images[i], &part->image->id) == 0)
				error = make(inference, part, i, inferred->events);
		if (!error) {
			learn_pace(inferred->events);
			learn_rare(inferred->events);
		}
	}
	*events = inferred->events && inferred->events->blocks.count ? inferred->events : NULL;
	return error;
}

static const double **cycles_for(struct hp_happened *happened, const struct timed *timed)
{
	if (timed->resizes)
		return &happened->resized_cycles;
	return timed->is_block ? &happened->block_cycles : &happened->cycles;
}

/* Finds the cycles at one address. Entries of one address are adjacent; only those of the requested
 * sizes count. */
static void find_cycles(const struct image_events *events, uint64_t address,
			struct hp_happened *happened)
{
	size_t i = hp_bisect(k, events->timed.count, events->timed.at[k].address < address);

	for (; i < events->timed.count && events->timed.at[i].address == address; i++)
		if (!events->timed.at[i].resizes || events->timed.at[i].resizes == events->resizes)
			*cycles_for(happened, &events->timed.at[i]) = events->timed.at[i].cycles;
}

/* Keeps the stride that most accesses have, over windows and over the instruction's accesses. */
static void take_stride(const struct hp_grouped *counts, int64_t stride,
			struct hp_happened *happened)
{
	double share = hp_grouped_sum(counts) / happened->runs;

	if (share <= happened->mean[HP_EVENT_STRIDE])
		return;
	happened->mean[HP_EVENT_STRIDE] = share;
	happened->stride = stride;
}

/* Turns the sums over windows into means. */
static void find_footprint(struct hp_happened *happened)
{
	double met = happened->mean[HP_EVENT_MET];

	if (!(met > 0))
		return;
	happened->lines = happened->mean[HP_EVENT_LINES] / met;
	happened->pages = happened->mean[HP_EVENT_PAGES] / met;
}

bool events_happened(const void *context, hp_link_address address, struct hp_happened *happened)
{
	const struct image_events *events = context;
	struct hp_grouped none = { 0 };
	struct instruction insn = instruction_at(events, address.value);
	size_t i = hp_bisect(k, events->events.count, events->events.at[k].address < address.value);

	*happened = (struct hp_happened){ .runs = hp_grouped_sum(&insn.runs) };
	if (!(happened->runs > 0))
		return false;
	take_range(events, &none, &insn.runs, 0, happened);
	for (unsigned kind = HP_EVENT_KINDS; kind-- > 0;)
		happened->most[kind] =
			fmin(happened->most[0],
			     rare_events_most(&events->rare, kind, &insn.runs) / happened->runs);
	while (i < events->events.count && events->events.at[i].address == address.value) {
		unsigned kind = events->events.at[i].kind;
		int64_t value = events->events.at[i].value;
		struct hp_grouped counts = take_kind(events, &insn, &i);

		if (kind == HP_EVENT_STRIDE) {
			take_stride(&counts, value, happened);
			continue;
		}
		happened->mean[kind] = hp_grouped_sum(&counts) / happened->runs;
		take_range(events, &counts, &insn.runs, kind, happened);
	}
	find_footprint(happened);
	find_cycles(events, address.value, happened);
	return true;
}
