/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "header_parts.h"
#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/infer/counts.h>

#include <inttypes.h>

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Adds why windows ended, or why there were none, the most frequent reasons first. */
static void add_reasons(const struct hp_window_evidence *sum, const char *heading, bool is_refusal,
			struct hp_buffer *text)
{
	uint64_t below = UINT64_MAX;
	size_t told = 0;

	while (told < MOST_REASONS) {
		uint64_t most = 0;

		for (size_t i = 0; i < sum->reason_count; i++)
			if (sum->reasons[i].is_refusal == is_refusal &&
			    sum->reasons[i].count < below && sum->reasons[i].count > most)
				most = sum->reasons[i].count;
		if (!most)
			return;
		for (size_t i = 0; i < sum->reason_count && told < MOST_REASONS; i++)
			if (sum->reasons[i].is_refusal == is_refusal &&
			    sum->reasons[i].count == most)
				hp_buffer_printf(text, "%s %s %" PRIu64 " time%s",
						 told++ ? "," : heading, sum->reasons[i].what, most,
						 most == 1 ? "" : "s");
		below = most;
	}
}

/* Adds a line under "counted", or, if that is missing, under a word of its own. */
static void put_detail(struct header *header, const char **word, struct hp_buffer *text)
{
	if (!text->size)
		return;
	header_put(header, HEADER_DETAILS, *word, "%s", hp_buffer_text(text));
	hp_buffer_clear(text);
	*word = "";
}

static bool has_counted(const struct hp_window_evidence *sum)
{
	return hp_window_evidence_counted(sum).windows || hp_window_evidence_relative(sum).windows;
}

static void put_price(const struct hp_window_evidence *sum, const char *word, struct header *header)
{
	const struct hp_window_price *price = &sum->price;
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	if (price->target_ns)
		hp_buffer_printf(&text, "cost the program %.2f %% of its time",
				 percent((double)price->lost_ns, (double)price->target_ns));
	if (price->target_ns && price->budget_ppm)
		hp_buffer_printf(&text, " (budget %.3g %%)", (double)price->budget_ppm / 1e4);
	if (sum->samples)
		hp_buffer_printf(&text, "%s%.0f %% of their samples were matched%s",
				 text.size ? "; " : "",
				 percent((double)sum->matched, (double)sum->samples),
				 has_counted(sum) ? "" : ", too few to count by");
	put_detail(header, &word, &text);
	add_reasons(sum, "windows ended:", false, &text);
	put_detail(header, &word, &text);
	add_reasons(sum, "windows refused:", true, &text);
	put_detail(header, &word, &text);
}

/* What registers told of branches. */
static void put_registers(const struct report *report, struct header *header)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	uint64_t followed = 0;
	uint64_t outcomes = 0;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		followed += sum->strata[i].followed;
		outcomes +=
			hp_sum_of_items(sum->strata[i].outcomes, sum->strata[i].outcome_count, 0);
	}
	if (followed)
		header_put(header, HEADER_DETAILS, "registers",
			   "of %" PRIu64 " sample%s gave directions of branches, %" PRIu64
			   " time%s",
			   followed, followed == 1 ? "" : "s", outcomes, outcomes == 1 ? "" : "s");
}

/* What breakpoints counted. */
static void put_probes(const struct report *report, struct header *header)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	size_t places = 0;
	uint64_t hits = 0;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		hits += hp_sum_of_items(stratum->probes, stratum->probe_count, HP_COUNTED_PROBE);
		for (size_t j = 0; j < stratum->probe_count; j++)
			places += stratum->probes[j].kind == HP_COUNTED_PROBE_TIME;
	}
	if (places)
		header_put(header, HEADER_DETAILS, "probes",
			   "%zu place%s, counted in moments: %" PRIu64 " hit%s", places,
			   places == 1 ? "" : "s", hits, hits == 1 ? "" : "s");
}

/* What branch records with cycles tell. */
static void put_ranges(const struct report *report, struct header *header)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	uint64_t runs = 0;
	uint64_t cycles = 0;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		runs += hp_sum_of_items(stratum->ranges, stratum->range_count, HP_COUNTED_RANGE);
		cycles += hp_sum_of_items(stratum->ranges, stratum->range_count,
					  HP_COUNTED_RANGE_CYCLES);
	}
	if (runs)
		header_put(header, HEADER_DETAILS, "branches",
			   "%" PRIu64 " stretches between taken branches, in %" PRIu64 " cycles",
			   runs, cycles);
}

static double simulated_instructions(const struct hp_window_evidence *sum)
{
	double instructions = 0;

	for (size_t i = 0; i < sum->stratum_count; i++)
		for (size_t j = 0; j < sum->strata[i].event_count; j++) {
			const struct hp_counted *item = &sum->strata[i].events[j];

			for (size_t k = 0; k < HP_EVIDENCE_GROUPS; k++)
				instructions += (double)item->counts[k] * item->instructions;
		}
	return instructions;
}

/* What was simulated, and why nothing was: then causes are guesses. */
static void put_simulated(const struct report *report, struct header *header)
{
	const struct hp_window_evidence *sum = &report->inference->windows.sum;
	double instructions = simulated_instructions(sum);
	bool has_windows =
		hp_window_evidence_counted(sum).windows + hp_window_evidence_relative(sum).windows >
		0;
	enum header_rank rank = report->options->view == HP_VIEW_STALLS ? HEADER_REMARKS
									: HEADER_DETAILS;

	if (instructions > 0)
		header_put(
			header, HEADER_REMARKS, "simulated",
			"%.0f million instructions of their paths: --stalls, --memory, --branches",
			instructions / 1e6);
	else if (has_windows)
		header_put(header, rank, "simulated",
			   "nothing: no CPU was idle, or windows were few (record "
			   "--causes=always simulates all), or --causes=off");
	else if (rank == HEADER_REMARKS)
		header_put(header, rank, "simulated",
			   "nothing: causes are judged by the code alone (%s)",
			   hp_windows_tried(report->inference)
				   ? "no shadow window counted anything: report --summary says why"
				   : "record --shadow simulates the program's path, on x86-64");
}

static bool have_missed(const struct report *report, struct header *header)
{
	double moved = 0;
	struct hp_error *error = hp_counts_moved(report->inference, &moved);

	/* Counts that are incomplete are not used. */
	header->failed |= error != NULL;
	hp_error_destroy(error);
	return moved > told_moved * told_moved;
}

/* Adds how long windows were. It is not known of those that only have relative counts. */
static void add_share(struct hp_buffer *text, double windows_ns, double time_ns)
{
	if (!(windows_ns > 0))
		return;
	if (windows_ns < 1e8)
		hp_buffer_printf(text, windows_ns < 9.95e6 ? ": %.2g ms" : ": %.0f ms",
				 windows_ns / 1e6);
	else
		hp_buffer_printf(text, ": %.2f s", windows_ns / 1e9);
	hp_buffer_printf(text, " of %.2f s in user code", time_ns / 1e9);
}

/* What windows counted, and of how much of the time. */
static void put_windows(const struct report *report, struct header *header)
{
	const struct hp_windows *windows = &report->inference->windows;
	struct hp_window_group counted = hp_window_evidence_counted(&windows->sum);
	struct hp_window_group relative = hp_window_evidence_relative(&windows->sum);
	uint64_t all = counted.windows + relative.windows;
	double windows_ns = (double)(counted.time_ns + relative.time_ns);
	_cleanup_(hp_buffer_free) struct hp_buffer share = { 0 };
	double time_ns = 0;

	if (!hp_windows_tried(report->inference))
		return;
	for (size_t i = 0; i < windows->sum.stratum_count; i++)
		time_ns += (double)windows->sum.strata[i].time_ns;
	if (all) {
		add_share(&share, windows_ns, time_ns);
		header_put(header, HEADER_REMARKS, "counted", "by %" PRIu64 " shadow window%s%s%s",
			   all, all == 1 ? "" : "s", hp_buffer_text(&share),
			   have_missed(report, header)
				   ? "; they missed some of what ran: record for longer"
				   : "");
	}
	if (all && windows->why_relative)
		header_put(header, HEADER_REMARKS, "", "no absolute executions: %s",
			   windows->why_relative);
	if (windows->is_by_time)
		header_put(
			header, HEADER_REMARKS, "", "executions are estimated from time: %s",
			windows->truncated_windows
				? "windows ended early, because the thread waited for another or "
				  "made another call that a copy cannot make"
				: "there is one window: record for longer, or with a larger share "
				  "(--shadow=PERCENT)");
	put_price(&windows->sum, all ? "" : "windows", header);
}

void header_put_counted(const struct report *report, struct header *header)
{
	put_windows(report, header);
	put_simulated(report, header);
	put_registers(report, header);
	put_probes(report, header);
	put_ranges(report, header);
}
