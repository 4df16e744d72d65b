# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that frequencies are judged on, with inputs that are the same in every run.

Those of TUNING may be looked at while the estimator is made; those of KEPT_OUT are for judging it
alone. Those of MADE_UP are too, and are no programs that anybody uses: a few unlike loops that share
one procedure, which is the hardest case there is. Each runs for about a second, so that it can be counted exactly in a minute; a profile takes
several runs. Nothing is downloaded: inputs are this repository's sources, or made by formula.
"""
import os
import random
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent

ENVIRONMENT = {
    'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'HOME': '/nonexistent', 'LC_ALL': 'C',
    # Tables of Python and Perl are else laid out anew in each run.
    'PYTHONHASHSEED': '0', 'PYTHONDONTWRITEBYTECODE': '1',
    'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0',
}


TUNING, KEPT_OUT, MADE_UP = SETS = 'tuned on', 'kept out', 'made up'


class Failure(Exception):
    """A program cannot be measured here; the text says why."""


@dataclass
class Workload:
    name: str
    command: list            # looked up in $PATH, or a file of the inputs' directory
    inputs: list = field(default_factory=list)
    set: str = TUNING
    short: bool = False      # also with --quick
    # Of its command and n: what does the same n times in one process. None: it cannot be told to.
    again: callable = None

    @property
    def folder(self):
        return self.set.replace(' ', '-')


# --- inputs ---------------------------------------------------------------------------------------


def text(path, size):
    """C sources of this repository, one behind the other; after that, their lines out of order."""
    lines = []
    for folder in ('src', 'include', 'tests', 'scripts'):
        for source in sorted((TOP / folder).rglob('*.[ch]')):
            if source.name != 'tables.c':
                lines += source.read_bytes().splitlines(keepends=True)
    shuffled = random.Random(1)
    with open(path, 'wb') as out:
        while out.tell() < size:
            out.write(b''.join(lines)[:size - out.tell()])
            shuffled.shuffle(lines)


LUA = '''
local function random(seed)
    return function(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed % n end
end
local next_number = random(7)
local t = {}
for i = 1, 250000 do t[i] = ("x"):rep(next_number(7)) .. next_number(100000) end
table.sort(t)
local n = 0
for _, v in ipairs(t) do if v:find("^x+%d+5$") then n = n + 1 end end
local function fib(x) if x < 2 then return x end return fib(x - 1) + fib(x - 2) end
local words = {}
for line in io.lines("text.medium") do
    for word in line:gmatch("%a+") do words[word] = (words[word] or 0) + 1 end
end
local queue, seen = { 1 }, {}
for _ = 1, 200000 do
    local at = table.remove(queue)
    if at and not seen[at] then
        seen[at] = true
        queue[#queue + 1] = at * 2 % 99991
        queue[#queue + 1] = at * 3 % 99991
    end
end
local account = setmetatable({}, { __index = function(_, key) return #key end })
local sum = 0
for i = 1, 2000000 do sum = sum + account["k" .. i % 100] end
print(n, fib(30), sum, next(words) ~= nil)
'''

SQL = '''
create table t (a integer primary key, b text, c real, d integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 250000)
insert into t select i, printf('%d-%x', i, i * 7919 % 65536), i / 3.0, i * 31 % 1009 from n;
create index ti on t (b);
create index td on t (d, c);
select count(*), max(b), avg(c), group_concat(a % 7) from t where b like '1%' group by a % 5;
update t set c = c * 2 where a % 3 = 0;
select x.d, count(*), sum(y.c) from t x join t y on y.a = x.d group by x.d having count(*) > 10
    order by 3 desc limit 20;
delete from t where b glob '2*';
select sum(c), count(distinct d) from t;
with recursive path(a, depth) as (select 1, 0 union select d + 1, depth + 1 from path
    join t on t.a = path.a where depth < 20000) select count(*), max(a) from path;
select substr(b, 1, 3) as p, count(*) from t group by p order by 2 desc, 1 limit 10;
'''

TCL_AGAIN = 'for {set r 0} {$r < [lindex $argv 0]} {incr r} {source in.tcl}\n'
TCL = r'''
set seed 5
proc draw {below} {
    global seed
    set seed [expr {($seed * 1103515245 + 12345) % 2147483648}]
    return [expr {$seed / 256 % $below}]
}
set file [open text.medium]
while {[gets $file line] >= 0} {
    foreach word [regexp -all -inline {[a-z_]+} $line] { incr words($word) }
}
set list {}
for {set i 0} {$i < 150000} {incr i} { lappend list [draw 100000] }
set list [lsort -integer $list]
proc fib {n} {
    if {$n < 2} { return $n }
    return [expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}]
}
foreach n [lrange $list 0 20000] { dict lappend shape [expr {$n % 97}] [format %05d $n] }
puts "[array size words] [lindex $list 100] [fib 20] [string length [join $list ,]] [dict size $shape]"
'''

PYTHON = '''
import collections, heapq, json, re
def random_numbers(seed):
    while True:
        seed = (seed * 1103515245 + 12345) % 2147483648
        yield seed
r = random_numbers(3)
data = [{"n": next(r) % 1000, "s": str(next(r)) * 2, "l": [i, i / 2, None]} for i in range(40000)]
back = json.loads(json.dumps(data))
lines = open("text.medium").read()
words = collections.Counter(re.findall(r"[a-z_]+", lines))
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __lt__(self, other):
        return (self.x, self.y) < (other.x, other.y)
heap = []
for i in range(100000):
    heapq.heappush(heap, Point(next(r) % 100, i))
out = [heapq.heappop(heap).y for _ in range(60000)]
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
sieve = bytearray([1]) * 2000000
for i in range(2, 1415):
    if sieve[i]:
        sieve[i * i::i] = bytes(len(sieve[i * i::i]))
text = "".join(chr(97 + next(r) % 26) for _ in range(500000))
pairs = collections.defaultdict(int)
for a, b in zip(text, text[1:]):
    pairs[a + b] += 1
try:
    raise ValueError(fib(27))
except ValueError as e:
    print(e, len(words), sorted(pairs.items(), key=lambda p: -p[1])[:2], sum(sieve), out[:2])
'''

PERL = r'''
use strict;
my (%w, @keep);
open my $f, "<", "text.medium" or die;
while (my $line = <$f>) {
    $w{lc $_}++ for $line =~ /\w+/g;
    $line =~ s/(\w+)\s*=\s*(\d+)/$2-$1/g;
    push @keep, $line if $line =~ /^\s*(?:if|for|while)\b.*\{$/;
}
my @k = sort { $w{$b} <=> $w{$a} || $a cmp $b } keys %w;
my $seed = 5;
sub rnd { $seed = ($seed * 1103515245 + 12345) % 2147483648; return $seed % $_[0] }
my @n = map { rnd(100000) } 1 .. 400000;
my ($sum, %seen) = (0);
for my $v (@n) { $sum += $v & 1 ? $v * 3 : $v >> 1; $seen{$v % 977} .= "x" }
my @s = sort { $a <=> $b } @n;
my $text = join ",", map { sprintf "%05d", $_ } @s[0 .. 200000];
my $hits = () = $text =~ /0(\d)\1/g;
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
print "@k[0..3] $sum $hits ", fib(23), " ", scalar(@keep), "\n";
'''

AWK = '''
{ n[$1]++; gsub(/[a-z]+_/, "&&"); s += length($0); if (match($0, /[0-9]+/)) m += substr($0, RSTART, RLENGTH) }
NR % 3 == 0 { k = split($0, part, /[ (),]+/); for (i = 1; i <= k; i++) w[part[i]]++ }
END { for (k in n) t += n[k]; for (k in w) u += length(k); print t, s, m, u }
'''

JQ = ('[range(100000) | {a: (. * 7919 % 1000), b: tostring, c: [. % 3, . % 5]}]'
      ' | group_by(.a) | map({a: .[0].a, n: length, s: (map(.c[0]) | add), t: (.[0].b | test("7$"))})'
      ' | sort_by(-.s, .a) | map(select(.t)) | length')

BC = '''
scale = 120
define p(n) { auto i, s; s = 0; for (i = 0; i < n; i++) s += 1 / (16 ^ i) * (4 / (8 * i + 1) - 2 / (8 * i + 4) - 1 / (8 * i + 5) - 1 / (8 * i + 6)); return (s); }
define f(n) { if (n < 2) return (n); return (f(n - 1) + f(n - 2)); }
define g(a, b) { auto t; while (b) { t = a % b; a = b; b = t; }; return (a); }
p(500)
f(22)
scale = 0
s = 0
for (i = 1; i < 150000; i++) s += g(i * 7919, 30030)
s
sqrt(2 * 10 ^ 3000)
'''


def c_source(path, functions):
    """For compilers: no includes, many shapes."""
    lines = ['typedef unsigned long u;', 'extern int external(int);']
    for i in range(functions):
        a, b = i * 7 % 13 + 2, i * 5 % 11 + 1
        lines.append(f'''
struct s{i} {{ struct s{i} *next; int at[{a}]; double d; }};
static int step{i}(struct s{i} *s, int n)
{{
	int sum = 0;
	for (int k = 0; k < n; k++) {{
		if (s->at[k % {a}] > k * {b}) sum += s->at[k % {a}] * {a};
		else if (k & {b}) sum ^= (k << 2) - s->at[(k + 1) % {a}];
		else sum -= external(k);
	}}
	return sum;
}}
int walk{i}(struct s{i} *s, int kind)
{{
	int total = 0;
	while (s) {{
		switch (kind % 9) {{
		case 0: total += step{i}(s, {a * 3}); break;
		case 1: total -= (int)(s->d * {a}.5); break;
		case 2: s->at[0] = total; /* fall through */
		case 3: total += external(total) ? {a} : {b}; break;
		case 5: return total / {b + 1};
		case 7: goto out;
		default: for (int j = 0; j < {a}; j++) s->at[j] += total * j; break;
		}}
		s = s->next;
		kind = kind * {2 * b + 1} + 1;
	}}
out:
	return total;
}}
u hash{i}(const unsigned char *p, u n)
{{
	u h = {i + 17};
	while (n >= 4) {{ h = (h ^ (p[0] | p[1] << 8 | p[2] << 16)) * 0x9e3779b97f4a7c15; p += 4; n -= 4; }}
	while (n--) h = h * 31 + *p++;
	return h % {a * 97 + 1} + h / {b + 2};
}}''')
    path.write_text('\n'.join(lines) + '\n')


def xml(path, count):
    seed = 11
    lines = ['<?xml version="1.0"?>', '<list>']
    for i in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        lines.append(f'<item id="n{i}" size="{seed % 997}"><name>item {seed % 31}</name>'
                     f'<note>a &lt; {seed % 7} &amp; b</note><!-- {i} --><empty/></item>')
    path.write_text('\n'.join(lines + ['</list>', '']))


def graph(path, nodes):
    seed = 13
    lines = ['digraph g {']
    for i in range(1, nodes):
        seed = (seed * 1103515245 + 12345) % 2147483648
        lines.append(f'n{seed // 64 % i} -> n{i};')
        if i % 5 == 0:
            lines.append(f'n{seed // 4096 % i} -> n{i} [label="{seed % 10}"];')
    path.write_text('\n'.join(lines + ['}', '']))


def packed(path):
    with open(path, 'wb') as out:
        subprocess.run(['xz', '-6', '-c', 'text.large'], cwd=path.parent, stdout=out, check=True)


def compiled(path, source, compiler, *flags):
    if shutil.which(compiler):
        subprocess.run([compiler, *flags, '-o', str(path), str(source)], check=True)


def make_inputs(directory):
    """Everything that the programs read, and those of them that are made here. What is there
    already stays, since exact counts belong to it."""
    def written(content):
        return lambda path: path.write_text(content)

    bench = HERE.parent / 'bench' / 'kernels.c'
    shapes = HERE / 'shapes.c'
    directory.mkdir(parents=True, exist_ok=True)
    for name, make in {
            'text': lambda path: text(path, 2_000_000),
            'text.medium': lambda path: text(path, 4_000_000),
            'text.large': lambda path: text(path, 16_000_000),
            'text.xz': packed,
            'in.lua': written(LUA), 'in.sql': written(SQL), 'in.tcl': written(TCL),
            'again.tcl': written(TCL_AGAIN),
            'in.py': written(PYTHON), 'in.pl': written(PERL), 'in.awk': written(AWK),
            'in.jq': written(JQ), 'in.bc': written(BC),
            'in.c': lambda path: c_source(path, 60),
            'in.xml': lambda path: xml(path, 400000),
            'in.dot': lambda path: graph(path, 900),
            'kernels': lambda path: compiled(path, bench, 'gcc', '-O2'),
            'shapes-gcc': lambda path: compiled(path, shapes, 'gcc', '-O1'),
            'shapes-clang': lambda path: compiled(path, shapes, 'clang', '-O3'),
            'phases': lambda path: compiled(path, HERE / 'phases.cc', 'g++', '-O2'),
    }.items():
        if not (directory / name).exists():
            make(directory / name)


# --- programs -------------------------------------------------------------------------------------


def cc1():
    found = subprocess.run(['gcc', '-print-prog-name=cc1'], stdout=subprocess.PIPE, text=True)
    return found.stdout.strip() or 'cc1'


def last_again(*options, times=1):
    """Its last argument, for each time that it is to be read."""
    return lambda command, runs: [command[0], *options, *command[1:],
                                  *[command[-1]] * times * (runs - 1)]


def kernels_again(command, runs):
    return [command[0], str(int(command[-1]) * runs)]


def lua_again(command, runs):
    # What its collector does depends on all it did before; so it begins each time with the same heap.
    return [command[0], '-e', f'for _ = 1, {runs} do dofile("{command[-1]}") collectgarbage() end']


def perl_again(command, runs):
    return [command[0], '-e', f'for my $i (1..{runs}) {{ do "./in.pl"; }}']


def python_again(command, runs):
    # Not -I, which would have it choose where keys go in its tables anew in each process.
    return [command[0], '-s', '-S', '-c', f'code = compile(open("in.py").read(), "in.py", "exec")\n'
            f'for _ in range({runs}): exec(code, {{"__name__": "x"}})']


def sqlite_again(command, runs):
    return [command[0], '-batch', ':memory:', *['.read in.sql', 'drop table t'] * runs]


def tcl_again(command, runs):
    return [command[0], 'again.tcl', str(runs)]


def workloads():
    tuning = [
        Workload('xz', ['xz', '-6', '-c', 'text'], short=True, again=last_again()),
        Workload('bzip2', ['bzip2', '-9', '-c', 'text.large'], short=True, again=last_again()),
        Workload('gzip', ['gzip', '-9', '-c', 'text.large'], short=True, again=last_again()),
        Workload('zstd', ['zstd', '-q', '--single-thread', '-12', '-c', 'text.large'], short=True,
                 # Else it waits for a thread that reads and writes: counts would only be relative.
                 again=last_again('--no-asyncio')),
        Workload('lua', ['lua5.4', 'in.lua'], ['text.medium'], short=True, again=lua_again),
        Workload('sqlite3', ['sqlite3', '-batch', '-init', 'in.sql', ':memory:', '.quit'],
                 short=True, again=sqlite_again),
        Workload('kernels', ['./kernels', '60'], short=True, again=kernels_again),
        Workload('tcl', ['tclsh', 'in.tcl'], ['text.medium'], again=tcl_again),
    ]
    kept_out = [
        Workload('python3', ['/usr/bin/python3', '-s', '-S', 'in.py'], ['text.medium'], short=True,
                 again=python_again),
        Workload('perl', ['perl', 'in.pl'], ['text.medium'], short=True, again=perl_again),
        Workload('mawk', ['mawk', '-f', 'in.awk', 'text.large'], short=True, again=last_again()),
        Workload('bc', ['bc', '-q', 'in.bc'], again=last_again()),
        Workload('jq', ['jq', '-n', '-f', 'in.jq']),
        Workload('cc1', [cc1(), '-quiet', '-O2', 'in.c', '-o', '/dev/null']),
        Workload('dot', ['dot', '-Tplain', 'in.dot']),
        Workload('xmllint', ['xmllint', '--c14n', 'in.xml']),
        Workload('unxz', ['xz', '-d', '-c'] + ['text.xz'] * 8, short=True,
                 again=last_again(times=8)),
        Workload('lz4', ['lz4', '-q', '-9', '-c', 'text.large'], again=last_again('-m')),
    ]
    made_up = [
        Workload('shapes-gcc', ['./shapes-gcc'], short=True),
        Workload('shapes-clang', ['./shapes-clang'], short=True),
        Workload('phases', ['./phases', '1'],
                 again=kernels_again),
    ]
    for workload in kept_out:
        workload.set = KEPT_OUT
    for workload in made_up:
        workload.set = MADE_UP
    return tuning + kept_out + made_up
