/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trial.h"

#include <hpcprof/base/bytes.h>
#include <hpcprof/base/cache.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <xxhash.h>

/* --- trying ----------------------------------------------------------------------------------- */

enum { SPIN_STEPS = 20000, MOST_TOGETHER = 64 };

/* On a CPU of the rotation set's, for a PMU that only some have; and back. */
struct stay {
	cpu_set_t before;
	int cpu; /* the first of them; -1 for any */
	bool moved;
};

static bool parse_cpus(const char *text, cpu_set_t *cpus, int *first)
{
	CPU_ZERO(cpus);
	*first = -1;
	while (*text) {
		uint64_t from;
		uint64_t to;

		if (!hp_scan_u64(&text, &from))
			return false;
		to = from;
		if (*text == '-') {
			text++;
			if (!hp_scan_u64(&text, &to))
				return false;
		}
		if (*first < 0 && from < CPU_SETSIZE)
			*first = (int)from;
		for (uint64_t cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, cpus);
		if (*text == ',')
			text++;
		else if (*text)
			return false;
	}
	return *first >= 0;
}

static bool go_to(const struct hp_rotation_set *rotation_set, struct stay *stay)
{
	cpu_set_t wanted;

	*stay = (struct stay){ .cpu = -1 };
	if (!rotation_set || !rotation_set->cpus)
		return true;
	if (!parse_cpus(rotation_set->cpus, &wanted, &stay->cpu))
		return false;
	if (rotation_set->whole_cpus)
		return true;
	stay->cpu = -1;
	if (sched_getaffinity(0, sizeof(stay->before), &stay->before) < 0)
		return false;
	stay->moved = sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
	return stay->moved;
}

static void go_back(const struct stay *stay)
{
	if (stay->moved)
		sched_setaffinity(0, sizeof(stay->before), &stay->before);
}

/* On ourselves, or on a whole CPU. */
static int open_event(const struct hp_event *event, int cpu, int leader)
{
	struct perf_event_attr attr = { 0 };

	hp_event_to_attr(event, &attr);
	attr.precise_ip = 0;
	attr.disabled = leader < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return hp_perf_event_open(&attr, cpu < 0 ? 0 : -1, cpu, leader);
}

static bool has_run(int leader)
{
	struct {
		uint64_t value;
		uint64_t enabled_ns;
		uint64_t running_ns;
	} reading = { 0 };

	/* Switched on, it is on the CPU with us at once, or it never will be. */
	if (ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0)
		return false;
	for (unsigned i = 0; i < SPIN_STEPS; i++)
		__asm__ volatile("");
	return read(leader, &reading, sizeof(reading)) == sizeof(reading) && reading.running_ns > 0;
}

/* The same events, slots before all others. */
static void put_slots_first(const struct hp_event *const *events, size_t count,
			    const struct hp_event **ordered)
{
	size_t placed = 0;

	for (size_t i = 0; i < count; i++)
		if (hp_event_is_slots(events[i]))
			ordered[placed++] = events[i];
	for (size_t i = 0; i < count; i++)
		if (!hp_event_is_slots(events[i]))
			ordered[placed++] = events[i];
}

bool hp_trial_run(const struct hp_event *const *events, size_t count,
		  const struct hp_rotation_set *rotation_set)
{
	const struct hp_event *ordered[MOST_TOGETHER];
	int fds[MOST_TOGETHER];
	size_t opened = 0;
	struct stay stay;
	bool runs;

	if (count > MOST_TOGETHER || !go_to(rotation_set, &stay))
		return false;
	put_slots_first(events, count, ordered);
	for (; opened < count; opened++) {
		fds[opened] = open_event(ordered[opened], stay.cpu, opened ? fds[0] : -1);
		if (fds[opened] < 0)
			break;
	}
	runs = opened == count && (!count || has_run(fds[0]));
	while (opened > 0)
		close(fds[--opened]);
	go_back(&stay);
	return runs;
}

/* --- remembering ------------------------------------------------------------------------------ */

/* "HPGROUPS", version, machine, free counters, count, then (key << 1 | runs) each, checksum. */
static const char file_name[] = "counter-groups";
static const char magic[8] = { 'H', 'P', 'G', 'R', 'O', 'U', 'P', 'S' };
enum { FORMAT = 1, MOST_REMEMBERED = 1 << 16, LONGEST_FILE = (MOST_REMEMBERED + 8) * 8 };

struct hp_trial_memory {
	uint64_t machine; /* a hash of what it is */
	uint64_t free_counters;
	HP_VECTOR(uint64_t) tried; /* sorted but for what is new */
	size_t sorted;
	bool changed;
};

static uint64_t hash_machine(const struct hp_machine *machine)
{
	uint64_t hash = XXH3_64bits(machine->cpu_model, strlen(machine->cpu_model));

	hash = XXH3_64bits_withSeed(machine->kernel, strlen(machine->kernel), hash);
	return XXH3_64bits_withSeed(machine->host, strlen(machine->host), hash);
}

HP_ORDER_VALUES(compare, uint64_t);

/* One event more than were free, and one less, tell whether something has changed. */
static uint64_t count_free(const struct hp_machine *machine)
{
	const struct hp_event *copies[MOST_TOGETHER];
	struct hp_event event = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		.exclude_kernel = machine->user_only,
		.exclude_hypervisor = machine->user_only,
	};
	size_t count = 0;

	if (!machine->has_cycles)
		return 0;
	for (size_t i = 0; i < MOST_TOGETHER; i++)
		copies[i] = &event;
	if (!hp_trial_run(copies, 1, NULL))
		event.config = PERF_COUNT_HW_INSTRUCTIONS;
	while (count < MOST_TOGETHER && hp_trial_run(copies, count + 1, NULL))
		count++;
	return count;
}

static bool parse_memory(struct hp_trial_memory *memory, const uint8_t *bytes, size_t size)
{
	struct hp_reader reader = hp_reader_over(bytes, size > 8 ? size - 8 : 0);
	const uint8_t *found_magic;
	uint64_t version;
	uint64_t machine;
	uint64_t free_counters;
	uint64_t count;
	uint64_t checksum;
	struct hp_reader tail =
		hp_reader_over(bytes + size - (size > 8 ? 8 : size), size > 8 ? 8 : size);

	if (!hp_read_bytes(&reader, sizeof(magic), &found_magic) ||
	    memcmp(found_magic, magic, sizeof(magic)) != 0 || !hp_read_u64(&reader, &version) ||
	    version != FORMAT || !hp_read_u64(&reader, &machine) || machine != memory->machine ||
	    !hp_read_u64(&reader, &free_counters) || free_counters != memory->free_counters ||
	    !hp_read_u64(&reader, &count) || count > MOST_REMEMBERED ||
	    hp_reader_left(&reader) != count * 8 || !hp_read_u64(&tail, &checksum) ||
	    checksum != XXH3_64bits(bytes, size - 8))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t key = 0;

		hp_read_u64(&reader, &key);
		if (!hp_vector_push(&memory->tried, key))
			return false;
	}
	return true;
}

static void read_memory(struct hp_trial_memory *memory)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	struct hp_error *error = hp_cache_read(file_name, LONGEST_FILE, &bytes, &size);

	if (error || !parse_memory(memory, bytes, size))
		memory->tried.count = 0;
	hp_error_destroy(error);
	if (memory->tried.count)
		qsort(memory->tried.at, memory->tried.count, sizeof(*memory->tried.at), compare);
	memory->sorted = memory->tried.count;
}

static void write_memory(const struct hp_trial_memory *memory)
{
	struct hp_writer writer = { 0 };

	hp_write_bytes(&writer, magic, sizeof(magic));
	hp_write_u64(&writer, FORMAT);
	hp_write_u64(&writer, memory->machine);
	hp_write_u64(&writer, memory->free_counters);
	hp_write_u64(&writer, memory->tried.count);
	for (size_t i = 0; i < memory->tried.count; i++)
		hp_write_u64(&writer, memory->tried.at[i]);
	if (!writer.failed)
		hp_write_u64(&writer, XXH3_64bits(writer.bytes, writer.size));
	/* Without a cache everything works, only later. */
	if (!writer.failed)
		hp_error_destroy(hp_cache_write(file_name, writer.bytes, writer.size));
	hp_writer_free(&writer);
}

struct hp_error *hp_trial_memory_create(const struct hp_machine *machine,
					struct hp_trial_memory **memory)
{
	struct hp_trial_memory *made = calloc(1, sizeof(*made));

	if (!made)
		return hp_error_create_no_memory();
	made->machine = hash_machine(machine);
	made->free_counters = count_free(machine);
	read_memory(made);
	*memory = made;
	return NULL;
}

void hp_trial_memory_destroy(struct hp_trial_memory *memory)
{
	if (!memory)
		return;
	if (memory->changed)
		write_memory(memory);
	hp_vector_free(&memory->tried);
	free(memory);
}

void hp_trial_forget(struct hp_trial_memory *memory)
{
	memory->tried.count = memory->sorted = 0;
	memory->changed = true;
}

/* What of an event decides which counters it can be on. */
static uint64_t hash_event(const struct hp_event *event)
{
	uint64_t words[7] = {
		event->type,
		event->config,
		event->config1,
		event->config2,
		event->config3,
		event->bp_type,
		(uint64_t)event->exclude_user << 2 | (uint64_t)event->exclude_kernel << 1 |
			(uint64_t)event->exclude_hypervisor,
	};

	return XXH3_64bits(words, sizeof(words));
}

/* The order in which they were given does not matter, but the same event twice does. */
static uint64_t key_of(const struct hp_event *const *events, size_t count,
		       const struct hp_rotation_set *rotation_set)
{
	const char *cpus = rotation_set->cpus;
	uint64_t hashes[MOST_TOGETHER];

	for (size_t i = 0; i < count; i++)
		hashes[i] = hash_event(events[i]);
	qsort(hashes, count, sizeof(*hashes), compare);
	return XXH3_64bits_withSeed(hashes, count * sizeof(*hashes),
				    cpus ? XXH3_64bits(cpus, strlen(cpus)) : 0);
}

/* -1 when it was never tried. */
static int recall(const struct hp_trial_memory *memory, uint64_t key)
{
	for (uint64_t runs = 0; runs < 2; runs++) {
		uint64_t wanted = key << 1 | runs;

		if (memory->sorted &&
		    bsearch(&wanted, memory->tried.at, memory->sorted, sizeof(wanted), compare))
			return (int)runs;
		for (size_t i = memory->sorted; i < memory->tried.count; i++)
			if (memory->tried.at[i] == wanted)
				return (int)runs;
	}
	return -1;
}

static bool runs(void *context, const struct hp_event *const *events, size_t count,
		 const struct hp_rotation_set *rotation_set)
{
	struct hp_trial_memory *memory = context;
	uint64_t key;
	int known;
	bool found;

	if (count > MOST_TOGETHER)
		return false;
	key = key_of(events, count, rotation_set);
	known = recall(memory, key);
	if (known >= 0)
		return known;
	found = hp_trial_run(events, count, rotation_set);
	if (memory->tried.count < MOST_REMEMBERED &&
	    hp_vector_push(&memory->tried, key << 1 | found))
		memory->changed = true;
	return found;
}

static int opens(void *context, const struct hp_event *event,
		 const struct hp_rotation_set *rotation_set)
{
	struct hp_event slots = *event;
	_cleanup_close_ int leader = -1;
	_cleanup_close_ int fd = -1;
	struct stay stay;
	int failure;

	(void)context;
	if (!go_to(rotation_set, &stay))
		return ENODEV;
	if (hp_event_is_part_of_slots(event)) {
		slots.config = HP_SLOTS_CONFIG;
		leader = open_event(&slots, stay.cpu, -1);
	}
	fd = open_event(event, stay.cpu, leader);
	failure = fd < 0 ? errno : 0;
	go_back(&stay);
	return failure;
}

struct hp_counter_trial hp_trial_of(struct hp_trial_memory *memory)
{
	return (struct hp_counter_trial){ .opens = opens, .runs = runs, .context = memory };
}
