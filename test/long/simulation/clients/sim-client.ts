import { DEFAULT_LAYOUT, LeafError } from '@leaf-ids/core';
import { leaseStep, leaseText, type StepLog, type WorkerWindow } from '@leaf-ids/core/internal';
import { sinceStart } from '../conditions';
import { type Issuer, NOT_EXPOSED } from '../issuer';
import type { WorldParts } from '../places';
import { SeededRandom } from '../../../support/seeded-random';
import type { SimClock } from '../sim-clock';
import type { ClientAnswer, ClientCaller, ClientHop, ClientRequest } from './client-hop';

const SEQUENCES = 2 ** DEFAULT_LAYOUT.sequenceBits;
const RETRY_MS = 700;

/** Where client processes run, one after the other. */
export interface ClientPlace {
  readonly index: number;
  readonly clock: SimClock;
  /** True milliseconds until which it reaches nobody. */
  cutUntil: number;
  process: SimClient | undefined;
}

/**
 * A process that makes IDs by the five rules of docs/worker-windows.md. Its clock may show any time. It accepts answers
 * in any order, and goes on to ask for an extension after the end of its window.
 */
export class SimClient implements ClientCaller {
  alive = true;
  readonly random: SeededRandom;
  private readonly longestMs: number;
  private lease: string;
  private window: WorkerWindow | undefined;
  /** Unix milliseconds of the newest ID, and its sequence number. */
  private newest = 0;
  private sequence = -1;
  private stopped = false;
  private readonly issuers = new Map<string, Issuer>();
  private readonly log: StepLog | undefined;

  constructor(
    readonly name: string,
    seed: number,
    readonly place: ClientPlace,
    private readonly world: WorldParts,
    private readonly hop: ClientHop,
    private readonly onIssuer: (issuer: Issuer) => void,
  ) {
    this.random = new SeededRandom(seed);
    this.longestMs = this.random.pick([10_000, 30_000, 150_000]);
    this.lease = this.newLease();
    this.log = world.stepLogs?.of(name, place.clock);
    place.clock.attach(this);
    this.requestLater(0);
    this.askNext();
  }

  get busyUntil(): number {
    return this.place.clock.busyUntil;
  }

  get cutUntil(): number {
    return this.place.cutUntil;
  }

  wake(): void {
    this.place.clock.refresh();
  }

  crash(): void {
    this.alive = false;
  }

  /** Rule 5. Returns when the request is sent; it may be lost. */
  stop(): void {
    this.stopped = true;
    const { window, lease, newest } = this;
    if (window === undefined) return;
    const last = newest >= window.from ? newest : window.from - 1;
    const timestamp = this.random.chance(0.8) ? last : undefined;
    this.send('DELETE', (windows) => windows.release(lease, timestamp).then(() => undefined));
  }

  private requestLater(ms: number): void {
    const { clock } = this.place;
    const request = (): void => {
      if (this.stopped) return;
      this.request();
      this.requestLater(RETRY_MS * this.random.spread(0.5, 2));
    };
    this.world.scheduler.at(clock.local + ms, 'client requests', request, this);
  }

  /** Rules 1 and 3. */
  private request(): void {
    const { lease, window, random } = this;
    const windowMs = Math.round(random.spread(2000, this.longestMs));
    if (window === undefined) {
      this.send('POST', async (windows) => (await windows.issue(lease, 'client', windowMs)).window);
      return;
    }
    const now = this.place.clock.now();
    if (now < window.until - windowMs / 2) return;
    if (now > window.until && random.chance(0.1)) {
      this.startOver();
      return;
    }
    const workerId = random.chance(0.5) ? window.workerId : undefined;
    this.send('PUT', (windows) => windows.extend(lease, windowMs, workerId));
  }

  private send(label: string, request: ClientRequest): void {
    const { lease } = this;
    this.hop.send(this, label, request, (answer) => {
      if (this.lease === lease && !this.stopped) this.accept(answer);
    });
  }

  private accept(answer: ClientAnswer): void {
    if (answer instanceof LeafError) {
      this.note(() => `${answer.code} ${answer.message.slice(0, 80)}`);
      // Rule 4.
      if (answer.code === 'LEAF_LEASE_LOST' || answer.code === 'LEAF_LEASE_NOT_FOUND') this.startOver();
    } else if (answer !== undefined) {
      const { workerId, from, until } = answer;
      this.note(() => `may use ${sinceStart(from)} to ${sinceStart(until)} as worker ${workerId}`);
      this.log?.add({ kind: 'window', worker: workerId, lease: leaseStep(leaseText(this.lease, from)), from, until });
      this.window = answer;
    }
  }

  private startOver(): void {
    this.window = undefined;
    this.lease = this.newLease();
  }

  private askNext(): void {
    const { scheduler, conditions } = this.world;
    const { clock } = this.place;
    const next = (Math.floor(clock.shown / conditions.askMs) + 1) * conditions.askMs;
    const ask = (): void => {
      this.askNext();
      this.issue();
    };
    scheduler.at(clock.local + Math.min(clock.until(next), conditions.askMs), 'client issues', ask, this);
  }

  /** Rule 2. */
  private issue(): void {
    const { window, newest } = this;
    const now = this.place.clock.now();
    if (this.stopped || window === undefined || now < window.from || now > window.until || now < newest) return;
    if (now > newest) this.sequence = -1;
    const from = this.sequence + 1;
    if (from >= SEQUENCES) return;
    if (now > newest) this.log?.issue(window.workerId, now);
    this.newest = now;
    this.sequence = Math.min(SEQUENCES - 1, from + this.random.below(200));
    const first = window.workerId * SEQUENCES;
    this.world.tally.windowIds += this.sequence - from + 1;
    this.world.ledger.issued(this.issuerOf(window), now, first + from, first + this.sequence);
  }

  private issuerOf({ workerId, lease, from }: WorkerWindow): Issuer {
    const leaseId = `${lease}-${from}`;
    const key = `${leaseId} ${workerId}`;
    let issuer = this.issuers.get(key);
    if (issuer === undefined) {
      const { name, place, world } = this;
      const { now: acquiredAt } = world.scheduler;
      issuer = {
        ...{ kind: 'client', name, host: place.index, instance: name, leaseId, workerId, floor: from - 1, acquiredAt },
        ...{ directory: undefined, newest: 0, exposure: NOT_EXPOSED },
      };
      this.issuers.set(key, issuer);
      world.tally.windows++;
      this.onIssuer(issuer);
    }
    return issuer;
  }

  private newLease(): string {
    return Array.from({ length: 4 }, () => (this.random.bits() >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private note(text: () => string): void {
    this.world.note?.(() => `${this.name}: ${text()}`);
  }
}
