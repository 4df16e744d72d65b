/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tuning.h"

#include <hpcprof/base/thread.h>
#include <hpcprof/calibrate/clock.h>

#include <math.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* --- the chain -------------------------------------------------------------------------------- */

/* The chain is timed at two lengths, so that the cost of reading the time cancels: see tuning.h. */
enum { ADDITIONS_A_ROUND = 64 };

#if defined(__x86_64__)
/* Adds registers, since cores after Sunny Cove add constants at rename, without taking time. */
static void run_chain(uint64_t rounds)
{
	uint64_t sum = 1;

	__asm__ volatile("1:\n\t"
			 ".rept 64\n\t"
			 "add %[sum], %[sum]\n\t"
			 ".endr\n\t"
			 "dec %[rounds]\n\t"
			 "jnz 1b"
			 : [sum] "+r"(sum), [rounds] "+r"(rounds)
			 :
			 : "cc");
}
#elif defined(__aarch64__)
static void run_chain(uint64_t rounds)
{
	uint64_t sum = 1;

	__asm__ volatile("1:\n\t"
			 ".rept 64\n\t"
			 "add %[sum], %[sum], %[sum]\n\t"
			 ".endr\n\t"
			 "subs %[rounds], %[rounds], #1\n\t"
			 "b.ne 1b"
			 : [sum] "+r"(sum), [rounds] "+r"(rounds)
			 :
			 : "cc");
}
#else
static void run_chain(uint64_t rounds)
{
	(void)rounds;
}
#endif

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double time_chain(uint64_t rounds)
{
	double start_ns = now_ns();

	run_chain(rounds);
	return now_ns() - start_ns;
}

double hp_clock_measure(void)
{
	const double additions = (CLOCK_LONG_ROUNDS - CLOCK_SHORT_ROUNDS) * ADDITIONS_A_ROUND;
	double short_ns = INFINITY;
	double long_ns = INFINITY;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		short_ns = fmin(short_ns, time_chain(CLOCK_SHORT_ROUNDS));
		long_ns = fmin(long_ns, time_chain(CLOCK_LONG_ROUNDS));
	}
#if defined(__x86_64__) || defined(__aarch64__)
	return long_ns > short_ns ? additions / (long_ns - short_ns) * 1e9 : 0;
#else
	(void)additions;
	return 0;
#endif
}

/* --- the meter -------------------------------------------------------------------------------- */

enum state { IDLE, ASKED, DONE };

struct hp_clock_meter {
	pthread_t thread;
	cpu_set_t home; /* the CPUs on which the process may run */
	sem_t asked;
	int state; /* enum state, atomic; it tells which thread may access the rest */
	bool stop; /* atomic */
	int cpu;
	const struct hp_core *core;
	struct hp_clock_reading reading;
};

static void go_to(int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	/* if that CPU is not permitted or offline, the clock is measured on the present one */
	sched_setaffinity(0, sizeof(set), &set);
}

static void *run_meter(void *argument)
{
	struct hp_clock_meter *meter = argument;

	for (;;) {
		while (sem_wait(&meter->asked) < 0)
			;
		if (__atomic_load_n(&meter->stop, __ATOMIC_ACQUIRE))
			return NULL;
		go_to(meter->cpu);
		meter->reading.hz = hp_clock_measure();
		meter->reading.sharing = hp_sharing_measure(meter->core, meter->reading.hz);
		__atomic_store_n(&meter->state, DONE, __ATOMIC_RELEASE);
	}
}

struct hp_clock_meter *hp_clock_meter_create(const struct hp_core *core)
{
	struct hp_clock_meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return NULL;
	meter->core = core;
	sem_init(&meter->asked, 0, 0);
	if (sched_getaffinity(0, sizeof(meter->home), &meter->home) == 0 &&
	    hp_thread_start(&meter->thread, run_meter, meter) == 0)
		return meter;
	sem_destroy(&meter->asked);
	free(meter);
	return NULL;
}

void hp_clock_meter_destroy(struct hp_clock_meter *meter)
{
	if (!meter)
		return;
	/* The thread may wait for a CPU that it never gets, so it is released first. */
	pthread_setaffinity_np(meter->thread, sizeof(meter->home), &meter->home);
	__atomic_store_n(&meter->stop, true, __ATOMIC_RELEASE);
	sem_post(&meter->asked);
	pthread_join(meter->thread, NULL);
	sem_destroy(&meter->asked);
	free(meter);
}

void hp_clock_meter_ask(struct hp_clock_meter *meter, int cpu)
{
	if (!meter || __atomic_load_n(&meter->state, __ATOMIC_ACQUIRE) != IDLE)
		return;
	meter->cpu = cpu;
	__atomic_store_n(&meter->state, ASKED, __ATOMIC_RELAXED);
	sem_post(&meter->asked);
}

struct hp_clock_reading hp_clock_meter_take(struct hp_clock_meter *meter)
{
	struct hp_clock_reading reading;

	if (!meter || __atomic_load_n(&meter->state, __ATOMIC_ACQUIRE) != DONE)
		return (struct hp_clock_reading){ 0 };
	reading = meter->reading;
	__atomic_store_n(&meter->state, IDLE, __ATOMIC_RELEASE);
	return reading;
}

struct hp_clock_reading hp_clock_meter_wait(struct hp_clock_meter *meter)
{
	static const struct timespec moment = { .tv_nsec = CLOCK_MOMENT_NS };
	struct hp_clock_reading reading = hp_clock_meter_take(meter);

	for (int i = 0; meter && reading.hz <= 0 && i < CLOCK_MOMENTS; i++) {
		nanosleep(&moment, NULL);
		reading = hp_clock_meter_take(meter);
	}
	return reading;
}
