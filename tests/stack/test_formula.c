/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/stack/formula.h"

#include <math.h>
#include <string.h>

static bool look_up(void *context, const char *name, size_t length, double *value)
{
	(void)context;
	if (length == 3 && strncmp(name, "two", length) == 0)
		*value = 2;
	else if (length == 4 && strncmp(name, "ten_", length) == 0)
		*value = 10;
	else if (length == 7 && strncmp(name, "nothing", length) == 0)
		*value = NAN;
	else
		return false;
	return true;
}

static const struct {
	const char *text;
	double value;
} formulas[] = {
	{ "7", 7 },
	{ "two", 2 },
	{ "1 + two * ten_ - 4 / two", 19 },
	{ "(1 + two) * (ten_ - 4) / two", 9 },
	{ "10 - 3 - 2", 5 },
	{ "min(two, ten_) + max(two, ten_)", 12 },
	{ "share(two, ten_)", 0.2 },
	{ "share(two - two, ten_ - 10)", 0 },
	{ "two / (ten_ - 10)", NAN },
	{ "nothing + 1", NAN },
	{ "min(nothing, 1)", NAN },
	{ "max(1, nothing)", NAN },
	{ "known(nothing) + known(two)", 2 },
	{ "first(nothing, two) + first(ten_, two)", 12 },
	{ "first(nothing, nothing)", NAN },
};

TEST(a_formula_has_its_value)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(formulas); i++) {
		double value;

		ck_assert_msg(formula_evaluate(formulas[i].text, look_up, NULL, &value), "%s",
			      formulas[i].text);
		if (isnan(formulas[i].value))
			ck_assert_msg(isnan(value), "%s is %g", formulas[i].text, value);
		else
			ck_assert_msg(fabs(value - formulas[i].value) < 1e-12, "%s is %g",
				      formulas[i].text, value);
	}
}

static const char *const wrong[] = {
	"",
	"two +",
	"(two",
	"two)",
	"three",
	"min(two)",
	"mix(two, two)",
	"two two",
	"2x",
	"known()",
	"((((((((((((((((((((((((((((((((((((two))))))))))))))))))))))))))))))))))))",
};

TEST(what_is_none_is_refused)
{
	double value;

	for (size_t i = 0; i < HP_ARRAY_COUNT(wrong); i++)
		ck_assert_msg(!formula_evaluate(wrong[i], look_up, NULL, &value), "%s", wrong[i]);
}

HP_TEST_MAIN("stack/formula")
