/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agents.h"

#include <hpcprof/base/number.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* The work of one agent for one rotation. */
struct errand {
	struct rotation *rotation;
	size_t place;
	struct counter_reading reading;
};

struct agent {
	struct agents *agents;
	pthread_t thread;
	int cpu;
	struct errand *errands; /* by rotation; rotation NULL: there is no work */
	uint64_t off_ns;	/* when its groups were last disabled, and others enabled */
	uint64_t on_ns;
	uint64_t took_ns; /* time to switch and read */
};

struct agents {
	struct rotation *rotations;
	size_t rotation_count;
	struct agent *agents;
	size_t count;
	uint32_t *next; /* the next group, by rotation */

	pthread_mutex_t lock;
	pthread_cond_t begin;
	pthread_cond_t done;
	uint64_t turn; /* number of the current turn */
	size_t busy;   /* agents that have not finished it */
	bool stop;
};

/* Disables the current groups, or enables the next ones. Returns a time within these calls. */
static uint64_t switch_groups(const struct agent *agent, bool on)
{
	const struct agents *agents = agent->agents;
	uint64_t before_ns = hp_clock_monotonic_ns();

	for (size_t i = 0; i < agents->rotation_count; i++) {
		const struct errand *errand = &agent->errands[i];

		if (errand->rotation)
			counters_switch(&errand->rotation->counters,
					on ? agents->next[i] : errand->rotation->current,
					errand->place, 1, on);
	}
	return before_ns + (hp_clock_monotonic_ns() - before_ns) / 2;
}

static void read_group(struct errand *errand)
{
	const struct rotation *rotation = errand->rotation;
	struct counter_reading *reading = &errand->reading;

	reading->enabled_ns = reading->running_ns = reading->reference = 0;
	for (size_t i = 0; i < rotation->counters.value_count; i++)
		reading->values[i] = 0;
	counters_read(&rotation->counters, rotation->current, errand->place, 1, reading);
}

static void run_errands(struct agent *agent)
{
	const struct agents *agents = agent->agents;

	uint64_t before_ns = hp_clock_thread_ns();

	agent->off_ns = switch_groups(agent, false);
	agent->on_ns = switch_groups(agent, true);
	for (size_t i = 0; i < agents->rotation_count; i++)
		if (agent->errands[i].rotation)
			read_group(&agent->errands[i]);
	agent->took_ns = hp_clock_thread_ns() - before_ns;
}

static void *run_agent(void *context)
{
	struct agent *agent = context;
	struct agents *agents = agent->agents;
	const struct sched_param first = { .sched_priority = 1 };
	uint64_t done = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)agent->cpu, &cpus);
	/* Without it everything works, but with more interrupts; and without real-time priority,
	 * late if the CPU is busy. */
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	pthread_mutex_lock(&agents->lock);
	while (!agents->stop) {
		if (agents->turn == done) {
			pthread_cond_wait(&agents->begin, &agents->lock);
			continue;
		}
		done = agents->turn;
		pthread_mutex_unlock(&agents->lock);
		run_errands(agent);
		pthread_mutex_lock(&agents->lock);
		if (--agents->busy == 0)
			pthread_cond_signal(&agents->done);
	}
	pthread_mutex_unlock(&agents->lock);
	return NULL;
}

static struct agent *agent_of_cpu(struct agents *agents, int cpu)
{
	for (size_t i = 0; i < agents->count; i++)
		if (agents->agents[i].cpu == cpu)
			return &agents->agents[i];
	return NULL;
}

static struct agent *add_agent(struct agents *agents, int cpu)
{
	struct agent *agent = agent_of_cpu(agents, cpu);

	if (agent)
		return agent;
	agent = &agents->agents[agents->count];
	*agent = (struct agent){ .agents = agents, .cpu = cpu };
	agent->errands = calloc(agents->rotation_count, sizeof(*agent->errands));
	if (!agent->errands)
		return NULL;
	agents->count++;
	return agent;
}

static struct hp_error *prepare(struct agents *agents)
{
	size_t places = 0;

	for (size_t i = 0; i < agents->rotation_count; i++)
		places += agents->rotations[i].counters.place_count;
	agents->agents = calloc(places + 1, sizeof(*agents->agents));
	agents->next = calloc(agents->rotation_count, sizeof(*agents->next));
	if (!agents->agents || !agents->next)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < agents->rotation_count; i++) {
		struct rotation *rotation = &agents->rotations[i];

		for (size_t j = 0; rotation_turns(rotation) && j < rotation->counters.place_count;
		     j++) {
			struct agent *agent = add_agent(agents, rotation->counters.places[j].cpu);
			struct errand *errand = agent ? &agent->errands[i] : NULL;

			if (!errand)
				return hp_error_create_no_memory();
			errand->place = j;
			errand->reading.values = calloc(rotation->counters.value_count + 1,
							sizeof(*errand->reading.values));
			if (!errand->reading.values)
				return hp_error_create_no_memory();
			errand->rotation = rotation;
		}
	}
	return NULL;
}

static void free_agents(struct agents *agents, size_t started)
{
	pthread_mutex_lock(&agents->lock);
	agents->stop = true;
	pthread_cond_broadcast(&agents->begin);
	pthread_mutex_unlock(&agents->lock);
	for (size_t i = 0; i < agents->count; i++) {
		if (i < started)
			pthread_join(agents->agents[i].thread, NULL);
		for (size_t j = 0; j < agents->rotation_count; j++)
			free(agents->agents[i].errands[j].reading.values);
		free(agents->agents[i].errands);
	}
	pthread_cond_destroy(&agents->begin);
	pthread_cond_destroy(&agents->done);
	pthread_mutex_destroy(&agents->lock);
	free(agents->agents);
	free(agents->next);
	free(agents);
}

struct hp_error *agents_create(struct rotation *rotations, size_t rotation_count,
			       struct agents **created)
{
	struct agents *agents = calloc(1, sizeof(*agents));
	struct hp_error *error;
	size_t started = 0;
	int failure = 0;

	if (!agents)
		return hp_error_create_no_memory();
	agents->rotations = rotations;
	agents->rotation_count = rotation_count;
	pthread_mutex_init(&agents->lock, NULL);
	pthread_cond_init(&agents->begin, NULL);
	pthread_cond_init(&agents->done, NULL);
	error = prepare(agents);
	while (!error && !failure && started < agents->count) {
		failure = pthread_create(&agents->agents[started].thread, NULL, run_agent,
					 &agents->agents[started]);
		started += !failure;
	}
	if (!error && failure)
		error = hp_error_create_errno(failure, "starting a thread for a CPU");
	if (error) {
		free_agents(agents, started);
		return error;
	}
	*created = agents;
	return NULL;
}

void agents_destroy(struct agents *agents)
{
	if (agents)
		free_agents(agents, agents->count);
}

static void add_reading(const struct errand *errand)
{
	struct counter_reading *into = &errand->rotation->now;

	into->enabled_ns += errand->reading.enabled_ns;
	into->running_ns += errand->reading.running_ns;
	into->reference += errand->reading.reference;
	for (size_t i = 0; i < errand->rotation->counters.value_count; i++)
		into->values[i] += errand->reading.values[i];
}

/* CPUs do not switch at the same time, so slices last from the mean of these times to the next
 * mean. */
static uint64_t mean_moment(const struct agents *agents, uint64_t from_ns, bool on)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < agents->count; i++) {
		uint64_t moment_ns = on ? agents->agents[i].on_ns : agents->agents[i].off_ns;

		sum_ns += moment_ns > from_ns ? moment_ns - from_ns : 0;
	}
	return from_ns + sum_ns / agents->count;
}

uint64_t agents_turn(struct agents *agents)
{
	uint64_t took_ns = 0;
	uint64_t asked_ns;
	uint64_t end_ns;
	uint64_t begin_ns;

	for (size_t i = 0; i < agents->rotation_count; i++)
		if (rotation_turns(&agents->rotations[i]))
			agents->next[i] = hp_mux_scheduler_next(agents->rotations[i].scheduler);
	asked_ns = hp_clock_monotonic_ns();
	pthread_mutex_lock(&agents->lock);
	agents->turn++;
	agents->busy = agents->count;
	pthread_cond_broadcast(&agents->begin);
	while (agents->busy)
		pthread_cond_wait(&agents->done, &agents->lock);
	pthread_mutex_unlock(&agents->lock);
	end_ns = mean_moment(agents, asked_ns, false);
	begin_ns = mean_moment(agents, asked_ns, true);
	for (size_t i = 0; i < agents->rotation_count; i++) {
		struct rotation *rotation = &agents->rotations[i];

		if (!rotation_turns(rotation))
			continue;
		rotation_clear_reading(rotation);
		for (size_t j = 0; j < agents->count; j++)
			if (agents->agents[j].errands[i].rotation)
				add_reading(&agents->agents[j].errands[i]);
		rotation_take(rotation, end_ns, begin_ns, agents->next[i]);
	}
	for (size_t i = 0; i < agents->count; i++)
		took_ns += agents->agents[i].took_ns;
	return took_ns / agents->count;
}
