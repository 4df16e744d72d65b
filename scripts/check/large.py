# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of some 50 MB with its debugging information, made of as many different functions as are
compiled in a minute or two; objcopy makes the rest of them, under other names.

All functions run for a little, and one in a hundred for much longer, so that a profile of it has many
procedures, and enough of them with costs that are worth a comparison.
"""
import random
import subprocess

FUNCTIONS = 600              # of a part
PREFIX = ['uint64_t %s(uint64_t *p, uint64_t n) {', '\tuint64_t s = n, t = 1;',
          '\tfor (uint64_t i = 0; i < n; i++) {']
STATEMENTS = ['\t\tif (s & {a})\n\t\t\tt += s >> {b};\n\t\telse\n\t\t\tt ^= i * {c};', '\t\ts = mix(s, t + {c});',
              '\t\tp[(i + {a}) & 63] ^= t + {c};', '\t\ts += p[i & {a}];',
              '\t\tswitch (s % 5) {{\n\t\tcase 0: t += {c} * s; break;\n\t\tcase 1: t -= {a}; break;\n'
              '\t\tcase 2: t ^= s << {b}; break;\n\t\tcase 3: s += {c}; break;\n\t\tdefault: t--;\n\t\t}}']
MIX = '''#include <stdint.h>
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	a ^= b >> 7;
	a *= 0x9e3779b97f4a7c15u;
	return a ^ a >> 29;
}
'''
MAIN = '''#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	uint64_t p[64] = { 1 }, s = 0;
	for (long round = argc > 1 ? atol(argv[1]) : 1; round > 0; round--)
		for (unsigned part = 0; part < sizeof(parts) / sizeof(*parts); part++)
			for (unsigned i = 0; i < %d; i++)
				s += parts[part][i](p, i %% 97 || part %% 5 ? 20 + (i * 7 + part) %% 60
									   : 40 * (i + part + 20));
	printf("%%llu\\n", (unsigned long long)s);
}
'''


def write_part(part, path):
    chance = random.Random(part)
    lines = [MIX]
    for i in range(FUNCTIONS):
        lines += [PREFIX[0] % f'f{part}_{i}', *PREFIX[1:]]
        if not part and i == 97:
            lines.append('#ifdef DEARER\n\t\ts += s % (t | 1);\n#endif')
        for _ in range(chance.randint(6, 12)):
            lines.append(chance.choice(STATEMENTS).format(a=chance.choice([7, 15, 31, 63]), b=chance.randint(1, 9),
                                                          c=chance.randint(3, 9999)))
        lines.append('\t}\n\treturn s + t;\n}')
    lines.append(f'uint64_t (*const part{part}[])(uint64_t *, uint64_t) = {{ '
                 + ', '.join(f'f{part}_{i}' for i in range(FUNCTIONS)) + ' };')
    path.write_text('\n'.join(lines) + '\n')


def build(directory, name, parts, copies, *flags):
    """The program's path. What another build has compiled with the same flags is taken from there."""
    compile_ = ['gcc', '-g', '-O1', '-fno-pie', '-fno-stack-protector', '-c']
    objects, names = [], []
    for part in range(parts):
        own = flags if not part else ()
        source, compiled = directory / f'part{part}.c', directory / f'part{part}{"".join(own)}.o'
        if not compiled.exists():
            write_part(part, source)
            subprocess.run([*compile_, *own, '-o', compiled, source], check=True)
        for copy in range(copies):
            objects.append(directory / f'{name}{copy}-{part}.o')
            names.append(f'copy{copy}_part{part}')
            subprocess.run(['objcopy', f'--prefix-symbols=copy{copy}_', compiled, objects[-1]], check=True)
    main = directory / f'{name}.c'
    main.write_text('#include <stdint.h>\ntypedef uint64_t function(uint64_t *, uint64_t);\n'
                    + ''.join(f'extern function *const {each}[];\n' for each in names)
                    + 'static function *const *const parts[] = { ' + ', '.join(names) + ' };\n' + MAIN % FUNCTIONS)
    subprocess.run(['gcc', '-g', '-no-pie', '-o', directory / name, main, *objects], check=True)
    for path in objects:
        path.unlink()
    return directory / name
