"""Proves the rules of the worker lease and of worker windows for any number of processes, requests and milliseconds.

python3 prove.py                  all steps of both proofs; the last line is `N passed, N failed`
python3 prove.py --without R3     leaves a rule out, and prints the steps that fail, a state, and a run to a duplicate
python3 prove.py --without all    each rule in turn; exit code 1 if the loss of one is not noticed
"""

import argparse
import sys
import time

import z3

import lease
import runs
import windows
from induction import Holder, Int, Write, base, run, safety, steps
from report import describe, describe_run

SYSTEMS = {'lease': (lease, runs.LEASE), 'windows': (windows, runs.WINDOWS)}


def outcomes(system, together=False):
    yield from base(system)
    yield from steps(system, together)
    yield from safety(system)


def parsed(text):
    """The steps of a run, and their lines."""
    lines = [line.strip() for line in text.split(';')]
    return [(name, [_term(one) for one in rest]) for name, *rest in (line.split() for line in lines)], lines


def _term(word):
    if word.isdigit():
        return z3.IntVal(int(word))
    if word in 'abc':
        return z3.Const(word, Holder)
    return z3.Int(word) if word.startswith('t') else z3.Const(word, Write)


def duplicate(steps_of_run):
    """Two holders have used the time t."""
    holders = {str(parameters[0]): parameters[0] for name, parameters in steps_of_run if name == 'Issue'}
    g, h = list(holders.values())[-2:]
    time_used = z3.Int('t')
    return lambda s: z3.And(g != h, s.uses(g, time_used) > 0, s.uses(h, time_used) > 0)


def prove(name, report):
    """Returns the numbers of passed and of failed checks."""
    module, known = SYSTEMS[name]
    system = module.system()
    passed, failed, at, started = {}, 0, None, time.monotonic()
    for outcome in outcomes(system):
        if outcome.model is None:
            passed[outcome.step] = passed.get(outcome.step, 0) + 1
            continue
        failed += 1
        report(f'{name}: {outcome.step} does not keep "{outcome.part}"')
        for line in describe(system, outcome):
            report(line)
    for step, count in passed.items():
        report(f'{name}: {step}: {count} parts')
    possible = run(system, parsed(known['ALL'])[0])
    used = {action for action, _ in parsed(known['ALL'])[0]}
    missing = [action.name for action in system.actions if action.name not in used]
    is_possible = possible.model is not None and not missing
    report(f'{name}: a run with every action: {"possible" if is_possible else f"FAILED {missing}"}')
    done = sum(passed.values()) + is_possible
    failed += not is_possible
    for rule in module.RULES:
        sequence, _ = parsed(known[rule])
        if not {action for action, _ in sequence} <= {action.name for action in system.actions}:
            continue
        is_safe = run(system, sequence, duplicate(sequence)).model is None
        done, failed = done + is_safe, failed + (not is_safe)
        if not is_safe:
            report(f'{name}: the run of {rule} ends in a duplicate')
    report(f'{name}: {done} checks, {time.monotonic() - started:.0f} s')
    return done, failed


def without(name, rule, report, together):
    """The steps that fail without a rule; the length of a run that then ends in a duplicate, if there is one."""
    module, known = SYSTEMS[name]
    system = module.system(rule)
    failing, example = [], None
    for outcome in outcomes(system, together):
        if outcome.model is not None:
            failing.append(outcome)
            example = example or outcome
    names = list(dict.fromkeys(outcome.step for outcome in failing))
    sequence, lines = parsed(known[rule])
    found = run(system, sequence, duplicate(sequence))
    report(f'{name} without {rule} ({module.RULES[rule]})')
    for outcome in failing:
        report(f'  {outcome.step} does not keep "{outcome.part}"')
    if example is not None:
        report(f'  {example.step}, "{example.part}":')
        for line in describe(system, example):
            report(f'  {line}')
    if found.model is not None:
        report('  a run that ends in a duplicate:')
        for line in describe_run(system, found, sequence, lines):
            report(f'    {line}')
    return names, found.model is not None and len(sequence)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--without', metavar='RULE', help='R1, R2, R3, ... W5, or all')
    parser.add_argument('--system', choices=SYSTEMS, help='one of the two proofs only')
    options = parser.parse_args()
    chosen = [options.system] if options.system else list(SYSTEMS)
    if options.without is None:
        counts = [prove(name, print) for name in chosen]
        passed, failed = (sum(column) for column in zip(*counts))
        print(f'{passed} passed, {failed} failed')
        return 1 if failed else 0
    is_all = options.without == 'all'
    report = (lambda line: None) if is_all else print
    rows = [
        (name, rule, *without(name, rule, report, is_all))
        for name in chosen
        for rule in SYSTEMS[name][0].RULES
        if is_all or rule == options.without or rule.startswith(f'{options.without}-')
    ]
    if not rows:
        parser.error(f'unknown rule {options.without}')
    for name, rule, failing, length in rows:
        steps_text = 'fails at ' + ', '.join(failing) if failing else 'NOT NOTICED'
        print(f'{name:8} {rule:11} {steps_text}; {f"duplicate in {length} steps" if length else "NO DUPLICATE"}')
    noticed = sum(bool(failing and length) for _, _, failing, length in rows)
    if is_all:
        print(f'{noticed} passed, {len(rows) - noticed} failed')
    return 0 if is_all and noticed == len(rows) else 1


if __name__ == '__main__':
    sys.exit(main())
