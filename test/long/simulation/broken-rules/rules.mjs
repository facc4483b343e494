/**
 * How each rule of the lease is removed in a copy of the source. `find` occurs exactly once in `file`. `until` lists the
 * violations of which one must follow; other violations are ignored.
 *
 * @type {readonly { rule: string, what: string, file: string, find: string, replace: string, until: readonly string[] }[]}
 */
const CORE = 'libs/core/src';
const LIVENESS = ['lost', 'outage', 'high ceiling'];

export const RULES = [
  {
    rule: 'R1',
    what: 'issues above the recorded ceiling',
    file: `${CORE}/snowflake/snowflake-generator.ts`,
    find: 'if (timestamp > this.window.ceiling) return CEILING;',
    replace: '',
    until: ['duplicate'],
  },
  {
    rule: 'R2',
    what: 'starts at or below the ceiling that it has read',
    file: `${CORE}/worker/worker-acquisition.ts`,
    find: 'const least = Math.max(known, registry.document.floor ?? 0);',
    replace: 'const least = holder.newest();',
    until: ['duplicate'],
  },
  {
    rule: 'R3',
    what: 'goes on after a failed compare',
    file: `${CORE}/worker/worker-claim.ts`,
    find: "if (relation === 'ours') return this.adopted(current);",
    replace: 'if (current !== undefined) return current;',
    until: ['duplicate'],
  },
  {
    rule: 'R4',
    what: 'a release leaves a ceiling below what was issued',
    file: `${CORE}/worker/worker-lease.ts`,
    find: 'await claim.release(Math.max(claim.floor, this.holder.newest()));',
    replace: 'await claim.release(claim.floor);',
    until: ['duplicate', 'overlap', 'ceiling'],
  },
  {
    rule: 'R5',
    what: 'newcomers do not wait in a young registry',
    file: `${CORE}/worker/registry-memory.ts`,
    find: 'if (watched < graceMs) return graceMs - watched;',
    replace: '',
    until: ['duplicate'],
  },
  {
    rule: 'R6',
    what: 'starts with another layout',
    file: `${CORE}/worker/registry-memory.ts`,
    find: 'if (layout === this.options.layout) return;',
    replace: 'if (layout !== undefined) return;',
    until: ['duplicate'],
  },
  {
    rule: 'R7',
    what: 'takes lost history for a twin',
    file: `${CORE}/worker/worker-claim.ts`,
    find: 'const changed = !isSameHistory(this.registry, open.document);',
    replace: 'const changed = false as boolean;',
    until: LIVENESS,
  },
  {
    rule: 'R8',
    what: 'a newcomer does not give way to a live twin',
    file: `${CORE}/worker/worker-acquisition.ts`,
    find: 'if (leaseId === holder.leaseId || free) return true;',
    replace: 'if (current !== undefined) return true;',
    until: ['waits beside a twin'],
  },
  {
    rule: 'R9',
    what: 'a report does not lower the ceiling',
    file: `${CORE}/worker/worker-lease.ts`,
    find: 'const ceiling = Math.max(this.holder.newest(), claim.floor, clock.now() + this.registry.options.horizonMs);',
    replace:
      'const ceiling = Math.max(this.holder.newest(), clock.now() + this.registry.options.horizonMs, this.ceiling);',
    until: LIVENESS,
  },
  {
    rule: 'R10',
    what: 'reclaims by the wall clock',
    file: `${CORE}/worker/registry-maintenance.ts`,
    find: 'return !record.free && before - seen.at >= horizonMs;',
    replace: 'return !record.free && record.ceiling < this.parts.clock.now();',
    until: ['reclaim'],
  },
  {
    rule: 'R12',
    what: 'waits by its own horizon, not by the longest',
    file: `${CORE}/worker/registry-maintenance.ts`,
    find: 'const horizonMs = Math.max(this.options.horizonMs, stored.document?.horizonMs ?? 0);',
    replace: 'const { horizonMs } = this.options;',
    until: ['reclaim'],
  },
  {
    rule: 'R13',
    what: 'takes the writes of a copy for its own',
    file: `${CORE}/worker/record-relation.ts`,
    find: 'ceiling === confirmedCeiling : holder.sentAs(record) !== undefined;',
    replace: 'true : true;',
    until: ['duplicate', 'overlap'],
  },
  {
    rule: 'W1',
    what: 'the first timestamp of a window is not in its record',
    file: `${CORE}/worker/window-holder.ts`,
    find: ': { lease, from: Number(from), holder',
    replace: ': { lease, from: Number(from) * 0 + 1, holder',
    until: ['duplicate', 'overlap'],
  },
  {
    rule: 'W2',
    what: 'a repeated request is answered without a write',
    file: `${CORE}/worker/worker-windows.ts`,
    find: 'return { window: await this.raise(known, windowMs), isNew: false };',
    replace: 'return { window: this.windowWith(known.holder, known.claim), isNew: false };',
    until: ['duplicate', 'overlap'],
  },
  {
    rule: 'W3',
    what: 'a server lowers the end that another one has recorded',
    file: `${CORE}/worker/worker-claim.ts`,
    find: 'this.least = Math.max(this.least, current.record.ceiling);\n    }\n    if (!changed)',
    replace: '}\n    if (!changed)',
    until: ['duplicate', 'overlap'],
  },
  {
    rule: 'W4',
    what: 'windows are not registered again',
    file: `${CORE}/worker/worker-windows.ts`,
    find: 'if (this.held.size === 0) return;',
    replace: 'if (this.held.size >= 0) return;',
    until: ['duplicate', 'overlap'],
  },
  {
    rule: 'W5',
    what: 'a release leaves an end below what was used',
    file: `${CORE}/worker/worker-windows.ts`,
    find: 'Math.min(until, Math.max(from - 1, newest))',
    replace: 'from - 1',
    until: ['duplicate', 'overlap'],
  },
];
