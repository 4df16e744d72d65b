/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/model/paths.h>

#include <string.h>

static void clear_paths(void *paths)
{
	hp_paths_clear(paths);
	free(paths);
}

static struct hp_paths *new_paths(size_t limit)
{
	struct hp_paths *paths = calloc(1, sizeof(*paths));

	ck_assert_ptr_nonnull(paths);
	paths->node_limit = limit;
	at_end(clear_paths, paths);
	return paths;
}

static uint32_t image(struct hp_paths *paths, const char *path)
{
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = kept(strdup(path)) };
	uint32_t number;

	hp_assert_ok(hp_paths_image(paths, &id, &number));
	return number;
}

static uint32_t series_of(struct hp_paths *paths, const char *command, uint64_t period)
{
	struct hp_path_series series = { .event = kept(strdup("cpu-clock:u")),
					 .command = kept(strdup(command)),
					 .period = period };
	uint32_t number;

	hp_assert_ok(hp_paths_series(paths, &series, &number));
	return number;
}

/* One letter per frame, from the root: its offset. */
static void add(struct hp_paths *paths, uint32_t series, const char *path, uint64_t samples)
{
	struct hp_path_frame frames[64] = { 0 };
	size_t count = strlen(path);

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct hp_path_frame){ (uint64_t)path[count - 1 - i],
						    image(paths, "/bin/x"), 0 };
	hp_assert_ok(hp_paths_add(paths, series, frames, count, samples));
}

/* Whether the node has this path, be it a caller or a sample's own address. */
static bool is_at(const struct hp_paths *paths, size_t at, const char *path)
{
	const struct hp_path_node *node = &paths->nodes.at[at];
	size_t left = strlen(path);

	while (!hp_path_is_root(node) && left && (uint64_t)path[left - 1] == node->offset) {
		node = &paths->nodes.at[node->parent];
		left--;
	}
	return !left && hp_path_is_root(node) &&
	       strcmp(paths->series.at[node->image].command, "a") == 0;
}

static uint64_t samples_at(const struct hp_paths *paths, const char *path)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < paths->nodes.count; i++)
		if (is_at(paths, i, path))
			samples += paths->nodes.at[i].samples;
	return samples;
}

static uint64_t folded_at(const struct hp_paths *paths, const char *path)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < paths->nodes.count; i++)
		if (is_at(paths, i, path))
			samples += paths->nodes.at[i].folded;
	return samples;
}

TEST(samples_count_at_the_node_of_their_own_address)
{
	struct hp_paths *paths = new_paths(0);
	uint32_t series = series_of(paths, "a", 1);

	add(paths, series, "mfg", 2);
	add(paths, series, "mf", 3);
	add(paths, series, "mfg", 5);
	add(paths, series, "", 1);
	ck_assert_uint_eq(samples_at(paths, "mfg"), 7);
	ck_assert_uint_eq(samples_at(paths, "mf"), 3);
	ck_assert_uint_eq(samples_at(paths, ""), 1);
	ck_assert_uint_eq(samples_at(paths, "m"), 0);
	/* The root, m, f as a caller, f as a sample's own address, g. */
	ck_assert_uint_eq(paths->nodes.count, 5);
	ck_assert_uint_eq(hp_paths_samples(paths, NULL), 11);
	ck_assert_uint_eq(hp_paths_samples(paths, "cycles"), 0);
	hp_assert_ok(hp_paths_check(paths));
}

TEST(series_of_other_commands_and_periods_are_trees_of_their_own)
{
	struct hp_paths *paths = new_paths(0);

	add(paths, series_of(paths, "a", 1), "mf", 1);
	add(paths, series_of(paths, "b", 1), "mf", 2);
	add(paths, series_of(paths, "b", 2), "mf", 4);
	add(paths, series_of(paths, "a", 1), "mf", 8);
	ck_assert_uint_eq(paths->series.count, 3);
	ck_assert_uint_eq(paths->nodes.count, 9);
	ck_assert_uint_eq(samples_at(paths, "mf"), 9);
	hp_assert_ok(hp_paths_check(paths));
}

TEST(a_path_that_is_too_long_loses_its_root_and_says_so)
{
	enum { LONG = HP_PATH_MOST_FRAMES + 10 };
	struct hp_paths *paths = new_paths(0);
	static struct hp_path_frame frames[LONG];
	uint32_t series = series_of(paths, "a", 1);

	for (size_t i = 0; i < LONG; i++)
		frames[i] = (struct hp_path_frame){ i + 1, image(paths, "/bin/x"), 0 };
	hp_assert_ok(hp_paths_add(paths, series, frames, LONG, 1));
	ck_assert_uint_eq(paths->nodes.count, 1 + HP_PATH_MOST_FRAMES);
	ck_assert_uint_eq(paths->nodes.at[1].flags, HP_PATH_TRUNCATED);
	ck_assert_uint_eq(paths->nodes.at[paths->nodes.count - 1].offset, 1);
	hp_assert_ok(hp_paths_check(paths));
}

TEST(what_was_not_used_for_longest_is_folded_into_its_caller)
{
	struct hp_paths *paths = new_paths(8);
	uint32_t series = series_of(paths, "a", 1);
	char path[] = "m?";

	add(paths, series, "mx", 100);
	for (char leaf = 'A'; leaf < 'Z'; leaf++) {
		path[1] = leaf;
		add(paths, series, path, 1);
		add(paths, series, "mx", 1);
		ck_assert_uint_le(paths->nodes.count, 8);
		hp_assert_ok(hp_paths_check(paths));
	}
	ck_assert_uint_eq(samples_at(paths, "mx"), 125);
	ck_assert_uint_eq(samples_at(paths, "mY"), 1);
	ck_assert_uint_eq(samples_at(paths, "mA"), 0);
	ck_assert_uint_eq(hp_paths_samples(paths, NULL), 150);
	ck_assert_uint_ge(folded_at(paths, "m"), 18);
}

TEST(deep_leaves_are_folded_round_by_round)
{
	struct hp_paths *paths = new_paths(12);
	uint32_t series = series_of(paths, "a", 1);

	add(paths, series, "abcdefgh", 1);
	add(paths, series, "stuvwxyz", 1);
	hp_assert_ok(hp_paths_check(paths));
	ck_assert_uint_le(paths->nodes.count, 17);
	add(paths, series, "s", 1);
	ck_assert_uint_le(paths->nodes.count, 12);
	ck_assert_uint_eq(hp_paths_samples(paths, NULL), 3);
	hp_assert_ok(hp_paths_check(paths));
}

static struct hp_paths *random_paths(struct hp_random *random)
{
	struct hp_paths *paths = new_paths(0);
	static const char *const images[] = { "/bin/x", "/bin/y", "/bin/z" };

	for (int i = 0; i < 40; i++) {
		struct hp_path_frame frames[6];
		size_t count = hp_random_between(random, 0, 6);
		char command[2] = { (char)hp_random_between(random, 'a', 'c'), 0 };

		for (size_t j = 0; j < count; j++)
			frames[j] = (struct hp_path_frame){
				hp_random_between(random, 0, 2),
				image(paths, images[hp_random_between(random, 0, 2)]),
				(uint32_t)hp_random_between(random, 0, 1) * HP_PATH_GUESS,
			};
		hp_assert_ok(hp_paths_add(
			paths, series_of(paths, command, hp_random_between(random, 1, 2)), frames,
			count, hp_random_between(random, 1, 3)));
	}
	return paths;
}

static void assert_same(const struct hp_paths *a, const struct hp_paths *b)
{
	ck_assert_uint_eq(a->images.count, b->images.count);
	for (size_t i = 0; i < a->images.count; i++)
		ck_assert_int_eq(hp_image_id_compare(&a->images.at[i], &b->images.at[i]), 0);
	ck_assert_uint_eq(a->series.count, b->series.count);
	for (size_t i = 0; i < a->series.count; i++)
		ck_assert_int_eq(hp_path_series_compare(&a->series.at[i], &b->series.at[i]), 0);
	ck_assert_uint_eq(a->nodes.count, b->nodes.count);
	for (size_t i = 0; i < a->nodes.count; i++) {
		const struct hp_path_node *x = &a->nodes.at[i];
		const struct hp_path_node *y = &b->nodes.at[i];

		ck_assert(x->offset == y->offset && x->samples == y->samples &&
			  x->folded == y->folded && x->parent == y->parent &&
			  x->image == y->image && x->flags == y->flags);
	}
}

/* Numbered anew, in the canonical order. */
static struct hp_paths *tidied(const struct hp_paths *paths)
{
	struct hp_paths *tidy = new_paths(0);
	uint32_t *numbers = calloc(paths->nodes.count + 1, sizeof(*numbers));
	struct hp_paths_order order;
	uint32_t number;

	ck_assert_ptr_nonnull(numbers);
	hp_assert_ok(hp_paths_sort(paths, &order));
	for (size_t i = 0; i < paths->images.count; i++)
		if (order.images[paths->image_order.at[i]] != HP_PATH_NO_IMAGE) {
			hp_assert_ok(hp_paths_image(
				tidy, &paths->images.at[paths->image_order.at[i]], &number));
			ck_assert_uint_eq(number, order.images[paths->image_order.at[i]]);
		}
	ck_assert_uint_eq(tidy->images.count, order.image_count);
	for (size_t i = 0; i < order.count; i++) {
		const struct hp_path_node *node = &paths->nodes.at[order.nodes[i]];
		bool is_root = hp_path_is_root(node);
		struct hp_path_frame frame = { node->offset, node->image, node->flags };

		if (is_root) {
			hp_assert_ok(hp_paths_series(tidy, &paths->series.at[node->image],
						     &frame.image));
			ck_assert_uint_eq(frame.image, order.series[node->image]);
		} else if (node->image != HP_PATH_NO_IMAGE) {
			frame.image = order.images[node->image];
		}
		hp_assert_ok(hp_paths_node(tidy, is_root ? HP_PATH_NO_NODE : numbers[node->parent],
					   &frame, node->samples, node->folded,
					   &numbers[order.nodes[i]]));
		ck_assert_uint_eq(numbers[order.nodes[i]], i);
	}
	ck_assert_uint_eq(tidy->series.count, order.series_count);
	hp_paths_order_clear(&order);
	free(numbers);
	hp_assert_ok(hp_paths_check(tidy));
	ck_assert_uint_eq(hp_paths_samples(tidy, NULL), hp_paths_samples(paths, NULL));
	return tidy;
}

TEST(the_sum_does_not_depend_on_the_order)
{
	struct hp_random random = hp_random_seeded(7);

	for (int round = 0; round < 100; round++) {
		struct hp_paths *parts[3] = { random_paths(&random), random_paths(&random),
					      random_paths(&random) };
		struct hp_paths *left = new_paths(0);
		struct hp_paths *right = new_paths(0);
		struct hp_paths *pair = new_paths(0);

		hp_assert_ok(hp_paths_merge(left, parts[0]));
		hp_assert_ok(hp_paths_merge(left, parts[1]));
		hp_assert_ok(hp_paths_merge(left, parts[2]));
		hp_assert_ok(hp_paths_merge(pair, parts[2]));
		hp_assert_ok(hp_paths_merge(pair, parts[1]));
		hp_assert_ok(hp_paths_merge(right, pair));
		hp_assert_ok(hp_paths_merge(right, parts[0]));
		hp_assert_ok(hp_paths_check(left));
		assert_same(tidied(left), tidied(right));
		assert_same(tidied(left), tidied(tidied(right)));
	}
}

TEST(a_sum_with_too_many_nodes_folds_those_of_fewest_samples)
{
	struct hp_paths *from = new_paths(0);
	struct hp_paths *into = new_paths(4);
	uint32_t series = series_of(from, "a", 1);

	add(from, series, "mf", 1);
	add(from, series, "mg", 9);
	add(from, series, "mh", 2);
	hp_assert_ok(hp_paths_merge(into, from));
	ck_assert_uint_eq(into->nodes.count, 4);
	ck_assert_uint_eq(samples_at(into, "mg"), 9);
	ck_assert_uint_eq(samples_at(into, "mh"), 2);
	ck_assert_uint_eq(folded_at(into, "m"), 1);
	hp_assert_ok(hp_paths_check(into));
}

TEST(restarted_trees_keep_their_nodes_and_add_nothing)
{
	struct hp_paths *paths = new_paths(0);
	struct hp_paths *sum = new_paths(0);
	uint32_t series = series_of(paths, "a", 1);
	size_t nodes;

	add(paths, series, "mfg", 2);
	nodes = paths->nodes.count;
	hp_paths_restart(paths);
	ck_assert_uint_eq(paths->nodes.count, nodes);
	hp_assert_ok(hp_paths_merge(sum, paths));
	ck_assert_uint_eq(sum->nodes.count + sum->images.count + sum->series.count, 0);
	add(paths, series, "mf", 3);
	hp_assert_ok(hp_paths_merge(sum, paths));
	ck_assert_uint_eq(sum->nodes.count, 3);
	ck_assert_uint_eq(samples_at(sum, "mf"), 3);
}

TEST(sums_past_64_bits_are_refused)
{
	struct hp_paths *paths = new_paths(0);
	struct hp_paths *sum = new_paths(0);

	add(paths, series_of(paths, "a", 1), "m", UINT64_MAX);
	hp_assert_ok(hp_paths_merge(sum, paths));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_paths_merge(sum, paths));
}

TEST(what_is_no_tree_is_found)
{
	static const struct {
		const char *what;
		struct hp_path_node node;
	} faults[] = {
		{ "parent", { .parent = 5 } },
		{ "image", { .parent = 0, .image = 1 } },
		{ "flags", { .parent = 0, .flags = 64 } },
		{ "truncated",
		  { .parent = 1, .image = HP_PATH_NO_IMAGE, .flags = HP_PATH_TRUNCATED } },
		{ "place", { .parent = 0, .flags = HP_PATH_UNKNOWN } },
		{ "series", { .parent = HP_PATH_NO_NODE, .image = 1 } },
		{ "sum", { .parent = 0, .samples = UINT64_MAX } },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(faults); i++) {
		struct hp_paths *paths = new_paths(0);
		struct hp_error *error;

		add(paths, series_of(paths, "a", 1), "m", 1);
		ck_assert(hp_vector_push(&paths->nodes, faults[i].node));
		error = hp_paths_check(paths);
		ck_assert_msg(error && error->class == HP_ERROR_DAMAGED, "%s", faults[i].what);
		hp_error_destroy(error);
	}
}

HP_TEST_MAIN("model/paths")
