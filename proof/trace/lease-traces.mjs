// Divides the lines of step logs into traces, one for each worker ID of each registry, for LeaseTrace.tla.

const ABSENT = { absent: true };
const NO_FLOOR = -1;
const BEFORE_MS = 86_400_000;

/** @param lines in order @returns traces: `{ name, model, lines }` */
export function leaseTraces(lines) {
  const groups = registriesOf(lines);
  const numbers = numbersOf(lines);
  const states = new Map();
  const steps = lines.flatMap((line) => {
    // Who issues IDs without a worker ID of any registry is refused.
    const registry = groups.of(line) ?? (line.kind === 'issue' ? 'none' : undefined);
    const step = stepOf(line, stateOf(states, line), numbers);
    return step === undefined || registry === undefined ? [] : [{ line, step, registry }];
  });
  const nameOf = ({ registry, step }) => `worker ${step.worker} of registry ${registry}`;
  const names = new Set(steps.filter(({ step }) => step.worker !== null).map(nameOf));
  return [...names].map((name) => {
    const own = steps.filter((each) => nameOf(each) === name);
    const [{ line, registry }] = own;
    // A create without an answer, of a store that chooses the number, may be that of any worker ID.
    const strays = steps.filter((each) => each.step.worker === null && each.registry === registry);
    const all = strays.length === 0 ? own : steps.filter((each) => own.includes(each) || strays.includes(each));
    return finished(
      name,
      all.map(({ line, step }) => ({ line, step: { ...step } })),
      groups.historiesOf(line),
    );
  });
}

/** The worker IDs that a store has chosen, by process and number of the write. */
function numbersOf(lines) {
  const answers = lines.filter(({ kind }) => kind === 'done');
  return new Map(answers.map(({ process, of, worker }) => [`${process} ${of}`, worker]));
}

/** What a process knows, by its earlier lines. */
function stateOf(states, { process }) {
  const known = states.get(process) ?? {
    history: undefined,
    /** Its writes, by the number of the line. */
    sent: new Map(),
    /** Leases under which this process acquires worker IDs for itself. */
    own: new Set(),
    /** When it first saw the content of each record. */
    seen: new Map(),
    windows: new Map(),
    file: undefined,
    /** Worker IDs that it holds by an acquisition or by its file. */
    holds: new Set(),
  };
  states.set(process, known);
  return known;
}

/** @returns the step of a line; undefined if it says nothing about one worker ID */
function stepOf(line, state, numbers) {
  const { kind, process, n } = line;
  const own = `server ${process}`;
  switch (kind) {
    case 'history':
      state.history = line;
      return undefined;
    case 'read': {
      see(state, line.worker, line.record, line);
      return { kind, worker: line.worker, asked: line.asked, rec: recordOf(line.record) };
    }
    case 'send': {
      const { before, after } = line;
      const worker = line.worker ?? numbers.get(`${process} ${n}`) ?? null;
      const isTake = !after.window && !after.free && before?.lease !== after.lease;
      if (isTake) state.own.add(after.lease);
      if (isTake) state.holds.add(worker);
      const isOwn = state.own.has(after.lease);
      const { floor, pool = false, horizonMs = 0 } = state.history ?? {};
      const first = state.seen.get(`${worker} ${JSON.stringify(before)}`) ?? line.order;
      const step = {
        ...{ kind, worker, n, process, lease: after.lease, window: after.window, foreign: !isOwn },
        key: after.window ? `window ${after.lease}` : isOwn ? own : undefined,
        ...{ before: recordOf(before), after: recordOf(after), at: line.at },
        ...{ floor: floor ?? NO_FLOOR, pool, horizon: horizonMs, unchanged: Math.floor((line.order - first) / 1000) },
      };
      state.sent.set(n, step);
      return step;
    }
    case 'done': {
      const send = state.sent.get(line.of);
      if (send === undefined)
        return {
          kind,
          worker: line.worker,
          of: line.of,
          process,
          lease: '',
          window: false,
          key: '',
          stored: recordOf(line.stored),
        };
      const { worker, lease, window } = send;
      // The stored record: `zk_normal` raises the ceiling.
      if (line.stored !== null) send.after = recordOf(line.stored);
      if (line.stored !== null) see(state, worker, line.stored, line);
      return { kind, worker, of: line.of, process, lease, window, key: send.key, stored: recordOf(line.stored) };
    }
    case 'issue': {
      const window = state.windows.get(line.worker);
      const key = window === undefined ? own : `window ${window}`;
      return { kind, worker: line.worker, key, from: line.from, to: line.to };
    }
    case 'window':
      state.windows.set(line.worker, line.lease);
      return { kind, worker: line.worker, key: `window ${line.lease}`, from: line.from, until: line.until };
    case 'file':
      return fileStep(line, state, own);
    default:
      return undefined;
  }
}

/** A process that has not acquired its worker ID, and writes its file, has started from it. */
function fileStep(line, state, key) {
  const { worker, ceiling, opened, leases, at } = line;
  if (opened) {
    state.file = line;
    return undefined;
  }
  if (line.state !== 'held') return undefined;
  const { file } = state;
  if (state.holds.has(worker) || file?.worker !== worker) return { kind: 'file', worker, key, ceiling };
  state.holds.add(worker);
  return {
    kind: 'start',
    worker,
    key,
    ceiling: file.ceiling,
    state: file.state,
    at,
    leases: file.leases,
    cap: ceiling,
  };
}

function see(state, worker, record, { order }) {
  const content = `${worker} ${JSON.stringify(record)}`;
  if (!state.seen.has(content)) state.seen.set(content, order);
}

function recordOf(record) {
  if (record === null) return ABSENT;
  const { lease, write, ceiling, free } = record;
  return { lease, write, ceiling, free };
}

/** Processes that have read one registry ID use one registry; the holder of a window, that of the record. */
function registriesOf(lines) {
  const parents = new Map();
  const root = (name) => {
    const parent = parents.get(name) ?? name;
    return parent === name ? name : root(parent);
  };
  const join = (a, b) => parents.set(root(a), root(b));
  const idOf = (history) => `registry ${history.split(' ')[0]}`;
  for (const { kind, process, history, lease, after } of lines) {
    if (kind === 'history') join(`process ${process}`, idOf(history));
    if (kind === 'window') join(`process ${process}`, `lease ${lease}`);
    if (kind === 'send') join(`lease ${after.lease}`, `process ${process}`);
  }
  const histories = new Map();
  for (const { kind, process, history } of lines) {
    if (kind !== 'history') continue;
    const group = root(`process ${process}`);
    histories.set(group, (histories.get(group) ?? new Set()).add(history));
  }
  const names = new Map([...histories.keys()].map((group, index) => [group, index + 1]));
  return {
    of: ({ process }) => names.get(root(`process ${process}`)),
    historiesOf: ({ process }) => histories.get(root(`process ${process}`))?.size ?? 1,
  };
}

function finished(name, lines, histories) {
  const steps = lines.map(({ step }) => step);
  const shown = new Set(steps.flatMap(({ rec, before }) => [rec, before].map(textOf)));
  for (const step of steps) {
    if (step.kind !== 'send') continue;
    // `zk_normal` raises the ceiling of an acquisition to an odd number, also if its answer is lost.
    const raised = { ...step.after, ceiling: step.after.ceiling + 1 };
    if (!shown.has(textOf(step.after)) && shown.has(textOf(raised))) step.after = raised;
  }
  const sends = new Map();
  steps.forEach(({ kind, process, n }, index) => {
    if (kind === 'send') sends.set(`${process} ${n}`, index + 1);
  });
  const owners = new Map(steps.filter(({ key, lease }) => key && lease).map(({ key, lease }) => [lease, key]));
  // `oldest`: the first step that a later read, or the answer to a later write, may look back to.
  let oldest = steps.length;
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index];
    if (step.kind === 'read') {
      step.asked = Math.min(firstAfter(lines, step.asked), index + 1);
      oldest = Math.min(oldest, step.asked);
    }
    if (step.kind === 'done') {
      // 0: not sent. The model refuses it.
      step.id = sends.get(`${step.process} ${step.of}`) ?? 0;
      oldest = Math.min(oldest, step.id);
    }
    step.key ??= owners.get(step.lease) ?? '';
    step.oldest = Math.min(oldest, index + 1);
  }
  const first = steps.find(({ kind }) => kind === 'read' || kind === 'send');
  const initial = first === undefined ? ABSENT : (first.rec ?? first.before);
  const rebase = rebaseOf(name, steps);
  const model = {
    initial: initial.absent ? initial : { ...initial, ceiling: rebase(initial.ceiling) },
    histories,
    steps: steps.map((step) => modelStep(step, rebase)),
  };
  return { name, model, lines: lines.map(({ line }) => line) };
}

/** Makes small numbers of times: TLC counts to 2^31. Times of more than a day before the first step become equal. */
function rebaseOf(name, steps) {
  const times = steps.flatMap(({ at, from, to }) => [at, from, to]).filter((time) => time > 1e12);
  const base = Math.min(...times) - BEFORE_MS;
  return (time) => {
    const value = Math.max(0, time - base);
    if (value < 2 ** 31) return value;
    throw new Error(`${name} has times that are ${value} ms apart; TLC counts to 2^31.`);
  };
}

function textOf(record) {
  return JSON.stringify(record);
}

/** The number of the first step at or after `order`. */
function firstAfter(lines, order) {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].line.order < order) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** The fields of a step that LeaseTrace.tla reads. */
function modelStep(step, rebase) {
  const record = (value) => (value.absent ? value : { ...value, ceiling: rebase(value.ceiling) });
  const { kind, key, oldest } = step;
  const common = { kind, key, oldest };
  switch (kind) {
    case 'send': {
      const { window, foreign, pool, horizon, unchanged } = step;
      const floor = step.floor === NO_FLOOR ? NO_FLOOR : rebase(step.floor);
      const records = { before: record(step.before), after: record(step.after) };
      return { ...common, ...records, window, foreign, pool, horizon, unchanged, floor, at: rebase(step.at) };
    }
    case 'done':
      return { ...common, id: step.id, window: step.window, stored: record(step.stored) };
    case 'read':
      return { ...common, asked: step.asked, rec: record(step.rec) };
    case 'issue':
      return { ...common, from: rebase(step.from), to: rebase(step.to) };
    case 'window':
      return { ...common, from: rebase(step.from), until: rebase(step.until) };
    case 'file':
      return { ...common, ceiling: rebase(step.ceiling) };
    default: {
      const { state, leases } = step;
      return {
        ...common,
        state,
        leases: new Set(leases),
        at: rebase(step.at),
        ceiling: rebase(step.ceiling),
        cap: rebase(step.cap),
      };
    }
  }
}
