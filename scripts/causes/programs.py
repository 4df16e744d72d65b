# SPDX-License-Identifier: GPL-2.0-or-later
"""The real programs that causes are judged on, and their recordings."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

# Not a script that finds one.
PYTHON3 = os.path.realpath(sys.executable)
DATA_BYTES = 8 << 20
SQL = '''create table t(a integer primary key, b text, c integer);
with recursive n(x) as (select 1 union all select x + 1 from n where x < COUNT)
  insert into t select x, 'row' || (x * 7919 % 1000003), x * 31 % 65537 from n;
create index i on t(b);
select count(*) from t x join t y on x.c = y.a;
select sum(length(b)) from t where b like '%77%';
select max(n) from (select count(*) n from t group by c % 1000, substr(b, 4, 2));
'''
PYTHON = '''import random
random.seed(1)
words = ["%x" % random.randrange(1 << 20) for _ in range(400000)]
count = {}
for _ in range(COUNT):
    for w in words:
        count[w] = count.get(w, 0) + len(w)
    words.sort(key=lambda w: hash(w) & 65535)
print(len(count))
'''
RUBY = '''count = Hash.new(0)
x = 1
words = Array.new(400000) { x = (x * 1103515245 + 12345) % 2147483648; (x >> 11).to_s(16) }
COUNT.times do
  words.each { |word| count[word] += word.length }
  words = words.sort_by { |word| word.hex & 65535 }
end
puts count.size
'''
PERL = '''my %count; my $x = 1;
for (1 .. COUNT) { $x = ($x * 1103515245 + 12345) % 2147483648; my $w = sprintf("%x", $x >> 11);
  $count{$w}++; $count{$1}++ if $w =~ /([a-f]+)/; }
print scalar(keys %count), "\\n";
'''
LUA = '''local t, x = {}, 1
for i = 1, 200000 do x = (x * 1103515245 + 12345) % 2147483648; t[i] = x end
local s = 0
for r = 1, COUNT do
  for i = 1, #t do s = s + t[t[i] % #t + 1] % 7 end
  table.sort(t, function(a, b) return a % 1021 < b % 1021 end)
end
print(s)
'''
CXX = '''#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
int main(int argc, char **argv)
{
	for (int round = 1; round < argc; round++) {
		std::map<std::string, long> tree;
		std::vector<unsigned> heap;
		unsigned x = 1;
		long sum = 0;

		for (long i = 0; i < 1000L * std::atol(argv[round]); i++) {
			x = x * 1103515245 + 12345;
			tree[std::to_string(x >> 14)] += i;
			heap.push_back(x);
			std::push_heap(heap.begin(), heap.end());
			if (heap.size() > 50000) {
				std::pop_heap(heap.begin(), heap.end());
				heap.pop_back();
			}
		}
		for (auto &one : tree)
			sum += one.second;
		std::printf("%ld\\n", sum);
	}
}
'''


def programs(work, seconds):
    """Name, whether it was looked at, and the command."""
    data = work / 'data'
    if not data.exists():  # --keep
        with open(data, 'wb') as out:
            for path in sorted(Path('/usr/bin').glob('*'))[:400]:
                if path.is_file() and os.access(path, os.R_OK) and out.tell() < 60 << 20:
                    out.write(path.read_bytes())
        (work / 'tree.cc').write_text(CXX)
        subprocess.run(['c++', '-O2', '-o', work / 'tree', work / 'tree.cc'], check=True)
    for name, text, size in (('words.py', PYTHON, 3 * seconds), ('words.pl', PERL, 800000 * seconds),
                             ('words.rb', RUBY, 3 * seconds),
                             ('table.lua', LUA, 7 * seconds), ('rows.sql', SQL, 600000 * seconds)):
        (work / name).write_text(text.replace('COUNT', str(size)))
    sources = ' '.join(str(path) for path in sorted(
        (Path(__file__).resolve().parent.parent.parent / 'src').glob('*/*.c'))[:10 * seconds])
    def files(each):
        """As many files as take `seconds`, of which one takes `each`."""
        return ' '.join([str(data)] * max(1, round(seconds / each)))
    include = Path(__file__).resolve().parent.parent.parent / 'include'
    return [
        ('xz', True, ['sh', '-c', f'exec xz -3 -T1 -kc {files(13)} > /dev/null']),
        ('bzip2', True, ['sh', '-c', f'exec bzip2 -kc {files(4)} > /dev/null']),
        ('gzip', True, ['sh', '-c', f'exec gzip -9 -kc {files(8)} > /dev/null']),
        ('perl', True, ['perl', str(work / 'words.pl')]),
        ('python3', True, [PYTHON3, str(work / 'words.py')]),
        ('c++ map', True, [str(work / 'tree'), str(900 * seconds)]),
        ('zstd', False, ['sh', '-c', f'exec zstd -q -12 --single-thread -c {files(3)} > /dev/null']),
        ('sqlite3', False, ['sqlite3', '-init', str(work / 'rows.sql'), ':memory:', '.quit']),
        ('ruby', False, ['ruby', str(work / 'words.rb')]),
        ('lua5.4', False, ['lua5.4', str(work / 'table.lua')]),
        ('cc1', False, ['sh', '-c', f'for f in {sources}; do cc -w -O2 -D_GNU_SOURCE '
                                    f'-I{include} -S -o /dev/null $f 2>/dev/null; done']),
    ]


def repeated(work, name, command, runs, data_bytes=DATA_BYTES):
    """One process that does so many times the same. Without a shell, and of less data: following takes tens of
    times as long."""
    part = work / f'part-{data_bytes}'
    if not part.exists():
        part.write_bytes((work / 'data').read_bytes()[:data_bytes])
    if command[0] == 'sh':
        words = shlex.split(command[2].split('>')[0])[1:]
        return [word for word in words if word != str(work / 'data')] + [str(part)] * runs
    if name == 'c++ map':
        return command[:1] + command[1:] * runs
    if name == 'sqlite3':
        return ['sqlite3', ':memory:'] + [f'.read {work / "rows.sql"}', '.open :memory:'] * runs
    script = command[1]
    if name == 'perl':
        return ['perl', '-e', f'for (1 .. {runs}) {{ do "{script}" }}']
    if name == 'python3':
        return [PYTHON3, '-c', f'for _ in range({runs}): exec(open("{script}").read(), {{}})']
    if name == 'ruby':
        return ['ruby', '-e', f'{runs}.times {{ load "{script}" }}']
    return ['lua5.4', '-e', f'for i = 1, {runs} do dofile("{script}") end']


def add_options(parser):
    parser.add_argument('--hpcprof', default='build/hpcprof', metavar='PATH')
    parser.add_argument('--seconds', type=int, default=8, help='of a program, about (default: 8)')
    parser.add_argument('--shadow', type=float, default=3, metavar='PERCENT')
    parser.add_argument('--keep', metavar='DIR',
                        help='work there, and leave everything (--time and --sharpness can share it)')
    parser.add_argument('--again', action='store_true',
                        help='judge what is in --keep, and do not record it again')
    parser.add_argument('program', nargs='*', help='these alone')


@contextmanager
def workplace(options):
    options.hpcprof = str(Path(options.hpcprof).resolve())
    with tempfile.TemporaryDirectory(prefix='hpcprof-causes-') as scratch:
        work = Path(options.keep or scratch).resolve()
        work.mkdir(exist_ok=True)
        yield work


def recorded(options, work, name, command, causes='always'):
    """The database, and the windows in it."""
    database = work / f'{name.replace(" ", "-")}.{causes}.db'
    windows = database.with_suffix('.json')
    if not options.again or not windows.exists():
        shutil.rmtree(database, ignore_errors=True)
        done = subprocess.run([options.hpcprof, 'record', '--db', database, f'--shadow={options.shadow}',
                               f'--causes={causes}', '--'] + command,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = re.search(r'executions counted in (\d+) of', done.stderr)
        windows.write_text(found[1] if found else '0')
    return database, json.loads(windows.read_text())


def report(options, database, *view):
    done = subprocess.run([options.hpcprof, 'report', '--db', database, *view, '--limit=100000',
                           '--no-debuginfo', '--format=json'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None
