/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine and this user can do, found by trying, and the messages for what they cannot
 * do.
 */
#ifndef HPCPROF_PMU_MACHINE_H
#define HPCPROF_PMU_MACHINE_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/model/cpu.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hp_event;

struct hp_machine {
	char *root;	    /* prefix of /proc and /sys: "" except in tests. Never NULL */
	char *host;	    /* never NULL */
	char *cpu_model;    /* "unknown" when /proc/cpuinfo does not say */
	struct hp_cpu cpu;  /* identification; unknown also if cores differ */
	char *architecture; /* uname -m */
	char *kernel;	    /* release and version */
	uint32_t cpus;	    /* online */
	int paranoid;	    /* kernel.perf_event_paranoid; 2 when unreadable; -2 no perf at all */
	int64_t mlock_kb;   /* kernel.perf_event_mlock_kb a CPU */
	int64_t max_sample_rate;
	bool privileged;	/* has CAP_PERFMON or CAP_SYS_ADMIN: paranoid does not limit */
	bool samples;		/* cpu-clock:u opens for own processes (tried) */
	bool user_only;		/* kernel samples are not available */
	bool system_wide;	/* -a is permitted */
	bool has_cycles;	/* `cycles` opens here (tried), so there is a PMU */
	bool ignores_precise;	/* the kernel accepts any precise_ip but provides none */
	uint8_t precise_cycles; /* highest precise_ip that `cycles` is sampled with */
	int cycles_errno;	/* why `cycles` did not open; 0 when it did */
};

/* Cheap (a few opens): what record needs. */
struct hp_error *hp_machine_create(struct hp_machine **machine);
/* The same, with /proc and /sys below `root`. Opens still use the running kernel. */
struct hp_error *hp_machine_create_at(const char *root, struct hp_machine **machine);
void hp_machine_destroy(struct hp_machine *machine);
HP_DEFINE_CLEANUP(struct hp_machine, hp_machine_destroy);

/*
 * A failed perf_event_open or mmap of a ring, as a sentence with advice. Covers EACCES, EPERM,
 * ENOENT, ENODEV, EOPNOTSUPP, EINVAL, EMFILE, ENFILE, ENOSPC, EBUSY, ESRCH, ENOMEM, ENOSYS, E2BIG.
 * `pid` is the target as given to perf_event_open, -1 for system-wide.
 */
struct hp_error *hp_machine_open_error(const struct hp_machine *machine,
				       const struct hp_event *event, pid_t pid, int errno_value);
struct hp_error *hp_machine_mmap_error(const struct hp_machine *machine, size_t ring_bytes,
				       int errno_value);

/* One finding of `hpcprof doctor`. All strings owned. */
enum hp_finding_state { HP_FINDING_OK, HP_FINDING_LIMITED, HP_FINDING_BLOCKED, HP_FINDING_ABSENT };
struct hp_finding {
	enum hp_finding_state state;
	char *topic;   /* "perf_event_paranoid" */
	char *says;    /* "2: own processes, user mode only" */
	char *lift;    /* the exact command that enables it, NULL if nothing is to be done */
	char *without; /* what still works without it, NULL likewise */
};
struct hp_findings {
	struct hp_finding *at;
	size_t count;
	size_t capacity;
};
struct hp_error *hp_machine_examine(const struct hp_machine *machine, struct hp_findings *findings);
/* Adds one; `lift` and `without` may be NULL. False: no memory. */
bool hp_findings_add(struct hp_findings *findings, enum hp_finding_state state, const char *topic,
		     const char *lift, const char *without, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
void hp_findings_clear(struct hp_findings *findings);

#endif
