/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_records DB IMAGE COMMAND <SAMPLES
 *
 * Writes an epoch of cycles:u out of samples with branch records that some other recorder took on a
 * machine that has them, for scripts/branch-record-accuracy: through the code that hpcprof's own
 * records go. A line is a sample: its address, the cycles it stands for, and its branches, the last
 * one first, as FROM/TO/CYCLES. Addresses are offsets in the image's file, hexadecimal; what is
 * elsewhere is at or above 2^40.
 */
#include "../db_fixture.h"

#include "../../src/collect/evidence/outcomes.h"
#include "../../src/collect/evidence/ranges.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTSIDE (UINT64_C(1) << 40)
/* Branches from nowhere mean that there is none: the file is mapped from here on. */
#define BASE UINT64_C(0x10000)

struct replay {
	struct images *images;
	struct names commands;
	struct context context;
	struct hp_image_id *image;
	struct outcomes *outcomes;
	struct ranges *ranges;
	HP_VECTOR(uint64_t) offsets; /* of samples in the image */
	uint64_t outside;	     /* other samples */
	uint64_t cycles;
	uint64_t samples;
};

static void require(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "replay_records: %s\n", what);
	exit(1);
}

static void succeed(struct hp_error *error)
{
	require(!error, error ? error->message : NULL);
}

static void begin(struct replay *replay, const char *path, const char *command)
{
	struct hp_identity identity = { 0 };
	struct mapping mapping = { .start = BASE, .end = BASE + OUTSIDE };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	require(fd >= 0, path);
	succeed(hp_identity_of_fd(fd, &identity));
	close(fd);
	replay->images = images_create();
	require(names_create(&replay->commands), "memory");
	replay->context = (struct context){
		.space = space_create(),
		.command = names_number(&replay->commands, command),
		.pid = (uint32_t)getpid(),
	};
	replay->context.space->processes = 1;
	mapping.image = images_named(replay->images, HP_IMAGE_FILE, path, &identity);
	replay->image = &mapping.image->id;
	require(space_map(&replay->context.space, &mapping), "memory");
	succeed(outcomes_create(1, &replay->outcomes));
	succeed(ranges_create(1, &replay->ranges));
}

/* False at what is none. */
static bool take_branch(char **at, struct hp_record *record)
{
	struct hp_record_branch branch;
	int length = 0;

	if (record->sample.branch_count >= HP_RECORD_BRANCHES ||
	    sscanf(*at, " %" SCNx64 "/%" SCNx64 "/%" SCNu16 "%n", &branch.from, &branch.to,
		   &branch.cycles, &length) != 3)
		return false;
	branch.from += BASE;
	branch.to += BASE;
	record->sample.branches[record->sample.branch_count++] = branch;
	*at += length;
	return true;
}

static void take(struct replay *replay, char *line)
{
	struct hp_record record = { .kind = HP_RECORD_SAMPLE, .cpu_mode = PERF_RECORD_MISC_USER };
	uint64_t address;
	uint64_t period;
	int length = 0;

	require(sscanf(line, "%" SCNx64 " %" SCNu64 "%n", &address, &period, &length) == 2,
		"a line is no sample");
	line += length;
	while (take_branch(&line, &record))
		;
	record.sample.address = address + BASE;
	record.sample.period = period;
	outcomes_follow(replay->outcomes, &record, &replay->context);
	ranges_take(replay->ranges, &record, period, &replay->context);
	replay->samples++;
	replay->cycles += period;
	if (address < OUTSIDE)
		require(hp_vector_push(&replay->offsets, address), "memory");
	else
		replay->outside++;
}

HP_ORDER_VALUES(by_value, uint64_t);

/* All periods as one, their mean: they were chosen to be even in time. */
static void add_profile(const struct replay *replay, const struct hp_image_id *image,
			struct hp_count *counts, size_t count, struct hp_epoch_writer *writer)
{
	char event[] = "cycles:u";
	struct hp_stratum stratum = {
		.command = replay->commands.text[replay->context.command],
		.period = replay->cycles / replay->samples,
		.counts = counts,
		.count_count = count,
	};
	struct hp_profile profile = {
		.image = *image,
		.event = event,
		.strata = &stratum,
		.stratum_count = 1,
	};

	if (count)
		succeed(hp_epoch_writer_add(writer, &profile));
}

static void add_samples(struct replay *replay, struct hp_epoch_writer *writer)
{
	_cleanup_free_ struct hp_count *counts = calloc(replay->offsets.count + 1, sizeof(*counts));
	_cleanup_(hp_image_id_clear) struct hp_image_id unknown = fixture_image(0);
	struct hp_count outside = { .samples = replay->outside };
	size_t n = 0;

	require(counts, "memory");
	if (replay->offsets.count)
		qsort(replay->offsets.at, replay->offsets.count, sizeof(uint64_t), by_value);
	for (size_t i = 0; i < replay->offsets.count; i++) {
		if (!n || counts[n - 1].offset.value != replay->offsets.at[i])
			counts[n++].offset.value = replay->offsets.at[i];
		counts[n - 1].samples++;
	}
	add_profile(replay, replay->image, counts, n, writer);
	add_profile(replay, &unknown, &outside, replay->outside != 0, writer);
}

static void finish(struct replay *replay, const char *database)
{
	struct hp_epoch_meta meta = fixture_meta("cycles:u", replay->samples, true);
	struct hp_epoch_writer *writer;
	struct hp_db *db;

	meta.events[0].info.unit = HP_UNIT_CYCLES;
	meta.events[0].unattributed = replay->outside;
	meta.events[0].period_total = replay->cycles / replay->samples * replay->samples;
	succeed(hp_db_open(database, true, &db));
	succeed(hp_epoch_create(db, NULL, &writer));
	add_samples(replay, writer);
	succeed(outcomes_write(replay->outcomes, &replay->commands, writer));
	succeed(ranges_write(replay->ranges, &replay->commands, writer));
	succeed(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_db_close(db);
	hp_epoch_meta_clear(&meta);
	ranges_destroy(replay->ranges);
	outcomes_destroy(replay->outcomes);
	space_release(replay->context.space);
	names_clear(&replay->commands);
	images_destroy(replay->images);
	hp_vector_free(&replay->offsets);
}

int main(int argc, char **argv)
{
	struct replay replay = { 0 };
	char *line = NULL;
	size_t room = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: replay_records DB IMAGE COMMAND <SAMPLES\n");
		return 2;
	}
	begin(&replay, argv[2], argv[3]);
	while (getline(&line, &room, stdin) > 0)
		take(&replay, line);
	free(line);
	if (!replay.samples) {
		fprintf(stderr, "no samples\n");
		return 1;
	}
	finish(&replay, argv[1]);
	return 0;
}
