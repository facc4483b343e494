"""A counterexample of z3 as text: the values of its terms, with short names for the elements of the sorts."""

import z3

from induction import Holder, Int, Write


class Names:
    """Short names for the values of a model."""

    def __init__(self, outcome):
        self._outcome, self._names = outcome, {}
        for sort, letters in ((Holder, 'ABCDEFGHIJ'), (Write, [f'write {index}' for index in range(1, 30)])):
            for term in outcome.terms[sort]:
                value = self.value(term)
                known = [name for name in self._names.values() if name in letters]
                self._names.setdefault(str(value), letters[len(known)])

    def value(self, term):
        return self._outcome.model.eval(term, model_completion=True)

    def of(self, term):
        text = str(self.value(term))
        return self._names.get(text, 'another' if '!val!' in text else text)

    def matters(self, state, write):
        """Whether a write was sent, or is that of the action."""
        own = [self.of(one) for one in self._outcome.parameters]
        return z3.is_true(self.value(state.sent(write))) or self.of(write) in own

    def distinct(self, sort):
        """One term for each value of the sort."""
        found = {}
        for term in self._outcome.terms[sort]:
            found.setdefault(str(self.value(term)), term)
        return list(found.values())


def describe(system, outcome):
    """Lines: the state before, the action, and what it has changed."""
    names = Names(outcome)
    yield '  before:'
    yield from (f'    {line}' for line in _state(system, outcome.before, names))
    values = ', '.join(names.of(one) for one in outcome.parameters)
    yield f'  {outcome.step}({values}), after it:'
    known = set(_state(system, outcome.before, names))
    yield from (f'    {line}' for line in _state(system, outcome.after, names) if line not in known)


def _state(system, state, names):
    singles = [name for name, (sorts, _) in system.fields.items() if not sorts]
    yield ', '.join(f'{name} {names.of(getattr(state, name)())}' for name in singles)
    versions = sorted({names.value(state.last()).as_long(), *(names.value(v).as_long() for v in names.distinct(Int))})
    last = names.value(state.last()).as_long()
    record = [f'version {v}: {names.of(state.log(z3.IntVal(v)))}' for v in versions if 0 <= v <= last]
    yield f'log: {", ".join(record)}'
    for sort in (Holder, Write):
        fields = [name for name, (sorts, _) in system.fields.items() if sorts == (sort,)]
        for one in names.distinct(sort):
            if sort == Write and not names.matters(state, one):
                continue
            contents = system.contents.items() if sort == Write else ()
            texts = [f'{name} {names.of(function(one))}' for name, function in contents]
            texts += [f'{name} {names.of(getattr(state, name)(one))}' for name in fields]
            yield f'{names.of(one)}: {", ".join(texts)}'


def describe_run(system, outcome, steps, lines):
    """One line for each action: its times, and what its write contains."""
    names = Names(outcome)
    for line, (name, parameters) in zip(lines, steps):
        texts = [f'{one} = {names.of(one)}' for one in parameters if one.sort() == Int and not z3.is_int_value(one)]
        if name.startswith('Send'):
            write = next(one for one in parameters if one.sort() == Write)
            shown = [label for label in system.contents if label not in ('of', 'window', 'kind', 'reads')]
            texts += [f'{label} {names.of(system.contents[label](write))}' for label in shown]
        yield f'{line}{"   # " if texts else ""}{", ".join(texts)}'
