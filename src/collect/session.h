/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording: session.c prepares it, session_run.c runs it until its end. */
#ifndef HPCPROF_SRC_COLLECT_SESSION_H
#define HPCPROF_SRC_COLLECT_SESSION_H

#include "loop.h"

#include <hpcprof/collect/session.h>

struct hp_session {
	struct hp_session_options options;
	const struct hp_machine *machine;
	struct hp_event *events; /* shallow copies; precise levels are those that were granted */
	struct hp_rate *rates;
	struct hp_signals signals;
	bool has_signals;
	struct hp_command command;
	pid_t *threads;
	size_t thread_count;
	struct hp_sampler sampler;
	struct hp_turns turns;
	struct recorder recorder;
	struct hp_epoch_writer *writer;
	struct loop loop;
	struct hp_window_source windows; /* fd -1: none */
};

#endif
