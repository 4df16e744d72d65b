/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulation.h"

#include "../tuning.h"
#include "follow.h"

#include <hpcprof/base/thread.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE_WORDS = PATH_LOG_BYTES / 8, STEP_WORDS = 4096 };
_Static_assert((int)SIMULATED_STRETCHES <= (int)HP_WINDOW_PARTS,
	       "stretches have counts of their own");

struct piece {
	uint64_t words[PIECE_WORDS];
	size_t count;
};

struct simulation {
	const struct hp_engine *engine;
	struct hp_engine_log log;
	struct hp_uarch_geometry geometry; /* measured, once that is done */
	struct hp_core core;
	void (*measure)(struct hp_uarch_geometry *, struct hp_core *);
	struct hp_resizes
		resizes; /* in what the second models differ; none: there are no second ones */
	const bool *core_is_shared;
	struct model {
		struct hp_core core, shared_core;
		struct hp_uarch *uarch;
		struct hp_timing *timing;
		struct hp_timing
			*shared_timing; /* of the core while another thread of it is busy */
		struct follower follower;
	} models[2]; /* with the core's sizes, and with changed ones */
	size_t model_count;
	struct tracing tracing; /* fed by the first models; without a buffer there is no trace */
	uint64_t prepared_ns;	/* CPU time of the thread after measuring and making the models */
	pid_t pid;		/* process of the previous window */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* protects the following fields */
	pthread_cond_t changed;
	struct piece *queue; /* ring of SIMULATION_QUEUE */
	size_t first, waiting;
	bool is_busy;
	enum { UNPREPARED, TO_BE_PREPARED, PREPARED, UNABLE } state;
	bool has_enough; /* of this stretch it has, or will get, enough: nothing more is accepted */
	bool is_done;	 /* no other stretch is wanted */
	size_t stretches, stretch; /* in each window, and number of the latest one: see resume() */
	uint64_t each;		   /* instructions of a stretch */
	size_t cuts[HP_WINDOW_PARTS + 1];
	size_t part_count; /* of the window, once that is known: see simulation_cut */
	bool is_given_up;
	bool is_over;
};

/* --- the thread -------------------------------------------------------------------------------- */

static uint64_t ns_of(clockid_t clock)
{
	struct timespec spent;

	if (clock_gettime(clock, &spent) < 0)
		return 0;
	return (uint64_t)spent.tv_sec * 1000000000 + (uint64_t)spent.tv_nsec;
}

enum work { WORK_OVER, WORK_PREPARE, WORK_FOLLOW };

static enum work wait_for_work(struct simulation *simulation)
{
	enum work work = WORK_OVER;

	pthread_mutex_lock(&simulation->lock);
	simulation->is_busy = false;
	pthread_cond_broadcast(&simulation->changed);
	while (!simulation->waiting && !simulation->is_over && simulation->state != TO_BE_PREPARED)
		pthread_cond_wait(&simulation->changed, &simulation->lock);
	if (!simulation->is_over)
		work = simulation->state == TO_BE_PREPARED ? WORK_PREPARE : WORK_FOLLOW;
	simulation->is_busy = work != WORK_OVER;
	pthread_mutex_unlock(&simulation->lock);
	return work;
}

static bool make_model(struct model *model, const struct hp_uarch_geometry *geometry)
{
	struct hp_uarch_geometry shared = *geometry;

	model->shared_core = model->core;
	hp_uarch_share(&shared, &model->shared_core);
	model->uarch = hp_uarch_create(geometry);
	model->timing = hp_timing_create(&model->core, geometry);
	model->shared_timing = hp_timing_create(&model->shared_core, &shared);
	return model->uarch && model->timing && model->shared_timing &&
	       follower_create(&model->follower, model->uarch, model->timing, &model->core);
}

static bool make_models(struct simulation *simulation)
{
	struct hp_uarch_geometry resized = simulation->geometry;

	simulation->models[0].core = simulation->models[1].core = simulation->core;
	simulation->model_count = 1;
	if (!make_model(&simulation->models[0], &simulation->geometry))
		return false;
	if (simulation->tracing.numbers)
		simulation->models[0].follower.tracing = &simulation->tracing;
	if (!simulation->resizes.count ||
	    !hp_resizes_apply(&simulation->resizes, &resized, &simulation->models[1].core))
		return true;
	simulation->model_count = 2;
	return make_model(&simulation->models[1], &resized);
}

/* At the usual priority: with idle priority it could take minutes on a busy machine, and ending the
 * recording waits for it. */
static void prepare(struct simulation *simulation)
{
	bool is_able;

	if (simulation->measure)
		simulation->measure(&simulation->geometry, &simulation->core);
	is_able = make_models(simulation);
	pthread_mutex_lock(&simulation->lock);
	simulation->prepared_ns = ns_of(CLOCK_THREAD_CPUTIME_ID);
	simulation->state = is_able ? PREPARED : UNABLE;
	pthread_mutex_unlock(&simulation->lock);
}

static bool has_enough(struct simulation *simulation)
{
	bool has_enough;

	pthread_mutex_lock(&simulation->lock);
	has_enough = simulation->has_enough;
	pthread_mutex_unlock(&simulation->lock);
	return has_enough;
}

/* Instructions simulated when the stretch ends. What earlier ones have left over is added to the
 * next one, as where few samples match some are left out. */
static uint64_t quota(const struct simulation *simulation)
{
	return simulation->each * (simulation->stretch + 1);
}

static void follow_piece(struct simulation *simulation)
{
	const struct piece *piece = &simulation->queue[simulation->first];
	const struct follower *follower = &simulation->models[0].follower;

	/* In steps, since with others on the CPU a whole piece may take seconds. */
	for (size_t at = 0; at < piece->count && !has_enough(simulation); at += STEP_WORDS)
		for (size_t i = 0; i < simulation->model_count; i++)
			follower_take(&simulation->models[i].follower, piece->words + at,
				      piece->count - at < STEP_WORDS ? piece->count - at
								     : STEP_WORDS);
	pthread_mutex_lock(&simulation->lock);
	simulation->is_done |= follower->is_lost;
	simulation->has_enough |= simulation->is_done ||
				  follower->instructions >= quota(simulation);
	if (simulation->waiting) {
		simulation->first = (simulation->first + 1) % SIMULATION_QUEUE;
		simulation->waiting--;
	}
	if (simulation->has_enough)
		simulation->waiting = 0;
	pthread_cond_broadcast(&simulation->changed);
	pthread_mutex_unlock(&simulation->lock);
}

static void *simulate(void *context)
{
	struct simulation *simulation = context;

	for (enum work work; (work = wait_for_work(simulation)) != WORK_OVER;) {
		if (work == WORK_PREPARE)
			prepare(simulation);
		else
			follow_piece(simulation);
	}
	return NULL;
}

/* --- what the replay hands on ------------------------------------------------------------------ */

static bool take(void *context, const uint64_t *words, size_t count)
{
	struct simulation *simulation = context;
	struct piece *piece;
	bool is_enough;

	pthread_mutex_lock(&simulation->lock);
	while (simulation->waiting == SIMULATION_QUEUE && !simulation->has_enough)
		pthread_cond_wait(&simulation->changed, &simulation->lock);
	is_enough = simulation->has_enough;
	if (!is_enough && count <= PIECE_WORDS) {
		piece = &simulation->queue[(simulation->first + simulation->waiting) %
					   SIMULATION_QUEUE];
		memcpy(piece->words, words, count * sizeof(*words));
		piece->count = count;
		simulation->waiting++;
		pthread_cond_broadcast(&simulation->changed);
	}
	pthread_mutex_unlock(&simulation->lock);
	return !is_enough;
}

static const struct path_plan *plan_of(const void *engine, uint64_t block)
{
	return hp_engine_plan(engine, block);
}

static void drop(struct simulation *simulation)
{
	simulation->has_enough = simulation->is_done = true;
	simulation->waiting = 0;
	pthread_cond_broadcast(&simulation->changed);
}

/* While it makes models that are not wanted any more, nobody waits for it. */
static bool is_at_work(const struct simulation *simulation)
{
	bool is_preparing = simulation->state == UNPREPARED || simulation->state == TO_BE_PREPARED;

	return is_preparing ? simulation->state == TO_BE_PREPARED && !simulation->is_given_up
			    : simulation->waiting || simulation->is_busy;
}

/* Waits until no pieces are left and the thread rests. `drops`: waiting pieces are dropped. */
static void come_to_rest(struct simulation *simulation, bool drops)
{
	pthread_mutex_lock(&simulation->lock);
	if (drops)
		drop(simulation);
	while (is_at_work(simulation))
		pthread_cond_wait(&simulation->changed, &simulation->lock);
	pthread_mutex_unlock(&simulation->lock);
}

/* Stretches begin at equal distances in the window. */
static bool resume(void *context, size_t sample, size_t samples)
{
	struct simulation *simulation = context;
	size_t stretch = sample * simulation->stretches / samples;
	bool is_wanted;

	pthread_mutex_lock(&simulation->lock);
	is_wanted = !simulation->is_done && simulation->has_enough &&
		    stretch > simulation->stretch && stretch < simulation->stretches;
	pthread_mutex_unlock(&simulation->lock);
	if (!is_wanted)
		return false;
	come_to_rest(simulation, false);
	for (size_t i = 0; i < simulation->model_count; i++)
		follower_resume(&simulation->models[i].follower, stretch, sample,
				simulation->each / STRETCH_WARMING_PART);
	pthread_mutex_lock(&simulation->lock);
	simulation->stretch = stretch;
	simulation->has_enough = simulation->is_done;
	pthread_mutex_unlock(&simulation->lock);
	return true;
}

uint64_t simulation_spent_ns(struct simulation *simulation)
{
	clockid_t clock;
	uint64_t spent_ns = 0;

	if (pthread_getcpuclockid(simulation->thread, &clock) != 0)
		return 0;
	pthread_mutex_lock(&simulation->lock);
	if (simulation->state == PREPARED)
		spent_ns = ns_of(clock) - simulation->prepared_ns;
	pthread_mutex_unlock(&simulation->lock);
	return spent_ns;
}

void simulation_prepare(struct simulation *simulation, const cpu_set_t *cpus)
{
	(void)pthread_setaffinity_np(simulation->thread, sizeof(*cpus), cpus);
	pthread_mutex_lock(&simulation->lock);
	if (simulation->state == UNPREPARED) {
		simulation->state = TO_BE_PREPARED;
		pthread_cond_broadcast(&simulation->changed);
	}
	pthread_mutex_unlock(&simulation->lock);
}

bool simulation_begin(struct simulation *simulation, pid_t pid, uint64_t fs_base,
		      const cpu_set_t *cpus, bool gives_way)
{
	static const struct sched_param no_priority = { 0 };
	bool goes_on = simulation->pid == pid;
	bool is_able, is_shared;

	simulation_prepare(simulation, cpus);
	come_to_rest(simulation, true);
	/* an ordinary user may not be permitted to undo it */
	(void)pthread_setschedparam(simulation->thread, gives_way ? SCHED_IDLE : SCHED_OTHER,
				    &no_priority);
	pthread_mutex_lock(&simulation->lock);
	is_able = simulation->state == PREPARED && !simulation->is_given_up;
	simulation->first = 0;
	simulation->stretch = 0;
	simulation->has_enough = simulation->is_done = !is_able;
	pthread_mutex_unlock(&simulation->lock);
	if (!is_able)
		return false;
	simulation->pid = pid;
	simulation->part_count = 0;
	if (simulation->tracing.numbers)
		tracing_begin_window(&simulation->tracing);
	is_shared = simulation->core_is_shared &&
		    __atomic_load_n(simulation->core_is_shared, __ATOMIC_RELAXED);
	for (size_t i = 0; i < simulation->model_count; i++) {
		struct model *model = &simulation->models[i];

		model->follower.timing = is_shared ? model->shared_timing : model->timing;
		follower_begin(&model->follower, goes_on, plan_of, simulation->engine, fs_base,
			       simulation->each / STRETCH_WARMING_PART);
	}
	return true;
}

void simulation_set_huge(struct simulation *simulation, const struct hp_uarch_huge *huge,
			 size_t count)
{
	for (size_t i = 0; i < simulation->model_count; i++)
		hp_uarch_set_huge(simulation->models[i].uarch, huge, count);
}

const struct hp_engine_log *simulation_log(const struct simulation *simulation)
{
	return &simulation->log;
}

void simulation_give_up(struct simulation *simulation)
{
	pthread_mutex_lock(&simulation->lock);
	simulation->is_given_up = true;
	drop(simulation);
	pthread_mutex_unlock(&simulation->lock);
}

void simulation_cut(struct simulation *simulation, const size_t *cuts, size_t part_count)
{
	memcpy(simulation->cuts, cuts, part_count * sizeof(*cuts));
	simulation->part_count = part_count;
}

void simulation_end(struct simulation *simulation, struct hp_window *window)
{
	come_to_rest(simulation, window == NULL);
	simulation_set_huge(simulation, NULL, 0);
	if (window && simulation->state == PREPARED) {
		window->latencies[HP_LATENCY_L2] = simulation->core.l2_cycles;
		window->latencies[HP_LATENCY_L3] = simulation->core.l3_cycles;
		window->latencies[HP_LATENCY_MEMORY] = simulation->core.memory_cycles;
		follower_tell(&simulation->models[0].follower, simulation->cuts,
			      simulation->part_count, window);
		if (simulation->model_count > 1)
			follower_tell_resized(&simulation->models[1].follower,
					      hp_resizes_code(&simulation->resizes), window);
	}
}

/* --- life -------------------------------------------------------------------------------------- */

const struct tracing *simulation_end_trace(struct simulation *simulation)
{
	if (!simulation->tracing.numbers)
		return NULL;
	come_to_rest(simulation, true);
	tracing_end(&simulation->tracing);
	return &simulation->tracing;
}

static bool begin(struct simulation *simulation, const struct simulation_options *options)
{
	simulation->queue = calloc(SIMULATION_QUEUE, sizeof(*simulation->queue));
	simulation->geometry = *options->geometry;
	simulation->core = *options->core;
	simulation->measure = options->measure;
	simulation->core_is_shared = options->core_is_shared;
	simulation->stretches = options->trace_fd ? 1 : SIMULATED_STRETCHES;
	simulation->each = options->trace_fd ? TRACED_INSNS : SIMULATED_INSNS / SIMULATED_STRETCHES;
	if (options->resizes)
		simulation->resizes = *options->resizes;
	simulation->has_enough = simulation->is_done = true;
	return simulation->queue &&
	       (!options->trace_fd ||
		tracing_begin(&simulation->tracing, options->trace_fd, options->trace_bytes)) &&
	       hp_thread_start(&simulation->thread, simulate, simulation) == 0;
}

struct hp_error *simulation_create(const struct simulation_options *options,
				   const struct hp_engine *engine, struct simulation **result)
{
	struct simulation *simulation = calloc(1, sizeof(*simulation));

	if (!simulation)
		return hp_error_create_no_memory();
	simulation->engine = engine;
	simulation->log = (struct hp_engine_log){ take, simulation, resume };
	pthread_mutex_init(&simulation->lock, NULL);
	pthread_cond_init(&simulation->changed, NULL);
	simulation->is_running = begin(simulation, options);
	if (!simulation->is_running) {
		simulation_destroy(simulation);
		return hp_error_create_no_memory();
	}
	*result = simulation;
	return NULL;
}

void simulation_destroy(struct simulation *simulation)
{
	if (simulation->is_running) {
		pthread_mutex_lock(&simulation->lock);
		simulation->is_over = simulation->has_enough = true;
		simulation->waiting = 0;
		pthread_cond_broadcast(&simulation->changed);
		pthread_mutex_unlock(&simulation->lock);
		pthread_join(simulation->thread, NULL);
	}
	for (size_t i = 0; i < simulation->model_count; i++) {
		struct model *model = &simulation->models[i];

		if (model->follower.by_block)
			follower_clear(&model->follower);
		hp_uarch_destroy(model->uarch);
		hp_timing_destroy(model->timing);
		hp_timing_destroy(model->shared_timing);
	}
	tracing_clear(&simulation->tracing);
	pthread_mutex_destroy(&simulation->lock);
	pthread_cond_destroy(&simulation->changed);
	free(simulation->queue);
	free(simulation);
}
