# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py NAME OUT COMMAND...: runs COMMAND on a terminal of its own; exits with its status.

The terminal has 24 rows of 80 columns. Standard output goes to the file OUT unless that is `terminal`. What
the terminal gets is then in NAME; in NAME.screens what a person sees, at each moment when nothing more comes
for a while; in NAME.paper all that stays at the end, with what has scrolled away.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios

ROWS, COLUMNS = 24, 80
QUIET_S = 0.2
PART = re.compile('\033([78D])|\033\\[([0-9;]*)([A-Za-z])|([^\033])', re.DOTALL)


class Screen:
    def __init__(self):
        self.rows, self.gone = [[] for _ in range(ROWS)], []
        self.row = self.column = 0
        self.bottom, self.kept = ROWS, (0, 0)

    def down(self):
        if self.row + 1 == self.bottom:
            self.gone.append(self.rows.pop(0))
            self.rows.insert(self.bottom - 1, [])
        elif self.row + 1 < ROWS:
            self.row += 1

    def put(self, letter):
        if self.column == COLUMNS:
            self.column = 0
            self.down()
        row = self.rows[self.row]
        row += ' ' * (self.column + 1 - len(row))
        row[self.column] = letter
        self.column += 1

    def simple(self, what):
        if what == '7':
            self.kept = self.row, self.column
        elif what == '8':
            self.row, self.column = self.kept
        else:
            self.down()

    def write(self, what):
        if what == '\n':
            self.down()
        elif what == '\r':
            self.column = 0
        else:
            self.put(what)

    def control(self, what, numbers):
        if what == 'A':
            self.row -= 1
        elif what == 'H':
            self.row, self.column = int(numbers.split(';')[0]) - 1, 0
        elif what == 'r':
            self.bottom = int(numbers.split(';')[1]) if numbers else ROWS
            self.row = self.column = 0
        elif what == 'K':
            del self.rows[self.row][self.column:]
        elif what != 'm':
            sys.exit(f'this terminal does not know ESC [ {numbers} {what}')

    def take(self, text):
        for simple, numbers, what, letter in PART.findall(text):
            if what:
                self.control(what, numbers)
            elif simple:
                self.simple(simple)
            else:
                self.write(letter)

    def text(self, gone=()):
        return '\n'.join(''.join(row).rstrip() for row in [*gone, *self.rows]) + '\n'


def start(out, command):
    child, terminal = pty.fork()
    if child == 0:
        os.environ['TERM'] = 'xterm'
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
        if out != 'terminal':
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
        os.execv(command[0], command)
    return child, terminal


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b''


def main():
    name, out, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    child, terminal = start(out, command)
    screen = Screen()
    with open(name, 'wb') as raw, open(name + '.screens', 'w') as screens:
        while True:
            quiet = not select.select([terminal], [], [], QUIET_S)[0]
            if quiet:
                screens.write(screen.text() + '\f\n')
                select.select([terminal], [], [])
            got = read(terminal)
            if not got:
                break
            raw.write(got)
            # A sequence of hpcprof comes whole: it is written at once.
            screen.take(got.decode(errors='replace'))
    with open(name + '.paper', 'w') as paper:
        paper.write(screen.text(screen.gone))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
