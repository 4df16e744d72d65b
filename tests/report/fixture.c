/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fixture.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char jit_path[] = "[jit lua]";
static char unknown_path[] = "[unknown]";
static char missing_path[] = "/nowhere/at/all/libgone.so.1";

const struct hp_image_id fixture_jit = { .kind = HP_IMAGE_JIT, .path = jit_path };
const struct hp_image_id fixture_unknown = { .kind = HP_IMAGE_UNKNOWN, .path = unknown_path };
const struct hp_image_id fixture_missing = {
	.kind = HP_IMAGE_FILE,
	.identity = { .kind = HP_IDENTITY_BUILD_ID,
		      .size = 4,
		      .bytes = { 0xde, 0xad, 0xbe, 0xef } },
	.path = missing_path,
};

static void remove_fixture(void *object)
{
	_cleanup_free_ struct fixture *fixture = object;

	hp_db_close(fixture->db);
	free(fixture->output);
	free(fixture->warnings);
}

struct fixture *fixture_create(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	hp_assert_ok(hp_db_open(temporary_directory(), true, &fixture->db));
	at_end(remove_fixture, fixture);
	return fixture;
}

/* --- writing ------------------------------------------------------------------------------ */

static struct hp_event_totals *totals_of(struct hp_epoch_meta *meta, const char *name,
					 const char *instead_of)
{
	static char precision[] = "skid+1";
	static char reason[] = "this machine has no PMU";
	struct hp_event_totals *totals;

	for (size_t i = 0; i < meta->event_count; i++)
		if (strcmp(meta->events[i].info.name, name) == 0)
			return &meta->events[i];
	ck_assert_uint_lt(meta->event_count, FIXTURE_EVENTS);
	totals = &meta->events[meta->event_count++];
	totals->info.name = strdup(name);
	totals->info.precision = precision;
	if (instead_of) {
		totals->info.instead_of = strdup(instead_of);
		totals->info.reason = reason;
	}
	totals->info.unit = strncmp(name, "cpu-clock", 9) == 0	     ? HP_UNIT_NS
			    : strncmp(name, "cycles", 6) == 0	     ? HP_UNIT_CYCLES
			    : strncmp(name, "instructions", 12) == 0 ? HP_UNIT_INSTRUCTIONS
								     : HP_UNIT_EVENTS;
	return totals;
}

static void add_count(struct hp_epoch_writer *writer, const struct fixture_count *count,
		      const struct fixture_place *place)
{
	struct hp_count one = { .offset = { count->offset }, .samples = count->samples };
	char *command = strdup(count->command ? count->command : "");
	_cleanup_free_ char *event = strdup(count->event);
	char *thread = place && place->thread ? strdup(place->thread) : NULL;
	struct hp_stratum stratum = {
		.command = command,
		.pid = count->pid,
		.period = count->period,
		.counts = &one,
		.count_count = 1,
	};
	struct hp_profile profile = {
		.image = *count->image,
		.event = event,
		.strata = &stratum,
		.stratum_count = 1,
	};

	struct hp_stratum share = stratum;

	if (place) {
		share.tid = place->tid;
		share.cpu = place->cpu;
		share.thread = thread;
		profile.shares = &share;
		profile.share_count = 1;
	}
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	free(thread);
	free(command);
}

/* All of the epoch's samples, with the images and symbols they are of. */
static void add_counts(struct hp_epoch_writer *writer, const struct fixture_epoch *epoch,
		       struct hp_epoch_meta *meta)
{
	for (size_t i = 0; i < epoch->count; i++) {
		const struct fixture_count *count = &epoch->counts[i];
		struct hp_event_totals *into = totals_of(meta, count->event, NULL);
		size_t index;

		hp_assert_ok(hp_epoch_writer_image(writer, count->image, &index));
		if (count->image->kind != HP_IMAGE_FILE && epoch->symbol_count)
			hp_assert_ok(hp_epoch_writer_symbols(writer, index, epoch->symbols,
							     epoch->symbol_count));
		add_count(writer, count, epoch->places ? &epoch->places[i] : NULL);
		into->samples += count->samples;
		into->period_total += count->samples * count->period;
		if (count->image->kind == HP_IMAGE_UNKNOWN)
			into->unattributed += count->samples;
	}
}

void fixture_add(struct fixture *fixture, const struct fixture_epoch *epoch)
{
	static char command[] = "lua";
	static char script[] = "my script.lua";
	static char host[] = "testhost";
	char *command_line[] = { command, script, NULL };
	struct hp_event_totals totals[FIXTURE_EVENTS] = { 0 };
	struct hp_epoch_meta meta = {
		.complete = true,
		.host = host,
		.cpus = 2,
		.command_line = command_line,
		.start_ns = 1700000000000000000 + epoch->later_ns,
		.end_ns = 1700000002500000000,
		.per_process = epoch->per_process,
		.sample_cost_ns = epoch->sample_cost_ns,
		.target_cpu_ns = epoch->cpu_ns,
		.target_system_ns = epoch->system_ns,
		.per_thread = epoch->places != NULL,
		.per_cpu = epoch->places != NULL,
		.events = totals,
		.warnings = epoch->warnings,
		.commands = epoch->commands,
		.command_count = epoch->command_count,
	};
	struct hp_epoch_writer *writer;

	hp_assert_ok(hp_epoch_create(fixture->db, epoch->label, &writer));
	/* A label also in meta: either may be where the database looks. */
	meta.label = epoch->label ? strdup(epoch->label) : NULL;
	if (epoch->cpu)
		meta.cpu = *epoch->cpu;
	if (epoch->clock_hz > 0)
		ck_assert(hp_clock_note(&meta.clock, epoch->clock_hz));
	totals_of(&meta, "cpu-clock:u", epoch->instead_of);
	for (size_t i = 0; i < epoch->count; i++)
		totals_of(&meta, epoch->counts[i].event, epoch->instead_of);
	add_counts(writer, epoch, &meta);
	for (size_t i = 0; i < meta.event_count; i++) {
		totals[i].info.skid_instructions = epoch->skid_instructions;
		if (epoch->coverage) {
			totals[i].enabled_ns = 1000000000;
			totals[i].running_ns = (uint64_t)(1e9 * epoch->coverage[i]);
		}
	}
	if (epoch->evidence)
		hp_assert_ok(hp_epoch_writer_evidence(writer, epoch->evidence));
	if (epoch->paths)
		hp_assert_ok(hp_epoch_writer_paths(writer, epoch->paths));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	free(meta.label);
	hp_clock_clear(&meta.clock);
	for (size_t i = 0; i < meta.event_count; i++) {
		free(totals[i].info.name);
		free(totals[i].info.instead_of);
	}
}

struct fixture *fixture_of_epoch(const struct fixture_epoch *epoch)
{
	struct fixture *fixture = fixture_create();

	fixture_add(fixture, epoch);
	return fixture;
}

static void count_hint(const char *message, void *context)
{
	struct fixture *fixture = context;

	ck_assert_ptr_nonnull(message);
	fixture->hints++;
}

/* --- reporting ---------------------------------------------------------------------------- */

static void keep_warning(const char *message, const char *advice, void *context)
{
	struct fixture *fixture = context;
	char *longer = NULL;

	ck_assert_int_ge(asprintf(&longer, "%s%s%s%s\n", fixture->warnings ? fixture->warnings : "",
				  message, advice ? " / " : "", advice ? advice : ""),
			 0);
	free(fixture->warnings);
	fixture->warnings = longer;
}

struct hp_error *fixture_report(struct fixture *fixture, const struct hp_report_options *options,
				const char *const *labels)
{
	const struct hp_notices notices = { .warn = keep_warning,
					    .hint = count_hint,
					    .context = fixture };
	char *arguments[8] = { 0 };
	struct hp_error *error;
	size_t count = 0;
	size_t size = 0;
	FILE *out;

	for (; labels && labels[count]; count++)
		arguments[count] = strdup(labels[count]);
	free(fixture->output);
	free(fixture->warnings);
	fixture->output = fixture->warnings = NULL;
	out = open_memstream(&fixture->output, &size);
	error = hp_report(fixture->db, arguments, count, options, &notices, out);
	ck_assert_int_eq(fclose(out), 0);
	for (size_t i = 0; i < count; i++)
		free(arguments[i]);
	return error;
}

const char *fixture_output(struct fixture *fixture, const struct hp_report_options *options)
{
	hp_assert_ok(fixture_report(fixture, options, NULL));
	return fixture->output;
}

void fixture_shows(struct fixture *fixture, const struct hp_report_options *options,
		   const char *const *parts)
{
	fixture_output(fixture, options);
	for (; *parts; parts++)
		assert_contains(fixture->output, *parts);
}

size_t fixture_csv_records(const char *csv)
{
	size_t lines = 0;

	for (; *csv; csv++)
		lines += *csv == '\n';
	return lines ? lines - 1 : 0;
}

uint64_t fixture_csv_sum(const char *csv, size_t index)
{
	uint64_t sum = 0;
	const char *line = strchr(csv, '\n');

	for (line = line ? line + 1 : ""; *line; line = strchr(line, '\n') + 1) {
		const char *field = line;

		for (size_t i = 0; i < index; i++)
			field = strchr(field, ',') + 1;
		sum += strtoull(field, NULL, 10);
	}
	return sum;
}

/* --- texts ------------------------------------------------------------------------------------ */

void assert_contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

void assert_lacks(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

/* --- this program ----------------------------------------------------------------------------- */

struct loaded {
	uintptr_t at; /* in one of its segments */
	uintptr_t base;
	uint64_t offset;
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *found)
{
	struct loaded *loaded = found;
	bool is_it = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD ||
		    loaded->at - info->dlpi_addr - segment->p_vaddr >= segment->p_memsz)
			continue;
		is_it = true;
		loaded->base = info->dlpi_addr;
		loaded->offset = segment->p_offset - segment->p_vaddr;
	}
	return is_it;
}

static struct loaded loaded_at(const char *at)
{
	struct loaded loaded = { .at = (uintptr_t)at };

	ck_assert(dl_iterate_phdr(find_loaded, &loaded));
	return loaded;
}

uint64_t link_address(const char *at)
{
	return (uintptr_t)at - loaded_at(at).base;
}

uint64_t offset_of(const char *at)
{
	return link_address(at) + loaded_at(at).offset;
}

struct hp_image_id self;

void identify(const char *path, struct hp_image_id *id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	*id = (struct hp_image_id){ .kind = HP_IMAGE_FILE, .path = (char *)(uintptr_t)path };
	hp_assert_ok(hp_identity_of_fd(fd, &id->identity));
	close(fd);
}

void find_self(void)
{
	static char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ck_assert_int_gt(length, 0);
	path[length] = 0;
	identify(path, &self);
}
