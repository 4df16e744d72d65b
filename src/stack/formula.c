/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *at;
	formula_lookup *lookup;
	void *context;
	bool failed;
	unsigned depth; /* nesting of parentheses */
};

enum { DEEPEST = 32 };

static double sum(struct parser *parser);

static bool take(struct parser *parser, char wanted)
{
	parser->at += strspn(parser->at, " ");
	if (*parser->at != wanted)
		return false;
	parser->at++;
	return true;
}

static void need(struct parser *parser, char wanted)
{
	if (!take(parser, wanted))
		parser->failed = true;
}

static double function(struct parser *parser, const char *name, size_t length)
{
	static const char *const names[] = { "known", "min", "max", "share", "first" };
	enum { KNOWN, MIN, MAX, SHARE, FIRST, FUNCTIONS } which = KNOWN;
	double a, b = 0;

	while (which < FUNCTIONS &&
	       (strlen(names[which]) != length || strncmp(names[which], name, length) != 0))
		which++;
	a = sum(parser);
	if (which > KNOWN) {
		need(parser, ',');
		b = sum(parser);
	}
	need(parser, ')');
	switch (which) {
	case KNOWN:
		return isnan(a) ? 0 : a;
	case MIN:
		return isnan(a) || isnan(b) ? NAN : fmin(a, b);
	case MAX:
		return isnan(a) || isnan(b) ? NAN : fmax(a, b);
	case SHARE:
		return a == 0 && b == 0 ? 0 : a / b;
	case FIRST:
		return isnan(a) ? b : a;
	case FUNCTIONS:
	default:
		parser->failed = true;
		return NAN;
	}
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static double name(struct parser *parser)
{
	const char *begin = parser->at;
	double value = NAN;
	size_t length;

	while (is_of_name(*parser->at))
		parser->at++;
	length = (size_t)(parser->at - begin);
	if (length && take(parser, '('))
		return function(parser, begin, length);
	if (!length || !parser->lookup(parser->context, begin, length, &value))
		parser->failed = true;
	return value;
}

static double operand(struct parser *parser)
{
	double value;
	char *end;

	if (parser->failed || parser->depth == DEEPEST) {
		parser->failed = true;
		return NAN;
	}
	parser->depth++;
	if (take(parser, '(')) {
		value = sum(parser);
		need(parser, ')');
	} else if (*parser->at >= '0' && *parser->at <= '9') {
		value = strtod(parser->at, &end);
		parser->at = end;
	} else {
		value = name(parser);
	}
	parser->depth--;
	return value;
}

static double product(struct parser *parser)
{
	double value = operand(parser);

	while (!parser->failed) {
		if (take(parser, '*'))
			value *= operand(parser);
		else if (take(parser, '/'))
			value /= operand(parser);
		else
			break;
	}
	return value;
}

static double sum(struct parser *parser)
{
	double value = product(parser);

	while (!parser->failed) {
		if (take(parser, '+'))
			value += product(parser);
		else if (take(parser, '-'))
			value -= product(parser);
		else
			break;
	}
	return value;
}

bool formula_evaluate(const char *text, formula_lookup *lookup, void *context, double *value)
{
	struct parser parser = { .at = text, .lookup = lookup, .context = context };

	*value = sum(&parser);
	if (parser.failed || *(parser.at + strspn(parser.at, " ")))
		return false;
	/* division by 0 */
	if (isinf(*value))
		*value = NAN;
	return true;
}
