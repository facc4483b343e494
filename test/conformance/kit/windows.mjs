/** How long a client may take to process an answer that was sent to it, in milliseconds. */
export const PROCESSING_MS = 400;

export const LAYOUT = { epoch: 1288834974657, timeBits: 41, workerBits: 10, sequenceBits: 12 };
const SHIFT = BigInt(LAYOUT.workerBits + LAYOUT.sequenceBits);

export function fieldsOf(id) {
  return {
    timestamp: Number(id >> SHIFT) + LAYOUT.epoch,
    workerId: Number((id >> BigInt(LAYOUT.sequenceBits)) & ((1n << BigInt(LAYOUT.workerBits)) - 1n)),
  };
}

/** The windows that the scripted servers give, and the IDs that the client issued in them. */
export class Windows {
  /** In the order of the requests: `lease`, `workerId`, `from`, `until`; or `end: true`. */
  grants = [];
  calls = [];
  nextWorkerId = 17;
  held = new Map();

  /**
   * @param lastMs how long windows last, in milliseconds
   * @param offsetMs how far the clock of the servers is ahead
   */
  constructor({ lastMs = 4000, offsetMs = 0 } = {}) {
    this.lastMs = lastMs;
    this.offsetMs = offsetMs;
  }

  get now() {
    return Date.now() + this.offsetMs;
  }

  /** What a server answers; `change` replaces properties of the window. */
  answer(request, change = {}, more = {}) {
    const { method, lease } = request;
    const known = this.held.get(lease);
    if (method === 'DELETE') return { status: 204, ...more };
    if (method === 'PUT' && known === undefined) return this.end(404, 'LEAF_LEASE_NOT_FOUND');
    const { now } = this;
    const { workerId, from } = known ?? { workerId: this.nextWorkerId++, from: now };
    const window = { workerId, lease, from, until: now + this.lastMs, now, layout: LAYOUT, ...change };
    if (known === undefined && window.lease === lease) this.held.set(lease, window);
    const grant = { ...window, lost: more.lose === true || more.unusable === true };
    this.grants.push(grant);
    return { status: known === undefined ? 201 : 200, json: window, grant, ...more };
  }

  /** The refusal that ends a lease. */
  end(status, code, lease) {
    this.held.delete(lease);
    const grant = { end: true, lease };
    this.grants.push(grant);
    return { status, json: { type: 'about:blank', title: code, status, code, detail: `The kit: ${code}.` }, grant };
  }

  /** The window of the newest answer that was sent. */
  get newest() {
    return this.grants.findLast(({ at, lost }) => at !== undefined && !lost);
  }

  record(driver, runs, { sentAt, answeredAt }) {
    this.calls.push({ driver, runs, sentAt, answeredAt });
  }

  /** The newest timestamp that the process has issued for the worker; undefined if there is none. */
  newestTimestamp(driver, workerId) {
    let newest;
    for (const { runs } of this.calls.filter((call) => call.driver === driver)) {
      for (const fields of runs.map(([first]) => fieldsOf(first))) {
        if (fields.workerId === workerId) newest = Math.max(newest ?? 0, fields.timestamp);
      }
    }
    return newest;
  }

  check(check) {
    const used = this.usedAnswers();
    const runs = this.calls.flatMap((call) =>
      call.runs.map(([first, count]) => ({ call, first, last: first + count - 1n })),
    );
    for (const { call, first, last } of runs) {
      const { timestamp, workerId } = fieldsOf(first);
      const ofWorker = used.filter((each) => each.workerId === workerId);
      const inTime = ofWorker.filter(({ at, until: end }) => at <= call.answeredAt && end >= call.sentAt);
      const isInside = inTime.some(({ grant }) => timestamp >= grant.from && timestamp <= grant.until);
      check(isInside, 'window', `${first} has worker ${workerId} and ${timestamp}, outside of ${textOf(inTime)}`);
      check(fieldsOf(last).timestamp === timestamp, 'window', `${first} to ${last} are of several timestamps`);
    }
    this.checkOrder(check);
    const sorted = runs.toSorted((a, b) => (a.first < b.first ? -1 : 1));
    const twice = sorted.find(({ first }, index) => index > 0 && first <= sorted[index - 1].last);
    check(twice === undefined, 'unique', `the snowflake ID ${twice?.first} was issued twice`);
  }

  /** The answers that the client used, each with the monotonic times between which it was the newest one. */
  usedAnswers() {
    const sent = this.grants.filter(({ at, lost }) => at !== undefined && !lost);
    return sent
      .map((grant, index) => ({ grant, workerId: grant.workerId, at: grant.at, until: endOf(sent[index + 1]) }))
      .filter(({ grant }) => !grant.end);
  }

  /** Timestamps of one process never fall, and its IDs of one worker ascend, over calls one after the other. */
  checkOrder(check) {
    for (const driver of new Set(this.calls.map((call) => call.driver))) {
      const own = this.calls.filter((call) => call.driver === driver);
      const ordered = own.toSorted((a, b) => a.sentAt - b.sentAt);
      let before;
      for (const call of ordered) {
        // Calls at the same time have no order, but each by itself.
        let last = before !== undefined && before.answeredAt < call.sentAt ? before.last : undefined;
        for (const [first, count] of call.runs) {
          const isOrdered = last === undefined || isAfter(first, last);
          check(isOrdered, 'back', `${first} (${fieldsOf(first).timestamp}) was issued after ${last}`);
          last = first + count - 1n;
        }
        if (last !== undefined) before = { last, answeredAt: Math.max(call.answeredAt, before?.answeredAt ?? 0) };
      }
    }
  }
}

function endOf(next) {
  return next === undefined ? Infinity : next.at + PROCESSING_MS;
}

function isAfter(id, last) {
  const [own, other] = [fieldsOf(id), fieldsOf(last)];
  return own.workerId === other.workerId ? id > last : own.timestamp >= other.timestamp;
}

function textOf(answers) {
  if (answers.length === 0) return 'every window of that worker at that time';
  return answers.map(({ grant }) => `${grant.from} to ${grant.until}`).join(', ');
}
