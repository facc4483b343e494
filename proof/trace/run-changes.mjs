// Changes of step logs that no run can have made: each takes the lines of a run, and returns changed ones, or undefined
// if the run has no place for the change. Lines are numbered anew, so that the model has to notice, not the reader.

const isIssue = ({ kind }) => kind === 'issue';
const isSend = ({ kind }) => kind === 'send';
const isDone = ({ kind, stored }) => kind === 'done' && stored !== null;
const isExtension = (line) =>
  isSend(line) && !line.after.free && line.before?.lease === line.after.lease && !line.before.free;
const isTake = (line) => isSend(line) && !line.after.free && line.before?.lease !== line.after.lease;
const isRelease = (line) =>
  isSend(line) && line.after.free && line.before?.lease === line.after.lease && line.after.write > line.before.write;
const isReclaim = (line) =>
  isSend(line) && line.after.free && line.before !== null && line.after.write === line.before.write;
const answerOf = (lines, send) =>
  lines.find((line) => isDone(line) && line.process === send.process && line.of === send.n);
/** The next line of the same process that has a property. */
const next = (lines, line, has) =>
  lines.slice(lines.indexOf(line) + 1).find((other) => other.process === line.process && has(other));
const sameWorker = (line) => (other) => other.worker === line.worker;

/** The first line with a property for which `change` returns lines. */
function first(lines, has, change) {
  for (const line of lines) {
    const changed = has(line) ? change(line) : undefined;
    if (changed !== undefined) return changed;
  }
  return undefined;
}

const without = (lines, ...gone) => lines.filter((line) => !gone.includes(line));
const replaced = (lines, line, other) => lines.map((each) => (each === line ? other : each));

/** Moves a line before another one; it takes over its time. */
function movedBefore(lines, line, place) {
  const rest = without(lines, line);
  const at = rest.indexOf(place);
  return [...rest.slice(0, at), { ...line, order: place.order, at: place.at }, ...rest.slice(at)];
}

function insertedAfter(lines, place, ...added) {
  const at = lines.indexOf(place) + 1;
  return [...lines.slice(0, at), ...added, ...lines.slice(at)];
}

/** The acquisition of a server or a window under which IDs were issued, with its answer and the first of these IDs. */
const usedTakes = (lines, change) =>
  first(lines, isTake, (send) => {
    const done = answerOf(lines, send);
    const issue =
      done && !send.after.window && next(lines, done, (line) => isIssue(line) && line.worker === done.worker);
    return issue && change(send, done, issue);
  });

const anotherProcess = (lines, { process, worker }) =>
  lines.find((line) => isDone(line) && line.process !== process && line.worker !== worker)?.process;

/** Changes the ceiling that a write records, wherever the log shows it. */
function recorded(lines, { worker, after }, ceiling) {
  const is = (record) =>
    record && record.lease === after.lease && record.write === after.write && record.ceiling === after.ceiling;
  const changed = (record) => (is(record) ? { ...record, ceiling } : record);
  return lines.map((line) => {
    if (line.worker !== worker) return line;
    const { before, after: written, stored, record } = line;
    return {
      ...line,
      ...(before && { before: changed(before) }),
      ...(written && { after: changed(written) }),
      ...(stored && { stored: changed(stored) }),
      ...(record && { record: changed(record) }),
    };
  });
}

/** The newest ID that the holder of a write has issued before it. */
const newestBefore = (lines, send) =>
  lines
    .slice(0, lines.indexOf(send))
    .findLast((line) => isIssue(line) && line.process === send.process && line.worker === send.worker)?.to;

export const LEASE_CHANGES = {
  'IDs are issued before the worker ID was acquired': (lines) =>
    usedTakes(lines, (send, done, issue) => movedBefore(lines, issue, send)),
  'IDs are issued before the answer to the acquisition': (lines) =>
    usedTakes(lines, (send, done, issue) => movedBefore(lines, issue, done)),
  'an answer arrives before its write was sent': (lines) =>
    first(lines, isExtension, (send) => {
      const done = answerOf(lines, send);
      return done && movedBefore(lines, done, send);
    }),
  'IDs are issued after the release': (lines) =>
    first(lines, isRelease, (send) => {
      const to = !send.after.window && newestBefore(lines, send);
      const done = answerOf(lines, send);
      if (!to || done === undefined) return undefined;
      const issue = { ...done, kind: 'issue', from: to + 1, to: send.after.ceiling + 2000 };
      return insertedAfter(lines, done, issue);
    }),
  'an acquisition comes before the process has read that the grace is over': (lines) =>
    usedTakes(lines, (send) => {
      const history = lines.filter(
        (line) =>
          line.kind === 'history' && line.process === send.process && line.floor !== null && line.order <= send.order,
      );
      return history.length > 0 ? without(lines, ...history) : undefined;
    }),
  'a record is read before anybody has sent it': (lines) =>
    first(
      lines,
      ({ kind, record }) => kind === 'read' && record !== null,
      (read) => {
        const same = (record) => JSON.stringify(record) === JSON.stringify(read.record);
        const send = lines.find((line) => isSend(line) && line.worker === read.worker && same(line.after));
        const place = send && lines.find((line) => line.process === read.process && line.order < send.order - 1000);
        return place && movedBefore(lines, { ...read, asked: place.order }, place);
      },
    ),
  'an extension is missing': (lines) =>
    first(lines, isExtension, (send) => {
      const done = answerOf(lines, send);
      const later = done && next(lines, done, (line) => isExtension(line) && line.worker === send.worker);
      return later && answerOf(lines, later) && without(lines, send, done);
    }),
  'the sending of a write is missing': (lines) =>
    first(lines, isExtension, (send) => answerOf(lines, send) && without(lines, send)),
  'the answer to the acquisition is missing': (lines) =>
    usedTakes(lines, (send, done, issue) => {
      const later = next(lines, done, (line) => isDone(line) && line.worker === done.worker);
      return later === undefined || later.order < issue.order ? undefined : without(lines, done);
    }),
  'the acquisition is missing': (lines) => usedTakes(lines, (send, done) => without(lines, send, done)),
  'the answer with the window is missing': (lines) =>
    first(
      lines,
      ({ kind }) => kind === 'window',
      (window) => {
        const issue = next(lines, window, (line) => isIssue(line) && line.worker === window.worker);
        const others = lines.filter(
          (line) => line.kind === 'window' && line.process === window.process && line.worker === window.worker,
        );
        return issue && without(lines, ...others);
      },
    ),
  'IDs are issued twice': (lines) => first(lines, isIssue, (issue) => insertedAfter(lines, issue, { ...issue })),
  'a second process acquires the same record': (lines) =>
    usedTakes(lines, (send, done) => {
      const process = anotherProcess(lines, done);
      if (process === undefined) return undefined;
      const lease = 'another';
      const other = { ...send, process, n: -1, after: { ...send.after, lease } };
      return insertedAfter(lines, done, other, { ...done, process, of: -1, stored: { ...done.stored, lease } });
    }),
  'an extension is executed twice': (lines) =>
    first(lines, isExtension, (send) => {
      const done = answerOf(lines, send);
      return done && insertedAfter(lines, done, { ...send, n: -1 }, { ...done, of: -1 });
    }),
  'an ID is above the ceiling': (lines) =>
    usedTakes(lines, (send, done, issue) => replaced(lines, issue, { ...issue, to: done.stored.ceiling + 3_600_000 })),
  'an ID is at the floor': (lines) =>
    first(
      lines,
      (line) => isTake(line) && line.before !== null && line.before.ceiling > 1e12,
      (send) => {
        const done = answerOf(lines, send);
        const issue = done && next(lines, done, (line) => isIssue(line) && line.worker === send.worker);
        return issue && !send.after.window && replaced(lines, issue, { ...issue, from: send.before.ceiling });
      },
    ),
  'a release is recorded below an issued ID': (lines) =>
    first(lines, isRelease, (send) => {
      const newest = newestBefore(lines, send);
      return newest && !send.after.window ? recorded(lines, send, newest - 1) : undefined;
    }),
  'an extension is recorded below an issued ID': (lines) =>
    first(lines, isExtension, (send) => {
      const newest = newestBefore(lines, send);
      return newest && answerOf(lines, send) && !send.after.window ? recorded(lines, send, newest - 1) : undefined;
    }),
  'a record is reclaimed too early': (lines) =>
    first(
      lines,
      (line) => isReclaim(line) && answerOf(lines, line),
      (send) => {
        const write = lines.find(
          (line) =>
            isDone(line) && line.worker === send.worker && JSON.stringify(line.stored) === JSON.stringify(send.before),
        );
        const place = write && next(lines, write, () => true);
        if (write === undefined) return undefined;
        const done = answerOf(lines, send);
        const soon = write.order + 1;
        const rest = without(lines, send, done);
        return insertedAfter(
          rest,
          write,
          { ...send, order: soon, at: place?.at ?? send.at },
          { ...done, order: soon + 1 },
        );
      },
    ),
  'a window ends after its record': (lines) =>
    first(
      lines,
      ({ kind }) => kind === 'window',
      (window) => replaced(lines, window, { ...window, until: window.until + 86_000_000 }),
    ),
  'a window begins at its floor': (lines) =>
    first(
      lines,
      ({ kind, from }) => kind === 'window' && from > 1e12,
      (window) => replaced(lines, window, { ...window, from: window.from - 1 }),
    ),
  'a record of a pool is taken within a minute after its end': (lines) =>
    first(
      lines.some(({ kind, pool }) => kind === 'history' && pool) ? lines : [],
      (line) => isTake(line) && line.before !== null && !line.before.free && answerOf(lines, line) !== undefined,
      (send) => replaced(lines, send, { ...send, at: send.before.ceiling + 59_000 }),
    ),
  'a refused write is executed': (lines) =>
    first(
      lines,
      (line) => line.kind === 'done' && line.stored === null,
      (done) => {
        const send = lines.find((line) => isSend(line) && line.process === done.process && line.n === done.of);
        return send?.before && replaced(lines, done, { ...done, worker: send.worker, stored: send.after });
      },
    ),
  'an executed write is refused': (lines) =>
    first(lines, isExtension, (send) => {
      const done = answerOf(lines, send);
      const later = done && next(lines, done, (line) => isExtension(line) && sameWorker(send)(line));
      return later && replaced(lines, done, { ...done, stored: null });
    }),
  'a record is read that nobody has written': (lines) =>
    first(
      lines,
      ({ kind, record }) => kind === 'read' && record !== null,
      (read) => replaced(lines, read, { ...read, record: { ...read.record, ceiling: read.record.ceiling + 1 } }),
    ),
};

/** Ranges of two processes: each takes, the first returns what it has not issued, and the second takes it again. */
export const RANGES = [
  ['a', 'take', 1, 100],
  ['b', 'take', 101, 200],
  ['a', 'take', 201, 300],
  ['a', 'return', 251, 300],
  ['b', 'take', 251, 350],
].map(([process, kind, from, to], index) => ({
  ...{
    process,
    kind,
    n: index + 1,
    order: index + 1,
    at: index,
    database: 'd',
    tag: 't',
    from: `${from}`,
    to: `${to}`,
  },
}));

const range = (index, change) => (lines) => replaced(lines, lines[index], { ...lines[index], ...change });

export const RANGE_CHANGES = {
  'a range is taken twice': (lines) => insertedAfter(lines, lines[0], { ...lines[0], process: 'b' }),
  'a range overlaps that of another process': range(2, { from: '200' }),
  'a returned range is given again without its return': (lines) => without(lines, lines[3]),
  'a range is returned that was not taken': range(3, { from: '251', to: '301' }),
};
