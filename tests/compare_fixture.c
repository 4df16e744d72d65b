/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare_fixture.h"

#include "db_fixture.h"

#include <hpcprof/base/number.h>

#include <string.h>

enum { PROCEDURE_BYTES = 0x1000 };

static struct hp_epoch_meta meta_of(const struct recorded *recorded, const char *event,
				    uint64_t period)
{
	struct hp_epoch_meta meta;
	uint64_t samples = recorded->kernel_samples;

	for (size_t i = 0; i < MOST_PROCEDURES; i++)
		samples += recorded->samples[i];
	meta = fixture_meta(event, samples, true);
	meta.events[0].info.unit = recorded->event ? recorded->unit : HP_UNIT_NS;
	meta.events[0].period_total = samples * period;
	meta.cpu_model = strdup(recorded->cpu_model ? recorded->cpu_model : "A CPU");
	if (recorded->start_ns)
		meta.start_ns = recorded->start_ns;
	if (recorded->clock_hz > 0)
		ck_assert(hp_clock_note(&meta.clock, recorded->clock_hz));
	meta.complete = !recorded->is_interrupted;
	if (recorded->is_whole_system)
		return meta;
	meta.runs = calloc(1, sizeof(*meta.runs));
	meta.run_count = 1;
	meta.runs[0].start_ns = meta.start_ns;
	meta.runs[0].elapsed_ns = meta.runs[0].user_ns = recorded->cpu_ns ? recorded->cpu_ns
									  : samples * period;
	meta.runs[0].work = recorded->work;
	meta.runs[0].reference_begin_ns = meta.runs[0].reference_end_ns = recorded->reference_ns;
	if (recorded->start_ns)
		meta.end_ns = meta.start_ns + meta.runs[0].elapsed_ns;
	return meta;
}

static void add_profile(struct hp_epoch_writer *writer, const struct recorded *recorded,
			const struct hp_image_id *image, const char *event, uint64_t period)
{
	struct hp_count counts[MOST_PROCEDURES];
	char no_command[] = "";
	struct hp_stratum stratum = { .command = no_command, .period = period, .counts = counts };
	_cleanup_free_ char *name = strdup(event);
	const struct hp_profile profile = {
		.image = *image,
		.event = name,
		.strata = &stratum,
		.stratum_count = 1,
	};

	for (size_t i = 0; i < MOST_PROCEDURES; i++)
		if (recorded->samples[i])
			counts[stratum.count_count++] =
				(struct hp_count){ { i * PROCEDURE_BYTES + 0x10 },
						   recorded->samples[i] };
	if (stratum.count_count)
		hp_assert_ok(hp_epoch_writer_add(writer, &profile));
}

static void add_kernel(struct hp_epoch_writer *writer, const struct recorded *recorded,
		       const char *event, uint64_t period)
{
	char path[] = "[kernel]";
	char no_command[] = "";
	const struct hp_image_id kernel = { .kind = HP_IMAGE_KERNEL, .path = path };
	struct hp_count count = { { 0x10 }, recorded->kernel_samples };
	struct hp_stratum stratum = {
		.command = no_command, .period = period, .counts = &count, .count_count = 1
	};
	_cleanup_free_ char *name = strdup(event);
	const struct hp_profile profile = {
		.image = kernel,
		.event = name,
		.strata = &stratum,
		.stratum_count = 1,
	};
	size_t index;

	hp_assert_ok(hp_epoch_writer_image(writer, &kernel, &index));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
}

static void add_names(struct hp_epoch_writer *writer, const struct recorded *recorded, size_t image)
{
	struct hp_symbol symbols[MOST_PROCEDURES];
	size_t count = 0;

	for (size_t i = 0; i < MOST_PROCEDURES && recorded->names[i]; i++)
		symbols[count++] = (struct hp_symbol){
			{ i * PROCEDURE_BYTES }, PROCEDURE_BYTES, strdup(recorded->names[i]), NULL
		};
	hp_assert_ok(hp_epoch_writer_symbols(writer, image, symbols, count));
	for (size_t i = 0; i < count; i++)
		free(symbols[i].name);
}

static void add_path(struct hp_paths *paths, const struct recorded *recorded, uint32_t series,
		     uint32_t image, const struct recorded_path *path)
{
	struct hp_path_frame frames[MOST_FRAMES];
	size_t count = 0;

	for (; count < MOST_FRAMES && path->frames[count]; count++) {
		struct hp_path_frame *frame = &frames[count];
		size_t at = 0;

		*frame = (struct hp_path_frame){ 0, HP_PATH_NO_IMAGE, HP_PATH_TRUNCATED };
		if (strcmp(path->frames[count], "?") == 0)
			continue;
		while (strcmp(recorded->names[at], path->frames[count]) != 0)
			at++;
		/* Calls lie behind the sampled place. */
		*frame = (struct hp_path_frame){ at * PROCEDURE_BYTES + (count ? 0x20 : 0x10),
						 image, count ? 0 : HP_PATH_EXACT };
	}
	hp_assert_ok(hp_paths_add(paths, series, frames, count, path->samples));
}

static void add_paths(struct hp_epoch_writer *writer, const struct recorded *recorded,
		      const struct hp_image_id *id, const char *event, uint64_t period)
{
	_cleanup_free_ char *name = strdup(event);
	char no_command[] = "";
	const struct hp_path_series series = { .event = name,
					       .command = no_command,
					       .period = period };
	struct hp_paths paths = { 0 };
	uint32_t number;
	uint32_t image;

	if (!recorded->paths[0].samples)
		return;
	hp_assert_ok(hp_paths_series(&paths, &series, &number));
	hp_assert_ok(hp_paths_image(&paths, id, &image));
	for (size_t i = 0; i < HP_ARRAY_COUNT(recorded->paths); i++)
		if (recorded->paths[i].samples)
			add_path(&paths, recorded, number, image, &recorded->paths[i]);
	hp_assert_ok(hp_epoch_writer_paths(writer, &paths));
	hp_paths_clear(&paths);
}

char *compare_record(struct hp_db *db, const struct recorded *recorded)
{
	const char *event = recorded->event ? recorded->event : "cpu-clock:u";
	uint64_t period = recorded->period ? recorded->period : 1000000;
	char generated[] = "[jit program]";
	_cleanup_free_ char *path = strdup(recorded->path ? recorded->path : "/nowhere/program");
	const struct hp_image_id jit = { .kind = HP_IMAGE_JIT, .path = generated };
	const struct hp_image_id file = {
		.kind = HP_IMAGE_FILE,
		.identity = { HP_IDENTITY_BUILD_ID, 1, { recorded->build } },
		.path = path,
	};
	const struct hp_image_id image = recorded->build ? file : jit;
	struct hp_epoch_meta meta = meta_of(recorded, event, period);
	struct hp_epoch_writer *writer;
	size_t index;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, recorded->label, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &image, &index));
	add_names(writer, recorded, index);
	add_profile(writer, recorded, &image, event, period);
	add_paths(writer, recorded, &image, event, period);
	if (recorded->kernel_samples)
		add_kernel(writer, recorded, event, period);
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

void compare_add(struct compare_sides *sides, enum hp_side side, const struct recorded *recorded)
{
	struct recorded timed = *recorded;

	sides->next_start_ns += 1000000000;
	if (!timed.start_ns)
		timed.start_ns = sides->next_start_ns;
	sides->stamps[side][sides->counts[side]++] = compare_record(sides->db, &timed);
}

struct hp_error *compare_try(const struct compare_sides *sides, struct hp_comparison **comparison)
{
	const struct hp_compare_epochs epochs[HP_SIDES] = {
		{ sides->db, sides->stamps[HP_BASE], sides->counts[HP_BASE], 0 },
		{ sides->db, sides->stamps[HP_CANDIDATE], sides->counts[HP_CANDIDATE], 0 },
	};

	return hp_compare(epochs, &sides->options, comparison);
}

static void destroy_comparison(void *comparison)
{
	hp_comparison_destroy(comparison);
}

struct hp_comparison *comparison_kept(struct hp_comparison *comparison)
{
	at_end(destroy_comparison, comparison);
	return comparison;
}

struct hp_comparison *compare_all(const struct compare_sides *sides)
{
	struct hp_comparison *comparison = NULL;

	hp_assert_ok(compare_try(sides, &comparison));
	return comparison_kept(comparison);
}

const struct hp_compared *compare_find(const struct hp_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->program->part_count; i++) {
		const struct hp_compared *image = comparison->program->parts[i];

		for (size_t j = 0; j < image->part_count; j++)
			if (strcmp(image->parts[j]->name, name) == 0)
				return image->parts[j];
	}
	ck_abort_msg("nothing is said of %s", name);
	return NULL;
}
