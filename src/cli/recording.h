/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording code that several commands share, from options to finished epochs.
 *
 *	recording_argp		the options that say what is sampled and how, to be a command's
 *				argp child; its input is the struct recording
 *	recording_prepare	finds the events here, and which of them take turns
 *	recording_run		records one epoch; again as often as wanted
 *	recording_clear		at the end, also after errors
 *
 * Banner and closing line go to standard error, unless it is brief; and nothing at all when quiet.
 */
#ifndef HPCPROF_CLI_RECORDING_H
#define HPCPROF_CLI_RECORDING_H

#include "record_shadow.h"
#include "work.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/collect/session.h>

#include <argp.h>

struct recording {
	/* What the options say, but for events. The target, the database and the epoch's label or
	 * what it is appended to are the caller's to fill in before each run. */
	struct hp_session_options session;
	HP_VECTOR(const char *) events_asked; /* each -e */
	uint32_t counters;
	struct record_shadow shadow;
	struct work work;
	FILE *output; /* the command's output after its end, if `work` is read from it; or NULL */
	const char *given; /* the first option that says how to record; NULL: none */
	/* Called when all is set up and the command is about to run; may be NULL. An error ends the
	 * run before the command starts. */
	struct hp_error *(*ready)(void *context);
	void *ready_context;
	bool wants_stalls; /* sample the events of the stall stack, too */
	bool is_strict;
	bool is_brief;
	bool is_quiet;
	/* Found by recording_prepare. */
	struct hp_machine *machine;
	struct hp_event_list events;
	struct hp_rotation_sets rotation_sets;
};

/* The outcome of one run. */
struct recording_result {
	int exit_status; /* 0 without a command, HP_EXIT_RECORDER after an error of hpcprof */
	bool has_run;
	struct hp_run run;
	char *stamp; /* of the epoch, malloc'ed; NULL when there is none */
};

extern const struct argp recording_argp;
/* Parses the argument of --work. On an error, argp prints the reason and exits. */
void recording_parse_work(struct argp_state *state, const char *text, struct work *work);

/* Prints what is sampled instead of the requested events, and why; nothing if there are no
 * substitutes. */
void recording_print_substitutes(const struct recording *recording);

struct hp_error *recording_prepare(struct recording *recording);
/* Records one epoch. `result` is also set after an error. */
struct hp_error *recording_run(struct recording *recording, struct recording_result *result);
void recording_clear(struct recording *recording);

#endif
