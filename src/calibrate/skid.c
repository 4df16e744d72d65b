/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the skid: samples loops in which one instruction takes all the time, and counts by how
 * many instructions the samples come late. */
#include "skid_kernels.h"
#include "tuning.h"

#include <hpcprof/sample/sampler.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 64 };

void hp_skid_clear(struct hp_skid *skid)
{
	free(skid->event);
	free(skid->key);
	*skid = (struct hp_skid){ 0 };
}

/* --- sources ---------------------------------------------------------------------------------- */

struct hp_error *hp_skid_sources(const struct hp_machine *machine, struct hp_event_list *sources)
{
	static const char *const clocks[] = { "cpu-clock:u", "task-clock:u" };
	static const char *const cycles[] = { "cycles:u", "cycles:up", "cycles:upp",
					      "cycles:uppp" };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < HP_ARRAY_COUNT(clocks) && !error; i++)
		error = hp_event_parse(clocks[i], machine, sources);
	for (size_t i = 0; machine->has_cycles && i <= machine->precise_cycles && !error; i++)
		error = hp_event_parse(cycles[i], machine, sources);
	return error;
}

/* --- what is chased --------------------------------------------------------------------------- */

struct chase {
	void *memory;
	size_t bytes;
};

/* Makes a list of pointers through all lines, in one random cycle (Sattolo). */
static struct hp_error *create_chase(size_t bytes, struct chase *chase)
{
	size_t lines = bytes / LINE_BYTES;
	struct hp_random random = hp_random_seeded(1);
	char *memory;

	*chase = (struct chase){ 0 };
	if (!bytes)
		return NULL;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return hp_error_create_errno(errno, "mapping %zu bytes to load from", bytes);
	for (size_t i = 0; i < lines; i++)
		*(void **)(memory + i * LINE_BYTES) = memory + i * LINE_BYTES;
	for (size_t i = lines - 1; i > 0; i--) {
		void **one = (void **)(memory + i * LINE_BYTES);
		void **other =
			(void **)(memory + hp_random_between(&random, 0, i - 1) * LINE_BYTES);
		void *swapped = *one;

		*one = *other;
		*other = swapped;
	}
	*chase = (struct chase){ memory, bytes };
	return NULL;
}

static void destroy_chase(struct chase *chase)
{
	if (chase->memory)
		munmap(chase->memory, chase->bytes);
}

/* --- sampling one kernel ---------------------------------------------------------------------- */

/* Starts a child that runs the kernel until it or hpcprof is killed. */
static struct hp_error *start_kernel(const struct skid_kernel *kernel, void *data, pid_t *child)
{
	pid_t parent = getpid();

	*child = fork();
	if (*child < 0)
		return hp_error_create_errno(errno, "starting a process to measure");
	if (*child)
		return NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		kernel->run(data);
	_exit(0);
}

static void end_kernel(pid_t child)
{
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void count_sample(const struct skid_kernel *kernel, uint64_t address,
			 struct hp_skid_kernel *counts)
{
	uint64_t offset = address - (uintptr_t)kernel->run;

	for (size_t i = 0; i < HP_SKID_PLACES; i++) {
		if (kernel->steps[i] == offset) {
			counts->places[i]++;
			return;
		}
	}
	counts->elsewhere++;
}

static uint64_t drain(struct hp_sampler *sampler, const struct skid_kernel *kernel,
		      struct hp_skid_kernel *counts)
{
	struct hp_record record;
	uint64_t samples = 0;

	hp_ring_set_begin(&sampler->rings, UINT64_MAX);
	while (hp_ring_set_next(&sampler->rings, &record)) {
		if (record.kind != HP_RECORD_SAMPLE)
			continue;
		count_sample(kernel, record.sample.address, counts);
		samples++;
	}
	hp_ring_set_end(&sampler->rings);
	return samples;
}

/* A child of hpcprof has its addresses, so no mappings need to be looked up. */
static void collect(struct hp_sampler *sampler, const struct skid_kernel *kernel,
		    struct hp_skid_kernel *counts)
{
	static const struct timespec moment = { .tv_nsec = SKID_MOMENT_NS };
	uint64_t start_ns = hp_clock_monotonic_ns();
	uint64_t samples = 0;

	while (samples < SKID_SAMPLES && hp_clock_monotonic_ns() - start_ns < SKID_PATIENCE_NS) {
		nanosleep(&moment, NULL);
		samples += drain(sampler, kernel, counts);
		hp_sampler_redraw(sampler, 0, hp_clock_monotonic_ns(), samples);
	}
}

static struct hp_error *sample_kernel(const struct hp_machine *machine, struct hp_event *event,
				      const struct hp_rate *rate, const struct skid_kernel *kernel,
				      struct hp_skid_kernel *counts)
{
	struct hp_event_list events = { event, 1 };
	struct hp_event resolved = *event;
	struct hp_sampler sampler = { 0 };
	struct chase chase;
	pid_t child;
	struct hp_sampler_options options = {
		.events = &events,
		.rates = rate,
		.threads = &child,
		.thread_count = 1,
	};
	struct hp_error *error = create_chase(kernel->chase_bytes, &chase);

	if (error)
		return error;
	*counts = (struct hp_skid_kernel){ .name = kernel->name };
	error = start_kernel(kernel, chase.memory, &child);
	if (!error) {
		error = hp_sampler_open(&sampler, &options, machine, &resolved);
		if (!error) {
			collect(&sampler, kernel, counts);
			hp_sampler_close(&sampler);
		}
		end_kernel(child);
	}
	destroy_chase(&chase);
	return error;
}

/* --- judging ---------------------------------------------------------------------------------- */

static uint64_t samples_in_loop(const struct hp_skid_kernel *kernel)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < HP_SKID_PLACES; i++)
		sum += kernel->places[i];
	return sum;
}

int hp_skid_kernel_place(const struct hp_skid_kernel *kernel)
{
	uint64_t all = samples_in_loop(kernel);

	for (int i = 0; i < HP_SKID_PLACES && all >= SKID_LEAST_SAMPLES; i++) {
		if (kernel->places[i] > all / 2)
			return i;
	}
	return -1;
}

static double share_at(const struct hp_skid *skid, size_t place)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < skid->kernel_count; i++) {
		uint64_t all = samples_in_loop(&skid->kernels[i]);

		if (all < SKID_LEAST_SAMPLES)
			continue;
		sum += (double)skid->kernels[i].places[place] / (double)all;
		count++;
	}
	return count ? sum / (double)count : 0;
}

void hp_skid_judge(struct hp_skid *skid)
{
	size_t agreeing = 0;

	skid->instructions = 0;
	skid->share = share_at(skid, 0);
	for (uint32_t i = 1; i < HP_SKID_PLACES; i++) {
		double share = share_at(skid, i);

		if (share > skid->share) {
			skid->share = share;
			skid->instructions = i;
		}
	}
	for (size_t i = 0; i < skid->kernel_count; i++)
		agreeing += hp_skid_kernel_place(&skid->kernels[i]) == (int)skid->instructions;
	skid->is_clear = 2 * agreeing > skid->kernel_count && skid->share > skid_clear_share;
}

/* --- the whole -------------------------------------------------------------------------------- */

struct hp_error *hp_skid_measure(const struct hp_machine *machine, const struct hp_event *event,
				 struct hp_skid *skid)
{
	static const struct hp_rate_wishes wishes = { .frequency_hz = SKID_HZ };
	struct hp_event copy = *event;
	struct hp_error *error = NULL;
	struct hp_rate rate;

	*skid = (struct hp_skid){ .event = strdup(event->name), .key = hp_skid_key(event) };
	if (!skid->event || !skid->key)
		error = hp_error_create_no_memory();
	if (!error && !skid_kernel_count)
		error = hp_error_create(HP_ERROR_NOT_FOUND, "the skid cannot be measured on %s",
					machine->architecture);
	hp_rate_decide(event, &wishes, hp_measure_cost(event, 0), &rate);
	for (size_t i = 0; i < skid_kernel_count && !error; i++) {
		error = sample_kernel(machine, &copy, &rate, &skid_kernels[i], &skid->kernels[i]);
		skid->kernel_count++;
	}
	if (!error)
		hp_skid_judge(skid);
	else
		hp_skid_clear(skid);
	return error;
}
