import { createHash } from 'node:crypto';
import { mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock/clock';
import { having } from '../util/options';
import { windowOf } from '../worker/records/window-holder';
import type { WorkerRecord } from '../worker/records/worker-store';

/** A worker record in a step. The lease is a hash, because the lease ID of a worker window is a secret. */
export interface StepRecord {
  readonly lease: string;
  readonly write: number;
  /** Unix milliseconds. */
  readonly ceiling: number;
  readonly free: boolean;
  /** Whether it belongs to a worker window. */
  readonly window: boolean;
}

/** What a process did. Times are Unix milliseconds; worker IDs are numbers of the layout. */
export type Step =
  /** It has read the document of the registry, and the history or the floor was new to it. */
  | {
      readonly kind: 'history';
      readonly history: string;
      readonly floor: number | null;
      readonly horizonMs: number;
      /** Whether the registry is a pool. */
      readonly pool: boolean;
    }
  /** It has sent a write. `worker` is null if the store chooses the number; `before` is null for a create. */
  | {
      readonly kind: 'send';
      readonly worker: number | null;
      readonly before: StepRecord | null;
      readonly after: StepRecord;
    }
  /** The answer to the write number `of`: the stored record, or null if the store refused it. */
  | { readonly kind: 'done'; readonly of: number; readonly worker: number | null; readonly stored: StepRecord | null }
  /** The outcome of the write number `of` is unknown: it may be applied later. */
  | { readonly kind: 'unknown'; readonly of: number }
  /** It has read a record, after `asked` (see {@link StepLine.order}), and did not know its content. */
  | {
      readonly kind: 'read';
      readonly asked: number;
      readonly worker: number;
      readonly record: StepRecord | null;
    }
  /** It has issued IDs with these timestamps, from the first to the last. */
  | { readonly kind: 'issue'; readonly worker: number; readonly from: number; readonly to: number }
  /** A server has answered that it holds a worker window. */
  | {
      readonly kind: 'window';
      readonly worker: number;
      readonly lease: string;
      readonly from: number;
      readonly until: number;
    }
  /** It has written its worker file, or read it at its start. `leases` are those that the file proves. */
  | {
      readonly kind: 'file';
      readonly opened: boolean;
      readonly worker: number;
      readonly ceiling: number;
      readonly state: string;
      readonly leases: readonly string[];
    }
  /** The database has given it a range of IDs. */
  | {
      readonly kind: 'take';
      readonly database: string;
      readonly tag: string;
      readonly from: string;
      readonly to: string;
    }
  /** It has returned a range of IDs to the database. */
  | {
      readonly kind: 'return';
      readonly database: string;
      readonly tag: string;
      readonly from: string;
      readonly to: string;
    };

/** A line of a step log. */
export type StepLine = Step & {
  /** Number of the line, from 1. */
  readonly n: number;
  /** Microseconds of a clock that all processes of the host share and that never goes back. */
  readonly order: number;
  /** Wall clock of the process, in Unix milliseconds. */
  readonly at: number;
};

/** Where the lines of a step log go, and the clock that orders them. */
export interface StepOutput {
  /** Microseconds: see {@link StepLine.order}. */
  readonly order: () => number;
  readonly write: (line: string) => void;
}

/**
 * Records what a process does with its worker ID and its ranges, one JSON object a line, so that proof/trace can check
 * that a run is a behaviour of the model. For tests: it contains each millisecond in which IDs were issued.
 */
export class StepLog {
  private count = 0;
  private issuing: { worker: number; from: number; to: number } | undefined;

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly output: StepOutput,
  ) {}

  /** Microseconds: see {@link StepLine.order}. */
  get order(): number {
    return this.output.order();
  }

  /** @returns the number of the line */
  add(step: Step): number {
    this.flush();
    return this.append(step);
  }

  /** Records that IDs with this timestamp are issued. Consecutive calls for one worker become one step. */
  issue(worker: number, timestamp: number): void {
    const { issuing } = this;
    if (issuing?.worker === worker && timestamp > issuing.to) {
      issuing.to = timestamp;
      return;
    }
    this.flush();
    this.issuing = { worker, from: timestamp, to: timestamp };
  }

  /** Writes the timestamps that were issued since the last step. */
  flush(): void {
    const { issuing } = this;
    if (issuing === undefined) return;
    this.issuing = undefined;
    this.append({ kind: 'issue', ...issuing });
  }

  private append(step: Step): number {
    const line: StepLine = { n: ++this.count, order: this.output.order(), at: this.clock.now(), ...step };
    this.output.write(JSON.stringify(line));
    return line.n;
  }
}

/** Rule for an option that is a step log. */
export const stepLogRule = having('flush', 'a StepLog');

/** The lease of a record or a window, as it appears in steps. */
export function leaseStep(leaseId: string | undefined): string {
  return leaseId === undefined ? '' : createHash('sha256').update(leaseId).digest('hex').slice(0, 16);
}

export function recordStep(record: WorkerRecord): StepRecord {
  const { leaseId, write, ceiling, free } = record;
  return { lease: leaseStep(leaseId), write, ceiling, free, window: windowOf(record) !== undefined };
}

/**
 * A new file of this process in `directory`, which is created with the first line. After a failed write it writes no
 * more: a log with a hole would be refused.
 */
export function stepFile(directory: string): StepOutput {
  let file: number | undefined;
  let failed = false;
  // Clock.monotonic() begins with the process; all processes of the host share this one.
  // eslint-disable-next-line no-restricted-properties
  const order = (): number => Number(process.hrtime.bigint() / 1000n);
  const write = (line: string): void => {
    if (failed) return;
    try {
      if (file === undefined) {
        mkdirSync(directory, { recursive: true });
        file = openSync(join(directory, `${process.pid}-${order()}.jsonl`), 'a');
      }
      writeSync(file, `${line}\n`);
    } catch {
      failed = true;
    }
  };
  return { order, write };
}
