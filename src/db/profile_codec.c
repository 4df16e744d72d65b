/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec.h"

#include <hpcprof/base/vector.h>

#include <inttypes.h>
#include <stdlib.h>

#define SHARES_TAG "apar"

static const char *const profile_tags[] = { "key ", "hist", SHARES_TAG, NULL };
static const char *const expendable_tags[] = { SHARES_TAG, NULL };
const struct hp_container_kind hp_profile_kind = {
	.letter = 'P',
	.noun = "profile",
	.tags = profile_tags,
	.expendable = expendable_tags,
	.most_times = 256,
};

/* --- encoding ----------------------------------------------------------------------------- */

/* larger shares are not written */
enum { MOST_SHARES_BYTES = 16 << 20 };

static bool is_share(const struct hp_stratum *stratum)
{
	return stratum->thread || stratum->tid || stratum->cpu;
}

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

static struct hp_error *check_strata(const struct hp_stratum *strata, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *fault = stratum_fault(&strata[i]);

		if (!fault && i && hp_stratum_compare(&strata[i - 1], &strata[i]) >= 0)
			fault = "strata out of order";
		if (fault)
			return hp_error_create(HP_ERROR_USAGE, "%s", fault);
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
	for (size_t i = 0; i < profile->stratum_count; i++)
		if (is_share(&profile->strata[i]))
			return hp_error_create(HP_ERROR_USAGE, "a stratum of a thread or CPU");
	error = check_strata(profile->strata, profile->stratum_count);
	return error ? error : check_strata(profile->shares, profile->share_count);
}

/*
 * First all offsets, then all counts, which compresses best. Gaps and counts are never 0, so they
 * are written minus 1, and each histogram has one encoding only.
 */
static void encode_stratum(const struct hp_stratum *stratum, bool as_share,
			   struct hp_writer *writer)
{
	uint64_t next = 0;

	hp_write_string(writer, stratum->command);
	hp_write_varint(writer, stratum->pid);
	if (as_share) {
		hp_write_varint(writer, stratum->tid);
		hp_write_string(writer, stratum->thread ? stratum->thread : "");
		hp_write_varint(writer, stratum->cpu);
	}
	hp_write_varint(writer, stratum->period);
	hp_write_varint(writer, stratum->count_count);
	for (size_t i = 0; i < stratum->count_count; i++) {
		hp_write_varint(writer, stratum->counts[i].offset.value - next);
		next = stratum->counts[i].offset.value + 1;
	}
	for (size_t i = 0; i < stratum->count_count; i++)
		hp_write_varint(writer, stratum->counts[i].samples - 1);
}

static void encode_strata(const struct hp_stratum *strata, size_t count, bool as_shares,
			  struct hp_writer *writer)
{
	size_t full = 0;

	for (size_t i = 0; i < count; i++)
		full += strata[i].count_count > 0;
	hp_write_varint(writer, full);
	for (size_t i = 0; i < count; i++)
		if (strata[i].count_count)
			encode_stratum(&strata[i], as_shares, writer);
}

static bool knows_any(const struct hp_stratum *shares, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_share(&shares[i]) && shares[i].count_count)
			return true;
	return false;
}

static void encode_shares(const struct hp_profile *profile, struct hp_container_builder *builder)
{
	struct hp_writer shares = { 0 };

	if (!knows_any(profile->shares, profile->share_count))
		return;
	encode_strata(profile->shares, profile->share_count, true, &shares);
	builder->failed = builder->failed || shares.failed;
	if (shares.size <= MOST_SHARES_BYTES)
		hp_container_add(builder, SHARES_TAG, 0, shares.bytes, shares.size);
	hp_writer_free(&shares);
}

struct hp_error *hp_profile_encode(const struct hp_profile *profile, struct hp_writer *file)
{
	struct hp_container_builder builder = { .kind = &hp_profile_kind };
	struct hp_writer key = { 0 };
	struct hp_writer histograms = { 0 };
	struct hp_error *error = hp_profile_check(profile);

	if (error)
		return error;
	hp_image_encode(&profile->image, 0, &key);
	hp_write_string(&key, profile->event);
	encode_strata(profile->strata, profile->stratum_count, false, &histograms);
	builder.failed = key.failed || histograms.failed;
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
	hp_container_add(&builder, "hist", HP_SECTION_REQUIRED, histograms.bytes, histograms.size);
	hp_writer_free(&key);
	hp_writer_free(&histograms);
	encode_shares(profile, &builder);
	return hp_container_finish(&builder, file);
}

/* --- decoding ----------------------------------------------------------------------------- */

/* of a stratum and of a share: no command, one byte per number; of a count: a gap and a count */
enum { LEAST_STRATUM_BYTES = 6, LEAST_SHARE_BYTES = 9, LEAST_COUNT_BYTES = 2 };

struct decoding {
	const struct hp_section *section;
	struct hp_reader reader;
	bool are_shares;
	uint64_t samples; /* sum so far, which must fit */
	uint64_t weight;  /* sum of samples times period so far, likewise */
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

static struct hp_error *decode_share(struct decoding *in, struct hp_stratum *stratum)
{
	struct hp_reader *reader = &in->reader;
	uint64_t tid = 0;
	uint64_t cpu = 0;

	if (!hp_read_varint(reader, &tid) || !hp_read_string(reader, &stratum->thread) ||
	    !hp_read_varint(reader, &cpu))
		return hp_section_damaged(in->section, reader, "ends inside a stratum");
	if (tid > UINT32_MAX || cpu > UINT32_MAX)
		return hp_section_damaged(in->section, reader,
					  "a stratum of thread %" PRIu64 " on CPU %" PRIu64, tid,
					  cpu);
	stratum->tid = (uint32_t)tid;
	stratum->cpu = (uint32_t)cpu;
	if (!*stratum->thread) {
		free(stratum->thread);
		stratum->thread = NULL;
	}
	return NULL;
}

static struct hp_error *decode_stratum(struct decoding *in, struct hp_stratum *stratum)
{
	struct hp_reader *reader = &in->reader;
	struct hp_error *error = NULL;
	uint64_t pid = 0;
	uint64_t count = 0;

	if (!hp_read_string(reader, &stratum->command) || !hp_read_varint(reader, &pid))
		return hp_section_damaged(in->section, reader, "ends inside a stratum");
	if (in->are_shares)
		error = decode_share(in, stratum);
	if (error)
		return error;
	if (!hp_read_varint(reader, &stratum->period) || !hp_read_varint(reader, &count))
		return hp_section_damaged(in->section, reader, "ends inside a stratum");
	if (pid > UINT32_MAX || !stratum->period)
		return hp_section_damaged(in->section, reader,
					  "a stratum with pid %" PRIu64 " and period %" PRIu64, pid,
					  stratum->period);
	stratum->pid = (uint32_t)pid;
	if (!count)
		return hp_section_damaged(in->section, reader, "a histogram without offsets");
	/* a wrong number must not allocate much memory */
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

/* Decodes a whole section. `strata` has what was decoded even after an error. */
static struct hp_error *decode_strata(struct decoding *in, struct hp_stratum **strata,
				      size_t *stratum_count)
{
	size_t least = in->are_shares ? LEAST_SHARE_BYTES : LEAST_STRATUM_BYTES;
	uint64_t count = 0;

	if (!hp_read_varint(&in->reader, &count))
		return hp_section_damaged(in->section, &in->reader,
					  "the number of strata is out of range");
	if (count > hp_reader_left(&in->reader) / least)
		return hp_section_overflows(in->section, &in->reader, count, "strata",
					    hp_reader_left(&in->reader) / least);
	*strata = calloc(count ? (size_t)count : 1, sizeof(**strata));
	if (!*strata)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_error *error;

		++*stratum_count;
		error = decode_stratum(in, &(*strata)[i]);
		if (error)
			return error;
		if (i && hp_stratum_compare(&(*strata)[i - 1], &(*strata)[i]) >= 0)
			return hp_section_damaged(in->section, &in->reader, "strata out of order");
	}
	return hp_section_check_end(in->section, &in->reader);
}

static bool is_same_stratum(const struct hp_stratum *a, const struct hp_stratum *b)
{
	if (hp_stratum_compare(a, b) != 0 || a->count_count != b->count_count)
		return false;
	for (size_t i = 0; i < a->count_count; i++)
		if (a->counts[i].offset.value != b->counts[i].offset.value ||
		    a->counts[i].samples != b->counts[i].samples)
			return false;
	return true;
}

static struct hp_error *check_sum(const struct decoding *in, const struct hp_profile *profile)
{
	struct hp_stratum *sum;
	size_t count;
	struct hp_error *error = hp_shares_sum(profile->shares, profile->share_count, &sum, &count);
	bool is_same;

	if (error)
		return error;
	is_same = count == profile->stratum_count;
	for (size_t i = 0; i < count && is_same; i++)
		is_same = is_same_stratum(&sum[i], &profile->strata[i]);
	hp_strata_free(sum, count);
	if (is_same && knows_any(profile->shares, profile->share_count))
		return NULL;
	return hp_section_damaged(in->section, &in->reader, "it does not add up to section 'hist'");
}

static struct hp_error *decode_shares(const struct hp_container *file, struct hp_profile *profile)
{
	struct decoding in = { .are_shares = true };
	struct hp_error *error = hp_container_section(file, SHARES_TAG, &in.section, &in.reader);

	if (!error)
		error = decode_strata(&in, &profile->shares, &profile->share_count);
	if (!error)
		error = check_sum(&in, profile);
	if (!error)
		return NULL;
	hp_strata_free(profile->shares, profile->share_count);
	profile->shares = NULL;
	profile->share_count = 0;
	return error;
}

static struct hp_error *decode_histograms(const struct hp_container *file,
					  struct hp_profile *profile)
{
	struct decoding in = { 0 };
	struct hp_error *error = hp_container_section(file, "hist", &in.section, &in.reader);

	return error ? error : decode_strata(&in, &profile->strata, &profile->stratum_count);
}

struct hp_error *hp_profile_decode(uint8_t *bytes, size_t size, struct hp_profile *profile,
				   bool *has_unknown, struct hp_error **lost)
{
	struct hp_container file;
	struct hp_error *error = hp_container_parse(bytes, size, &hp_profile_kind, &file);

	*profile = (struct hp_profile){ 0 };
	if (lost)
		*lost = NULL;
	if (error)
		return error;
	if (has_unknown)
		*has_unknown = file.has_unknown;
	error = decode_key(&file, profile);
	if (!error)
		error = decode_histograms(&file, profile);
	if (!error && hp_container_has(&file, SHARES_TAG)) {
		error = decode_shares(&file, profile);
		if (lost && error && error->class == HP_ERROR_DAMAGED) {
			*lost = hp_steal(error);
			profile->has_lost_shares = true;
		}
	}
	if (error)
		hp_profile_clear(profile);
	hp_container_clear(&file);
	return error;
}
