/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check_runs.h"

#include "check_both.h"
#include "command.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>
#include <hpcprof/target/cpu_times.h>
#include <hpcprof/target/shared_cpu.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct hp_error *check_runs_divide(struct check_runs *runs, char **words, size_t count)
{
	size_t at = 0;

	while (at < count && strcmp(words[at], "--versus") != 0)
		at++;
	if (!at || at + 1 >= count)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "--runs takes two commands"),
				       "hpcprof check --runs=5 -- COMMAND... --versus COMMAND...");
	words[at] = NULL;
	runs->commands[HP_BASE] = words;
	runs->commands[HP_CANDIDATE] = words + at + 1;
	return NULL;
}

/* Returns the side that makes the run with number `at`, counted from 0 over all runs. */
static enum hp_side check_runs_side(uint64_t at)
{
	return at % 4 == 1 || at % 4 == 2 ? HP_CANDIDATE : HP_BASE;
}

/* --- what people see ---------------------------------------------------------------------- */

struct progress {
	bool is_terminal;
	uint64_t run;
	uint64_t all;
	uint64_t start_ns;
};

static void print_command(char *const *words)
{
	for (; *words; words++) {
		_cleanup_free_ char *printable = hp_text_printable(*words);

		fprintf(stderr, " %s", printable ? printable : "?");
	}
}

/* Shows one line, which each run overwrites. */
static void print_progress(const struct progress *progress, const char *what, bool is_warm_up)
{
	uint64_t spent_ns = hp_clock_monotonic_ns() - progress->start_ns;
	double left_s = progress->run ? (double)spent_ns / 1e9 / (double)progress->run *
						(double)(progress->all - progress->run)
				      : 0;

	if (!progress->is_terminal)
		return;
	fprintf(stderr, "\r\033[Khpcprof: run %" PRIu64 " of %" PRIu64 ", %s%s", progress->run + 1,
		progress->all, what, is_warm_up ? " (warming up)" : "");
	if (progress->run)
		fprintf(stderr, ", about %.0f s left", left_s);
	fflush(stderr);
}

static void end_progress(const struct progress *progress)
{
	if (progress->is_terminal)
		fputs("\r\033[K", stderr);
}

static void print_start(const struct check_runs *runs)
{
	for (size_t side = 0; side < HP_SIDES; side++) {
		fprintf(stderr, "hpcprof: %s:", hp_side_name((enum hp_side)side));
		print_command(runs->commands[side]);
		fputc('\n', stderr);
	}
	fprintf(stderr, "hpcprof: recording %" PRIu64 " run%s of each", runs->runs,
		runs->runs == 1 ? "" : "s");
	if (runs->warm_up)
		fprintf(stderr, ", after %" PRIu64 " to warm up", runs->warm_up);
	fputc('\n', stderr);
	recording_print_substitutes(&runs->recording);
}

static void print_way(const struct check_runs *runs, const char *why)
{
	if (runs->recording.is_quiet)
		return;
	if (runs->way == CHECK_SIDE_BY_SIDE)
		fprintf(stderr, "hpcprof: side by side on CPU %d\n",
			runs->recording.session.shared_cpu);
	else
		fprintf(stderr, "hpcprof: in turns%s%s\n", why ? ", not side by side: " : "",
			why ? why : "");
}

static void print_end(const struct check_runs *runs)
{
	_cleanup_free_ char *path = hp_text_printable(hp_db_path(runs->recording.session.db));

	fprintf(stderr,
		"hpcprof: the epochs are kept; to compare them again: hpcprof check --db '%s' %s "
		"-- %s\n",
		path ? path : "?", runs->sides[HP_BASE].label, runs->sides[HP_CANDIDATE].label);
}

/* --- which way ---------------------------------------------------------------------------- */

bool check_runs_share_work(const struct check_runs *runs)
{
	const struct work *base = &runs->recording.work;
	const struct work *candidate =
		runs->candidate_work.kind != WORK_NOT_ASKED ? &runs->candidate_work : base;

	return base->kind == WORK_IN_FILE && candidate->kind == WORK_IN_FILE &&
	       strcmp(base->given, candidate->given) == 0;
}

/* Returns the time that the run waited on purpose: waiting for a CPU that others used does not
 * count. */
static double waited_ns(const struct check_alone *alone)
{
	double elapsed = (double)alone->run.elapsed_ns;
	double cpu = (double)alone->run.user_ns + (double)alone->run.system_ns;
	double left = elapsed - cpu;

	if (alone->delay.ran_ns)
		left -= cpu * (double)alone->delay.delayed_ns / (double)alone->delay.ran_ns;
	else if (cpu < hardly_any * elapsed)
		return left;
	/* While a command sleeps, its CPU is idle, unless other programs keep all CPUs busy: then a
	 * command that sleeps gets hardly any CPU time. */
	if (cpu >= hardly_any * elapsed)
		left = fmin(left, (double)alone->idle_ns);
	return fmax(left, 0);
}

/* Returns the reason against running the commands at the same time, as a sentence without a full
 * stop, judged by how each ran alone; NULL if there is none. The text is static or in `buffer`. */
static const char *check_runs_why_in_turns(const struct check_runs *runs, char *buffer, size_t size)
{
	if (check_runs_share_work(runs))
		return "both commands write their work into one file";
	if (!runs->warm_up)
		return "without a warm-up run it is not known whether they can run at the same "
		       "time";
	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct check_alone *alone = &runs->alone[side];
		const char *name = hp_side_name((enum hp_side)side);
		double elapsed = (double)alone->run.elapsed_ns;
		double cpu = (double)alone->run.user_ns + (double)alone->run.system_ns;
		double waited = waited_ns(alone);

		if (cpu > several_cpus * elapsed) {
			snprintf(buffer, size, "the %s used %.1f CPUs at once", name,
				 cpu / elapsed);
			return buffer;
		}
		if (waited > much_waiting * elapsed) {
			snprintf(buffer, size, "the %s waited for %.0f %% of its time", name,
				 100 * waited / elapsed);
			return buffer;
		}
	}
	return NULL;
}

/* --- one run ------------------------------------------------------------------------------ */

static struct hp_error *make_labels(struct check_runs *runs)
{
	char made[32];
	time_t now = time(NULL);
	struct tm parts;

	if (!runs->label) {
		gmtime_r(&now, &parts);
		strftime(made, sizeof(made), "check-%Y%m%d-%H%M%S", &parts);
	}
	for (size_t side = 0; side < HP_SIDES; side++) {
		if (asprintf(&runs->sides[side].label, "%s-%s", runs->label ? runs->label : made,
			     hp_side_name((enum hp_side)side)) < 0) {
			runs->sides[side].label = NULL;
			return hp_error_create_no_memory();
		}
	}
	return NULL;
}

/* If standard input is a file, each run reads it from its start. */
static struct hp_error *open_streams(struct check_runs *runs)
{
	struct hp_session_options *session = &runs->recording.session;
	struct stat stat;
	bool is_file = fstat(STDIN_FILENO, &stat) == 0 && S_ISREG(stat.st_mode);
	const char *input = is_file ? "/proc/self/fd/0" : "/dev/null";

	session->command_input = open(input, O_RDONLY | O_CLOEXEC);
	if (session->command_input < 0)
		return hp_error_create_errno(errno, "opening %s", input);
	session->command_output = runs->shows_output ? STDERR_FILENO
						     : open("/dev/null", O_WRONLY | O_CLOEXEC);
	runs->recording.output = runs->shows_output ? stderr : NULL;
	if (session->command_output < 0)
		return hp_error_create_errno(errno, "opening /dev/null");
	return NULL;
}

static void close_streams(struct check_runs *runs, int output)
{
	struct hp_session_options *session = &runs->recording.session;

	if (session->command_input > STDERR_FILENO)
		close(session->command_input);
	if (output > STDERR_FILENO)
		close(output);
	session->command_input = session->command_output = 0;
}

static struct hp_error *judge_status(const struct check_runs *runs,
				     const struct recording_result *result, int *interrupted)
{
	int status = result->exit_status;

	if (status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP)
		*interrupted = status;
	if (!result->has_run)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "it was interrupted");
	if (status > 128)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "the command was killed by signal %d (%s)", status - 128,
				       strsignal(status - 128));
	if (status && !runs->ignores_status)
		return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
						       "the command failed: its exit status is %d",
						       status),
				       "a run that fails does not do the work that is compared; if "
				       "that exit status is not a failure, give --ignore-status");
	if (runs->recording.work.kind != WORK_NOT_ASKED && !(result->run.work > 0))
		return work_missing(&runs->recording.work);
	return NULL;
}

static struct hp_error *keep(struct check_runs *runs, enum hp_side side, char *stamp)
{
	char **grown =
		reallocarray(runs->sides[side].stamps, runs->sides[side].count + 1, sizeof(*grown));

	if (!grown || !stamp) {
		free(stamp);
		return hp_error_create_no_memory();
	}
	runs->sides[side].stamps = grown;
	grown[runs->sides[side].count++] = stamp;
	return NULL;
}

/* Exchanges the two descriptions of work: called before the candidate's run and again after it. */
static void swap_work(struct check_runs *runs, enum hp_side side)
{
	struct work kept = runs->recording.work;

	if (side == HP_BASE || runs->candidate_work.kind == WORK_NOT_ASKED)
		return;
	runs->recording.work = runs->candidate_work;
	runs->candidate_work = kept;
}

/* `result` has the stamp of the epoch, if there is an epoch, also after an error. */
static struct hp_error *run_once(struct check_runs *runs, enum hp_side side, bool is_warm_up,
				 char **stamp, struct hp_run *run, int *interrupted)
{
	struct hp_session_options *session = &runs->recording.session;
	struct recording_result result = { 0 };
	struct hp_error *error = open_streams(runs);
	int output = session->command_output;

	session->command = runs->commands[side];
	session->label = is_warm_up ? NULL : runs->sides[side].label;
	swap_work(runs, side);
	if (!error)
		error = recording_run(&runs->recording, &result);
	close_streams(runs, output);
	if (!error)
		error = judge_status(runs, &result, interrupted);
	swap_work(runs, side);
	session->is_repeated = true;
	*stamp = result.stamp;
	*run = result.run;
	return error;
}

static struct hp_error *forget(const struct check_runs *runs, char *stamp, struct hp_error *error)
{
	struct hp_error *failure = stamp ? hp_db_remove(runs->recording.session.db, stamp) : NULL;

	free(stamp);
	if (!error)
		return failure;
	hp_error_destroy(failure);
	return error;
}

static struct hp_error *name_run(struct hp_error *error, enum hp_side side, uint64_t turn,
				 bool is_warm_up)
{
	return hp_error_wrap(error, "%s run %" PRIu64 " of the %s",
			     is_warm_up ? "warm-up" : "recorded", turn + 1, hp_side_name(side));
}

static struct hp_error *record_one(struct check_runs *runs, enum hp_side side, uint64_t turn,
				   bool is_warm_up, int *interrupted)
{
	char *stamp;
	struct hp_run run;
	struct hp_run_delay_meter *meter = is_warm_up ? hp_run_delay_begin() : NULL;
	uint64_t idle_before_ns = hp_cpu_idle_ns();
	struct hp_error *error = run_once(runs, side, is_warm_up, &stamp, &run, interrupted);
	uint64_t idle_after_ns = hp_cpu_idle_ns();
	struct hp_thread_times delay = hp_run_delay_end(meter);

	/* Counters of idle time may decrease a little. */
	if (is_warm_up)
		runs->alone[side] = (struct check_alone){
			.run = run,
			.idle_ns = idle_after_ns > idle_before_ns ? idle_after_ns - idle_before_ns
								  : 0,
			.delay = delay,
		};
	if (!idle_before_ns)
		runs->alone[side].idle_ns = UINT64_MAX;
	if (is_warm_up)
		error = forget(runs, stamp, error);
	else if (!error)
		error = keep(runs, side, stamp);
	else
		free(stamp);
	return name_run(error, side, turn, is_warm_up);
}

/* --- side by side ------------------------------------------------------------------------- */

struct turn {
	struct check_runs *runs;
	bool is_warm_up;
};

/* Runs in a process of its own. */
static void record_side(const struct check_both_recorder *recorder, enum hp_side side,
			struct check_both_outcome *outcome)
{
	const struct turn *turn = recorder->context;
	struct recording *recording = &turn->runs->recording;
	struct hp_run run;

	recording->ready = recorder->ready;
	recording->ready_context = recorder->ready_context;
	/* The baseline's recording prints the messages; this one does not repeat them. */
	recording->session.is_repeated |= side == HP_CANDIDATE;
	outcome->error = hp_shared_cpu_leave(recording->session.shared_cpu);
	if (!outcome->error)
		outcome->error = run_once(turn->runs, side, turn->is_warm_up, &outcome->stamp, &run,
					  &outcome->interrupted);
}

/* Keeps nothing of a turn that failed, because one side would have no partner. In a trial the other
 * side runs to its end, so that it leaves files as it does when it runs alone. */
static struct hp_error *record_both(struct check_runs *runs, uint64_t turn, bool is_warm_up,
				    bool is_trial, int *interrupted)
{
	struct turn what = { runs, is_warm_up };
	const struct check_both_recorder recorder = { .record = record_side,
						      .context = &what,
						      .spares_other = is_trial };
	struct check_both_outcome outcomes[HP_SIDES];
	/* Which side starts first alternates, as with runs one after the other. */
	struct hp_error *error = check_both_record(&recorder, check_runs_side(2 * turn), outcomes);

	runs->recording.session.is_repeated = true;
	for (size_t side = 0; side < HP_SIDES; side++) {
		if (outcomes[side].interrupted)
			*interrupted = outcomes[side].interrupted;
		if (error)
			hp_error_destroy(outcomes[side].error);
		else
			error = name_run(outcomes[side].error, (enum hp_side)side, turn,
					 is_warm_up);
	}
	for (size_t side = 0; side < HP_SIDES; side++) {
		if (error || is_warm_up)
			error = forget(runs, outcomes[side].stamp, error);
		else
			error = keep(runs, (enum hp_side)side, outcomes[side].stamp);
	}
	return error;
}

/* Prepares for runs side by side, before the first one. */
static struct hp_error *go_side_by_side(struct check_runs *runs)
{
	struct hp_session_options *session = &runs->recording.session;
	struct hp_error *error = hp_shared_cpu_choose(&session->shared_cpu);

	session->shares_cpu = !error;
	runs->way = CHECK_SIDE_BY_SIDE;
	return error;
}

/* Tries both commands at the same time: commands that need the same port, file or lock may fail
 * then. Returns how to run them, and why not the other way (malloc'ed); an error only if hpcprof
 * was interrupted. */
static struct hp_error *try_side_by_side(struct check_runs *runs, char **why, int *interrupted)
{
	struct hp_error *error = go_side_by_side(runs);

	if (!error)
		error = record_both(runs, 0, true, true, interrupted);
	if (!error || *interrupted)
		return error;
	if (asprintf(why, "at the same time as the other, %s", error->message) < 0)
		*why = NULL;
	hp_error_destroy(error);
	runs->recording.session.shares_cpu = false;
	runs->way = CHECK_IN_TURNS;
	return NULL;
}

static struct hp_error *choose_way(struct check_runs *runs, struct progress *progress,
				   int *interrupted)
{
	_cleanup_free_ char *failed = NULL;
	char buffer[64];
	const char *why = NULL;
	struct hp_error *error = NULL;

	if (runs->way == CHECK_WAY_TO_CHOOSE) {
		why = check_runs_why_in_turns(runs, buffer, sizeof(buffer));
		runs->way = CHECK_IN_TURNS;
		if (!why) {
			print_progress(progress, "both sides", true);
			error = try_side_by_side(runs, &failed, interrupted);
		}
		progress->run += HP_SIDES;
	}
	end_progress(progress);
	if (!error)
		print_way(runs, failed ? failed : why);
	return error;
}

/* --- all ---------------------------------------------------------------------------------- */

static struct hp_error *record_turn(struct check_runs *runs, uint64_t turn, bool is_warm_up,
				    struct progress *progress, int *interrupted)
{
	struct hp_error *error = NULL;

	if (runs->way == CHECK_SIDE_BY_SIDE) {
		print_progress(progress, "both sides", is_warm_up);
		progress->run += HP_SIDES;
		return record_both(runs, turn, is_warm_up, false, interrupted);
	}
	for (uint64_t at = 2 * turn; at < 2 * turn + 2 && !error; at++) {
		enum hp_side side = check_runs_side(at);

		print_progress(progress, hp_side_name(side), is_warm_up);
		progress->run++;
		error = record_one(runs, side, turn, is_warm_up, interrupted);
	}
	return error;
}

struct hp_error *check_runs_record(struct check_runs *runs, struct hp_db *db, int *interrupted)
{
	struct hp_session_options *session = &runs->recording.session;
	struct progress progress = {
		.is_terminal = isatty(STDERR_FILENO) && !runs->recording.is_quiet,
		.all = 2 * (runs->warm_up + runs->runs + (runs->way == CHECK_WAY_TO_CHOOSE)),
		.start_ns = hp_clock_monotonic_ns(),
	};
	struct hp_error *error = recording_prepare(&runs->recording);

	*interrupted = 0;
	session->db = db;
	runs->recording.is_brief = true;
	/* The kernel rejects higher frequencies, and lowers its limit by itself where samples take
	 * long. */
	if (!error)
		session->default_frequency_hz = fmin(
			CHECK_RUNS_FREQUENCY_HZ, (double)runs->recording.machine->max_sample_rate);
	if (!error && runs->way == CHECK_SIDE_BY_SIDE)
		error = go_side_by_side(runs);
	if (!error)
		error = make_labels(runs);
	if (!error && !runs->recording.is_quiet)
		print_start(runs);
	for (uint64_t turn = 0; turn < runs->warm_up && !error; turn++)
		error = record_turn(runs, turn, true, &progress, interrupted);
	if (!error)
		error = choose_way(runs, &progress, interrupted);
	for (uint64_t turn = 0; turn < runs->runs && !error; turn++)
		error = record_turn(runs, turn, false, &progress, interrupted);
	end_progress(&progress);
	if (!error && !runs->recording.is_quiet)
		print_end(runs);
	return error;
}

void check_runs_clear(struct check_runs *runs)
{
	recording_clear(&runs->recording);
	work_clear(&runs->candidate_work);
	for (size_t side = 0; side < HP_SIDES; side++) {
		hp_db_free_stamps(runs->sides[side].stamps, runs->sides[side].count);
		free(runs->sides[side].label);
	}
}
