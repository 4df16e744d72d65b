/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums over windows add up in any order, and their variance is what windows vary by. */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/model/evidence.h>

#include <stdio.h>
#include <string.h>

/* --- made up ---------------------------------------------------------------------------------- */

static struct hp_image_id make_image(unsigned number)
{
	char path[32];

	snprintf(path, sizeof(path), "/usr/bin/p%u", number);
	return (struct hp_image_id){ .kind = HP_IMAGE_FILE, .path = strdup(path) };
}

static int compare_items(const void *left, const void *right)
{
	const struct hp_counted *a = left, *b = right;

	return hp_counted_compare(&a->place, &b->place);
}

static struct hp_counted make_item(struct hp_random *random, uint32_t images)
{
	struct hp_counted item = {
		.kind = (uint8_t)hp_random_between(random, HP_COUNTED_BLOCK,
						   HP_COUNTED_SYSTEM_CALL),
		.is_relative = hp_random_between(random, 0, 4) == 0,
		.image = (uint32_t)hp_random_between(random, 0, images - 1),
		.at = { hp_random_between(random, 0, 3) * 16 },
	};

	if (item.kind == HP_COUNTED_BLOCK) {
		item.bytes = (uint32_t)hp_random_between(random, 1, 2) * 8;
		item.instructions = item.bytes / 4;
	} else {
		item.to_image = (uint32_t)hp_random_between(random, 0, images - 1);
		item.to.value = hp_random_between(random, 0, 2);
	}
	item.counts[hp_random_between(random, 0, HP_EVIDENCE_GROUPS - 1)] =
		hp_random_between(random, 1, 1000);
	return item;
}

static void fill_items(struct hp_random *random, uint32_t images, struct hp_window_stratum *stratum)
{
	size_t wanted = hp_random_between(random, 0, 40);
	size_t n = 0;

	stratum->items = calloc(wanted + 1, sizeof(*stratum->items));
	for (size_t i = 0; i < wanted; i++)
		stratum->items[i] = make_item(random, images);
	qsort(stratum->items, wanted, sizeof(*stratum->items), compare_items);
	for (size_t i = 0; i < wanted; i++)
		if (!n ||
		    hp_counted_compare(&stratum->items[n - 1].place, &stratum->items[i].place) != 0)
			stratum->items[n++] = stratum->items[i];
	stratum->item_count = n;
}

/* Of branches, relative. */
static void fill_outcomes(struct hp_random *random, uint32_t images,
			  struct hp_window_stratum *stratum)
{
	static const uint8_t kinds[] = { HP_COUNTED_TAKEN, HP_COUNTED_FALL,
					 HP_COUNTED_INDIRECT_JUMP, HP_COUNTED_INDIRECT_CALL };
	struct hp_window_stratum made = { 0 };
	size_t n = 0;

	fill_items(random, images, &made);
	for (size_t i = 0; i < made.item_count; i++) {
		struct hp_counted *item = &made.items[i];

		if (item->kind == HP_COUNTED_BLOCK)
			continue;
		item->is_relative = true;
		item->kind = kinds[item->kind % HP_ARRAY_COUNT(kinds)];
		made.items[n++] = *item;
	}
	qsort(made.items, n, sizeof(*made.items), compare_items);
	stratum->outcomes = made.items;
	for (size_t i = 0; i < n; i++)
		if (!i || hp_counted_compare(&made.items[stratum->outcome_count - 1].place,
					     &made.items[i].place) != 0)
			made.items[stratum->outcome_count++] = made.items[i];
	stratum->followed = hp_random_between(random, 0, 1000);
}

/* Of places, each hit in some time. */
static void fill_probes(struct hp_random *random, uint32_t images,
			struct hp_window_stratum *stratum)
{
	size_t count = hp_random_between(random, 0, 10);

	stratum->probes = calloc(2 * count + 1, sizeof(*stratum->probes));
	for (size_t i = 0; i < count; i++) {
		struct hp_counted *hits = &stratum->probes[stratum->probe_count++];

		*hits = (struct hp_counted){ .kind = HP_COUNTED_PROBE,
					     .image = (uint32_t)(i * images / count),
					     .at = { 16 * i + 16 },
					     .to = { 16 * i + 16 } };
		hits->to_image = hits->image;
		hits->counts[i] = hp_random_between(random, 1, 50);
		stratum->probes[stratum->probe_count] = *hits;
		stratum->probes[stratum->probe_count++].kind = HP_COUNTED_PROBE_TIME;
	}
}

/* Some of five images, one or two strata of four, reasons, figures. */
static struct hp_window_evidence make(struct hp_random *random)
{
	static const char *const whats[] = { "a system call", "time is up", "diverged" };
	static const char *const commands[] = { "awk", "bash" };
	struct hp_window_evidence evidence = { .price = { .shadows = 1 } };

	evidence.images = calloc(5, sizeof(*evidence.images));
	for (unsigned i = 0; i < 5; i++)
		if (hp_random_between(random, 0, 1) || (i == 4 && !evidence.image_count))
			evidence.images[evidence.image_count++] = make_image(i);
	evidence.strata = calloc(2, sizeof(*evidence.strata));
	for (unsigned i = 0; i < 2; i++) {
		struct hp_window_stratum *stratum = &evidence.strata[evidence.stratum_count];

		if (!hp_random_between(random, 0, 3))
			continue;
		evidence.stratum_count++;
		stratum->recording = 77;
		stratum->command = strdup(commands[i]);
		stratum->time_ns = hp_random_between(random, 1, 1000000);
		stratum->groups[hp_random_between(random, 0, 15)] =
			(struct hp_window_group){ 1, hp_random_between(random, 1, 1000) };
		stratum->relative[hp_random_between(random, 0, 15)] =
			(struct hp_window_group){ 1, hp_random_between(random, 1, 1000) };
		fill_items(random, (uint32_t)evidence.image_count, stratum);
		fill_outcomes(random, (uint32_t)evidence.image_count, stratum);
		fill_probes(random, (uint32_t)evidence.image_count, stratum);
	}
	evidence.samples = hp_random_between(random, 0, 100);
	evidence.matched = evidence.samples / 2;
	evidence.price.aside_ns = hp_random_between(random, 0, 1000000);
	evidence.price.beside_ns = hp_random_between(random, 0, 1000000);
	evidence.price.lost_ns = hp_random_between(random, 0, 1000000);
	evidence.price.budget_ppm = (uint32_t)hp_random_between(random, 1, 30000);
	for (size_t i = 0; i < 3; i++)
		hp_assert_ok(hp_window_evidence_add_reason(
			&evidence, hp_random_between(random, 0, 1),
			whats[hp_random_between(random, 0, 2)], hp_random_between(random, 0, 5)));
	return evidence;
}

static void assert_same_items(const struct hp_counted *a, size_t a_count,
			      const struct hp_counted *b, size_t b_count)
{
	ck_assert_uint_eq(a_count, b_count);
	for (size_t i = 0; i < a_count; i++) {
		ck_assert_int_eq(hp_counted_compare(&a[i].place, &b[i].place), 0);
		ck_assert_mem_eq(a[i].counts, b[i].counts, sizeof(a[i].counts));
	}
}

static void assert_same(const struct hp_window_evidence *a, const struct hp_window_evidence *b)
{
	ck_assert_uint_eq(a->image_count, b->image_count);
	for (size_t i = 0; i < a->image_count; i++)
		ck_assert_int_eq(hp_image_id_compare(&a->images[i], &b->images[i]), 0);
	ck_assert_uint_eq(a->stratum_count, b->stratum_count);
	for (size_t i = 0; i < a->stratum_count; i++) {
		const struct hp_window_stratum *x = &a->strata[i];
		const struct hp_window_stratum *y = &b->strata[i];

		ck_assert_str_eq(x->command, y->command);
		ck_assert_uint_eq(x->recording, y->recording);
		ck_assert_uint_eq(x->time_ns, y->time_ns);
		ck_assert_mem_eq(x->groups, y->groups, sizeof(x->groups));
		ck_assert_mem_eq(x->relative, y->relative, sizeof(x->relative));
		ck_assert_uint_eq(x->followed, y->followed);
		assert_same_items(x->items, x->item_count, y->items, y->item_count);
		assert_same_items(x->outcomes, x->outcome_count, y->outcomes, y->outcome_count);
		assert_same_items(x->probes, x->probe_count, y->probes, y->probe_count);
	}
	ck_assert_uint_eq(a->reason_count, b->reason_count);
	for (size_t i = 0; i < a->reason_count; i++) {
		ck_assert_int_eq(a->reasons[i].is_refusal, b->reasons[i].is_refusal);
		ck_assert_str_eq(a->reasons[i].what, b->reasons[i].what);
		ck_assert_uint_eq(a->reasons[i].count, b->reasons[i].count);
	}
	ck_assert_uint_eq(a->price.lost_ns, b->price.lost_ns);
	ck_assert_uint_eq(a->price.beside_ns, b->price.beside_ns);
	ck_assert_uint_eq(a->price.aside_ns, b->price.aside_ns);
	ck_assert_uint_eq(a->price.shadows, b->price.shadows);
	ck_assert_uint_eq(a->price.budget_ppm, b->price.budget_ppm);
	ck_assert_uint_eq(a->samples, b->samples);
	ck_assert_uint_eq(a->matched, b->matched);
}

static uint64_t sum_of_items(const struct hp_counted *items, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < HP_EVIDENCE_GROUPS; k++)
			sum += items[i].counts[k];
	return sum;
}

static uint64_t sum_of_counts(const struct hp_window_evidence *evidence)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < evidence->stratum_count; i++)
		sum += sum_of_items(evidence->strata[i].items, evidence->strata[i].item_count) +
		       sum_of_items(evidence->strata[i].outcomes,
				    evidence->strata[i].outcome_count) +
		       sum_of_items(evidence->strata[i].probes, evidence->strata[i].probe_count);
	return sum;
}

static uint64_t sum_of_followed(const struct hp_window_evidence *evidence)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < evidence->stratum_count; i++)
		sum += evidence->strata[i].followed;
	return sum;
}

/* The items of one window of a stratum, whose parts are the groups from `first` on. */
static struct hp_window_item *items_of_window(const struct hp_window_stratum *stratum,
					      unsigned first, size_t *count)
{
	struct hp_window_item *items = calloc(stratum->item_count + 1, sizeof(*items));

	*count = 0;
	for (size_t i = 0; i < stratum->item_count; i++) {
		struct hp_window_item *item = &items[*count];
		uint64_t any = 0;

		item->place = stratum->items[i].place;
		for (unsigned part = 0; part < HP_WINDOW_PARTS; part++)
			any |= item->counts[part] = stratum->items[i].counts[first + part];
		*count += any != 0;
	}
	return items;
}

/* Moves all counts to the groups of one window. */
static void gather(struct hp_window_stratum *stratum, unsigned first)
{
	for (size_t i = 0; i < stratum->item_count; i++) {
		uint64_t counts[HP_EVIDENCE_GROUPS] = { 0 };

		for (unsigned group = 0; group < HP_EVIDENCE_GROUPS; group++)
			counts[first + group % HP_WINDOW_PARTS] += stratum->items[i].counts[group];
		memcpy(stratum->items[i].counts, counts, sizeof(counts));
	}
}

TEST(items_of_one_window_add_up_as_all_do)
{
	struct hp_random random = hp_random_seeded(11);

	for (unsigned round = 0; round < 300; round++) {
		struct hp_window_evidence before = make(&random), one = make(&random);
		struct hp_window_evidence whole = { 0 }, by_window = { 0 };
		unsigned first = HP_WINDOW_PARTS *
				 (unsigned)hp_random_between(&random, 0, HP_EVIDENCE_WINDOWS - 1);
		struct hp_window_evidence head;
		struct hp_window_stratum bare;
		struct hp_window_item *items;
		size_t count;

		if (!one.stratum_count) {
			hp_window_evidence_clear(&before);
			hp_window_evidence_clear(&one);
			continue;
		}
		gather(&one.strata[0], first);
		items = items_of_window(&one.strata[0], first, &count);
		hp_assert_ok(hp_window_evidence_add(&whole, &before));
		hp_assert_ok(hp_window_evidence_add(&by_window, &before));
		head = one;
		head.stratum_count = 1;
		hp_assert_ok(hp_window_evidence_add(&whole, &head));
		bare = one.strata[0];
		bare.item_count = 0;
		head.strata = &bare;
		hp_assert_ok(hp_window_evidence_add_window(&by_window, &head, HP_WINDOW_LIST_ITEMS,
							   items, count, first));
		assert_same(&whole, &by_window);
		hp_assert_ok(hp_window_items_check(&head, items, count));
		if (count > 1) {
			struct hp_window_item swapped = items[0];

			items[0] = items[1];
			items[1] = swapped;
			hp_assert_fails(HP_ERROR_USAGE, hp_window_items_check(&head, items, count));
		}
		free(items);
		hp_window_evidence_clear(&before);
		hp_window_evidence_clear(&one);
		hp_window_evidence_clear(&whole);
		hp_window_evidence_clear(&by_window);
	}
}

TEST(adding_commutes_and_associates)
{
	struct hp_random random = hp_random_seeded(7);

	for (unsigned round = 0; round < 300; round++) {
		struct hp_window_evidence parts[3];
		struct hp_window_evidence left = { 0 };	 /* (0 + 1) + 2 */
		struct hp_window_evidence right = { 0 }; /* 2 + (1 + 0) */
		struct hp_window_evidence inner = { 0 };

		for (unsigned i = 0; i < 3; i++)
			parts[i] = make(&random);
		for (unsigned i = 0; i < 3; i++) {
			hp_assert_ok(hp_window_evidence_check(&parts[i]));
			hp_assert_ok(hp_window_evidence_add(&left, &parts[i]));
		}
		hp_assert_ok(hp_window_evidence_add(&inner, &parts[1]));
		hp_assert_ok(hp_window_evidence_add(&inner, &parts[0]));
		hp_assert_ok(hp_window_evidence_add(&right, &parts[2]));
		hp_assert_ok(hp_window_evidence_add(&right, &inner));
		hp_assert_ok(hp_window_evidence_check(&left));
		assert_same(&left, &right);
		ck_assert_uint_eq(sum_of_counts(&left), sum_of_counts(&parts[0]) +
								sum_of_counts(&parts[1]) +
								sum_of_counts(&parts[2]));
		ck_assert_uint_eq(hp_window_evidence_counted(&left).windows,
				  hp_window_evidence_counted(&parts[0]).windows +
					  hp_window_evidence_counted(&parts[1]).windows +
					  hp_window_evidence_counted(&parts[2]).windows);
		ck_assert_uint_eq(hp_window_evidence_relative(&left).time_ns,
				  hp_window_evidence_relative(&parts[0]).time_ns +
					  hp_window_evidence_relative(&parts[1]).time_ns +
					  hp_window_evidence_relative(&parts[2]).time_ns);
		ck_assert_uint_eq(sum_of_followed(&left), sum_of_followed(&parts[0]) +
								  sum_of_followed(&parts[1]) +
								  sum_of_followed(&parts[2]));
		hp_window_evidence_clear(&left);
		hp_window_evidence_clear(&right);
		hp_window_evidence_clear(&inner);
		for (unsigned i = 0; i < 3; i++)
			hp_window_evidence_clear(&parts[i]);
	}
}

/* From the second image to the third, in each of the lists. */
static struct hp_window_evidence make_between(unsigned first)
{
	struct hp_window_evidence evidence = { 0 };
	struct hp_counted item = { .image = 1, .to_image = 2, .at = { 8 }, .counts = { 1 } };
	struct hp_window_stratum *stratum = calloc(1, sizeof(*stratum));

	evidence.images = calloc(3, sizeof(*evidence.images));
	for (unsigned i = 0; i < 3; i++)
		evidence.images[evidence.image_count++] = make_image(first + i);
	evidence.strata = stratum;
	evidence.stratum_count = 1;
	stratum->command = strdup("x");
	stratum->items = calloc(1, sizeof(item));
	stratum->outcomes = calloc(1, sizeof(item));
	stratum->probes = calloc(1, sizeof(item));
	stratum->ranges = calloc(1, sizeof(item));
	stratum->item_count = stratum->outcome_count = stratum->probe_count = 1;
	stratum->range_count = 1;
	item.kind = HP_COUNTED_CALL;
	stratum->items[0] = item;
	item.kind = HP_COUNTED_PROBE;
	stratum->probes[0] = item;
	item.kind = HP_COUNTED_INDIRECT_CALL;
	item.is_relative = true;
	stratum->outcomes[0] = item;
	/* Within one image. */
	item.kind = HP_COUNTED_RANGE;
	item.to_image = item.image;
	item.to = item.at;
	stratum->ranges[0] = item;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		if (item.counts[i])
			stratum->record_cycles[i] = 1000;
	return evidence;
}

static void assert_between(const struct hp_window_evidence *evidence, const struct hp_counted *list,
			   size_t count)
{
	static const char *const expected[2][2] = { { "/usr/bin/p2", "/usr/bin/p3" },
						    { "/usr/bin/p4", "/usr/bin/p5" } };

	ck_assert_uint_eq(count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(evidence->images[list[i].image].path, expected[i][0]);
		ck_assert_str_eq(evidence->images[list[i].to_image].path, expected[i][1]);
	}
}

TEST(what_is_added_keeps_its_images)
{
	for (unsigned turned = 0; turned < 2; turned++) {
		struct hp_window_evidence parts[2] = { make_between(turned ? 3 : 1),
						       make_between(turned ? 1 : 3) };

		hp_assert_ok(hp_window_evidence_check(&parts[0]));
		hp_assert_ok(hp_window_evidence_add(&parts[0], &parts[1]));
		hp_assert_ok(hp_window_evidence_check(&parts[0]));
		assert_between(&parts[0], parts[0].strata->items, parts[0].strata->item_count);
		assert_between(&parts[0], parts[0].strata->outcomes,
			       parts[0].strata->outcome_count);
		assert_between(&parts[0], parts[0].strata->probes, parts[0].strata->probe_count);
		ck_assert_uint_eq(parts[0].strata->range_count, 2);
		for (unsigned i = 0; i < 2; i++)
			ck_assert_str_eq(parts[0].images[parts[0].strata->ranges[i].image].path,
					 i ? "/usr/bin/p4" : "/usr/bin/p2");
		hp_window_evidence_clear(&parts[0]);
		hp_window_evidence_clear(&parts[1]);
	}
}

TEST(counts_that_do_not_fit_are_an_error)
{
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence one = { 0 };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence sum = { 0 };

	one.images = calloc(1, sizeof(*one.images));
	one.images[one.image_count++] = make_image(1);
	one.strata = calloc(1, sizeof(*one.strata));
	one.stratum_count = 1;
	one.strata[0].command = strdup("x");
	one.strata[0].items = calloc(1, sizeof(*one.strata[0].items));
	one.strata[0].item_count = 1;
	one.strata[0].items[0] = (struct hp_counted){
		.kind = HP_COUNTED_BLOCK, .bytes = 4, .instructions = 1, .counts = { UINT64_MAX }
	};
	hp_assert_ok(hp_window_evidence_check(&one));
	hp_assert_ok(hp_window_evidence_add(&sum, &one));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_window_evidence_add(&sum, &one));
}

#define BLOCK(size, count)                                                                         \
	.kind = HP_COUNTED_BLOCK, .bytes = size, .instructions = count, .counts = { 1 }
#define RELATIVE(which)	 .kind = which, .is_relative = true, .counts = { 1 }
#define RANGE(from, to_) .is_relative = true, .at = { from }, .to = { to_ }

enum list { ITEMS, OUTCOMES, PROBES, TICKS, RANGES };

/* Of one image; nothing is wrong where there is no fault. */
static const struct rule {
	const char *name;
	const char *fault; /* a part of what is said of it */
	struct hp_counted counted[2];
	enum list list;
	bool has_no_cycles; /* of branch records, which come of the group 3 */
} rules[] = {
	{ "no kind", "unknown kind", { { .counts = { 1 } } }, ITEMS, false },
	{ "a block without size", "impossible size", { { BLOCK(0, 0) } }, ITEMS, false },
	{ "more instructions than bytes", "impossible size", { { BLOCK(2, 3) } }, ITEMS, false },
	{ "a block of no image",
	  "image that is missing",
	  { { BLOCK(4, 1), .image = 1 } },
	  ITEMS,
	  false },
	{ "a block past the end",
	  "past 64 bits",
	  { { BLOCK(2, 1), .at = { UINT64_MAX } } },
	  ITEMS,
	  false },
	{ "a call to no image",
	  "image that is missing",
	  { { .kind = HP_COUNTED_CALL, .to_image = 1, .counts = { 1 } } },
	  ITEMS,
	  false },
	{ "a call with a size",
	  "with a size",
	  { { .kind = HP_COUNTED_CALL, .bytes = 1, .counts = { 1 } } },
	  ITEMS,
	  false },
	{ "a call that never was", "a count of 0", { { .kind = HP_COUNTED_CALL } }, ITEMS, false },
	{ "the same twice", "", { { BLOCK(8, 2) }, { BLOCK(8, 2) } }, ITEMS, false },
	{ "the same bytes read as more instructions",
	  NULL,
	  { { BLOCK(8, 2) }, { BLOCK(8, 3) } },
	  ITEMS,
	  false },
	{ "those in the wrong order", "", { { BLOCK(8, 2) }, { BLOCK(8, 1) } }, ITEMS, false },
	{ "an outcome", NULL, { { RELATIVE(HP_COUNTED_TAKEN) } }, OUTCOMES, false },
	{ "an outcome that is not relative",
	  "",
	  { { .kind = HP_COUNTED_TAKEN, .counts = { 1 } } },
	  OUTCOMES,
	  false },
	{ "an outcome of a return", "", { { RELATIVE(HP_COUNTED_RETURN) } }, OUTCOMES, false },
	{ "a probe as an outcome", "", { { RELATIVE(HP_COUNTED_PROBE) } }, OUTCOMES, false },
	{ "a probe", NULL, { { RELATIVE(HP_COUNTED_PROBE) } }, PROBES, false },
	{ "an outcome as a probe", "", { { RELATIVE(HP_COUNTED_TAKEN) } }, PROBES, false },
	{ "an outcome as a tick", "", { { RELATIVE(HP_COUNTED_TAKEN) } }, TICKS, false },
	{ "a tick of a truncated window", NULL, { { RELATIVE(HP_COUNTED_TICK) } }, TICKS, false },
	{ "a tick", NULL, { { .kind = HP_COUNTED_TICK, .counts = { 1 } } }, TICKS, false },
	{ "straight code",
	  NULL,
	  { { .kind = HP_COUNTED_RANGE, RANGE(0x40, 0x48), .counts = { [3] = 1 } } },
	  RANGES,
	  false },
	{ "straight code that is not relative",
	  "",
	  { { .kind = HP_COUNTED_RANGE, .at = { 0x40 }, .to = { 0x48 }, .counts = { [3] = 1 } } },
	  RANGES,
	  false },
	{ "straight code that ends before it begins",
	  "",
	  { { .kind = HP_COUNTED_RANGE, RANGE(0x40, 0x3f), .counts = { [3] = 1 } } },
	  RANGES,
	  false },
	{ "a branch as straight code",
	  "",
	  { { .kind = HP_COUNTED_TAKEN, RANGE(0x40, 0x48), .counts = { [3] = 1 } } },
	  RANGES,
	  false },
	{ "a range's time in a group of no record",
	  "",
	  { { .kind = HP_COUNTED_RANGE_TIME,
	      RANGE(0x40, 0x48),
	      .counts = { [3] = 1, [HP_RECORD_GROUPS] = 1 } } },
	  RANGES,
	  false },
	{ "straight code in a group without cycles",
	  "",
	  { { .kind = HP_COUNTED_RANGE, RANGE(0x40, 0x48), .counts = { [3] = 1 } } },
	  RANGES,
	  true },
};

TEST(what_breaks_the_rules_is_named)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(rules); i++) {
		const struct rule *rule = &rules[i];
		struct hp_counted counted[2] = { rule->counted[0], rule->counted[1] };
		const size_t count = counted[1].kind ? 2 : 1;
		struct hp_image_id image = { .kind = HP_IMAGE_FILE, .path = (char[]){ "/a" } };
		struct hp_window_stratum stratum = {
			.command = (char[]){ "a" },
			.record_cycles = { [3] = rule->has_no_cycles ? 0 : 9 },
			.items = rule->list == ITEMS ? counted : NULL,
			.item_count = rule->list == ITEMS ? count : 0,
			.outcomes = rule->list == OUTCOMES ? counted : NULL,
			.outcome_count = rule->list == OUTCOMES ? count : 0,
			.probes = rule->list == PROBES ? counted : NULL,
			.probe_count = rule->list == PROBES ? count : 0,
			.ticks = rule->list == TICKS ? counted : NULL,
			.tick_count = rule->list == TICKS ? count : 0,
			.ranges = rule->list == RANGES ? counted : NULL,
			.range_count = rule->list == RANGES ? count : 0,
		};
		const struct hp_window_evidence evidence = {
			.images = &image, .image_count = 1, .strata = &stratum, .stratum_count = 1
		};
		struct hp_error *error = hp_window_evidence_check(&evidence);

		ck_assert_msg(!error == !rule->fault, "%s: %s", rule->name,
			      error ? error->message : "nothing is wrong with it");
		ck_assert_msg(!error || (error->class == HP_ERROR_USAGE &&
					 strstr(error->message, rule->fault)),
			      "%s: %s", rule->name, error ? error->message : "");
		hp_error_destroy(error);
		if (!rule->fault && rule->list == RANGES)
			ck_assert_uint_eq(hp_window_evidence_items(&evidence), 1);
	}
}

/* Before any of them is looked at. */
TEST(more_items_than_memory_is_for_are_refused)
{
	char command[] = "a";
	struct hp_window_stratum strata[] = {
		{ .command = command, .item_count = HP_EVIDENCE_MOST_ITEMS - 1 },
		{ .command = command, .outcome_count = 1, .probe_count = 1 },
	};
	struct hp_window_evidence evidence = { .strata = strata,
					       .stratum_count = HP_ARRAY_COUNT(strata) };

	ck_assert_uint_eq(hp_window_evidence_items(&evidence), HP_EVIDENCE_MOST_ITEMS + 1);
	hp_assert_fails(HP_ERROR_USAGE, hp_window_evidence_check(&evidence));
}

TEST(without_events_the_counts_stay)
{
	const struct hp_counted block = { .kind = HP_COUNTED_BLOCK,
					  .image = 1,
					  .at = { 8 },
					  .bytes = 4,
					  .instructions = 1,
					  .counts = { 1 } };
	struct hp_window_evidence whole = make_between(0);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence bare = { 0 };

	whole.strata[0].events = malloc(sizeof(block));
	whole.strata[0].events[whole.strata[0].event_count++] = block;
	whole.strata[0].latencies[0] = 5;
	hp_assert_ok(hp_window_evidence_add_without_events(&bare, &whole));
	ck_assert_uint_eq(hp_window_evidence_items(&bare), hp_window_evidence_items(&whole) - 1);
	ck_assert_uint_eq(bare.strata[0].item_count, 1);
	ck_assert_uint_eq(bare.strata[0].event_count, 0);
	ck_assert_uint_eq(bare.strata[0].latencies[0], 0);
	ck_assert_uint_eq(bare.dropped, 1);
	hp_window_evidence_clear(&whole);
}

TEST(without_counts_time_and_price_stay)
{
	struct hp_random random = hp_random_seeded(77);
	struct hp_window_evidence whole = make(&random);
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence bare = { 0 };
	uint64_t time_ns[2] = { 0 };

	hp_assert_ok(hp_window_evidence_add_without_counts(&bare, &whole));
	hp_assert_ok(hp_window_evidence_check(&bare));
	ck_assert_uint_gt(hp_window_evidence_items(&whole), 0);
	ck_assert_uint_eq(hp_window_evidence_items(&bare), 0);
	ck_assert_uint_eq(bare.dropped, whole.dropped + hp_window_evidence_items(&whole));
	ck_assert_uint_eq(bare.price.lost_ns, whole.price.lost_ns);
	ck_assert_uint_eq(bare.reason_count, whole.reason_count);
	ck_assert_uint_eq(hp_window_evidence_counted(&bare).windows, 0);
	ck_assert_uint_eq(hp_window_evidence_relative(&bare).windows, 0);
	for (size_t i = 0; i < whole.stratum_count; i++)
		time_ns[0] += whole.strata[i].time_ns;
	for (size_t i = 0; i < bare.stratum_count; i++)
		time_ns[1] += bare.strata[i].time_ns;
	ck_assert_uint_gt(time_ns[0], 0);
	ck_assert_uint_eq(time_ns[0], time_ns[1]);
	hp_window_evidence_clear(&whole);
}

HP_TEST_MAIN("model/evidence")
