import { IdLog, type Receipt } from './id-log';

export type Mode = 'segment' | 'snowflake';

/** An ID that was received twice, and all who received it. */
export interface Duplicate {
  readonly space: string;
  readonly from: string;
  readonly to: string;
  readonly receipts: readonly { readonly caller: string; readonly atMs: number }[];
}

const SHOWN = 20;

/** Every ID that any caller has received. */
export class History {
  readonly callers: string[] = [];
  /** Answers whose IDs did not come in the promised order. */
  readonly descents: string[] = [];
  private readonly logs = new Map<string, IdLog>();

  get ids(): bigint {
    return this.idsOf(() => true);
  }

  /** IDs of these spaces. */
  idsOf(isWanted: (space: string) => boolean): bigint {
    return [...this.logs].reduce((sum, [space, { ids }]) => (isWanted(space) ? sum + ids : sum), 0n);
  }

  get receipts(): number {
    return [...this.logs.values()].reduce((sum, { count }) => sum + count, 0);
  }

  addCaller(name: string): number {
    return this.callers.push(name) - 1;
  }

  /** @param space those whose IDs must all differ: one tag, or the snowflake IDs of one registry */
  add(space: string, receipt: Receipt): void {
    let log = this.logs.get(space);
    if (log === undefined) this.logs.set(space, (log = new IdLog()));
    log.add(receipt);
  }

  disorder(what: string): void {
    if (this.descents.length < SHOWN) this.descents.push(what);
  }

  duplicates(): Duplicate[] {
    return [...this.logs].flatMap(([space, log]) => {
      const repeated = log.repeated().slice(0, SHOWN);
      return repeated.map(({ from, to }) => {
        const receipts = [...log.receipts()].filter((receipt) => receipt.from <= to && receipt.to >= from);
        return {
          space,
          from: String(from),
          to: String(to),
          receipts: receipts.map(({ caller, at }) => ({ caller: this.callers[caller]!, atMs: at })),
        };
      });
    });
  }
}
