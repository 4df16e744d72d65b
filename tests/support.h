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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Check writes each assertion that holds to a file, to say after a crash what the last was; loops
 * have millions. Here an assertion writes only the first time.
 */
#undef ck_assert_msg
#define ck_assert_msg(expression, ...)                                                             \
	do {                                                                                       \
		static bool hp_is_noted;                                                           \
		if (expression)                                                                    \
			hp_note(&hp_is_noted, __FILE__, __LINE__);                                 \
		else                                                                               \
			_ck_assert_failed(__FILE__, __LINE__,                                      \
					  "Assertion '" #expression "' failed", ##__VA_ARGS__);    \
	} while (0)
void hp_note(bool *is_noted, const char *file, int line);

/* Fails with the error's own words. */
#define hp_assert_ok(expression)                                                                   \
	do {                                                                                       \
		struct hp_error *hp_failed = (expression);                                         \
		ck_assert_msg(!hp_failed, "%s", hp_failed ? hp_failed->message : "");              \
	} while (0)

/* The expression fails with this class; the error is freed. */
#define hp_assert_fails(expected_class, expression)                                                \
	hp_assert_says(expected_class, NULL, NULL, expression)

/* The same, and its message and its advice contain these parts (NULL: any). */
#define hp_assert_says(expected_class, in_message, in_advice, expression)                          \
	do {                                                                                       \
		struct hp_error *hp_failed = (expression);                                         \
		const char *hp_part = (in_message);                                                \
		ck_assert_msg(hp_failed != NULL, "succeeded, but should not");                     \
		ck_assert_msg(hp_failed->class == (expected_class), "class %d: %s",                \
			      (int)hp_failed->class, hp_failed->message);                          \
		ck_assert_msg(!hp_part || strstr(hp_failed->message, hp_part), "%s",               \
			      hp_failed->message);                                                 \
		hp_part = (in_advice);                                                             \
		ck_assert_msg(!hp_part ||                                                          \
				      (hp_failed->advice && strstr(hp_failed->advice, hp_part)),   \
			      "advice: %s", hp_failed->advice ? hp_failed->advice : "none");       \
		hp_error_destroy(hp_failed);                                                       \
	} while (0)

/* The text contains all of these parts, or none of them; else the whole text is printed. */
#define hp_assert_contains(whole, ...) hp_assert_parts(true, whole, __VA_ARGS__)
#define hp_assert_lacks(whole, ...)    hp_assert_parts(false, whole, __VA_ARGS__)
#define hp_assert_parts(is_wanted, whole, ...)                                                     \
	do {                                                                                       \
		const char *hp_whole = (whole);                                                    \
		const char *const hp_parts[] = { __VA_ARGS__ };                                    \
		for (size_t hp_i = 0; hp_i < sizeof(hp_parts) / sizeof(*hp_parts); hp_i++) {       \
			bool hp_is_there = strstr(hp_whole, hp_parts[hp_i]) != NULL;               \
			if (hp_is_there != (is_wanted)) /* longer than Check's messages may be */  \
				fprintf(stderr, "%s", hp_whole);                                   \
			ck_assert_msg(hp_is_there == (is_wanted), "%s \"%.200s\"",                 \
				      hp_is_there ? "there is" : "there is no", hp_parts[hp_i]);   \
		}                                                                                  \
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
void hp_test_add(const TTest *test);

#define TEST(sentence) TEST_WHERE(true, sentence)
/* One that is left out where the condition does not hold. */
#define TEST_WHERE(condition, sentence)                                                            \
	static const TTest *sentence;                                                              \
	__attribute__((constructor)) static void register_##sentence(void)                         \
	{                                                                                          \
		if (condition)                                                                     \
			hp_test_add(sentence);                                                     \
	}                                                                                          \
	START_TEST(sentence)

/* SETUP { … } runs before each test of its file, in the test's process. */
#define SETUP		       SETUP_NUMBERED(__COUNTER__)
#define SETUP_NUMBERED(number) SETUP_CALLED(number)
#define SETUP_CALLED(number)                                                                       \
	static void set_up_##number(void);                                                         \
	__attribute__((constructor)) static void register_set_up_##number(void)                    \
	{                                                                                          \
		hp_test_set_up(__FILE__, set_up_##number);                                         \
	}                                                                                          \
	static void set_up_##number(void)
void hp_test_set_up(const char *file, void (*set_up)(void));

/*
 * Runs the tests of the file; where `skip` (a text or NULL) is one, none of them, for that reason. A
 * program of several such files runs those of the one that it is called by (units.mk).
 */
int hp_test_run(const char *file, const char *suite_name, const char *skip);
void hp_test_runs(const char *file, int (*run)(void));

#define HP_TEST_MAIN(suite_name)		  HP_TEST_MAIN_UNLESS(NULL, suite_name)
#define HP_TEST_MAIN_UNLESS(reason, suite_name)	  MAIN_NUMBERED(__COUNTER__, reason, suite_name)
#define MAIN_NUMBERED(number, reason, suite_name) MAIN_CALLED(number, reason, suite_name)
#define MAIN_CALLED(number, reason, suite_name)                                                    \
	static int run_##number(void)                                                              \
	{                                                                                          \
		return hp_test_run(__FILE__, suite_name, reason);                                  \
	}                                                                                          \
	__attribute__((constructor)) static void register_run_##number(void)                       \
	{                                                                                          \
		hp_test_runs(__FILE__, run_##number);                                              \
	}

/* Releases the object when the running test has ended, the latest first. What fixtures make they
 * release so: tests do not. */
void at_end(void (*release)(void *object), void *object);
/* Releases it now. */
void end_now(void *object);
/* The text (malloc'ed), freed then. */
char *kept(char *text);
/* A new empty directory, here or where temporary ones are, removed then with all that is in it. */
char *directory_in(const char *parent);
char *temporary_directory(void);

#endif
