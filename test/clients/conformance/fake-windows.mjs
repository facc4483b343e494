const LAYOUT = { epoch: 1288834974657, timeBits: 41, workerBits: 10, sequenceBits: 12 };

/** Answers as a server with free worker IDs does; without refusals. */
export class FakeWindows {
  windows = new Map();
  next = 17;

  handle(method, lease, { windowMs, lastTimestamp }) {
    const now = Date.now();
    if (method === 'DELETE') {
      const held = this.windows.get(lease);
      this.windows.delete(lease);
      const isWrong = held !== undefined && lastTimestamp > held.until;
      return isWrong ? { status: 400, answer: { code: 'LEAF_BODY_INVALID' } } : { status: 204 };
    }
    const known = this.windows.get(lease);
    if (known === undefined && method === 'PUT') return { status: 404, answer: { code: 'LEAF_LEASE_NOT_FOUND' } };
    const { workerId, from } = known ?? { workerId: this.next++, from: now };
    const window = { workerId, lease, from, until: now + windowMs };
    this.windows.set(lease, window);
    return { status: known === undefined ? 201 : 200, answer: { ...window, now, layout: LAYOUT } };
  }
}
