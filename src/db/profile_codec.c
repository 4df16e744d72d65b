/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"

#include <hpcprof/base/vector.h>

#include <inttypes.h>
#include <stdlib.h>

static const char *const profile_tags[] = { "key ", "hist", NULL };
const struct hp_container_kind hp_profile_kind = {
	.letter = 'P',
	.noun = "profile",
	.tags = profile_tags,
	.most_times = 256,
};

/* --- encoding ----------------------------------------------------------------------------- */

static const char *stratum_fault(const struct hp_stratum *stratum)
{
	if (!stratum->command)
		return "a stratum without a command";
	if (!stratum->period)
		return "a stratum with period 0";
	for (size_t i = 0; i < stratum->count_count; i++) {
		if (!stratum->counts[i].samples)
			return "an offset without samples";
		if (i && stratum->counts[i].offset.value <= stratum->counts[i - 1].offset.value)
			return "offsets out of order";
	}
	return NULL;
}

struct hp_error *hp_profile_check(const struct hp_profile *profile)
{
	struct hp_error *error = hp_image_check(&profile->image);

	if (error)
		return error;
	if (!profile->event || !*profile->event)
		return hp_error_create(HP_ERROR_USAGE, "a profile without an event");
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const char *fault = stratum_fault(&profile->strata[i]);

		if (!fault && i &&
		    hp_stratum_compare(&profile->strata[i - 1], &profile->strata[i]) >= 0)
			fault = "strata out of order";
		if (fault)
			return hp_error_create(HP_ERROR_USAGE, "%s", fault);
	}
	return NULL;
}

/*
 * Offsets first, then counts: like next to like, which is what zstd sees best. Gaps and counts are
 * never 0, so one less is written, and no two byte strings mean the same histogram.
 */
static void encode_stratum(const struct hp_stratum *stratum, struct hp_writer *writer)
{
	uint64_t next = 0;

	hp_write_string(writer, stratum->command);
	hp_write_varint(writer, stratum->pid);
	hp_write_varint(writer, stratum->period);
	hp_write_varint(writer, stratum->count_count);
	for (size_t i = 0; i < stratum->count_count; i++) {
		hp_write_varint(writer, stratum->counts[i].offset.value - next);
		next = stratum->counts[i].offset.value + 1;
	}
	for (size_t i = 0; i < stratum->count_count; i++)
		hp_write_varint(writer, stratum->counts[i].samples - 1);
}

struct hp_error *hp_profile_encode(const struct hp_profile *profile, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_profile_kind };
	struct hp_writer key = { 0 };
	struct hp_writer histograms = { 0 };
	struct hp_error *error = hp_profile_check(profile);
	size_t strata = 0;

	if (error)
		return error;
	hp_image_encode(&profile->image, 0, &key);
	hp_write_string(&key, profile->event);
	for (size_t i = 0; i < profile->stratum_count; i++)
		strata += profile->strata[i].count_count > 0;
	hp_write_varint(&histograms, strata);
	for (size_t i = 0; i < profile->stratum_count; i++) {
		if (profile->strata[i].count_count)
			encode_stratum(&profile->strata[i], &histograms);
	}
	builder.failed = key.failed || histograms.failed;
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
	hp_container_add(&builder, "hist", HP_SECTION_REQUIRED, histograms.bytes, histograms.size);
	hp_writer_free(&key);
	hp_writer_free(&histograms);
	return hp_container_finish(&builder, file);
}

/* --- decoding ----------------------------------------------------------------------------- */

/* No command, and one byte for each number; a gap and a count. */
enum { LEAST_STRATUM_BYTES = 6, LEAST_COUNT_BYTES = 2 };

struct decoding {
	const struct hp_section *section;
	struct hp_reader reader;
	uint64_t samples; /* so far: their sum must fit */
	uint64_t weight;  /* samples times period, likewise */
};

static struct hp_error *decode_offsets(struct decoding *in, struct hp_stratum *stratum)
{
	uint64_t next = 0;
	bool wrapped = false;

	for (size_t i = 0; i < stratum->count_count; i++) {
		uint64_t gap;

		if (!hp_read_varint(&in->reader, &gap))
			return hp_section_damaged(in->section, &in->reader, "not an offset");
		if (wrapped || __builtin_add_overflow(next, gap, &next))
			return hp_section_damaged(in->section, &in->reader,
						  "offsets run past 64 bits");
		stratum->counts[i].offset.value = next;
		wrapped = __builtin_add_overflow(next, 1, &next);
	}
	return NULL;
}

static struct hp_error *decode_samples(struct decoding *in, struct hp_stratum *stratum)
{
	uint64_t total = 0;

	for (size_t i = 0; i < stratum->count_count; i++) {
		uint64_t less_one;

		if (!hp_read_varint(&in->reader, &less_one))
			return hp_section_damaged(in->section, &in->reader, "not a count");
		if (less_one == UINT64_MAX || __builtin_add_overflow(total, less_one + 1, &total))
			return hp_section_damaged(in->section, &in->reader,
						  "samples run past 64 bits");
		stratum->counts[i].samples = less_one + 1;
	}
	if (__builtin_add_overflow(in->samples, total, &in->samples) ||
	    __builtin_mul_overflow(total, stratum->period, &total) ||
	    __builtin_add_overflow(in->weight, total, &in->weight))
		return hp_section_damaged(in->section, &in->reader, "samples run past 64 bits");
	return NULL;
}

static struct hp_error *decode_stratum(struct decoding *in, struct hp_stratum *stratum)
{
	struct hp_reader *reader = &in->reader;
	struct hp_error *error;
	uint64_t pid = 0;
	uint64_t count = 0;

	if (!hp_read_string(reader, &stratum->command) || !hp_read_varint(reader, &pid) ||
	    !hp_read_varint(reader, &stratum->period) || !hp_read_varint(reader, &count))
		return hp_section_damaged(in->section, reader, "ends inside a stratum");
	if (pid > UINT32_MAX || !stratum->period)
		return hp_section_damaged(in->section, reader,
					  "a stratum with pid %" PRIu64 " and period %" PRIu64, pid,
					  stratum->period);
	stratum->pid = (uint32_t)pid;
	if (!count)
		return hp_section_damaged(in->section, reader, "a histogram of no offsets");
	/* A wild number asks for no wild memory. */
	if (count > hp_reader_left(reader) / LEAST_COUNT_BYTES)
		return hp_section_overflows(in->section, reader, count, "offsets",
					    hp_reader_left(reader) / LEAST_COUNT_BYTES);
	stratum->counts = calloc((size_t)count, sizeof(*stratum->counts));
	if (!stratum->counts)
		return hp_error_create_no_memory();
	stratum->count_count = (size_t)count;
	error = decode_offsets(in, stratum);
	return error ? error : decode_samples(in, stratum);
}

static struct hp_error *decode_key(const struct hp_container *file, struct hp_profile *profile)
{
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error = hp_container_section(file, "key ", &section, &reader);
	uint8_t flags = 0;

	if (error)
		return error;
	error = hp_image_decode(section, &reader, &profile->image, &flags);
	if (error)
		return error;
	if (flags)
		return hp_section_damaged(section, &reader, "flags in a profile's key");
	if (!hp_read_string(&reader, &profile->event) || !*profile->event)
		return hp_section_damaged(section, &reader, "not an event's name");
	return hp_section_check_end(section, &reader);
}

static struct hp_error *decode_histograms(const struct hp_container *file,
					  struct hp_profile *profile)
{
	struct decoding in = { 0 };
	struct hp_error *error = hp_container_section(file, "hist", &in.section, &in.reader);
	uint64_t count = 0;

	if (error)
		return error;
	if (!hp_read_varint(&in.reader, &count))
		return hp_section_damaged(in.section, &in.reader, "not a number of strata");
	if (count > hp_reader_left(&in.reader) / LEAST_STRATUM_BYTES)
		return hp_section_overflows(in.section, &in.reader, count, "strata",
					    hp_reader_left(&in.reader) / LEAST_STRATUM_BYTES);
	profile->strata = calloc(count ? (size_t)count : 1, sizeof(*profile->strata));
	if (!profile->strata)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		profile->stratum_count++;
		error = decode_stratum(&in, &profile->strata[i]);
		if (error)
			return error;
		if (i && hp_stratum_compare(&profile->strata[i - 1], &profile->strata[i]) >= 0)
			return hp_section_damaged(in.section, &in.reader, "strata out of order");
	}
	return hp_section_check_end(in.section, &in.reader);
}

struct hp_error *hp_profile_decode(uint8_t *bytes, size_t size, struct hp_profile *profile,
				   bool *has_unknown)
{
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_profile_kind, &file);

	*profile = (struct hp_profile){ 0 };
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = decode_key(&file, profile);
	if (!error)
		error = decode_histograms(&file, profile);
	if (error)
		hp_profile_clear(profile);
	hp_container_clear(&file);
	return error;
}
