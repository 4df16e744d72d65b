/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shadow windows on machines other than x86-64: they fail with a message. */
#include <hpcprof/shadow/shadow.h>

struct hp_error *hp_shadow_create(const struct hp_shadow_options *options,
				  struct hp_shadow **shadow)
{
	(void)options;
	(void)shadow;
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "no shadow windows: they work on x86-64 only"),
			       "record without --shadow");
}

struct hp_error *hp_shadow_start(struct hp_shadow *shadow)
{
	(void)shadow;
	return NULL;
}

int hp_shadow_fd(const struct hp_shadow *shadow)
{
	(void)shadow;
	return -1;
}

bool hp_shadow_take(struct hp_shadow *shadow, struct hp_window *window)
{
	(void)shadow;
	(void)window;
	return false;
}

void hp_shadow_step_aside(pid_t tid, cpu_set_t *before)
{
	(void)tid;
	CPU_ZERO(before);
}

void hp_shadow_step_back(const cpu_set_t *before)
{
	(void)before;
}

void hp_shadow_statistics(struct hp_shadow *shadow, struct hp_shadow_statistics *statistics)
{
	(void)shadow;
	*statistics = (struct hp_shadow_statistics){ 0 };
}

void hp_shadow_finish(struct hp_shadow *shadow)
{
	(void)shadow;
}

void hp_shadow_stop(struct hp_shadow *shadow)
{
	(void)shadow;
}

void hp_shadow_destroy(struct hp_shadow *shadow)
{
	(void)shadow;
}

struct hp_error *hp_shadow_examine(struct hp_findings *findings)
{
	return hp_findings_add(findings, HP_FINDING_ABSENT, "shadow windows", NULL,
			       "record without --shadow: executions are estimated from time",
			       "they work on x86-64 only")
		       ? NULL
		       : hp_error_create_no_memory();
}
