/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "header_parts.h"
#include "nameless.h"
#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* --- images, the largest share first ------------------------------------------------------------ */

struct shared_image {
	const struct hp_loaded_image *image;
	double share; /* share of the samples, in percent */
};

static int compare_shares(const void *left, const void *right)
{
	const struct shared_image *a = left;
	const struct shared_image *b = right;

	if (a->share > b->share || a->share < b->share)
		return a->share > b->share ? -1 : 1;
	return a->image->index < b->image->index ? -1 : 1;
}

static double share_of(const struct report *report, const struct hp_tally *tallies)
{
	return 100 * hp_profiles_share(report->profiles, report->profiles->sort_event,
				       &tallies[report->profiles->sort_event]);
}

/* Sorts images by their samples without names, or by all their samples. NULL: out of memory. */
static struct shared_image *sort_images(const struct report *report, bool by_nameless)
{
	struct shared_image *sorted = calloc(report->profiles->images.count + 1, sizeof(*sorted));

	for (size_t i = 0; sorted && i < report->profiles->images.count; i++) {
		const struct hp_loaded_image *image = report->profiles->images.at[i];
		bool is_all = !by_nameless || image->id.kind == HP_IMAGE_ANON;

		sorted[i].image = image;
		sorted[i].share = share_of(report, is_all ? image->tallies : image->nameless);
	}
	if (sorted)
		qsort(sorted, report->profiles->images.count, sizeof(*sorted), compare_shares);
	return sorted;
}

/* --- files that could not be read ---------------------------------------------------------------- */

static void put_problem(const struct report *report, const struct shared_image *shared,
			struct header *header)
{
	const struct hp_loaded_image *image = shared->image;
	bool is_noticed = hp_profiles_is_noticed(report->profiles, image);
	enum header_rank rank = is_noticed ? HEADER_WARNINGS : HEADER_DETAILS;

	if (image->kept)
		header_put(header, rank, "kept", "%s (%.2f %% of samples)", image->kept,
			   shared->share);
	if (image->left_out)
		header_put(header, rank, "left out", "%s (%.2f %% of samples): %s", image->id.path,
			   shared->share, image->left_out);
	if (!image->problem)
		return;
	header_put(header, rank, "not read", "%s (%.2f %% of samples)", image->problem,
		   shared->share);
	if (image->advice)
		header_put(header, is_noticed ? HEADER_REMARKS : HEADER_DETAILS, "", "%s",
			   image->advice);
}

/* --- code without names --------------------------------------------------------------------------- */

static void put_unsymbolised(const struct report *report, const struct hp_loaded_image *image,
			     double share, struct header *header)
{
	_cleanup_free_ char *advice = nameless_advice(report, image);

	header_put(header, HEADER_REMARKS, "no names", "%s (%.0f %%): %s", image->short_name, share,
		   advice ? advice : "no symbols");
}

/* Names of the kernel come only from the recording, and its user could not see addresses of
 * symbols. */
static void put_nameless_kernel(const struct hp_loaded_image *image, double share,
				struct header *header)
{
	header_put(
		header, HEADER_REMARKS, "no names",
		"%s (%.0f %%): record as root, or after: sudo sysctl "
		"kernel.kptr_restrict=0 kernel.perf_event_paranoid=1 (/proc/kallsyms was hidden)",
		image->id.path, share);
}

/* Tells how to get names, if the share is large enough. */
static void put_nameless(const struct report *report, const struct shared_image *shared,
			 struct header *header)
{
	const struct hp_loaded_image *image = shared->image;
	const char *runtime;

	if (shared->share < NAMELESS_PERCENT)
		return;
	runtime = image->id.kind == HP_IMAGE_ANON ? nameless_runtime(report, image) : NULL;
	if (runtime)
		header_put(header, HEADER_REMARKS, "no names", "%s (%.0f %%): %s", image->id.path,
			   shared->share, runtime);
	if (image->id.kind == HP_IMAGE_KERNEL)
		put_nameless_kernel(image, shared->share, header);
	/* If files were left out, the header says why, and other files do not help. */
	if (image->id.kind == HP_IMAGE_FILE && !image->left_out)
		put_unsymbolised(report, image, shared->share, header);
}

/* --- names of the kernel --------------------------------------------------------------------------- */

/* Functions that enable interrupts (Linux 6.1 to 6.18, x86 and Arm; in guests with "pvm_" and
 * "pv_"): a clock interrupt that came while interrupts were disabled is taken there. */
static const char *const enabling[] = {
	"*_irq_enable",		"*_irq_restore",
	"*_unlock_irq",		"*_unlock_irqrestore",
	"*irqentry_exit*",	"finish_task_switch*",
	"handle_softirqs",	"__do_softirq",
	"do_syscall_64",	"el0_svc",
	"__local_bh_enable_ip", "do_idle",
	"*safe_halt*",		"exc_page_fault",
};

static bool enables_interrupts(const char *name)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(enabling); i++)
		if (fnmatch(enabling[i], name, 0) == 0)
			return true;
	return false;
}

static bool is_clock(const char *event)
{
	return strncmp(event, "cpu-clock", strlen("cpu-clock")) == 0 ||
	       strncmp(event, "task-clock", strlen("task-clock")) == 0;
}

/* For rows that are shown; others do not matter. */
static void put_enabling(const struct report *report, struct header *header)
{
	const struct hp_row *largest = NULL;
	double kernel = 0;
	double share = 0;

	for (size_t i = 0; i < report->profiles->images.count; i++)
		if (hp_profiles_is_kernel(report->profiles->images.at[i]))
			kernel += share_of(report, report->profiles->images.at[i]->tallies);
	if (kernel < KERNEL_PERCENT ||
	    !is_clock(report->profiles->events.at[report->profiles->sort_event].info->name))
		return;
	for (size_t i = 0; i < report->profiles->rows.count; i++) {
		const struct hp_row *row = report->profiles->rows.at[i];

		if (!row->image || !row->name || !hp_profiles_is_kernel(row->image) ||
		    !enables_interrupts(row->name))
			continue;
		share += share_of(report, row->tallies);
		if (!largest || share_of(report, row->tallies) > share_of(report, largest->tallies))
			largest = row;
	}
	if (100 * share >= ENABLING_PERCENT * kernel)
		header_put(header, HEADER_REMARKS, "kernel",
			   "code with interrupts off counts where they are enabled again (%s, "
			   "...): %.0f %% of the kernel's samples",
			   largest->name, 100 * share / kernel);
}

/* --- all of it --------------------------------------------------------------------------------------- */

void header_put_names(const struct report *report, struct header *header)
{
	_cleanup_free_ struct shared_image *all = sort_images(report, false);
	_cleanup_free_ struct shared_image *nameless = sort_images(report, true);

	if (!all || !nameless) {
		header->failed = true;
		return;
	}
	for (size_t i = 0; i < report->profiles->images.count; i++)
		put_problem(report, &all[i], header);
	for (size_t i = 0; i < report->profiles->images.count; i++)
		put_nameless(report, &nameless[i], header);
	if (report->profiles->events.count)
		put_enabling(report, header);
}
