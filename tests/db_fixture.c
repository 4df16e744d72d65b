/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db_fixture.h"

#include "../src/db/codec.h"

#include <hpcprof/base/cleanup.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- directories and files ---------------------------------------------------------------- */

enum { PATH_ROOM = 4096 };

static char *next_path(void)
{
	static char paths[8][PATH_ROOM];
	static unsigned next;

	return paths[next++ % HP_ARRAY_COUNT(paths)];
}

const char *fixture_path(const char *directory, const char *name)
{
	char *path = next_path();

	snprintf(path, PATH_ROOM, "%s/%s", directory, name);
	return path;
}

const char *fixture_file(const char *directory, const char *stamp, const char *name)
{
	char *path = next_path();

	snprintf(path, PATH_ROOM, "%s/db/%s/%s", directory, stamp, name);
	return path;
}

static void close_db(void *db)
{
	hp_db_close(db);
}

struct hp_db *fixture_db(const char *directory)
{
	struct hp_db *db = NULL;

	hp_assert_ok(hp_db_open(fixture_path(directory, "db"), true, &db));
	at_end(close_db, db);
	return db;
}

uint8_t *fixture_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *bytes;

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	ck_assert_int_eq(read(fd, bytes, *size), status.st_size);
	close(fd);
	return bytes;
}

void fixture_write(const char *path, const void *bytes, size_t size)
{
	/* Not O_TRUNC: some file systems wait for the disk after it, which thousands of damaged
	 * copies would feel. */
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(close(fd), 0);
}

bool fixture_exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static int compare_fixture_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

struct fixture_names fixture_names(const char *directory)
{
	DIR *stream = opendir(directory);
	struct fixture_names names = { .count = 0 };
	const struct dirent *entry;

	ck_assert_ptr_nonnull(stream);
	while ((entry = readdir(stream))) {
		if (entry->d_name[0] != '.')
			snprintf(names.at[names.count++], sizeof(names.at[0]), "%s", entry->d_name);
	}
	closedir(stream);
	qsort(names.at, names.count, sizeof(names.at[0]), compare_fixture_names);
	return names;
}

/* --- data --------------------------------------------------------------------------------- */

struct hp_image_id fixture_image(unsigned number)
{
	struct hp_image_id image = { .kind = HP_IMAGE_FILE };

	if (number == 0) {
		image.kind = HP_IMAGE_UNKNOWN;
		image.path = strdup("[unknown]");
		return image;
	}
	image.identity.kind = HP_IDENTITY_BUILD_ID;
	image.identity.size = 20;
	for (unsigned i = 0; i < 20; i++)
		image.identity.bytes[i] = (uint8_t)(number * 41 + i * 7);
	ck_assert(asprintf(&image.path, "/usr/lib/x86_64-linux-gnu/libsample.so.%u", number) > 0);
	return image;
}

struct hp_profile fixture_profile(struct hp_random *random, unsigned image, const char *event)
{
	static const char *const commands[] = { "", "cc1", "sh", "\xff\033[m", "größe" };
	struct hp_profile profile = { .image = fixture_image(image), .event = strdup(event) };
	uint64_t strata = hp_random_between(random, 1, 4);

	for (uint64_t i = 0; i < strata; i++) {
		struct hp_count counts[64];
		uint64_t offset = hp_random_between(random, 0, 1)
				  << hp_random_between(random, 0, 62);
		struct hp_stratum stratum = {
			.command = strdup(commands[hp_random_between(random, 0, 4)]),
			.pid = (uint32_t)hp_random_between(random, 0, 1) * 4194304,
			.period = hp_random_between(random, 1, 3) * 999983,
			.counts = counts,
			.count_count = hp_random_between(random, 1, HP_ARRAY_COUNT(counts)),
		};
		struct hp_profile one = { .strata = &stratum, .stratum_count = 1 };

		for (size_t j = 0; j < stratum.count_count; j++) {
			counts[j].offset.value = offset;
			counts[j].samples = 1 + (hp_random_next(random) &
						 ((1ull << hp_random_between(random, 0, 20)) - 1));
			offset += 1 + (hp_random_next(random) &
				       ((1ull << hp_random_between(random, 0, 40)) - 1));
		}
		hp_assert_ok(hp_profile_add(&profile, &one));
		free(stratum.command);
	}
	return profile;
}

struct hp_profile fixture_flat_profile(unsigned image, const char *event, uint64_t period,
				       size_t count)
{
	struct hp_profile profile = { .image = fixture_image(image),
				      .event = strdup(event),
				      .strata = calloc(1, sizeof(struct hp_stratum)),
				      .stratum_count = 1 };

	profile.strata[0].command = strdup("xz");
	profile.strata[0].period = period;
	profile.strata[0].counts = calloc(count, sizeof(struct hp_count));
	profile.strata[0].count_count = count;
	for (size_t i = 0; i < count; i++) {
		profile.strata[0].counts[i].offset.value = 0x1000 + 4 * i;
		profile.strata[0].counts[i].samples = 1;
	}
	return profile;
}

struct hp_epoch_meta fixture_meta(const char *event, uint64_t samples, bool complete)
{
	struct hp_epoch_meta meta = {
		.complete = complete,
		.version = strdup("0.1.0"),
		.host = strdup("host"),
		.target = strdup("command"),
		.start_ns = 1763650000000000000,
		.end_ns = 1763650060000000000,
		.events = calloc(1, sizeof(struct hp_event_totals)),
		.event_count = 1,
	};

	meta.events[0].info.name = strdup(event);
	meta.events[0].info.unit = HP_UNIT_NS;
	meta.events[0].frequency_hz = 1000;
	meta.events[0].samples = samples;
	meta.events[0].period_total = samples * 1000000;
	return meta;
}

void fixture_count(struct hp_event_totals *event, const struct hp_profile *profile)
{
	uint64_t samples = hp_profile_samples(profile);

	event->samples += samples;
	event->unattributed += profile->image.kind == HP_IMAGE_UNKNOWN ? samples : 0;
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];

		for (size_t j = 0; j < stratum->count_count; j++)
			event->period_total += stratum->counts[j].samples * stratum->period;
	}
}

char *fixture_commit(struct hp_epoch_writer *writer, const struct hp_epoch_meta *meta)
{
	char *stamp;

	hp_assert_ok(hp_epoch_writer_commit(writer, meta));
	stamp = kept(strdup(hp_epoch_writer_stamp(writer)));
	hp_epoch_writer_destroy(writer);
	return stamp;
}

char *fixture_merge(struct hp_db *db, char *const *stamps, size_t count, const char *label)
{
	char *sum;

	hp_assert_ok(hp_db_merge(db, stamps, count, label, &sum));
	return kept(sum);
}

char *fixture_epoch(struct hp_db *db, const char *label, uint64_t samples)
{
	struct hp_profile profile = fixture_flat_profile(1, "cpu-clock:u", 1000000, samples);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", samples, true);
	struct hp_epoch_writer *writer;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, label, &writer));
	if (samples)
		hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	stamp = fixture_commit(writer, &meta);
	hp_profile_clear(&profile);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static const struct hp_counted evidence_items[] = {
	{ .kind = HP_COUNTED_BLOCK,
	  .at = { 0x1000 },
	  .bytes = 12,
	  .instructions = 4,
	  .counts = { 100, 0, 300 } },
	{ .kind = HP_COUNTED_TAKEN, .at = { 0x1009 }, .to = { 0x1000 }, .counts = { 90, 0, 280 } },
	{ .kind = HP_COUNTED_CALL,
	  .at = { 0x1020 },
	  .to_image = 1,
	  .to = { 0x2000 },
	  .counts = { [15] = 7 } },
	{ .kind = HP_COUNTED_BLOCK,
	  .is_relative = true,
	  .image = 1,
	  .at = { 0x2000 },
	  .bytes = 5,
	  .instructions = 1,
	  .counts = { [3] = UINT64_C(1) << 40 } },
};
static const struct hp_counted evidence_outcomes[] = {
	{ .kind = HP_COUNTED_TAKEN,
	  .is_relative = true,
	  .at = { 0x1009 },
	  .to = { 0x1000 },
	  .counts = { 12, [9] = 3 } },
	{ .kind = HP_COUNTED_INDIRECT_CALL,
	  .is_relative = true,
	  .image = 1,
	  .at = { 0x2004 },
	  .to = { 0x1000 },
	  .counts = { [15] = 1 } },
};
static const struct hp_counted evidence_probes[] = {
	{ .kind = HP_COUNTED_PROBE, .at = { 0x1000 }, .to = { 0x1000 }, .counts = { 7 } },
	{ .kind = HP_COUNTED_PROBE_TIME,
	  .at = { 0x1000 },
	  .to = { 0x1000 },
	  .counts = { 20000000, 0, 19000000 } },
};
static const struct hp_counted evidence_ticks[] = {
	{ .kind = HP_COUNTED_TICK,
	  .at = { 0x1004 },
	  .to = { 0x1004 },
	  .counts = { 80, 0, 90, [15] = 40 } },
};
static const struct hp_counted evidence_ranges[] = {
	{ .kind = HP_COUNTED_RANGE,
	  .is_relative = true,
	  .at = { 0x1000 },
	  .to = { 0x1009 },
	  .counts = { [2] = 31 } },
	{ .kind = HP_COUNTED_RANGE_TIME,
	  .is_relative = true,
	  .at = { 0x1000 },
	  .to = { 0x1000 },
	  .counts = { [2] = 1000000 } },
};
static const struct hp_counted evidence_events[] = {
	{ .kind = HP_COUNTED_BLOCK,
	  .at = { 0x1000 },
	  .bytes = 12,
	  .instructions = 3,
	  .counts = { [4] = 50 } },
	{ .kind = HP_COUNTED_BLOCK_CYCLES,
	  .at = { 0x1000 },
	  .to = { 0x1000 },
	  .counts = { [HP_LANE_AS_IS] = 4100, [HP_LANES - 1] = UINT32_MAX } },
	{ .kind = HP_COUNTED_RESIZED_CYCLES,
	  .at = { 0x1000 },
	  .to = { 0x80213 },
	  .counts = { [HP_LANE_AS_IS] = 2100 } },
	{ .kind = HP_COUNTED_EVENT + HP_EVENT_L1_MISS,
	  .at = { 0x1004 },
	  .to = { 0x1004 },
	  .counts = { [4] = 7 } },
	{ .kind = HP_COUNTED_EVENT + HP_EVENT_KINDS - 1,
	  .at = { 0x1004 },
	  .to = { 0x1004 },
	  .counts = { [4] = 49, [60] = 1 } },
	{ .kind = HP_COUNTED_CYCLES,
	  .at = { 0x1004 },
	  .to = { 0x1004 },
	  .counts = { [HP_LANE_AS_IS] = 4000, [HP_LANE_NO_DCACHE] = 40 } },
};

static void *copy_of(const void *items, size_t bytes)
{
	return memcpy(malloc(bytes), items, bytes);
}
#define COPY_OF(array) copy_of(array, sizeof(array))

struct hp_window_evidence fixture_evidence(uint64_t recording)
{
	struct hp_window_evidence evidence = {
		.images = calloc(2, sizeof(*evidence.images)),
		.image_count = 2,
		.strata = calloc(1, sizeof(*evidence.strata)),
		.stratum_count = 1,
		.price = { .shadows = 4,
			   .lost_ns = 1500000,
			   .target_ns = 3000000000,
			   .replay_ns = 700000000,
			   .beside_ns = 30000000,
			   .budget_ppm = 10000 },
		.samples = 120,
		.matched = 118,
	};
	struct hp_window_stratum *stratum = evidence.strata;

	evidence.images[0] = fixture_image(1);
	evidence.images[1] = fixture_image(2);
	*stratum = (struct hp_window_stratum){
		.recording = recording,
		.command = strdup("cat"),
		.time_ns = 3000000000,
		.groups = { { 1, 100000000 }, { 0, 0 }, { 1, 99000000 }, [15] = { 1, 50000000 } },
		.relative = { [3] = { 1, 20000000 } },
		.items = COPY_OF(evidence_items),
		.item_count = HP_ARRAY_COUNT(evidence_items),
		.outcomes = COPY_OF(evidence_outcomes),
		.outcome_count = HP_ARRAY_COUNT(evidence_outcomes),
		.followed = 40,
		.probes = COPY_OF(evidence_probes),
		.probe_count = HP_ARRAY_COUNT(evidence_probes),
		.ticks = COPY_OF(evidence_ticks),
		.tick_count = HP_ARRAY_COUNT(evidence_ticks),
		.ranges = COPY_OF(evidence_ranges),
		.range_count = HP_ARRAY_COUNT(evidence_ranges),
		.record_cycles = { [2] = 1000000, [15] = 3 },
		.events = COPY_OF(evidence_events),
		.event_count = HP_ARRAY_COUNT(evidence_events),
		.latencies = { 14, 50, 350, 1 },
	};
	hp_assert_ok(hp_window_evidence_add_reason(&evidence, false, "complete", 3));
	hp_assert_ok(hp_window_evidence_add_reason(&evidence, false, "system call", 1));
	hp_assert_ok(hp_window_evidence_add_reason(&evidence, true, "budget", 2));
	hp_assert_ok(hp_window_evidence_check(&evidence));
	return evidence;
}

struct hp_body fixture_body(uint32_t number)
{
	struct hp_body body = { .instructions = 1000 * number };

	for (uint32_t i = 1; i <= number && i <= HP_BODY_MOST_HASHES; i++) {
		hp_hashes_add(&body.exact, i * i * 0x01234567u);
		hp_hashes_add(&body.shape, UINT32_MAX - i * number);
	}
	return body;
}

static void add_excerpted(struct hp_excerpt *excerpt, const char *name, uint64_t address)
{
	static const uint8_t code[] = { 0x55, 0x90, 0x90, 0xc3 };
	struct hp_excerpt_place place = { .function = hp_excerpt_word(excerpt, name),
					  .file = hp_excerpt_word(excerpt, "/src/file.c"),
					  .line = 7,
					  .outer = HP_EXCERPT_NONE };
	struct hp_excerpt_line line = { address, 2, hp_excerpt_place(excerpt, &place) };
	struct hp_excerpt_range range = { address, sizeof(code), malloc(sizeof(code)) };
	struct hp_excerpt_part part = { .address = address,
					.size = 32,
					.owner = address,
					.linkage = strdup(name),
					.source = HP_EXCERPT_SYMBOL };

	memcpy(range.bytes, code, sizeof(code));
	ck_assert(hp_vector_push(&excerpt->parts, part));
	ck_assert(hp_vector_push(&excerpt->lines, line));
	place = (struct hp_excerpt_place){ HP_EXCERPT_NONE, place.file, 9, line.place };
	line = (struct hp_excerpt_line){ address + 2, 2, hp_excerpt_place(excerpt, &place) };
	ck_assert(hp_vector_push(&excerpt->lines, line));
	ck_assert(hp_vector_push(&excerpt->ranges, range));
	ck_assert(hp_vector_push(&excerpt->landings,
				 (struct hp_excerpt_landing){ address, address + 2, address + 3 }));
	ck_assert(hp_vector_push(&excerpt->pointers,
				 (struct hp_excerpt_pointer){ 0x3000 + address, address + 1 }));
	ck_assert(hp_vector_push(&excerpt->imports,
				 (struct hp_excerpt_import){ 0x4000 + address, strdup("abort") }));
}

struct hp_excerpt fixture_excerpt(unsigned number)
{
	struct hp_excerpt excerpt = { .machine = 62, .origin = strdup("symbol table") };

	excerpt.compilers = (uint8_t *)strdup("a compiler");
	excerpt.compilers_size = strlen("a compiler");
	ck_assert(hp_vector_push(&excerpt.segments,
				 (struct hp_excerpt_segment){ 0x1000, 0, 0x1000, true, false }));
	ck_assert(hp_vector_push(&excerpt.texts, (struct hp_excerpt_text){ 0x1000, 0x1800 }));
	if (number != 1)
		add_excerpted(&excerpt, "first", 0x1100);
	if (number)
		add_excerpted(&excerpt, "second", 0x1200);
	hp_assert_ok(hp_excerpt_finish(&excerpt));
	hp_assert_ok(hp_excerpt_check(&excerpt));
	return excerpt;
}

struct hp_paths fixture_paths(const char *command)
{
	struct hp_paths paths = { 0 };
	struct hp_path_series series = { .event = strdup("cpu-clock:u"),
					 .command = strdup(command),
					 .period = 1000000 };
	struct hp_path_frame frames[3] = { { .offset = 0x1180 },
					   { .offset = 0x1140 },
					   { .image = HP_PATH_NO_IMAGE,
					     .flags = HP_PATH_TRUNCATED } };
	uint32_t number;

	for (unsigned i = 0; i < 2; i++) {
		struct hp_image_id image = fixture_image(i + 1);

		hp_assert_ok(hp_paths_image(&paths, &image, &frames[i].image));
		hp_image_id_clear(&image);
	}
	hp_assert_ok(hp_paths_series(&paths, &series, &number));
	hp_assert_ok(hp_paths_add(&paths, number, frames, 3, 5));
	hp_assert_ok(hp_paths_add(&paths, number, frames, 2, 300));
	frames[0].offset -= 7;
	hp_assert_ok(hp_paths_add(&paths, number, frames, 2, 2));
	paths.nodes.at[1].folded = 4;
	free(series.event);
	free(series.command);
	hp_assert_ok(hp_paths_check(&paths));
	return paths;
}

char *fixture_rich_epoch(struct hp_db *db)
{
	struct hp_excerpt excerpt = fixture_excerpt(2);
	struct hp_window_evidence evidence = fixture_evidence(77);
	struct hp_paths paths = fixture_paths("ls");
	char memcpy_name[] = "memcpy";
	char time_name[] = "__vdso_time";
	struct hp_body body = fixture_body(7);
	struct hp_symbol symbols[] = { { { 0 }, 64, memcpy_name, NULL },
				       { { 80 }, 16, time_name, &body } };
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);
	struct hp_random random = hp_random_seeded(7);
	struct hp_epoch_writer *writer;
	struct hp_image_id image = fixture_image(1);
	uint8_t bytes[200];
	size_t index;
	char *stamp;

	meta.events = reallocarray(meta.events, 2, sizeof(*meta.events));
	meta.events[1] = (struct hp_event_totals){ .info = { .name = strdup("faults") } };
	meta.event_count = 2;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)hp_random_next(&random);
	hp_assert_ok(hp_epoch_create(db, "rich", &writer));
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 2; j++) {
			struct hp_profile profile =
				fixture_profile(&random, i, meta.events[j].info.name);

			hp_assert_ok(hp_epoch_writer_add(writer, &profile));
			fixture_count(&meta.events[j], &profile);
			hp_profile_clear(&profile);
		}
	}
	hp_assert_ok(hp_epoch_writer_image(writer, &image, &index));
	hp_assert_ok(hp_epoch_writer_symbols(writer, index, symbols, 2));
	hp_assert_ok(hp_epoch_writer_excerpt(writer, index, &excerpt));
	hp_excerpt_clear(&excerpt);
	hp_assert_ok(hp_epoch_writer_bytes(writer, index, bytes, sizeof(bytes)));
	hp_assert_ok(hp_epoch_writer_evidence(writer, &evidence));
	hp_window_evidence_clear(&evidence);
	hp_assert_ok(hp_epoch_writer_paths(writer, &paths));
	hp_paths_clear(&paths);
	stamp = fixture_commit(writer, &meta);
	hp_image_id_clear(&image);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

void fixture_forget_sums(const char *epoch)
{
	struct hp_epoch_meta meta;
	_cleanup_(hp_index_clear) struct hp_index index;
	struct hp_writer file;
	uint8_t *bytes;
	size_t size;

	bytes = fixture_read(fixture_path(epoch, "meta"), &size);
	hp_assert_ok(hp_meta_decode(bytes, size, &meta, NULL, NULL));
	hp_assert_ok(hp_meta_encode(&meta, NULL, &file));
	fixture_write(fixture_path(epoch, "meta"), file.bytes, file.size);
	hp_writer_free(&file);
	hp_epoch_meta_clear(&meta);
	bytes = fixture_read(fixture_path(epoch, "images"), &size);
	hp_assert_ok(hp_index_decode(bytes, size, &index, NULL));
	index.meta.are_known = false;
	hp_assert_ok(hp_index_encode(&index, &file));
	fixture_write(fixture_path(epoch, "images"), file.bytes, file.size);
	hp_writer_free(&file);
}

/* --- verify ------------------------------------------------------------------------------- */

struct first_problem {
	char *text;
	size_t room;
};

static void keep_first(enum hp_verify_finding finding, const char *problem, void *context)
{
	struct first_problem *first = context;

	if (finding == HP_VERIFY_PROBLEM && first->text && !first->text[0])
		snprintf(first->text, first->room, "%s", problem);
}

size_t fixture_verify(struct hp_db *db, char *first, size_t room)
{
	struct first_problem found = { first, room };
	struct hp_epoch_summary *epochs;
	size_t problems = 0;
	size_t count;

	if (first)
		first[0] = 0;
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	for (size_t i = 0; i < count; i++) {
		struct hp_verifying verifying = { .each = keep_first, .context = &found };

		hp_assert_ok(hp_db_verify(db, &epochs[i].stamp, 1, &verifying));
		problems += verifying.counts[HP_VERIFY_PROBLEM];
	}
	hp_db_free_list(epochs, count);
	return problems;
}

size_t fixture_epoch_count(struct hp_db *db)
{
	struct hp_epoch_summary *epochs;
	size_t count;

	hp_assert_ok(hp_db_list(db, &epochs, &count));
	hp_db_free_list(epochs, count);
	return count;
}
