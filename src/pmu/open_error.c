/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains the errno of perf_event_open: its meaning on this machine, and the command that lifts
 * the limit.
 */
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include "surroundings.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SETCAP "sudo setcap cap_perfmon,cap_sys_ptrace=ep \"$(command -v hpcprof)\""
#define SECCOMP_ADVICE                                                                             \
	"start the container with --cap-add PERFMON (or --security-opt seccomp=unconfined); "      \
	"outside the container hpcprof works without changes"

struct refusal {
	const struct hp_machine *machine;
	const struct hp_event *event;
	pid_t pid;
	int errno_value;
	struct hp_surroundings around;
};

static struct hp_error *say(const struct refusal *refusal, enum hp_error_class class,
			    const char *advice, const char *says)
{
	struct hp_error *error = hp_error_create(class, "cannot open '%s': %s (%s)",
						 hp_pmu_show_string(refusal->event->name).text,
						 says, strerror(refusal->errno_value));

	if (error->errno_value == 0)
		error->errno_value = refusal->errno_value;
	return advice ? hp_error_advise(error, "%s", advice) : error;
}

static struct hp_error *refused(const struct refusal *refusal, const char *advice, const char *says)
{
	return say(refusal, HP_ERROR_NOT_PERMITTED, advice, says);
}

static struct hp_error *refused_process(const struct refusal *refusal)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *says = NULL;
	_cleanup_free_ char *advice = NULL;
	struct stat status;
	int made = -1;

	if (asprintf(&path, "%s/proc/%d", refusal->machine->root, (int)refusal->pid) < 0)
		return hp_error_create_no_memory();
	if (stat(path, &status) == 0 && status.st_uid != geteuid())
		made = asprintf(&says, "process %d belongs to user %u", (int)refusal->pid,
				status.st_uid);
	else
		made = asprintf(&says,
				"process %d is protected (set-user-ID, or it made itself "
				"undumpable, or it holds more capabilities than hpcprof)",
				(int)refusal->pid);
	if (made < 0 || asprintf(&advice,
				 "run hpcprof under sudo for process %d; your own processes work "
				 "without it",
				 (int)refusal->pid) < 0)
		return hp_error_create_no_memory();
	return refused(refusal, advice, says);
}

static struct hp_error *refused_by_paranoid(const struct refusal *refusal)
{
	const struct hp_machine *machine = refusal->machine;
	_cleanup_free_ char *says = NULL;
	const char *advice = NULL;
	const char *what = NULL;

	/* 3 is a patch of distributions; other kernels take it for 2. */
	if (refusal->pid == -1 && machine->paranoid >= 3) {
		what = "forbids system-wide profiles to ordinary users";
		advice = "run: sudo sysctl kernel.perf_event_paranoid=0, or: " SETCAP "";
	} else if (machine->paranoid >= 3) {
		what = "lets only privileged users open events";
		advice = "run: sudo sysctl kernel.perf_event_paranoid=2 (to keep it: echo "
			 "kernel.perf_event_paranoid=2 | sudo tee /etc/sysctl.d/50-perf.conf), or: "
			 "" SETCAP "; without it nothing can be sampled";
	} else if (refusal->pid == -1 && machine->paranoid > 0) {
		what = "forbids system-wide profiles to ordinary users";
		advice = "run: sudo sysctl kernel.perf_event_paranoid=0, or: " SETCAP "; "
			 "hpcprof record -- COMMAND and -p PID of your own processes work without "
			 "it";
	} else if (refusal->event->type == PERF_TYPE_TRACEPOINT && machine->paranoid > -1) {
		what = "forbids tracepoints to ordinary users";
		advice = "run: sudo sysctl kernel.perf_event_paranoid=-1, or: " SETCAP "; "
			 "software and hardware events work without it";
	} else if (!refusal->event->exclude_kernel && machine->paranoid > 1) {
		what = "forbids kernel samples to ordinary users";
		advice = "add :u to the event, or run: sudo sysctl kernel.perf_event_paranoid=1, "
			 "or: " SETCAP "; user-mode samples work without it";
	}
	if (!what)
		return NULL;
	if (asprintf(&says, "kernel.perf_event_paranoid is %d, which %s", machine->paranoid, what) <
	    0)
		return hp_error_create_no_memory();
	return refused(refusal, advice, says);
}

static bool is_kernel_address(uint64_t address)
{
	return address >> 63;
}

static struct hp_error *not_permitted(const struct refusal *refusal)
{
	const struct hp_machine *machine = refusal->machine;
	const struct hp_event *event = refusal->event;

	/* The kernel's own checks return EACCES, a container's filter EPERM. */
	if (refusal->errno_value == EPERM && refusal->around.seccomp)
		return refused(refusal, SECCOMP_ADVICE,
			       "a seccomp filter forbids perf_event_open to this process");
	if (event->type == PERF_TYPE_BREAKPOINT && is_kernel_address(event->config1))
		return refused(refusal,
			       "run hpcprof as root; breakpoints on addresses of the "
			       "program itself work without it",
			       "a breakpoint on a kernel address needs root");
	if (!machine->privileged) {
		struct hp_error *error = refused_by_paranoid(refusal);

		if (error)
			return error;
	}
	if (refusal->pid > 0 && refusal->pid != getpid())
		return refused_process(refusal);
	if (refusal->around.lockdown_confidential)
		return refused(refusal,
			       "boot without lockdown=confidentiality; user-mode events work "
			       "without it",
			       "the kernel is locked down (confidentiality)");
	if (refusal->around.user_namespace)
		return refused(refusal,
			       "run hpcprof outside the container, on the host; user-mode events "
			       "of your own processes work inside it",
			       "root inside a user namespace has no privileges for perf");
	return refused(refusal,
		       "look for a denial: sudo ausearch -m avc -c hpcprof, or: sudo dmesg | grep "
		       "-i -e avc -e apparmor; then: hpcprof doctor",
		       "a security module of this machine forbids it");
}

static struct hp_error *unknown_to_the_machine(const struct refusal *refusal)
{
	const struct hp_event *event = refusal->event;
	bool generic = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE ||
		       event->type == PERF_TYPE_RAW;

	if (generic && !refusal->machine->has_cycles && refusal->machine->cycles_errno == ENOENT)
		return say(refusal, HP_ERROR_NOT_FOUND,
			   "use cpu-clock:u, which works everywhere; hardware events need bare "
			   "metal or a virtual machine with a PMU (QEMU/KVM: -cpu host,pmu=on)",
			   "this machine offers no hardware PMU (a VM or container?)");
	return say(refusal, HP_ERROR_NOT_FOUND,
		   "hpcprof events lists what this machine counts; cpu-clock:u works everywhere",
		   refusal->errno_value == ENODEV ? "the PMU it needs is not on this machine or CPU"
						  : "this machine's PMU does not know it");
}

static struct hp_error *not_supported(const struct refusal *refusal)
{
	if (refusal->event->precise)
		return say(refusal, HP_ERROR_SYSTEM,
			   "use the modifier P (as precise as the machine can), or leave out p",
			   "this machine cannot sample it that precisely");
	if (refusal->event->type == PERF_TYPE_BREAKPOINT)
		return say(refusal, HP_ERROR_SYSTEM,
			   "sampling cpu-clock:u works without breakpoints",
			   "this CPU or virtual machine offers no hardware breakpoints");
	return say(refusal, HP_ERROR_SYSTEM,
		   "sample cpu-clock:u instead; hpcprof stat can still count this event",
		   "its PMU can count, but has no interrupt to sample with");
}

static struct hp_error *invalid(const struct refusal *refusal)
{
	const struct hp_event *event = refusal->event;

	if (event->precise)
		return say(refusal, HP_ERROR_SYSTEM,
			   "use the modifier P (as precise as the machine can), or leave out p",
			   "the kernel refuses these settings; usually the PMU does not have this "
			   "precise level");
	if (event->type == PERF_TYPE_BREAKPOINT)
		return say(refusal, HP_ERROR_USAGE,
			   "use 1, 2, 4 or 8 bytes at a multiple of that, and :x with sizeof(long) "
			   "(mem:0xADDRESS:x); x86 has no read-only breakpoints: use :rw",
			   "the CPU cannot watch this address in this way");
	if (event->type > PERF_TYPE_BREAKPOINT && event->exclude_kernel)
		return say(refusal, HP_ERROR_USAGE,
			   "run as root without :u, with hpcprof stat -a; per-process samples come "
			   "from cycles or cpu-clock:u",
			   "its PMU cannot tell user from kernel mode, or cannot be sampled");
	if (event->group >= 0)
		return say(refusal, HP_ERROR_USAGE,
			   "put fewer events into the group, or only events of one PMU",
			   "the PMU cannot count this group together");
	return say(refusal, HP_ERROR_USAGE,
		   "hpcprof events shows how the event is written; -F must not be above "
		   "kernel.perf_event_max_sample_rate (see hpcprof doctor)",
		   "the kernel refuses these settings");
}

static struct hp_error *out_of_files(const struct refusal *refusal)
{
	struct rlimit limit = { 0 };
	_cleanup_free_ char *says = NULL;

	if (refusal->errno_value == ENFILE)
		return say(refusal, HP_ERROR_SYSTEM, "run: sudo sysctl fs.file-max=1000000",
			   "the whole machine has run out of file descriptors");
	getrlimit(RLIMIT_NOFILE, &limit);
	if (asprintf(&says,
		     "hpcprof may have %llu files open, and each event takes one per CPU (and one "
		     "per "
		     "thread with -p)",
		     (unsigned long long)limit.rlim_cur) < 0)
		return hp_error_create_no_memory();
	return say(refusal, HP_ERROR_SYSTEM,
		   "run: ulimit -n 65536 (as root if that is refused); or give fewer events", says);
}

static struct hp_error *busy(const struct refusal *refusal)
{
	int64_t watchdog = 0;

	if (hp_surroundings_number(refusal->machine, "/proc/sys/kernel/nmi_watchdog", &watchdog) &&
	    watchdog)
		return say(refusal, HP_ERROR_SYSTEM,
			   "run: sudo sysctl kernel.nmi_watchdog=0; cpu-clock:u works without it",
			   "the kernel's NMI watchdog or another profiler uses the counter");
	return say(refusal, HP_ERROR_SYSTEM,
		   "end the other profiler or virtual machine; cpu-clock:u works without it",
		   "another program uses the PMU exclusively");
}

static struct hp_error *no_perf(const struct refusal *refusal)
{
	if (refusal->around.seccomp || refusal->around.container)
		return refused(refusal, SECCOMP_ADVICE,
			       "a seccomp filter hides perf_event_open from this process");
	return say(refusal, HP_ERROR_SYSTEM,
		   "boot a kernel with CONFIG_PERF_EVENTS=y; nothing can be sampled without it",
		   "this kernel was built without perf events");
}

static struct hp_error *other(const struct refusal *refusal)
{
	_cleanup_free_ char *says = NULL;

	switch (refusal->errno_value) {
	case ENOSPC:
		return say(refusal, HP_ERROR_SYSTEM,
			   "detach the debugger, or give fewer mem: events (most CPUs watch four "
			   "addresses)",
			   "all hardware breakpoints are in use, by other events or a debugger");
	case ESRCH:
		if (asprintf(&says, "there is no process or thread %d", (int)refusal->pid) < 0)
			return hp_error_create_no_memory();
		return say(refusal, HP_ERROR_NOT_FOUND, "find it with: pgrep -a NAME", says);
	case ENOMEM:
		return say(refusal, HP_ERROR_SYSTEM, "give fewer events, or free some memory",
			   "the kernel is out of memory");
	case E2BIG:
		return say(refusal, HP_ERROR_SYSTEM,
			   "leave out config3 and other new settings, or boot a newer kernel",
			   "this kernel is too old for a setting that was asked for");
	default:
		return say(refusal, HP_ERROR_SYSTEM, "run: hpcprof doctor",
			   "the kernel gives a reason that is unknown for perf_event_open");
	}
}

struct hp_error *hp_machine_open_error(const struct hp_machine *machine,
				       const struct hp_event *event, pid_t pid, int errno_value)
{
	struct refusal refusal = {
		.machine = machine,
		.event = event,
		.pid = pid,
		.errno_value = errno_value,
		.around = hp_surroundings_look(machine),
	};

	switch (errno_value) {
	case EACCES:
	case EPERM:
		return not_permitted(&refusal);
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return unknown_to_the_machine(&refusal);
	case EOPNOTSUPP:
		return not_supported(&refusal);
	case EINVAL:
		return invalid(&refusal);
	case EMFILE:
	case ENFILE:
		return out_of_files(&refusal);
	case EBUSY:
		return busy(&refusal);
	case ENOSYS:
		return no_perf(&refusal);
	default:
		return other(&refusal);
	}
}

/* The kernel locks a ring's pages and its control page: first against mlock_kb times CPUs, a budget
 * that a user's processes share, then against RLIMIT_MEMLOCK. */
static struct hp_error *over_budget(const struct hp_machine *machine, size_t ring_bytes)
{
	uint64_t ring_kb = (ring_bytes + (size_t)sysconf(_SC_PAGESIZE) + 1023) / 1024;
	struct rlimit limit = { 0 };
	struct hp_error *error;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	error = hp_error_create(HP_ERROR_NOT_PERMITTED,
				"a ring of %llu KiB per CPU exceeds the limit on locked memory: "
				"kernel.perf_event_mlock_kb is %lld per CPU (shared by all your "
				"profilers), RLIMIT_MEMLOCK is %llu KiB",
				(unsigned long long)ring_kb, (long long)machine->mlock_kb,
				(unsigned long long)limit.rlim_cur / 1024);
	return hp_error_advise(error,
			       "run: sudo sysctl kernel.perf_event_mlock_kb=%lld, or: ulimit -l "
			       "%llu; or set a smaller ring with -m, which needs neither",
			       (long long)machine->mlock_kb + (long long)ring_kb,
			       (unsigned long long)ring_kb * machine->cpus +
				       (unsigned long long)limit.rlim_cur / 1024);
}

struct hp_error *hp_machine_mmap_error(const struct hp_machine *machine, size_t ring_bytes,
				       int errno_value)
{
	struct hp_error *error;

	if (errno_value == EPERM || errno_value == EAGAIN) {
		error = over_budget(machine, ring_bytes);
		if (error->errno_value == 0)
			error->errno_value = errno_value;
		return error;
	}
	error = hp_error_create_errno(errno_value, "mapping a ring of %zu bytes", ring_bytes);
	switch (errno_value) {
	case ENOMEM:
		return hp_error_advise(error, "give a smaller ring with -m, or free some memory");
	case EINVAL:
		return hp_error_advise(error, "a ring's size (-m) is a power of two of pages");
	case EACCES:
		return hp_error_advise(error, "a security module forbids it: hpcprof doctor");
	default:
		return hp_error_advise(error, "run: hpcprof doctor");
	}
}
