/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items by several processes against the same by one. */
#include "../support.h"

#include "../../src/report/common/parallel.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 1000, NONE = ITEMS };

static struct asked {
	pid_t parent;
	size_t fails;
	size_t dies;
} asked;

/* Of very different lengths; one is longer than a pipe. */
static struct hp_error *write_item(void *context, size_t item, FILE *out)
{
	const struct asked *what = context;

	if (item == what->dies && getpid() != what->parent)
		raise(SIGKILL);
	if (item == what->fails)
		return hp_error_advise(hp_error_create(HP_ERROR_DAMAGED, "item %zu", item),
				       "leave it out");
	fprintf(out, "%zu:", item);
	for (size_t i = 0; i < (item == 700 ? 3000000 : item % 300); i++)
		putc('a' + (int)(item % 26), out);
	fputs("\n", out);
	return NULL;
}

/* How many items there were before an error. */
static size_t write_all(size_t items, size_t workers, char **text, size_t *size,
			struct hp_error **error)
{
	FILE *out = open_memstream(text, size);
	struct parallel *parallel;
	size_t done = 0;

	ck_assert_ptr_nonnull(out);
	asked.parent = getpid();
	hp_assert_ok(parallel_begin(items, workers, write_item, &asked, &parallel));
	*error = NULL;
	while (done < items && !(*error = parallel_next(parallel, out)))
		done++;
	parallel_end(parallel);
	fclose(out);
	return done;
}

static void check_same(size_t items, size_t workers)
{
	struct hp_error *error;
	char *one, *several;
	size_t one_size, several_size;

	asked.fails = asked.dies = NONE;
	ck_assert_uint_eq(write_all(items, 1, &one, &one_size, &error), items);
	ck_assert_uint_eq(write_all(items, workers, &several, &several_size, &error), items);
	ck_assert_uint_eq(one_size, several_size);
	ck_assert_mem_eq(one, several, one_size);
	free(one);
	free(several);
}

TEST(several_processes_write_what_one_does)
{
	check_same(0, 2);
	check_same(1, 2);
	check_same(65, 2);
	check_same(ITEMS, 0);
	check_same(ITEMS, 2);
	check_same(ITEMS, 3);
	check_same(ITEMS, 100);
}

TEST(an_error_comes_in_order_and_as_it_was)
{
	struct hp_error *error;
	char *text;
	size_t size;

	for (size_t workers = 1; workers < 4; workers++) {
		asked = (struct asked){ .fails = 501, .dies = NONE };
		ck_assert_uint_eq(write_all(ITEMS, workers, &text, &size, &error), 501);
		ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
		ck_assert_str_eq(error->message, "item 501");
		ck_assert_str_eq(error->advice, "leave it out");
		hp_error_destroy(error);
		free(text);
	}
}

/* What it had made but not yet handed over is lost with it. */
TEST(a_worker_that_is_killed_is_an_error)
{
	struct hp_error *error;
	char *text;
	size_t size;

	asked = (struct asked){ .fails = NONE, .dies = 301 };
	ck_assert_uint_le(write_all(ITEMS, 2, &text, &size, &error), 301);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->class, HP_ERROR_SYSTEM);
	hp_error_destroy(error);
	free(text);
}

/* The others end, too: nobody waits for what they would write. */
TEST(ending_early_leaves_no_process)
{
	struct parallel *parallel;

	asked = (struct asked){ getpid(), NONE, NONE };
	hp_assert_ok(parallel_begin(ITEMS, 4, write_item, &asked, &parallel));
	parallel_end(parallel);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
}

HP_TEST_MAIN("report/parallel")
