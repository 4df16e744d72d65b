/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary for people: where the samples are by kind of image, how well they could be named,
 * and who ran. */
#include "stalls/write_stalls.h"
#include "common/machine.h"
#include "common/text.h"
#include "stalls/survey.h"
#include "write.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <string.h>

static const struct {
	enum hp_image_kind kind;
	const char *name;
} kinds[] = {
	{ HP_IMAGE_FILE, "programs and libraries" },
	{ HP_IMAGE_VDSO, "vdso" },
	{ HP_IMAGE_KERNEL, "kernel" },
	{ HP_IMAGE_MODULE, "kernel modules" },
	{ HP_IMAGE_JIT, "generated code (JIT)" },
	{ HP_IMAGE_ANON, "memory without a file" },
	{ HP_IMAGE_UNKNOWN, "unknown" },
};

static const char *const ways[HP_ATTRIBUTION_COUNT] = {
	[HP_NAMED_BY_SYMBOL] = "procedures known by a symbol",
	[HP_NAMED_BY_PLT] = "PLT entries",
	[HP_NAMED_BY_EXTENT] = "procedures known only by their extent (.eh_frame)",
	[HP_NAMED_NOT] = "no procedure known",
	[HP_NAMED_REFUSED] = "image missing or changed",
};

static void put_share(const struct report *report, const struct hp_tally *tallies, const char *name,
		      FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < report->profiles->events.count; i++)
		any = any || tallies[i].samples;
	if (!any)
		return;
	for (size_t i = 0; i < report->profiles->events.count; i++)
		fprintf(out, "%10" PRIu64 " %6.2f %%  ", tallies[i].samples,
			100 * hp_profiles_share(report->profiles, i, &tallies[i]));
	fprintf(out, "%s\n", name);
}

static struct hp_error *put_kinds(const struct report *report, FILE *out)
{
	_cleanup_free_ struct hp_tally *sums =
		calloc(report->profiles->events.count + 1, sizeof(*sums));

	if (!sums)
		return hp_error_create_no_memory();
	fputs("\nWhere the samples are\n", out);
	for (size_t i = 0; i < HP_ARRAY_COUNT(kinds); i++) {
		memset(sums, 0, report->profiles->events.count * sizeof(*sums));
		for (size_t j = 0; j < report->profiles->images.count; j++) {
			const struct hp_loaded_image *image = report->profiles->images.at[j];

			for (size_t k = 0;
			     k < report->profiles->events.count && image->id.kind == kinds[i].kind;
			     k++)
				hp_tally_add(&sums[k], &image->tallies[k]);
		}
		put_share(report, sums, kinds[i].name, out);
	}
	return NULL;
}

static void put_names(const struct report *report, FILE *out)
{
	fputs("\nSamples by the source of their procedure's name\n", out);
	for (size_t i = 0; i < HP_ATTRIBUTION_COUNT; i++)
		put_share(report,
			  &report->profiles->attribution[i * report->profiles->events.count],
			  ways[i], out);
}

/* Width of a column of samples; each event has one, titled by its name if there are several. */
static int column_width(const struct report *report, size_t event)
{
	const char *name = report->profiles->events.at[event].info->name;
	int length = (int)strlen(name);

	return report->profiles->events.count > 1 && length > 10 ? length : 10;
}

static void put_commands(const struct report *report, const struct hp_loaded_epoch *epoch,
			 FILE *out)
{
	const struct hp_epoch_meta *meta = epoch->meta;
	bool are_several = report->profiles->events.count > 1;

	if (!meta->command_count)
		return;
	fprintf(out, are_several ? "\nsamples of\n" : "\n");
	for (size_t i = 0; i < report->profiles->events.count; i++)
		fprintf(out, "%*s ", column_width(report, i),
			are_several ? report->profiles->events.at[i].info->name : "samples");
	fprintf(out, "%10s %12s  %s\n", "processes", "elapsed", "command");
	for (size_t i = 0; i < meta->command_count; i++) {
		const struct hp_command_times *times = &meta->commands[i];
		_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

		text_escape(&name, times->command);
		for (size_t event = 0; event < report->profiles->events.count; event++)
			fprintf(out, "%*" PRIu64 " ", column_width(report, event),
				hp_profiles_command_samples(report->profiles, epoch, i, event));
		fprintf(out, "%10" PRIu64 " %10.3f s  %s\n", times->processes,
			(double)times->elapsed_ns / 1e9, hp_buffer_text(&name));
	}
}

static void put_cost(const struct hp_epoch_meta *meta, FILE *out)
{
	if (!meta->sample_cost_ns && !meta->own_cpu_ns)
		return;
	fputs("\nCost of the recording:", out);
	if (meta->sample_cost_ns)
		fprintf(out, " %.1f us of the target per sample;",
			(double)meta->sample_cost_ns / 1e3);
	fprintf(out, " %.3f s CPU time of hpcprof itself\n", (double)meta->own_cpu_ns / 1e9);
}

static void put_runs(const struct hp_epoch_meta *meta, FILE *out)
{
	for (size_t i = 0; i < meta->run_count; i++) {
		const struct hp_run *run = &meta->runs[i];

		fprintf(out,
			"%selapsed %.3f s, user %.3f s, system %.3f s, at most %" PRIu64
			" KiB of memory, exit status %" PRId32,
			i ? "" : "\n", (double)run->elapsed_ns / 1e9, (double)run->user_ns / 1e9,
			(double)run->system_ns / 1e9, run->max_rss_bytes / 1024, run->exit_status);
		if (run->work > 0)
			fprintf(out, ", %.10g units of work", run->work);
		putc('\n', out);
	}
}

/* Writes which images have names for their code, and which would with debugging information. */
static void put_images(const struct report *report, FILE *out)
{
	fputs("\nImages, and the origin of their names\n", out);
	for (size_t i = 0; i < report->profiles->rows.count; i++) {
		const struct hp_row *row = report->profiles->rows.at[i];
		_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

		text_escape(&text, row->image->id.path);
		hp_buffer_printf(&text, ": ");
		if (row->image->problem)
			hp_buffer_printf(&text, "not read");
		else if (row->image->origin)
			text_escape(&text, row->image->origin);
		if (row->image->has_lines)
			hp_buffer_printf(&text, ", with lines");
		put_share(report, row->tallies, hp_buffer_text(&text), out);
	}
}

struct hp_error *write_text_summary(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	struct hp_error *error = put_kinds(report, out);

	if (error)
		return error;
	error = survey_make(report, SURVEY_NO_LIST, &survey);
	if (error)
		return error;
	put_names(report, out);
	put_images(report, out);
	write_text_stack(report, &survey, out);
	for (size_t i = 0; i < report->profiles->epochs.count; i++) {
		put_commands(report, &report->profiles->epochs.at[i], out);
		put_runs(report->profiles->epochs.at[i].meta, out);
		put_cost(report->profiles->epochs.at[i].meta, out);
		machine_write_text(report->profiles->epochs.at[i].meta, out);
	}
	return NULL;
}
