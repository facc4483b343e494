import type { NumberJson, NumberState } from '@leaf-ids/core';
import type { AuditJson } from '@leaf-ids/core/internal';

export interface NumberFilter {
  /** Undefined: all periods. */
  readonly period?: string | undefined;
  readonly state?: NumberState | undefined;
  /** {@link NumberList.next} of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface NumberList {
  readonly numbers: readonly NumberJson[];
  /** Where the next page starts; null without one. */
  readonly next: string | null;
}

export interface Continuation {
  readonly lastNumber: bigint;
  readonly reason: string;
  /** Undefined: the current one. */
  readonly period?: string | undefined;
}

/** The numbers of gapless tags on a server, or in a database. */
export interface NumberSource {
  /** In the order of the keys. */
  issue(tag: string, keys: readonly string[], at: Date | undefined): Promise<readonly NumberJson[]>;
  confirm(tag: string, key: string): Promise<NumberJson>;
  void(tag: string, key: string, reason: string): Promise<NumberJson>;
  find(tag: string, key: string): Promise<NumberJson>;
  list(tag: string, filter: NumberFilter): Promise<NumberList>;
  audit(tag: string, period: string | undefined): Promise<AuditJson>;
  /** @returns how many numbers became void */
  continueAfter(tag: string, where: Continuation): Promise<number>;
}
