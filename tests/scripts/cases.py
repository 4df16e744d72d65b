# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases of a Python test, for `cases` of cases.sh."""
import traceback


def run(cases):
    """Each in turn; its name is its sentence. All in one process: to start Python takes longer than most."""
    for case in cases:
        sentence = case.__name__.removeprefix('test_').replace('_', ' ')
        try:
            case()
        except Exception:
            print(f'not ok {sentence}')
            print(*(f'# {line}' for line in traceback.format_exc().splitlines()), sep='\n')
        else:
            print(f'ok {sentence}')
