/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every unit test program shares: Check, TAP on standard output, one-line suites.
 *
 *	TEST(a_sentence_about_one_behaviour) { … }
 *	HP_TEST_MAIN("base/bytes")
 */
#ifndef HPCPROF_TESTS_SUPPORT_H
#define HPCPROF_TESTS_SUPPORT_H

#include <hpcprof/base/error.h>
#include <hpcprof/base/number.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Fails with the error's own words. */
#define hp_assert_ok(expression)                                                                   \
	do {                                                                                       \
		struct hp_error *hp_failed = (expression);                                         \
		ck_assert_msg(!hp_failed, "%s", hp_failed ? hp_failed->message : "");              \
	} while (0)

/* The expression fails with this class; the error is freed. */
#define hp_assert_fails(expected_class, expression)                                                \
	do {                                                                                       \
		struct hp_error *hp_failed = (expression);                                         \
		ck_assert_msg(hp_failed != NULL, "succeeded, but should not");                     \
		ck_assert_msg(hp_failed->class == (expected_class), "class %d: %s",                \
			      (int)hp_failed->class, hp_failed->message);                          \
		hp_error_destroy(hp_failed);                                                       \
	} while (0)

/* What hangs is ended; sanitizers and a busy machine make some tests many times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HP_TEST_SECONDS 1800
#else
#define HP_TEST_SECONDS 300
#endif

/* ThreadSanitizer has most of the address space, and a thread of its own. */
#ifdef __SANITIZE_THREAD__
#define HP_TEST_UNDER_TSAN 1
#else
#define HP_TEST_UNDER_TSAN 0
#endif

/* Tests register themselves before main, in the order they stand in. */
enum { HP_TEST_MOST = 128 };
static const TTest *hp_tests[HP_TEST_MOST] __attribute__((unused));
static size_t hp_test_count __attribute__((unused));

static __attribute__((unused)) void hp_test_add(const TTest *test)
{
	if (hp_test_count == HP_TEST_MOST)
		abort();
	hp_tests[hp_test_count++] = test;
}

#define TEST(sentence)                                                                             \
	static const TTest *sentence;                                                              \
	__attribute__((constructor)) static void register_##sentence(void)                         \
	{                                                                                          \
		hp_test_add(sentence);                                                             \
	}                                                                                          \
	START_TEST(sentence)

#define HP_TEST_MAIN(suite_name) HP_TEST_MAIN_UNLESS(NULL, suite_name)

/* Where `reason` (a text or NULL) is one, all are skipped for it. */
#define HP_TEST_MAIN_UNLESS(reason, suite_name)                                                    \
	int main(void)                                                                             \
	{                                                                                          \
		const char *skip = (reason);                                                       \
		Suite *suite;                                                                      \
		SRunner *runner;                                                                   \
		int failed;                                                                        \
                                                                                                   \
		if (skip) {                                                                        \
			printf("1..0 # SKIP %s\n", skip);                                          \
			return EXIT_SUCCESS;                                                       \
		}                                                                                  \
		suite = suite_create(suite_name);                                                  \
		for (size_t i = 0; i < hp_test_count; i++) {                                       \
			TCase *one = tcase_create(hp_tests[i]->name);                              \
                                                                                                   \
			tcase_set_timeout(one, HP_TEST_SECONDS);                                   \
			tcase_add_test(one, hp_tests[i]);                                          \
			suite_add_tcase(suite, one);                                               \
		}                                                                                  \
		runner = srunner_create(suite);                                                    \
		srunner_set_tap(runner, "-");                                                      \
		srunner_run_all(runner, CK_SILENT);                                                \
		failed = srunner_ntests_failed(runner);                                            \
		srunner_free(runner);                                                              \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                       \
	}

#endif
