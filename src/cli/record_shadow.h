/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof record --shadow: passes windows from the shadow to the session, and prints messages about
 * them.
 */
#ifndef HPCPROF_CLI_RECORD_SHADOW_H
#define HPCPROF_CLI_RECORD_SHADOW_H

#include <hpcprof/collect/session.h>
#include <hpcprof/shadow/shadow.h>

enum record_causes { RECORD_CAUSES_AUTO, RECORD_CAUSES_ALWAYS, RECORD_CAUSES_OFF };

struct record_shadow {
	double percent; /* 0: no shadow windows */
	enum record_causes causes;
	struct hp_resizes resizes; /* other sizes of caches that paths are timed with, too */
	int trace_fd;		   /* where paths are written; 0: nowhere */
	bool quiet;
	struct hp_shadow *shadow;
	struct hp_shadow_statistics statistics; /* set at the end */
};

/* Makes the session use windows, if any are wanted. If that is impossible, it is an error. */
struct hp_error *record_shadow_attach(struct record_shadow *shadow, struct hp_session *session,
				      const struct hp_session_options *options,
				      const struct hp_machine *machine);
void record_shadow_clear(struct record_shadow *shadow);

/* Prints a line beside the banner, and the results at the end. */
void record_shadow_print_banner(const struct record_shadow *shadow);
void record_shadow_print_closing(const struct record_shadow *shadow);

#endif
