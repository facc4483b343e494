"""Inductive invariants over an unbounded state, as queries without quantifiers.

A state is a set of functions over sorts without a size. An action changes a few of their values, so the next state is
written down as functions of the last one. Every part of an invariant holds for all values of its variables. To prove
that an action keeps a part, the variables of the part become constants, and the invariant before the action is used at
the terms that occur: the constants, the parameters of the action, and what the system derives from them. Each query is
then linear arithmetic with uninterpreted functions, which z3 decides. More terms can only be missing, never wrong: a
proof that lacks one fails.
"""

from itertools import product

import z3

Holder = z3.DeclareSort('Holder')
Write = z3.DeclareSort('Write')
Int = z3.IntSort()


class State:
    """Functions by name. `state.name(args)` is a term."""

    def __init__(self, functions):
        self._functions = functions

    def __getattr__(self, name):
        return self._functions[name]

    def set(self, name, key, value):
        """The state in which `name` has `value` at `key`, a tuple of terms."""
        before = self._functions[name]

        def after(*args):
            here = z3.And(*(a == b for a, b in zip(args, key))) if key else z3.BoolVal(True)
            return z3.If(here, value, before(*args))

        return State({**self._functions, name: after})


class Part:
    """A part of an invariant: holds(state, *variables) for all variables of `sorts`."""

    def __init__(self, name, sorts, holds):
        self.name, self.sorts, self.holds = name, sorts, holds


class Action:
    """`guard(state, *parameters)` allows it, `effect(state, *parameters)` is the next state.

    `each` is the part of the guard about all values of the variables in `sorts`, if any.
    """

    def __init__(self, name, sorts, guard, effect, each=None):
        self.name, self.sorts, self.guard, self.effect, self.each = name, sorts, guard, effect, each


class System:
    """fields: name -> (argument sorts, result sort); initial: name -> function of the first state.

    contents: what a write contains, by name, to print it.
    """

    def __init__(self, name, fields, initial, axioms, actions, invariant, safety, derive, contents):
        self.name, self.fields, self.initial, self.axioms = name, fields, initial, axioms
        self.actions, self.invariant, self.safety = actions, invariant, safety
        self.derive, self.contents = derive, contents

    def any_state(self):
        made = {}
        for name, (sorts, result) in self.fields.items():
            made[name] = z3.Function(name, *sorts, result) if sorts else _constant(name, result)
        return State(made)

    def first_state(self):
        return State(self.initial)


def _constant(name, sort):
    value = z3.Const(name, sort)
    return lambda: value


def constants(sorts, prefix):
    return [z3.Const(f'{prefix}{index}', sort) for index, sort in enumerate(sorts, 1)]


def instances(parts, state, terms):
    """The parts at all combinations of terms."""
    return [
        part.holds(state, *values)
        for part in parts
        for values in product(*(terms[sort] for sort in part.sorts))
    ]


def terms_of(system, state, found):
    """Terms by sort: `found`, and what the system derives from them."""
    terms = {sort: [] for sort in (Holder, Write, Int)}
    _add(terms, found)
    _add(terms, list(system.derive(state, terms)))
    return terms


def _add(terms, more):
    for term in more:
        known = terms[term.sort()]
        if not any(term.eq(one) for one in known):
            known.append(term)


class Outcome:
    """`model` is None if the step is proved."""

    def __init__(self, step, part, model, before=None, after=None, terms=None, parameters=()):
        self.step, self.part, self.model = step, part, model
        self.before, self.after, self.terms, self.parameters = before, after, terms, parameters


class _Query:
    """Conditions, with lemmas that are added only when a model contradicts them."""

    def __init__(self, conditions, lemmas=()):
        self._solver = z3.Solver()
        self._solver.add(*conditions)
        self._left = list(lemmas)

    def model(self, *more):
        """A model of the conditions, all lemmas and `more`; None if there is none."""
        self._solver.push()
        self._solver.add(*more)
        used, model = [], None
        while True:
            answer = self._solver.check()
            if answer == z3.unknown:
                raise RuntimeError(f'z3 gave no answer: {self._solver.reason_unknown()}')
            if answer == z3.unsat:
                break
            model = self._solver.model()
            broken = [one for one in self._left if not z3.is_true(model.eval(one, model_completion=True))]
            if not broken:
                break
            self._solver.add(*broken)
            used += broken
            self._left = [one for one in self._left if not any(one is other for other in broken)]
        self._solver.pop()
        self._solver.add(*used)
        return model if answer == z3.sat else None


def base(system):
    """The first state has every part of the invariant."""
    state = system.first_state()
    values, terms = _any(system, state, system.invariant, [])
    query = _Query(system.axioms(terms))
    for part in system.invariant:
        yield Outcome('Init', part.name, query.model(_fails(part, state, values)), state, state, terms)


def steps(system, together=False):
    """Every action keeps every part of the invariant.

    together: one query for all parts of an action, which is faster and does not tell which part fails.
    """
    before = system.any_state()
    for action in system.actions:
        parameters = constants(action.sorts, f'{action.name}.')
        after = action.effect(before, *parameters)
        values, terms = _any(system, before, system.invariant, parameters)
        conditions = [*system.axioms(terms), *_guards(action, before, parameters, terms)]
        query = _Query(conditions, instances(system.invariant, before, terms))
        failures = {part.name: _fails(part, after, values) for part in system.invariant}
        if together:
            failures = {'all parts': z3.Or(*failures.values())}
        for name, failure in failures.items():
            yield Outcome(action.name, name, query.model(failure), before, after, terms, parameters)


def safety(system):
    """The invariant implies each part of the property."""
    state = system.any_state()
    values, terms = _any(system, state, system.safety, [])
    query = _Query(system.axioms(terms), instances(system.invariant, state, terms))
    for part in system.safety:
        yield Outcome('Safety', part.name, query.model(_fails(part, state, values)), state, state, terms)


def _any(system, state, parts, found):
    """Constants for the variables of every part, and the terms of a query."""
    values = {sort: [] for sort in (Holder, Write, Int)}
    for sort, known in values.items():
        most = max(sum(one == sort for one in part.sorts) for part in parts)
        known += [z3.Const(f'any {sort} {index}', sort) for index in range(1, most + 1)]
    return values, terms_of(system, state, [*found, *(one for known in values.values() for one in known)])


def _fails(part, state, values):
    left = {sort: iter(known) for sort, known in values.items()}
    return z3.Not(part.holds(state, *(next(left[sort]) for sort in part.sorts)))


def _guards(action, state, parameters, terms):
    conditions = [action.guard(state, *parameters)]
    if action.each is not None:
        sorts, holds = action.each
        conditions += [holds(state, *parameters, *values) for values in product(*(terms[sort] for sort in sorts))]
    return conditions


def run(system, steps_of_run, goal=None):
    """A run from the first state: pairs of an action and its parameters.

    A guard about all values is checked at the terms of the run; no others were touched.

    Returns an outcome whose model is None if there is no such run, or none that ends in `goal`.
    """
    actions = {action.name: action for action in system.actions}
    before = state = system.first_state()
    terms = terms_of(system, state, [one for _, parameters in steps_of_run for one in parameters])
    conditions = [*system.axioms(terms)]
    for name, parameters in steps_of_run:
        conditions += _guards(actions[name], state, parameters, terms)
        state = actions[name].effect(state, *parameters)
    if goal is not None:
        conditions.append(goal(state))
    return Outcome('run', '', _Query(conditions).model(), before, state, terms)
