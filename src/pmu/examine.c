/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what prevents profiling here, how to permit it, and what works anyway. */
#include "examine.h"

#include "text.h"
#include "tracefs.h"

#include <hpcprof/pmu/event.h>

#include "try.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum {
	DEFAULT_RATE_HZ = 1000,
	HIGHEST_RATE_HZ = 10000, /* the highest rate that record uses without --no-cap */
	COMFORTABLE_RING_PAGES = 64,
};

static void add_paranoid(struct hp_examination *examination)
{
	static const char topic[] = "perf_event_paranoid";
	int level = examination->machine->paranoid;

	if (level == -2)
		hp_examination_add(examination, HP_FINDING_BLOCKED, topic,
				   "boot a kernel with CONFIG_PERF_EVENTS=y",
				   "hpcprof report on profiles from elsewhere",
				   "this kernel has no perf events");
	else if (examination->machine->privileged)
		hp_examination_add(examination, HP_FINDING_OK, topic, NULL, NULL,
				   "%d, which does not limit this user (CAP_PERFMON)", level);
	else if (level >= 3 && !examination->machine->samples)
		hp_examination_add(examination, HP_FINDING_BLOCKED, topic,
				   "sudo sysctl kernel.perf_event_paranoid=2",
				   "hpcprof report on profiles from elsewhere",
				   "%d: only privileged users open events", level);
	else if (level >= 2) /* mainline kernels know nothing above 2 */
		hp_examination_add(examination, HP_FINDING_LIMITED, topic,
				   "sudo sysctl kernel.perf_event_paranoid=1",
				   "record -- COMMAND and -p PID, in user mode",
				   "%d: own processes, user mode only", level);
	else if (level == 1)
		hp_examination_add(examination, HP_FINDING_LIMITED, topic,
				   "sudo sysctl kernel.perf_event_paranoid=0",
				   "record -- COMMAND and -p PID, kernel samples included",
				   "1: own processes, user and kernel mode");
	else if (level == 0)
		hp_examination_add(examination, HP_FINDING_LIMITED, topic,
				   "sudo sysctl kernel.perf_event_paranoid=-1",
				   "everything except tracepoints",
				   "0: everything except tracepoints");
	else
		hp_examination_add(examination, HP_FINDING_OK, topic, NULL, NULL,
				   "%d: everything is permitted", level);
}

/* Whether the level permits sampling is found out by opening an event. */
static void add_sampling(struct hp_examination *examination)
{
	const struct hp_machine *machine = examination->machine;
	struct hp_event event = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = true,
		.exclude_hypervisor = true,
		.group = -1,
	};
	char name[] = "cpu-clock:u";
	struct perf_event_attr attr = { .sample_period = 1000003 };
	struct hp_error *error;
	int failure;

	event.name = name;
	hp_event_to_attr(&event, &attr);
	failure = hp_try_open(attr, 0, -1);
	if (!failure) {
		hp_examination_add(examination, HP_FINDING_OK, "user-mode samples", NULL, NULL,
				   "this user can sample cpu-clock:u in own processes");
		return;
	}
	error = hp_machine_open_error(machine, &event, 0, failure);
	hp_examination_add(examination, HP_FINDING_BLOCKED, "user-mode samples",
			   error->advice ? error->advice : "hpcprof doctor as root",
			   "hpcprof report on profiles from elsewhere", "%s", error->message);
	hp_error_destroy(error);
}

static void add_reach(struct hp_examination *examination)
{
	const struct hp_machine *machine = examination->machine;

	if (!machine->user_only)
		hp_examination_add(examination, HP_FINDING_OK, "kernel samples", NULL, NULL,
				   "available to this user");
	else
		hp_examination_add(examination, HP_FINDING_BLOCKED, "kernel samples",
				   "sudo sysctl kernel.perf_event_paranoid=1",
				   "user-mode samples (events with :u)", "refused to this user");
	if (machine->system_wide)
		hp_examination_add(examination, HP_FINDING_OK, "system-wide (-a)", NULL, NULL,
				   "permitted");
	else
		hp_examination_add(examination, HP_FINDING_BLOCKED, "system-wide (-a)",
				   "sudo sysctl kernel.perf_event_paranoid=0",
				   "record -- COMMAND and -p PID", "refused to this user");
}

/* The largest ring within the kernel's budget: a power of two of pages, plus a control page. */
static uint64_t ring_pages(int64_t mlock_kb)
{
	uint64_t page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	uint64_t pages = mlock_kb > 0 ? (uint64_t)mlock_kb / page_kb : 0;
	uint64_t ring = 1;

	if (pages < 2)
		return 0;
	while (ring * 2 + 1 <= pages)
		ring *= 2;
	return ring;
}

static void add_memory(struct hp_examination *examination)
{
	int64_t kb = examination->machine->mlock_kb;
	uint64_t pages = ring_pages(kb);
	struct rlimit limit = { 0 };
	char text[64] = "unlimited";
	bool small = pages < COMFORTABLE_RING_PAGES;

	hp_examination_add(
		examination, small ? HP_FINDING_LIMITED : HP_FINDING_OK, "perf_event_mlock_kb",
		small ? "sudo sysctl kernel.perf_event_mlock_kb=516" : NULL,
		small ? "smaller rings: samples may be lost under load" : NULL,
		"%lld KiB: a ring of %llu pages per CPU, for all recorders of one user together",
		(long long)kb, (unsigned long long)pages);
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)limit.rlim_cur / 1024);
	hp_examination_add(examination, HP_FINDING_OK, "RLIMIT_MEMLOCK", NULL, NULL,
			   "%s, for rings beyond perf_event_mlock_kb", text);
}

static void add_files(struct hp_examination *examination)
{
	struct rlimit limit = { 0 };
	char lift[64];
	uint64_t wanted = 64 + 8ull * examination->machine->cpus;
	bool small;

	getrlimit(RLIMIT_NOFILE, &limit);
	small = limit.rlim_cur < wanted;
	snprintf(lift, sizeof(lift), "ulimit -n %llu", (unsigned long long)wanted * 2);
	hp_examination_add(examination, small ? HP_FINDING_LIMITED : HP_FINDING_OK, "RLIMIT_NOFILE",
			   small ? lift : NULL, small ? "one or two events at a time" : NULL,
			   "%llu open files (up to %llu with ulimit -n); an event needs one for "
			   "each of %u CPUs",
			   (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max,
			   examination->machine->cpus);
}

static void add_rates(struct hp_examination *examination)
{
	int64_t rate = examination->machine->max_sample_rate;
	bool low = rate < HIGHEST_RATE_HZ;
	int64_t percent;

	hp_examination_add(examination,
			   !low			    ? HP_FINDING_OK
			   : rate < DEFAULT_RATE_HZ ? HP_FINDING_BLOCKED
						    : HP_FINDING_LIMITED,
			   "max_sample_rate",
			   low ? "sudo sysctl kernel.perf_event_max_sample_rate=100000" : NULL,
			   low ? "rates below it (-F)" : NULL, "%lld samples per second and CPU",
			   (long long)rate);
	if (!hp_surroundings_number(examination->machine,
				    "/proc/sys/kernel/perf_cpu_time_max_percent", &percent))
		return;
	if (percent <= 0 || percent >= 100)
		hp_examination_add(examination, HP_FINDING_OK, "cpu_time_max_percent", NULL, NULL,
				   "%lld: the kernel does not lower sampling rates",
				   (long long)percent);
	else
		hp_examination_add(examination, HP_FINDING_OK, "cpu_time_max_percent", NULL, NULL,
				   "%lld: the kernel lowers the highest sampling rate when samples "
				   "take more than %lld %% of a CPU",
				   (long long)percent, (long long)percent);
}

/* If addresses are hidden, /proc/kallsyms contains zeros. */
static bool kernel_symbols_readable(const struct hp_machine *machine)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char head[4096];
	ssize_t size;

	if (asprintf(&path, "%s/proc/kallsyms", machine->root) < 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	if (size <= 0)
		return false;
	head[size] = 0;
	/* The first symbols may really be at 0 (those of per-CPU data). */
	for (char *line = head; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strtoull(line, NULL, 16) != 0)
			return true;
	}
	return false;
}

static void add_kernel_symbols(struct hp_examination *examination)
{
	int64_t restriction = -1;

	hp_surroundings_number(examination->machine, "/proc/sys/kernel/kptr_restrict",
			       &restriction);
	if (kernel_symbols_readable(examination->machine))
		hp_examination_add(examination, HP_FINDING_OK, "kptr_restrict", NULL, NULL,
				   "%lld: kernel functions have names", (long long)restriction);
	else
		hp_examination_add(examination, HP_FINDING_LIMITED, "kptr_restrict",
				   restriction > 0 ? "sudo sysctl kernel.kptr_restrict=0"
						   : "sudo sysctl kernel.perf_event_paranoid=1",
				   "names in programs and libraries; kernel samples stay addresses",
				   "%lld: /proc/kallsyms hides its addresses from this user",
				   (long long)restriction);
}

static void add_tracepoints(struct hp_examination *examination)
{
	_cleanup_free_ char *events = NULL;

	switch (hp_tracefs_events(examination->machine, &events)) {
	case HP_TRACEFS_READABLE:
		hp_examination_add(examination, HP_FINDING_OK, "tracepoints", NULL, NULL,
				   "named in %s", events);
		break;
	case HP_TRACEFS_CLOSED:
		hp_examination_add(examination, HP_FINDING_BLOCKED, "tracepoints",
				   "sudo chmod -R a+rX /sys/kernel/tracing", "all other events",
				   "this user may not read tracefs");
		break;
	case HP_TRACEFS_ABSENT:
	default:
		hp_examination_add(examination, HP_FINDING_BLOCKED, "tracepoints",
				   "sudo mount -t tracefs nodev /sys/kernel/tracing",
				   "all other events", "tracefs is not mounted");
		break;
	}
}

/* record -p needs no ptrace; record --shadow does. */
static void add_ptrace(struct hp_examination *examination)
{
	static const char topic[] = "ptrace_scope";
	static const char lift[] = "sudo sysctl kernel.yama.ptrace_scope=0";
	int64_t scope;

	if (!hp_surroundings_number(examination->machine, "/proc/sys/kernel/yama/ptrace_scope",
				    &scope))
		hp_examination_add(examination, HP_FINDING_OK, topic, NULL, NULL,
				   "no Yama: this user may trace own processes");
	else if (scope == 0)
		hp_examination_add(examination, HP_FINDING_OK, topic, NULL, NULL,
				   "0: this user may trace own processes");
	else if (scope == 1)
		hp_examination_add(
			examination, HP_FINDING_LIMITED, topic, lift,
			"record -p without --shadow, record --shadow -- COMMAND",
			"1: for --shadow, only programs that hpcprof record starts may be traced");
	else if (scope == 2)
		hp_examination_add(examination, HP_FINDING_LIMITED, topic, lift,
				   "record without --shadow",
				   "2: for --shadow, only the superuser may trace");
	else
		hp_examination_add(examination, HP_FINDING_LIMITED, topic,
				   "boot with kernel.yama.ptrace_scope=0",
				   "record without --shadow",
				   "%lld: for --shadow, nobody may trace until the next boot",
				   (long long)scope);
}

static void add_surroundings(struct hp_examination *examination)
{
	const struct hp_surroundings *around = &examination->around;

	if (around->seccomp)
		hp_examination_add(examination, HP_FINDING_LIMITED, "seccomp",
				   "docker run --cap-add PERFMON … (or --security-opt "
				   "seccomp=unconfined)",
				   "what the lines above report as permitted",
				   "a system call filter is on: it may refuse perf_event_open");
	else
		hp_examination_add(examination, HP_FINDING_OK, "seccomp", NULL, NULL,
				   "no system call filter");
	if (around->user_namespace)
		hp_examination_add(examination, HP_FINDING_LIMITED, "container",
				   "run hpcprof on the host", "own processes, user mode",
				   "%s%sa user namespace: its root has no privileges for perf",
				   around->container ? around->container : "",
				   around->container ? ", " : "");
	else
		hp_examination_add(examination, HP_FINDING_OK, "container", NULL, NULL, "%s",
				   around->container ? around->container : "none seen");
	if (around->lockdown_confidential)
		hp_examination_add(examination, HP_FINDING_LIMITED, "lockdown",
				   "boot without lockdown=confidentiality", "user-mode samples",
				   "confidentiality: the kernel refuses samples of its registers");
	else if (around->lockdown_integrity)
		hp_examination_add(examination, HP_FINDING_OK, "lockdown", NULL, NULL,
				   "integrity: does not affect profiles");
	else
		hp_examination_add(examination, HP_FINDING_OK, "lockdown", NULL, NULL, "none");
}

static void add_debuginfod(struct hp_examination *examination)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (urls && *urls)
		hp_examination_add(examination, HP_FINDING_OK, "debuginfod", NULL, NULL,
				   "DEBUGINFOD_URLS is %s", hp_pmu_show_string(urls).text);
	else
		hp_examination_add(examination, HP_FINDING_ABSENT, "debuginfod",
				   "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/",
				   "symbols and debug files that are on this machine",
				   "DEBUGINFOD_URLS is not set: nothing is fetched");
}

struct hp_error *hp_machine_examine(const struct hp_machine *machine, struct hp_findings *findings)
{
	struct hp_examination examination = {
		.machine = machine,
		.around = hp_surroundings_look(machine),
		.findings = findings,
	};

	*findings = (struct hp_findings){ 0 };
	add_sampling(&examination);
	add_paranoid(&examination);
	add_reach(&examination);
	add_surroundings(&examination);
	hp_examine_hardware(&examination);
	add_tracepoints(&examination);
	add_rates(&examination);
	add_memory(&examination);
	add_files(&examination);
	add_kernel_symbols(&examination);
	add_ptrace(&examination);
	add_debuginfod(&examination);
	if (!examination.no_memory)
		return NULL;
	hp_findings_clear(findings);
	return hp_error_create_no_memory();
}
